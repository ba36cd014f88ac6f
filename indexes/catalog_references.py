"""What passages refer to in their own document: read when it is written, kept in the catalog.

A row holds the id of the passage that is meant, of the same document and version. These may lie in
several files (one a part of a code), so a document is read whole again whenever one of its passages
comes or goes. ``refers_read`` lists what was read: a document that an earlier release wrote is not
in it, and is read when it is asked for.
"""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from indexes.catalog_rows import passage_of
from indexes.named_references import named_references
from indexes.numbering import part_with
from indexes.own_references import name_like, own_references
from indexes.schema import Passage

REFERENCES_SCHEMA = """
CREATE TABLE IF NOT EXISTS refers(
  id TEXT NOT NULL, position INTEGER NOT NULL, target TEXT NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY(id, position)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS refers_read(document TEXT PRIMARY KEY) WITHOUT ROWID;
"""
# An id is "{document}#{locator}", and "$" follows "#": the primary key gives a document's passages.
_OF_DOCUMENT = "WHERE id > ? || '#' AND id < ? || '$'"
_PASSAGES = f"SELECT id, domain, content, metadata FROM passages {_OF_DOCUMENT}"
_KEPT = (
    "SELECT r.target, r.text FROM refers_read d LEFT JOIN refers r ON r.id = ?"
    " WHERE d.document = ? ORDER BY r.position"
)
_ATTACHED = re.compile(r"x\d+-")  # begins the locator of an article of an attached rule

Meant = tuple[str, str]
"""The id of the passage that is meant, the words that mean it."""
Articles = dict[str, list[Passage]]
Rows = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]


def documents_of(
    connection: sqlite3.Connection, domain: str, doc_keys: Iterable[str]
) -> frozenset[str]:
    """The ids, ``domain:document@version``, of the documents that these now hold passages of."""
    sql = (
        "SELECT DISTINCT substr(id, 1, instr(id, '#') - 1) FROM passages"
        " WHERE domain = ? AND doc_key = ?"
    )
    found = (row for key in doc_keys for row in connection.execute(sql, (domain, key)))
    return frozenset(row[0] for row in found)


def write_references(connection: sqlite3.Connection, documents: Iterable[str]) -> None:
    """Read the references of these documents anew; those without a passage lose theirs."""
    for document in documents:
        connection.execute(f"DELETE FROM refers {_OF_DOCUMENT}", (document, document))
        connection.execute("DELETE FROM refers_read WHERE document = ?", (document,))
        passages = [passage_of(r) for r in connection.execute(_PASSAGES, (document, document))]
        if passages:
            connection.execute("INSERT INTO refers_read VALUES(?)", (document,))
            connection.executemany("INSERT INTO refers VALUES(?, ?, ?, ?)", _all(passages))


def references_of(rows: Rows, passage: Passage) -> tuple[Meant, ...]:
    """What a passage refers to in its own document, in order; ``rows`` asks the catalog."""
    document = _document(passage)
    if rows("SELECT 1 FROM sqlite_master WHERE name = 'refers_read'", ()):
        kept = rows(_KEPT, (passage.id, document))
        if kept:
            return tuple((row[0], row[1]) for row in kept if row[0] is not None)

    def articles() -> Articles:
        found = (passage_of(row) for row in rows(_PASSAGES, (document, document)))
        return _articles(found)[_numbering(passage)]

    return tuple(_read(passage, articles))


def _all(passages: Sequence[Passage]) -> Iterator[tuple[str, int, str, str]]:
    every = _articles(passages)
    for passage in passages:
        articles = partial(every.__getitem__, _numbering(passage))
        for position, meant in enumerate(_read(passage, articles)):
            yield passage.id, position, *meant


def _articles(passages: Iterable[Passage]) -> defaultdict[str, Articles]:
    """Numbering -> article -> its parts in order."""
    found: defaultdict[str, Articles] = defaultdict(dict)
    for passage in sorted(passages, key=lambda p: p.metadata.part):
        if passage.metadata.article:
            found[_numbering(passage)].setdefault(passage.metadata.article, []).append(passage)
    return found


def _document(passage: Passage) -> str:
    return passage.id.partition("#")[0]


def _numbering(passage: Passage) -> str:
    """An attached rule numbers its articles anew: 第三条 there is its own."""
    attached = _ATTACHED.match(passage.id.partition("#")[2])
    return attached[0] if attached else ""


def _read(passage: Passage, articles: Callable[[], Articles]) -> Iterator[Meant]:
    elsewhere: list[tuple[int, int]] = []
    at = 0
    for line in passage.content.splitlines(keepends=True):
        named = named_references(line, name_like)
        elsewhere += [(at + mention.start, at + mention.end) for mention in named]
        at += len(line)
    for own in own_references(passage.content, passage.metadata.article, articles, elsewhere):
        for part in part_with(articles()[own.article], own.paragraph, 0):
            yield part.id, own.text
