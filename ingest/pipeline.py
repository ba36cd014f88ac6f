"""Brings files into one domain: walk, hash, parse, write in batches, link versions."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from configs.errors import InputError
from configs.settings import IngestConfig, Settings
from indexes.batching import BATCH_PASSAGES
from indexes.domain_index import domain_config
from indexes.embeddings import load_embedder
from indexes.schema import Document
from indexes.writer import DomainWriter
from ingest.archive import UNSUPPORTED
from ingest.disk_full import disk_full_told
from ingest.ledger import Ledger, Quarantined, document_key
from ingest.linking import apply_links
from ingest.parse import PARSER_VERSION, SUPPORTED_SUFFIXES, BadRecord, parse_file
from ingest.parsing import FileParser
from ingest.parsing_worker import Failure, ParsedItem, Parser, ParseTask
from ingest.pending import Batch, FileJob
from ingest.progress import CountingEmbedder, Progress
from ingest.report import IngestReport, peak_rss_mb
from ingest.validity import with_validity
from ingest.versions import facts_of
from ingest.walk import FoundFile, Walk, file_digest, find_files
from ingest.warming import WarmedEmbedder
from ingest.writing import BatchWriter

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
    ``retry`` reads only those files below ``paths`` of which something is in quarantine
    (not archives of which only members of unsupported types are).
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
    today = clock()
    with (
        disk_full_told(Path(settings.store.dir)),
        WarmedEmbedder(model, Path(settings.store.dir), domain, walk) as warmed,
        DomainWriter.open(settings, domain, CountingEmbedder(warmed, bar.embedded)) as writer,
        Ledger(Path(settings.store.dir)) as ledger,
    ):
        parser = parse or parse_file
        batches = BatchWriter(
            domain, writer, ledger, bar, day=today.isoformat(), parser_version=PARSER_VERSION
        )
        run = _Run(domain, settings.ingest, parser, walk, writer, ledger, batches, today, retry)
        try:
            with batches:
                run.files(prune, bar)
        finally:
            bar.close()
        linked = apply_links(writer, ledger, domain, today)
    outcomes = batches.outcomes
    return IngestReport(
        domain=domain,
        added=outcomes["added"],
        changed=outcomes["changed"],
        reparsed=outcomes["reparsed"],
        removed=outcomes["removed"],
        unchanged=outcomes["unchanged"],
        documents=batches.documents,
        passages=batches.passages,
        linked=linked,
        quarantined=tuple(batches.quarantined),
        skipped=walk.skipped,
        warnings=tuple(batches.warnings),
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
        batches: BatchWriter,
        today: date,
        retry: bool,
    ) -> None:
        self._domain, self._walk, self._today, self._retry = domain, walk, today, retry
        self._config, self._parse = config, parse
        self._writer, self._ledger, self._batches = writer, ledger, batches
        self._read_lost_files_again()
        self._known = ledger.files(domain)
        self._present = frozenset(str(found.path) for found in walk.files)
        self._by_digest: dict[str, list[str]] = defaultdict(list)
        for row in self._known.values():
            self._by_digest[row.sha256].append(row.path)
        self._quarantine: dict[str, list[Quarantined]] = defaultdict(list)
        for entry in ledger.quarantined(domain):
            self._quarantine[entry.path].append(entry)
        self._batch = Batch()

    def files(self, prune: bool, bar: Progress) -> None:
        """Work through everything that the walk found."""
        wanted = self._walk.files
        if self._retry:
            wanted = tuple(found for found in wanted if self._may_be_mended(str(found.path)))
        jobs = [job for found in wanted if (job := self._classify(found)) is not None]
        self._forget_vanished(prune, {job.moved_from for job in jobs})
        bar.start(sum(job.size for job in jobs))
        tasks = [
            ParseTask(job.found.path, self._domain, job.found.root, self._today) for job in jobs
        ]
        sizes = [job.size for job in jobs]
        with FileParser(tasks, sizes, self._config, self._parse) as parser:
            for n, job in enumerate(jobs):
                self._read(job, parser.items(n), bar)
        self._flush()

    def _may_be_mended(self, path: str) -> bool:
        """Whether reading the file again can help: an archive's unsupported members stay so."""
        return any(entry.key != UNSUPPORTED for entry in self._quarantine.get(path, ()))

    def _read_lost_files_again(self) -> None:
        """A catalog that lost documents (an older copy put back) gets them anew."""
        listed = self._writer.catalog.document_keys(self._domain)
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
                self._batches.set_aside(path, [Quarantined(path, "", "file", reason)])
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
            digest = file_digest(found.path)
        except OSError as error:
            reason = f"cannot be read ({error.strerror}); check its permissions"
            self._batches.set_aside(path, [Quarantined(path, "", "file", reason)])
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
        paths = self._by_digest.get(digest, [])
        for path in paths:
            if path not in self._present and not os.path.lexists(path):
                paths.remove(path)
                return path
        return None

    def _unchanged(self, entries: Sequence[Quarantined]) -> None:
        self._batches.outcomes["unchanged"] += 1
        self._batches.quarantined += entries

    def _forget_vanished(self, prune: bool, moved: set[str | None]) -> None:
        for path in self._walk.vanished(self._ledger.known_paths(self._domain)):
            keys = self._ledger.keys(self._domain, path)
            if path in moved or (keys and not prune):
                continue
            self._batch.removals += [document_key(path, key) for key in sorted(keys)]
            self._batch.forgotten.append(path)
            self._batches.outcomes["removed"] += bool(keys)

    def _read(self, job: FileJob, items: Iterator[ParsedItem], bar: Progress) -> None:
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
                bar.parsed(size, len(item.passages))
                size = 0
                self._add(job, item)
        if failure is not None or not job.keys:
            # Whatever of it is in the indexes stays: the last good version, or what came before.
            self._batches.set_aside(job.path, [*([failure] if failure else ()), *job.bad])
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
        old_facts, applied = self._ledger.fact(self._domain, full_key)
        if applied is not None and old_facts == replace(facts, key=full_key):
            document = with_validity(document, applied)
        else:
            applied = None
        self._batch.documents.append((job, facts, applied, document))
        self._batch.passages += len(document.passages)

    def _flush(self) -> None:
        self._batches.put(self._batch)
        self._batch = Batch()


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
