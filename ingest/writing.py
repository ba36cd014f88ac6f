"""Writes batches into the indexes and the ledger, each while the next one is being embedded.

The model keeps all cores busy, the indexes hardly one: written in between, they would leave cores
idle. The order that makes a kill harmless holds for each batch: intend, write, record.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

from indexes.batching import DocumentChange
from indexes.writer import DomainWriter
from ingest.ledger import FileRow, Ledger, Quarantined, document_key
from ingest.pending import Batch
from ingest.progress import Progress
from ingest.validity import DocumentFacts, Validity


@dataclass(frozen=True, slots=True)
class _Underway:
    """A batch that a thread writes; ``refused``: document key -> why it is left out."""

    batch: Batch
    refused: Mapping[str, str]
    written: Future[None]


class BatchWriter:
    """Takes batches in their order; a context manager that waits for the last one.

    Only the indexes are written in a thread of its own; the ledger is the caller's. What the files
    came to stands in ``outcomes``, ``quarantined``, ``warnings``, ``documents``, ``passages``.
    """

    def __init__(
        self,
        domain: str,
        writer: DomainWriter,
        ledger: Ledger,
        bar: Progress,
        *,
        day: str,
        parser_version: str,
    ) -> None:
        """``day`` (ISO) and ``parser_version`` are recorded with every file."""
        self._domain, self._day, self._parser_version = domain, day, parser_version
        self._writer, self._ledger, self._bar = writer, ledger, bar
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writing")
        self._underway: _Underway | None = None
        self.outcomes: Counter[str] = Counter()
        self.quarantined: list[Quarantined] = []
        self.warnings: list[str] = []
        self.documents = self.passages = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            self._thread.shutdown()

    def put(self, batch: Batch) -> None:
        """Embed the batch, wait for the one before, and begin to write it.

        Raises what writing the batch before it raised.
        """
        changes = [DocumentChange(key, None) for key in batch.removals]
        changes += [
            DocumentChange(document_key(job.path, facts.key), document)
            for job, facts, _, document in batch.documents
        ]
        self._writer.embed(changes)
        self._finish()
        intended: dict[str, list[tuple[DocumentFacts, Validity | None]]] = defaultdict(list)
        for job, facts, applied, _ in batch.documents:
            intended[job.path].append((facts, applied))
        for path, entries in intended.items():
            self._ledger.intend(self._domain, path, entries)
        refused = self._writer.conflicts(changes)
        accepted = [change for change in changes if change.doc_key not in refused]
        written = self._thread.submit(self._writer.apply, accepted)
        self._underway = _Underway(batch, refused, written)

    def set_aside(self, path: str, entries: Sequence[Quarantined]) -> None:
        """Put a file, or parts of it, into quarantine."""
        self._ledger.quarantine(self._domain, path, entries)
        self.quarantined += entries

    def _finish(self) -> None:
        """Wait for the batch that is being written and record it."""
        underway, self._underway = self._underway, None
        if underway is None:
            return
        underway.written.result()
        for job, facts, _, document in underway.batch.documents:
            refusal = underway.refused.get(key := document_key(job.path, facts.key))
            if refusal is not None:
                reason = refusal.removeprefix(f"{key}: ")
                job.bad.append(Quarantined(job.path, facts.key, "duplicate", reason))
                if facts.key not in job.before:
                    self._ledger.forget_documents(self._domain, job.path, [facts.key])
                continue
            job.documents += 1
            job.passages += len(document.passages)
        self._record(underway.batch)

    def _record(self, batch: Batch) -> None:
        for path in batch.forgotten:
            self._ledger.forget(self._domain, path)
        for job in batch.finished:
            self._ledger.forget_documents(self._domain, job.path, job.gone)
            self.warnings += [f"{job.path}: {text}" for text in job.warnings]
            if not job.documents:
                self.set_aside(job.path, job.bad)
                continue
            row = FileRow(
                path=job.path,
                size=job.size,
                mtime_ns=job.mtime_ns,
                sha256=job.sha256,
                documents=job.documents,
                passages=job.passages,
                parser_version=self._parser_version,
                ingested_at=self._day,
                warnings=tuple(job.warnings),
            )
            self._ledger.commit(self._domain, row, job.bad)
            self.quarantined += job.bad
            self.outcomes[job.outcome] += 1
            self.documents += job.documents
            self.passages += job.passages
        self._bar.written(batch.passages)
