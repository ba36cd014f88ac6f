"""The passage catalog: the source of truth of what is searchable (SQLite, WAL).

Vector store and keyword index may for a moment hold more than the catalog says, never less; what
the catalog does not list is not shown. A passage's *row* is the key it has in those two: its id,
or its id + ``~`` for every other revision, so that a new revision can be written beside the old
one before the catalog switches (``row_id`` maps back).
"""

from __future__ import annotations

import json
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from configs.errors import SourceUnavailableError
from indexes.catalog_references import (
    REFERENCES_SCHEMA,
    documents_of,
    references_of,
    write_references,
)
from indexes.catalog_rows import insert_document, passage_of
from indexes.schema import NO_FILTERS, Document, Filters, Passage, PassageMetadata, date_int

SLOT = "~"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS domains(
  domain TEXT PRIMARY KEY, store_version INTEGER NOT NULL, fingerprint TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS documents(
  domain TEXT NOT NULL, doc_key TEXT NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL,
  file TEXT NOT NULL, passages INTEGER NOT NULL, text BLOB NOT NULL, extra TEXT NOT NULL,
  PRIMARY KEY(domain, doc_key));
CREATE TABLE IF NOT EXISTS passages(
  id TEXT PRIMARY KEY, domain TEXT NOT NULL, doc_key TEXT NOT NULL, position INTEGER NOT NULL,
  row TEXT NOT NULL, title TEXT NOT NULL, article TEXT NOT NULL, jurisdiction_code TEXT NOT NULL,
  effective_int INTEGER NOT NULL, expires_int INTEGER NOT NULL,
  metadata TEXT NOT NULL, content TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS passages_document ON passages(domain, doc_key, position);
CREATE INDEX IF NOT EXISTS passages_article ON passages(domain, title, article);
CREATE TABLE IF NOT EXISTS pending(
  domain TEXT NOT NULL, row TEXT NOT NULL, PRIMARY KEY(domain, row)) WITHOUT ROWID;
"""
_PASSAGE = "SELECT id, domain, content, metadata FROM passages"
_MOVE = "UPDATE domains SET store_version = store_version + 1 WHERE domain = ?"
_FIELDS = tuple(f.name for f in fields(PassageMetadata))


def row_id(row: str) -> str:
    """The passage id that a row of the vector store or the keyword index belongs to."""
    return row.removesuffix(SLOT)


def other_row(row: str) -> str:
    """The row that the next revision of the same passage takes."""
    return row.removesuffix(SLOT) if row.endswith(SLOT) else row + SLOT


@dataclass(frozen=True, slots=True)
class CatalogDocument:
    """One document as the catalog lists it; ``passages`` is their number."""

    domain: str
    doc_key: str
    title: str
    version: str
    file: str
    passages: int
    extra: Mapping[str, Any] = field(default_factory=dict)


class PassageCatalog:
    """Documents and passages of all domains of a store; many readers, one writer, any thread."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Raises SourceUnavailableError when there is no catalog and ``create`` is not set."""
        if not create and not path.is_file():
            raise SourceUnavailableError(
                f"{path.parent}: nothing is ingested here; run `policy-fusion ingest DOMAIN PATH`"
            )
        self._path = path
        self._idle: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        if create:
            with self._connection() as connection:
                connection.executescript(_SCHEMA + REFERENCES_SCHEMA)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """An idle connection or a new one: threads may come and go without leaving one behind."""
        with self._guard:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = sqlite3.connect(
                self._path, timeout=30.0, isolation_level=None, check_same_thread=False
            )
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
        try:
            yield connection
        finally:
            with self._guard:
                self._idle.append(connection)

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._connection() as connection:
            return connection.execute(sql, values).fetchall()

    def close(self) -> None:
        """Close all idle connections."""
        with self._guard:
            for connection in self._idle:
                connection.close()
            self._idle.clear()

    # -- reading ------------------------------------------------------------------------------

    def get(self, ids: Iterable[str]) -> dict[str, Passage]:
        """The passages of these ids; unknown ids are left out."""
        rows = self._rows(
            f"{_PASSAGE} WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
        )
        return {row[0]: passage_of(row) for row in rows}

    def admitted(self, ids: Iterable[str], filters: Filters = NO_FILTERS) -> set[str]:
        """Those of the ids that the catalog lists and ``filters`` let pass."""
        sql = "SELECT id FROM passages WHERE id IN (SELECT value FROM json_each(?))"
        values: list[Any] = [json.dumps(list(ids))]
        if filters.jurisdictions is not None:
            sql += " AND jurisdiction_code IN (SELECT value FROM json_each(?))"
            values.append(json.dumps(sorted(filters.jurisdictions)))
        if filters.as_of is not None:
            sql += " AND effective_int <= ? AND expires_int > ?"
            values += [date_int(filters.as_of, 0)] * 2
        return {row[0] for row in self._rows(sql, values)}

    def find(self, domain: str, title: str, article: str | None = None) -> tuple[Passage, ...]:
        """Passages of the documents of this exact title, of one article if given, in order."""
        sql = f"{_PASSAGE} WHERE domain = ? AND title = ?"
        values = [domain, title]
        if article is not None:
            sql += " AND article = ?"
            values.append(article)
        # "+" keeps SQLite from walking the whole domain in that order instead of the title's index.
        rows = self._rows(f"{sql} ORDER BY +doc_key, position", values)
        return tuple(passage_of(row) for row in rows)

    def containing(self, domain: str, words: str) -> tuple[Passage, ...]:
        """The passages of a domain in which ``words`` stand as given; reads them all."""
        sql = f"{_PASSAGE} WHERE domain = ? AND instr(content, ?) ORDER BY id"
        return tuple(passage_of(row) for row in self._rows(sql, (domain, words)))

    def articles(self, domain: str, title: str) -> frozenset[str]:
        """The article numbers (in digits) of the documents of this exact title."""
        sql = "SELECT DISTINCT article FROM passages WHERE domain = ? AND title = ?"
        return frozenset(row[0] for row in self._rows(sql, (domain, title)) if row[0])

    def document_passages(self, domain: str, doc_key: str) -> tuple[Passage, ...]:
        """The passages of one document in their order; empty when it is unknown."""
        sql = f"{_PASSAGE} WHERE domain = ? AND doc_key = ? ORDER BY position"
        rows = self._rows(sql, (domain, doc_key))
        return tuple(passage_of(row) for row in rows)

    def adjacent(self, id: str) -> tuple[Passage | None, Passage | None]:
        """The passages before and after this one in its document; None where there is none."""
        sql = (
            "SELECT b.position - a.position, b.id, b.domain, b.content, b.metadata"
            " FROM passages a JOIN passages b ON b.domain = a.domain AND b.doc_key = a.doc_key"
            " AND b.position IN (a.position - 1, a.position + 1) WHERE a.id = ?"
        )
        found = {row[0]: passage_of(row[1:]) for row in self._rows(sql, (id,))}
        return found.get(-1), found.get(1)

    def referred(self, passage: Passage) -> tuple[tuple[Passage, str], ...]:
        """The passages of its own document that a passage names, each with the words that do."""
        meant = references_of(self._rows, passage)
        found = self.get(target for target, _ in meant)
        return tuple((found[target], text) for target, text in meant if target in found)

    def first_passages(self, domain: str) -> Iterator[tuple[str, Passage]]:
        """(document key, first passage) of every document of a domain that has one."""
        sql = (
            "SELECT doc_key, id, domain, content, metadata FROM passages"
            " WHERE domain = ? AND position = 0 ORDER BY doc_key"
        )
        for key, *columns in self._rows(sql, (domain,)):
            yield key, passage_of(columns)

    def contents_with(self, domain: str, words: str) -> Iterator[tuple[str, str]]:
        """(document key, content) of every passage whose content has these words. A full scan."""
        sql = "SELECT doc_key, content FROM passages WHERE domain = ? AND instr(content, ?) > 0"
        yield from ((str(key), str(content)) for key, content in self._rows(sql, (domain, words)))

    def document_text(self, domain: str, doc_key: str) -> str | None:
        """The cleaned text of one document, or None when it is unknown."""
        sql = "SELECT text FROM documents WHERE domain = ? AND doc_key = ?"
        rows = self._rows(sql, (domain, doc_key))
        return zlib.decompress(rows[0][0]).decode("utf-8") if rows else None

    def documents(self, domain: str) -> Iterator[CatalogDocument]:
        """All documents of a domain, by key."""
        sql = (
            "SELECT domain, doc_key, title, version, file, passages, extra FROM documents"
            " WHERE domain = ? ORDER BY doc_key"
        )
        for name, key, title, version, file, count, extra in self._rows(sql, (domain,)):
            yield CatalogDocument(name, key, title, version, file, count, json.loads(extra))

    def document_keys(self, domain: str) -> frozenset[str]:
        """The keys of all documents of a domain; no text is read."""
        sql = "SELECT doc_key FROM documents WHERE domain = ?"
        return frozenset(row[0] for row in self._rows(sql, (domain,)))

    def count(self, domain: str) -> int:
        """Number of passages of a domain."""
        sql = "SELECT COALESCE(SUM(passages), 0) FROM documents WHERE domain = ?"
        return int(self._rows(sql, (domain,))[0][0])

    def ids(self, domain: str) -> Iterator[str]:
        """All passage ids of a domain in ascending order, read in pages."""
        return (row_id(row) for row, _ in self._pages(domain, "row, id"))

    def rows(self, domain: str) -> Iterator[str]:
        """All rows of a domain, read in pages."""
        return (row for row, _ in self._pages(domain, "row, id"))

    def passages(self, domain: str) -> Iterator[tuple[str, Passage]]:
        """(row, passage) of a whole domain, read in pages."""
        for row, *columns in self._pages(domain, "row, domain, content, metadata, id"):
            yield row, passage_of((columns[-1], *columns[:-1]))

    def _pages(self, domain: str, columns: str, size: int = 2000) -> Iterator[tuple[Any, ...]]:
        # Ids start with "{domain}:", and ";" follows ":", so the primary key gives the pages.
        sql = f"SELECT {columns} FROM passages WHERE id > ? AND id < ? ORDER BY id LIMIT ?"
        last = f"{domain}:"
        while page := self._rows(sql, (last, f"{domain};", size)):
            yield from page
            last = page[-1][-1]

    def missing_metadata(
        self, domain: str, without: Mapping[str, str] = MappingProxyType({})
    ) -> dict[str, float]:
        """Per metadata field the share (0-1) of passages in which it is unknown; {} when empty.

        ``without``: field -> the level (效力级别) whose passages have no such field by their
        nature; there it does not count as unknown.
        """
        names = [n for n in _FIELDS if n not in ("part", "start", "end")]
        unknown = "COALESCE(json_extract(metadata, '$.{}'), '') IN ('', '[]')"
        expected = "COALESCE(json_extract(metadata, '$.level'), '') != ?"
        tests = ", ".join(
            f"AVG({unknown.format(n)}{f' AND {expected}' if n in without else ''})" for n in names
        )
        sql = f"SELECT {tests} FROM passages WHERE domain = ?"
        levels = [without[n] for n in names if n in without]
        shares = self._rows(sql, (*levels, domain))[0]
        return {} if shares[0] is None else dict(zip(names, shares, strict=True))

    def store_version(self, domain: str) -> int:
        """Counts the committed changes of a domain; 0 when it was never ingested."""
        return self._domain(domain)[0]

    def fingerprint(self, domain: str) -> str | None:
        """Key of the embedding model the domain was ingested with; None when never ingested."""
        return self._domain(domain)[1]

    def _domain(self, domain: str) -> tuple[int, str | None]:
        sql = "SELECT store_version, fingerprint FROM domains WHERE domain = ?"
        rows = self._rows(sql, (domain,))
        return (int(rows[0][0]), str(rows[0][1])) if rows else (0, None)

    # -- writing (the holder of the writer lock only) -----------------------------------------

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def owners(self, domain: str, ids: Iterable[str]) -> dict[str, str]:
        """The document keys that own these passage ids; unowned ids are left out."""
        sql = (
            "SELECT id, doc_key FROM passages"
            " WHERE domain = ? AND id IN (SELECT value FROM json_each(?))"
        )
        return {row[0]: row[1] for row in self._rows(sql, (domain, json.dumps(list(ids))))}

    def current(self, domain: str, doc_keys: Iterable[str]) -> dict[str, tuple[str, Passage]]:
        """id -> (row, passage) of everything these documents hold now."""
        sql = (
            "SELECT row, id, domain, content, metadata FROM passages"
            " WHERE domain = ? AND doc_key IN (SELECT value FROM json_each(?))"
        )
        found = self._rows(sql, (domain, json.dumps(list(doc_keys))))
        return {row[1]: (row[0], passage_of(row[1:])) for row in found}

    def set_fingerprint(self, domain: str, fingerprint: str) -> None:
        """Register a domain; its version starts at 0 (nothing committed yet)."""
        sql = "INSERT OR IGNORE INTO domains VALUES(?, 0, ?)"
        with self._transaction() as connection:
            connection.execute(sql, (domain, fingerprint))

    def pending(self, domain: str) -> tuple[str, ...]:
        """Rows that a writer was about to add or to delete when it last reported."""
        sql = "SELECT row FROM pending WHERE domain = ?"
        return tuple(row[0] for row in self._rows(sql, (domain,)))

    def add_pending(self, domain: str, rows: Iterable[str]) -> None:
        """Note rows that exist in the other stores, perhaps, without being listed here."""
        noted = [(domain, row) for row in rows]
        with self._transaction() as connection:
            connection.executemany("INSERT OR IGNORE INTO pending VALUES(?, ?)", noted)

    def clear_pending(self, domain: str) -> None:
        """Forget the notes: the other stores agree with the catalog again."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM pending WHERE domain = ?", (domain,))

    def listed(self, rows: Iterable[str]) -> set[str]:
        """Those of the rows that the catalog lists as current."""
        sql = (
            "SELECT row FROM passages WHERE id IN (SELECT value FROM json_each(?))"
            " AND row IN (SELECT value FROM json_each(?))"
        )
        wanted = list(rows)
        ids = json.dumps([row_id(row) for row in wanted])
        return {row[0] for row in self._rows(sql, (ids, json.dumps(wanted)))}

    def switch(
        self,
        domain: str,
        documents: Sequence[tuple[str, Document | None]],
        rows: Mapping[str, str],
        stale: Sequence[str],
    ) -> None:
        """Replace documents (None removes) in one transaction and move the store version.

        ``rows``: passage id -> its row; ``stale``: rows no longer listed, noted as pending.
        """
        keys = [doc_key for doc_key, _ in documents]
        with self._transaction() as connection:
            touched = documents_of(connection, domain, keys)
            for doc_key in keys:
                for table in ("passages", "documents"):
                    connection.execute(
                        f"DELETE FROM {table} WHERE domain = ? AND doc_key = ?", (domain, doc_key)
                    )
            for doc_key, document in documents:
                if document is not None:
                    insert_document(connection, domain, doc_key, document, rows)
            write_references(connection, touched | documents_of(connection, domain, keys))
            connection.execute("DELETE FROM pending WHERE domain = ?", (domain,))
            connection.executemany(
                "INSERT INTO pending VALUES(?, ?)", [(domain, row) for row in stale]
            )
            connection.execute(_MOVE, (domain,))

    def touch(self, domain: str) -> None:
        """Move the store version alone: readers have to open the other stores again."""
        with self._transaction() as connection:
            connection.execute(_MOVE, (domain,))
