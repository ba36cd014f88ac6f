"""Brings files into one domain: walk, hash, parse, write in batches, record, link versions."""

from __future__ import annotations

import hashlib
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from configs.errors import InputError
from configs.settings import IngestConfig, Settings
from indexes.batching import BATCH_PASSAGES, DocumentChange
from indexes.domain_index import domain_config
from indexes.embeddings import load_embedder
from indexes.schema import Document
from indexes.writer import DomainWriter
from ingest.disk_full import disk_full_told
from ingest.ledger import FileRow, Ledger, Quarantined, document_key
from ingest.linking import apply_links
from ingest.parse import PARSER_VERSION, SUPPORTED_SUFFIXES, BadRecord, parse_file
from ingest.parsing import FileParser
from ingest.parsing_worker import Failure, ParsedItem, Parser, ParseTask
from ingest.pending import Batch, FileJob
from ingest.progress import CountingEmbedder, Progress
from ingest.report import IngestReport, peak_rss_mb
from ingest.versions import DocumentFacts, Validity, facts_of, with_validity
from ingest.walk import FoundFile, Walk, find_files

if TYPE_CHECKING:
    from indexes.embeddings import TextEmbedder


def ingest(
    settings: Settings,
    domain: str,
    paths: Sequence[str | Path],
    *,
    prune: bool = False,
    retry: bool = False,
    embedder: TextEmbedder | None = None,
    clock: Callable[[], date] = date.today,
    progress: bool = True,
    parse: Parser | None = None,
) -> IngestReport:
    """Make the domain's indexes hold what the files say; files that did not change cost a stat.

    ``prune`` removes what came from files that vanished below the folders in ``paths``. A file or
    record that cannot be ingested goes to quarantine with its reason, its last good version stays
    searchable, and the others go on. Killed at any moment, the next call completes the work.
    ``retry`` reads only those files below ``paths`` of which something is in quarantine.
    ``parse`` stands in for ``parse_file``; it must be importable by name (see ``FileParser``).

    Raises ConfigError (unknown domain), InputError (a path that is missing or holds no supported
    file, a store that cannot be written), StoreBusyError (another ingest is running),
    StoreMismatchError (another model), ModelMissingError.
    """
    started = time.monotonic()
    config = domain_config(settings, domain)
    walk = find_files([Path(path) for path in paths], SUPPORTED_SUFFIXES)
    _make_directory(Path(settings.store.dir))
    bar = Progress(domain, enabled=progress)
    model = embedder or load_embedder(config.embedding, settings.models_dir)
    counting = CountingEmbedder(model, bar.embedded)
    today = clock()
    with (
        disk_full_told(Path(settings.store.dir)),
        DomainWriter.open(settings, domain, counting) as writer,
        Ledger(Path(settings.store.dir)) as ledger,
    ):
        parser = parse or parse_file
        run = _Run(domain, settings.ingest, parser, walk, writer, ledger, bar, today, retry)
        try:
            run.files(prune)
        finally:
            bar.close()
        linked = apply_links(writer, ledger, domain, today)
    outcomes = run.outcomes
    return IngestReport(
        domain=domain,
        added=outcomes["added"],
        changed=outcomes["changed"],
        reparsed=outcomes["reparsed"],
        removed=outcomes["removed"],
        unchanged=outcomes["unchanged"],
        documents=run.documents,
        passages=run.passages,
        linked=linked,
        quarantined=tuple(run.quarantined),
        skipped=walk.skipped,
        warnings=tuple(run.warnings),
        seconds=time.monotonic() - started,
        peak_rss_mb=peak_rss_mb(),
    )


