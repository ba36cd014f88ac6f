"""What was ingested from which file: the ledger of a store (SQLite, WAL).

The order that makes a kill harmless: ``intend`` names every document that is about to be written,
then the indexes are changed, then ``commit`` records the file. A file without a committed row is
read again; the documents that an interrupted run may have left behind are known from ``intend``.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from configs.errors import InputError
from indexes.amendments import Amendment
from indexes.schema import Status
from ingest.validity import ArticleEnd, DocumentFacts, Repeal, Validity

LEDGER_NAME = "ledger.sqlite"
SCHEMA_VERSION = 2

QuarantineKind = Literal["file", "record", "duplicate"]

_TABLES = """
CREATE TABLE IF NOT EXISTS files (
  domain TEXT NOT NULL, path TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  sha256 TEXT NOT NULL, documents INTEGER NOT NULL, passages INTEGER NOT NULL,
  parser_version TEXT NOT NULL, ingested_at TEXT NOT NULL, warnings TEXT NOT NULL,
  PRIMARY KEY (domain, path)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS documents (
  domain TEXT NOT NULL, doc_key TEXT NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL,
  facts TEXT NOT NULL, applied TEXT, PRIMARY KEY (domain, doc_key)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS documents_path ON documents (domain, path);
CREATE TABLE IF NOT EXISTS quarantine (
  domain TEXT NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL,
  reason TEXT NOT NULL, PRIMARY KEY (domain, path, key)) WITHOUT ROWID;
"""
_DROP = "".join(f"DROP TABLE IF EXISTS {t};" for t in ("files", "documents", "quarantine"))


@dataclass(frozen=True, slots=True)
class FileRow:
    """One ingested file. ``size`` in bytes, ``sha256`` of its bytes, ``ingested_at`` ISO date."""

    path: str
    size: int
    mtime_ns: int
    sha256: str
    documents: int
    passages: int
    parser_version: str
    ingested_at: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quarantined:
    """What could not be ingested and why.

    ``key``: "" for a whole file, else the record or document inside it. ``kind``: ``file`` (nothing
    of it could be read), ``record`` (one record of it) or ``duplicate`` (the same document is
    already there from another file). ``file`` and ``duplicate`` are tried again at every ingest.
    """

    path: str
    key: str
    kind: QuarantineKind
    reason: str


def document_key(path: str, key: str) -> str:
    """The key under which the indexes know a document: its file, and its record in the file."""
    return f"{path}#{key}" if key else path


class Ledger:
    """The ledger of one store. One writer at a time (the store's lock sees to that).

    Raises InputError when the file is no ledger that this version can read.
    """

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.path = directory / LEDGER_NAME
        try:
            self._db = sqlite3.connect(self.path, timeout=30, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            found = self._db.execute("PRAGMA user_version").fetchone()[0]
            if found > SCHEMA_VERSION:
                raise InputError(
                    f"{self.path}: ledger of format {found}, this version reads {SCHEMA_VERSION};"
                    " update policy-fusion, or ingest into a new store"
                )
            if found < SCHEMA_VERSION:  # files are read anew; their embeddings are cached
                self._db.executescript(_DROP)
            self._db.executescript(_TABLES + f"PRAGMA user_version={SCHEMA_VERSION};")
        except sqlite3.DatabaseError as error:
            raise InputError(
                f"{self.path}: not a readable ledger ({error}); ingest into a new store"
            ) from error

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database; further calls fail."""
        self._db.close()

    def files(self, domain: str) -> dict[str, FileRow]:
        """The committed files of ``domain`` by path."""
        rows = self._db.execute(
            "SELECT path, size, mtime_ns, sha256, documents, passages, parser_version,"
            " ingested_at, warnings FROM files WHERE domain = ?",
            (domain,),
        )
        return {row[0]: _file_row(row) for row in rows}

    def domains(self) -> tuple[str, ...]:
        """The domains that anything was ingested into."""
        rows = self._db.execute("SELECT DISTINCT domain FROM files ORDER BY domain")
        return tuple(row[0] for row in rows)

    def totals(self, domain: str) -> tuple[int, int, int]:
        """``(files, documents, passages)`` committed for ``domain``."""
        row = self._db.execute(
            "SELECT COUNT(*), COALESCE(SUM(documents), 0), COALESCE(SUM(passages), 0)"
            " FROM files WHERE domain = ?",
            (domain,),
        ).fetchone()
        return int(row[0]), int(row[1]), int(row[2])

    def keys(self, domain: str, path: str) -> frozenset[str]:
        """Keys of documents of ``path`` that may be in the indexes; after a kill a superset."""
        rows = self._db.execute(
            "SELECT key FROM documents WHERE domain = ? AND path = ?", (domain, path)
        )
        return frozenset(row[0] for row in rows)

    def known_paths(self, domain: str) -> frozenset[str]:
        """Paths that are committed, quarantined, or left behind by an interrupted ingest."""
        rows = self._db.execute(
            "SELECT path FROM files WHERE domain = :d UNION SELECT path FROM documents"
            " WHERE domain = :d UNION SELECT path FROM quarantine WHERE domain = :d",
            {"d": domain},
        )
        return frozenset(row[0] for row in rows)

    def document_paths(self, domain: str) -> dict[str, str]:
        """Document key of the indexes -> path, of all documents that may be in the indexes."""
        rows = self._db.execute("SELECT doc_key, path FROM documents WHERE domain = ?", (domain,))
        return dict(rows.fetchall())

    def unfinished(self, domain: str) -> frozenset[str]:
        """Paths with documents but without a committed row: an ingest stopped half-way there."""
        rows = self._db.execute(
            "SELECT DISTINCT path FROM documents AS d WHERE domain = ? AND NOT EXISTS"
            " (SELECT 1 FROM files AS f WHERE f.domain = d.domain AND f.path = d.path)",
            (domain,),
        )
        return frozenset(row[0] for row in rows)

    def intend(
        self, domain: str, path: str, facts: Iterable[tuple[DocumentFacts, Validity | None]]
    ) -> None:
        """Before the indexes change: these documents of ``path`` are about to be written.

        With each goes the validity it is written with, None = the parser's own.
        """
        rows = [
            (domain, document_key(path, fact.key), path, fact.key, _dump(fact), _validity(applied))
            for fact, applied in facts
        ]
        with _transaction(self._db):
            self._db.execute("DELETE FROM files WHERE domain = ? AND path = ?", (domain, path))
            self._db.executemany("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?)", rows)

    def read_again(self, domain: str, paths: Iterable[str]) -> None:
        """Forget that these files were ingested, not their documents: they are read anew."""
        with _transaction(self._db):
            self._db.executemany(
                "DELETE FROM files WHERE domain = ? AND path = ?", [(domain, p) for p in paths]
            )

    def forget_documents(self, domain: str, path: str, keys: Iterable[str]) -> None:
        """After the indexes dropped these documents of ``path``."""
        with _transaction(self._db):
            self._db.executemany(
                "DELETE FROM documents WHERE domain = ? AND doc_key = ?",
                [(domain, document_key(path, key)) for key in keys],
            )

    def commit(self, domain: str, row: FileRow, quarantined: Iterable[Quarantined] = ()) -> None:
        """After the indexes hold all of the file: record it and what was wrong with its parts."""
        values = (
            *(row.path, row.size, row.mtime_ns, row.sha256, row.documents, row.passages),
            *(row.parser_version, row.ingested_at, json.dumps(row.warnings, ensure_ascii=False)),
        )
        with _transaction(self._db):
            self._db.execute(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (domain, *values),
            )
            self._replace_quarantine(domain, row.path, quarantined)

    def touch(self, domain: str, row: FileRow, size: int, mtime_ns: int) -> None:
        """The file was touched, its bytes are the same: remember the new stat."""
        self._db.execute(
            "UPDATE files SET size = ?, mtime_ns = ? WHERE domain = ? AND path = ?",
            (size, mtime_ns, domain, row.path),
        )

    def quarantine(self, domain: str, path: str, entries: Iterable[Quarantined]) -> None:
        """Replace the quarantine entries of ``path``; the last good version stays committed."""
        with _transaction(self._db):
            self._replace_quarantine(domain, path, entries)

    def quarantined(self, domain: str) -> tuple[Quarantined, ...]:
        """Everything in quarantine, by path and key."""
        rows = self._db.execute(
            "SELECT path, key, kind, reason FROM quarantine WHERE domain = ? ORDER BY path, key",
            (domain,),
        )
        return tuple(Quarantined(*row) for row in rows)

    def forget(self, domain: str, path: str) -> None:
        """Drop all that is known of ``path`` (after its documents left the indexes)."""
        with _transaction(self._db):
            for table in ("files", "documents", "quarantine"):
                self._db.execute(
                    f"DELETE FROM {table} WHERE domain = ? AND path = ?", (domain, path)
                )

    def facts(self, domain: str) -> dict[str, tuple[DocumentFacts, Validity | None]]:
        """By document key of the indexes: what the parser said, and the validity last applied.

        None where the indexes hold the parser's own validity, or where it is not known.
        """
        rows = self._db.execute(
            "SELECT doc_key, facts, applied FROM documents WHERE domain = ? ORDER BY doc_key",
            (domain,),
        )
        return {key: _known(key, facts, applied) for key, facts, applied in rows}

    def fact(self, domain: str, doc_key: str) -> tuple[DocumentFacts | None, Validity | None]:
        """What ``facts`` tells of one document; (None, None) when it is unknown."""
        row = self._db.execute(
            "SELECT facts, applied FROM documents WHERE domain = ? AND doc_key = ?",
            (domain, doc_key),
        ).fetchone()
        return (None, None) if row is None else _known(doc_key, *row)

    def applied(self, domain: str, changes: Mapping[str, Validity]) -> None:
        """After the indexes took these validities (by document key of the indexes)."""
        with _transaction(self._db):
            self._db.executemany(
                "UPDATE documents SET applied = ? WHERE domain = ? AND doc_key = ?",
                [(_validity(value), domain, key) for key, value in changes.items()],
            )

    def _replace_quarantine(self, domain: str, path: str, entries: Iterable[Quarantined]) -> None:
        self._db.execute("DELETE FROM quarantine WHERE domain = ? AND path = ?", (domain, path))
        self._db.executemany(
            "INSERT OR REPLACE INTO quarantine VALUES (?, ?, ?, ?, ?)",
            [(domain, path, entry.key, entry.kind, entry.reason) for entry in entries],
        )


class _transaction:  # noqa: N801 - reads as the statement it is
    """``BEGIN IMMEDIATE`` … ``COMMIT``, rolled back on any exception."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._db.execute("COMMIT" if kind is None else "ROLLBACK")


def _file_row(row: Sequence[Any]) -> FileRow:
    path, size, mtime_ns, sha256, documents, passages, parser, day, warnings = row
    texts = tuple(json.loads(warnings))
    return FileRow(path, size, mtime_ns, sha256, documents, passages, parser, day, texts)


def _dump(fact: DocumentFacts) -> str:
    return json.dumps(asdict(fact), ensure_ascii=False)


def _validity(value: Validity | None) -> str | None:
    return None if value is None else json.dumps(astuple(value))


def _known(key: str, facts: str, applied: str | None) -> tuple[DocumentFacts, Validity | None]:
    last = None
    if applied is not None:
        expires, status, effective, *ends = json.loads(applied)
        last = Validity(expires, status, effective, tuple(_article_end(*e) for e in chain(*ends)))
    return replace(_load(facts), key=key), last


def _article_end(
    day: str, status: Status | None, article: str, passage: str, new: Sequence[str]
) -> ArticleEnd:
    return ArticleEnd(day, status, article, passage, tuple(new))


def _load(text: str) -> DocumentFacts:
    values = json.loads(text)
    values["repeals"] = tuple(Repeal(**repeal) for repeal in values["repeals"])
    values["amends"] = tuple(Amendment(**change) for change in values.get("amends", ()))
    return DocumentFacts(**values)
