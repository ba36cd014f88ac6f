"""Query history in SQLite (WAL): written by one thread in the background, bounded in size and age.

A query hands over its record and goes on: when the queue is full or writing fails, the record is
dropped and counted, and the query never notices.
"""

from __future__ import annotations

import json
import logging
import queue
import sqlite3
import threading
import zlib
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from configs.errors import InputError
from fusion.history import Feedback, QueryLog, check_verdict

_log = logging.getLogger(__name__)
_SCHEMA = """
CREATE TABLE IF NOT EXISTS queries(
  query_id TEXT PRIMARY KEY, at REAL NOT NULL, origin TEXT NOT NULL, body BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS queries_at ON queries(at);
CREATE TABLE IF NOT EXISTS feedback(
  query_id TEXT NOT NULL REFERENCES queries(query_id) ON DELETE CASCADE,
  passage_id TEXT NOT NULL, client TEXT NOT NULL, verdict TEXT NOT NULL, at REAL NOT NULL,
  PRIMARY KEY(query_id, passage_id, client));
"""
QUEUE = 1000
_PRUNE_EVERY = 100
_WAIT_S = 5.0

Job = Callable[[], QueryLog]


def _utc_now() -> datetime:
    return datetime.now(UTC)


class HistoryStore:
    """The history of one store directory. Thread-safe; several processes may share the file.

    ``max_rows`` queries at most, none older than ``max_days``; their verdicts go with them.
    """

    def __init__(
        self,
        path: Path,
        *,
        max_rows: int = 100_000,
        max_days: int = 365,
        clock: Callable[[], datetime] = _utc_now,
        queue_size: int = QUEUE,
    ) -> None:
        self._path, self._max_rows, self._max_days = path, max_rows, max_days
        self._clock = clock
        self._jobs: queue.Queue[Job | None] = queue.Queue(queue_size)
        self._dropped = 0
        self._closed = False
        self._lock = threading.Lock()
        self._writer: threading.Thread | None = None

    @property
    def dropped(self) -> int:
        """Records lost so far: the queue was full, or they could not be written."""
        return self._dropped

    def put(self, job: Job) -> bool:
        """Have ``job`` called and its record written in the background; False when dropped.

        Returns at once and never raises. The record is made in the background, too.
        """
        with self._lock:
            if self._closed:
                return False
            if self._writer is None:
                self._writer = threading.Thread(
                    target=self._write_all, name="policy-fusion-history", daemon=True
                )
                self._writer.start()
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            self._drop()
            return False
        return True

    def flush(self) -> None:
        """Wait until everything that was put is written or dropped."""
        self._jobs.join()

    def close(self) -> None:
        """Write what is waiting and end the thread. Idempotent."""
        with self._lock:
            writer, self._closed = self._writer, True
            self._writer = None
        if writer is not None:
            self._jobs.put(None)
            writer.join()

    def feedback(
        self, query_id: str, passage_id: str, verdict: str, *, client: str = ""
    ) -> Feedback:
        """Store a verdict; a client's later verdict on the same passage replaces the earlier one.

        Raises InputError for an unknown verdict, a query that is not in the history, or a passage
        that the query did not show.
        """
        known = check_verdict(verdict)
        self.flush()
        now = self._clock()
        with closing(self._connect()) as db, db:
            row = db.execute("SELECT body FROM queries WHERE query_id = ?", (query_id,)).fetchone()
            if row is None:
                raise InputError(
                    f"query {query_id!r} is not in the history; check the id, and that "
                    "history.enabled was true when it was asked"
                )
            if passage_id not in _read(row[0]).fused:
                raise InputError(
                    f"query {query_id} did not show passage {passage_id!r}; check the passage's id"
                )
            db.execute(
                "INSERT OR REPLACE INTO feedback VALUES(?, ?, ?, ?, ?)",
                (query_id, passage_id, client, known, now.timestamp()),
            )
        return Feedback(query_id, passage_id, known, now, client)

    def queries(self) -> list[QueryLog]:
        """All logged queries, oldest first."""
        self.flush()
        with closing(self._connect()) as db:
            rows = db.execute("SELECT body FROM queries ORDER BY at, query_id").fetchall()
        return [_read(body) for (body,) in rows]

    def verdicts(self) -> list[Feedback]:
        """All verdicts, oldest first."""
        with closing(self._connect()) as db:
            rows = db.execute(
                "SELECT query_id, passage_id, verdict, at, client FROM feedback "
                "ORDER BY at, query_id, passage_id, client"
            ).fetchall()
        return [
            Feedback(q, p, check_verdict(v), datetime.fromtimestamp(at, UTC), client)
            for q, p, v, at, client in rows
        ]

    def prune(self) -> int:
        """Remove what is too old or too much; the number of queries removed."""
        oldest = (self._clock() - timedelta(days=self._max_days)).timestamp()
        with closing(self._connect()) as db, db:
            gone = db.execute("DELETE FROM queries WHERE at < ?", (oldest,)).rowcount
            gone += db.execute(
                "DELETE FROM queries WHERE query_id IN "
                "(SELECT query_id FROM queries ORDER BY at DESC, query_id LIMIT -1 OFFSET ?)",
                (self._max_rows,),
            ).rowcount
        return gone

    def _connect(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self._path, timeout=_WAIT_S)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA foreign_keys = ON")
        db.executescript(_SCHEMA)
        return db

    def _write_all(self) -> None:
        since_prune = _PRUNE_EVERY  # the first record prunes what a former run left
        while True:
            job = self._jobs.get()
            try:
                if job is None:
                    return
                self._write(job())
                since_prune += 1
                if since_prune >= _PRUNE_EVERY:
                    self.prune()
                    since_prune = 0
            except Exception as error:  # whatever it is, it must not end the thread
                if not self._dropped:
                    _log.warning("query history cannot be written: %s", error)
                self._drop()
            finally:
                self._jobs.task_done()

    def _write(self, record: QueryLog) -> None:
        text = json.dumps(record.to_json(), ensure_ascii=False, separators=(",", ":"))
        body = zlib.compress(text.encode("utf-8"), 6)
        with closing(self._connect()) as db, db:
            db.execute(
                "INSERT OR REPLACE INTO queries VALUES(?, ?, ?, ?)",
                (record.query_id, record.at.timestamp(), record.origin, body),
            )

    def _drop(self) -> None:
        with self._lock:
            self._dropped += 1


def _read(body: bytes) -> QueryLog:
    return QueryLog.from_json(json.loads(zlib.decompress(body)))