class _Run:
    """One ingest call with the store open."""

    def __init__(
        self,
        domain: str,
        config: IngestConfig,
        parse: Parser,
        walk: Walk,
        writer: DomainWriter,
        ledger: Ledger,
        bar: Progress,
        today: date,
        retry: bool,
    ) -> None:
        self._domain, self._walk, self._today, self._retry = domain, walk, today, retry
        self._config, self._parse = config, parse
        self._writer, self._ledger, self._bar = writer, ledger, bar
        self._read_lost_files_again()
        self._known = ledger.files(domain)
        self._facts = ledger.facts(domain)
        self._quarantine: dict[str, list[Quarantined]] = defaultdict(list)
        for entry in ledger.quarantined(domain):
            self._quarantine[entry.path].append(entry)
        self._batch = Batch()
        self.outcomes: Counter[str] = Counter()
        self.quarantined: list[Quarantined] = []
        self.warnings: list[str] = []
        self.documents = self.passages = 0

    def files(self, prune: bool) -> None:
        """Work through everything that the walk found."""
        wanted = self._walk.files
        if self._retry:
            wanted = tuple(found for found in wanted if str(found.path) in self._quarantine)
        jobs = [job for found in wanted if (job := self._classify(found)) is not None]
        self._forget_vanished(prune, {job.moved_from for job in jobs})
        self._bar.start(sum(job.size for job in jobs))
        tasks = [
            ParseTask(job.found.path, self._domain, job.found.root, self._today) for job in jobs
        ]
        sizes = [job.size for job in jobs]
        with FileParser(tasks, sizes, self._config, self._parse) as parser:
            for n, job in enumerate(jobs):
                self._read(job, parser.items(n))
        self._flush()

    def _read_lost_files_again(self) -> None:
        """A catalog that lost documents (an older copy put back) gets them anew."""
        listed = {document.doc_key for document in self._writer.catalog.documents(self._domain)}
        paths = self._ledger.document_paths(self._domain)
        lost = {path for key, path in paths.items() if key not in listed}
        self._ledger.read_again(self._domain, sorted(lost))

    def _classify(self, found: FoundFile) -> FileJob | None:
        """The job this file needs; None when it is unchanged or cannot be read."""
        path = str(found.path)
        old = self._known.get(path)
        entries = self._quarantine.get(path, [])
        try:
            stat = found.path.stat()
            if stat.st_size > self._config.max_file_mb * 1e6:
                size, limit = f"{stat.st_size / 1e6:.0f}", f"{self._config.max_file_mb:g}"
                reason = f"is {size} MB, more than the {limit} MB allowed (max_file_mb); split it"
                self._set_aside(path, [Quarantined(path, "", "file", reason)])
                return None
            settled = (
                old is not None
                and not self._retry
                and old.parser_version == PARSER_VERSION
                and all(entry.kind == "record" for entry in entries)
            )
            if old and settled and (old.size, old.mtime_ns) == (stat.st_size, stat.st_mtime_ns):
                self._unchanged(entries)
                return None
            digest = _sha256(found.path)
        except OSError as error:
            reason = f"cannot be read ({error.strerror}); check its permissions"
            self._set_aside(path, [Quarantined(path, "", "file", reason)])
            return None
        if old and settled and old.sha256 == digest:
            self._ledger.touch(self._domain, old, stat.st_size, stat.st_mtime_ns)
            self._unchanged(entries)
            return None
        outcome = "added" if old is None else "changed"
        if old and old.sha256 == digest:
            outcome = "unchanged" if old.parser_version == PARSER_VERSION else "reparsed"
        return FileJob(
            found,
            stat.st_size,
            stat.st_mtime_ns,
            digest,
            outcome,
            self._moved_from(digest) if old is None else None,
            self._ledger.keys(self._domain, path),
        )

    def _moved_from(self, digest: str) -> str | None:
        """The path under which a file that exists no more had the same bytes."""
        present = {str(found.path) for found in self._walk.files}
        for row in self._known.values():
            if row.sha256 == digest and row.path not in present and not os.path.lexists(row.path):
                del self._known[row.path]
                return row.path
        return None

    def _unchanged(self, entries: Sequence[Quarantined]) -> None:
        self.outcomes["unchanged"] += 1
        self.quarantined += entries

    def _set_aside(self, path: str, entries: Sequence[Quarantined]) -> None:
        self._ledger.quarantine(self._domain, path, entries)
        self.quarantined += entries

    def _forget_vanished(self, prune: bool, moved: set[str | None]) -> None:
        for path in self._walk.vanished(self._ledger.known_paths(self._domain)):
            keys = self._ledger.keys(self._domain, path)
            if path in moved or (keys and not prune):
                continue
            self._batch.removals += [document_key(path, key) for key in sorted(keys)]
            self._batch.forgotten.append(path)
            self.outcomes["removed"] += bool(keys)

    def _read(self, job: FileJob, items: Iterator[ParsedItem]) -> None:
        if job.moved_from is not None:
            keys = sorted(self._ledger.keys(self._domain, job.moved_from))
            self._batch.removals += [document_key(job.moved_from, key) for key in keys]
            self._batch.forgotten.append(job.moved_from)
        failure = None
        size = job.size
        for item in items:
            if isinstance(item, Failure):
                failure = Quarantined(job.path, "", "file", item.reason)
            elif isinstance(item, BadRecord):
                job.bad.append(Quarantined(job.path, item.key, "record", item.reason))
            else:
                self._bar.parsed(size, len(item.passages))
                size = 0
                self._add(job, item)
        if failure is not None or not job.keys:
            # Whatever of it is in the indexes stays: the last good version, or what came before.
            self._set_aside(job.path, [*([failure] if failure else ()), *job.bad])
            return
        missing = sorted(job.before - job.keys)
        if missing and len(missing) <= len(job.bad):
            job.warnings.append(f"{len(missing)} documents kept: their records may be unreadable")
        else:
            job.gone = missing
            self._batch.removals += [document_key(job.path, key) for key in missing]
        self._batch.finished.append(job)
        if self._batch.passages >= BATCH_PASSAGES:
            self._flush()

    def _add(self, job: FileJob, document: Document) -> None:
        if self._batch.passages >= BATCH_PASSAGES:
            self._flush()
        key = document.passages[0].metadata.record
        facts = facts_of(document, key)
        job.keys.add(key)
        job.warnings += [f"{key}: {text}" if key else text for text in document.warnings]
        # Written with the validity that other documents gave it, it never looks in force meanwhile.
        full_key = document_key(job.path, key)
        old_facts, applied = self._facts.get(full_key, (None, None))
        if applied is not None and old_facts == replace(facts, key=full_key):
            document = with_validity(document, applied)
        else:
            applied = None
        self._batch.documents.append((job, facts, applied, document))
        self._batch.passages += len(document.passages)

    def _flush(self) -> None:
        batch, self._batch = self._batch, Batch()
        intended: dict[str, list[tuple[DocumentFacts, Validity | None]]] = defaultdict(list)
        for job, facts, applied, _ in batch.documents:
            intended[job.path].append((facts, applied))
        for path, entries in intended.items():
            self._ledger.intend(self._domain, path, entries)
        changes = [DocumentChange(key, None) for key in batch.removals]
        changes += [
            DocumentChange(document_key(job.path, facts.key), document)
            for job, facts, _, document in batch.documents
        ]
        refused = self._writer.conflicts(changes)
        self._writer.apply([change for change in changes if change.doc_key not in refused])
        for job, facts, _, document in batch.documents:
            key = document_key(job.path, facts.key)
            if key in refused:
                reason = refused[key].removeprefix(f"{key}: ")
                job.bad.append(Quarantined(job.path, facts.key, "duplicate", reason))
                if facts.key not in job.before:
                    self._ledger.forget_documents(self._domain, job.path, [facts.key])
                continue
            job.documents += 1
            job.passages += len(document.passages)
        self._record(batch)

    def _record(self, batch: Batch) -> None:
        for path in batch.forgotten:
            self._ledger.forget(self._domain, path)
        for job in batch.finished:
            self._ledger.forget_documents(self._domain, job.path, job.gone)
            self.warnings += [f"{job.path}: {text}" for text in job.warnings]
            if not job.documents:
                self._set_aside(job.path, job.bad)
                continue
            row = FileRow(
                path=job.path,
                size=job.size,
                mtime_ns=job.mtime_ns,
                sha256=job.sha256,
                documents=job.documents,
                passages=job.passages,
                parser_version=PARSER_VERSION,
                ingested_at=self._today.isoformat(),
                warnings=tuple(job.warnings),
            )
            self._ledger.commit(self._domain, row, job.bad)
            self.quarantined += job.bad
            self.outcomes[job.outcome] += 1
            self.documents += job.documents
            self.passages += job.passages
        self._bar.written(batch.passages)


def _make_directory(store: Path) -> None:
    try:
        store.mkdir(parents=True, exist_ok=True)
        writable = os.access(store, os.W_OK | os.X_OK)
        reason = "no permission to write"
    except OSError as error:
        writable, reason = False, error.strerror or str(error)
    if not writable:
        raise InputError(
            f"{store}: cannot be used as a store ({reason}); give --store a folder to write to"
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
