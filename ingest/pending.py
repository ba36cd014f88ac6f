"""What an ingest holds between reading a file and having it in the indexes."""

from __future__ import annotations

from dataclasses import dataclass, field

from indexes.schema import Document
from ingest.ledger import Quarantined
from ingest.validity import DocumentFacts, Validity
from ingest.walk import FoundFile


@dataclass
class FileJob:
    """One file on its way into the indexes; ``keys`` are those of the documents seen so far.

    ``before``: keys that the ledger knows of this path; ``gone``: those that leave the indexes.
    """

    found: FoundFile
    size: int
    mtime_ns: int
    sha256: str
    outcome: str
    moved_from: str | None
    before: frozenset[str]
    keys: set[str] = field(default_factory=set)
    gone: list[str] = field(default_factory=list)
    documents: int = 0
    passages: int = 0
    bad: list[Quarantined] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def path(self) -> str:
        return str(self.found.path)


@dataclass
class Batch:
    """What the next write holds: removals, documents, and the files that end with it."""

    removals: list[str] = field(default_factory=list)
    documents: list[tuple[FileJob, DocumentFacts, Validity | None, Document]] = field(
        default_factory=list
    )
    finished: list[FileJob] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    passages: int = 0
