"""Where the parts of one store directory lie, and the locks that guard them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from configs.errors import StoreBusyError

LOCK_WAIT_S = 2.0
GATE_WAIT_S = 120.0


@dataclass(frozen=True, slots=True)
class StoreLayout:
    """Paths of a store whose directory is ``root``; nothing is created until asked for."""

    root: Path

    @property
    def catalog(self) -> Path:
        return self.root / "catalog.sqlite"

    @property
    def embeddings(self) -> Path:
        return self.root / "embeddings.sqlite"

    @property
    def chroma(self) -> Path:
        return self.root / "chroma"

    @property
    def history(self) -> Path:
        return self.root / "history.sqlite"

    def keyword(self, domain: str) -> Path:
        return self.root / "keyword" / domain

    def create(self) -> None:
        """Make the directories that writers need."""
        self.chroma.mkdir(parents=True, exist_ok=True)

    def lock_writer(self, wait_s: float | None = None) -> FileLock:
        """Take the store's one-writer lock and return it held; the system frees it on a kill.

        Raises StoreBusyError when another writer keeps it for longer than ``wait_s`` seconds
        (None: ``LOCK_WAIT_S``).
        """
        wait = LOCK_WAIT_S if wait_s is None else wait_s
        lock = FileLock(self.root / "writer.lock", timeout=wait)
        try:
            lock.acquire()
        except Timeout as error:
            raise StoreBusyError(
                f"{self.root}: another ingest is writing to this store; "
                "wait until it ends, or give --store another directory"
            ) from error
        return lock

    @contextmanager
    def chroma_gate(self, wait_s: float = GATE_WAIT_S) -> Iterator[None]:
        """Keep opening the embedded Chroma and writing to it from overlapping.

        A process that opens Chroma replays its log into the vector index, which must not happen
        while another process saves that index. Held for one open or one batch, never for long.
        Raises StoreBusyError after ``wait_s`` seconds.
        """
        try:
            with FileLock(self.root / "chroma.lock", timeout=wait_s, poll_interval=0.01):
                yield
        except Timeout as error:
            raise StoreBusyError(
                f"{self.root}: the vector store stayed busy for {wait_s:g} s; "
                "try again when the running ingest has ended"
            ) from error
