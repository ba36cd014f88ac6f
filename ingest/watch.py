"""Keeps a domain in step with a folder: every change is ingested, what was deleted is removed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from watchfiles import Change
from watchfiles import watch as watch_files

from configs.errors import InputError, StoreBusyError
from configs.settings import Settings
from indexes.domain_index import domain_config
from indexes.embeddings import load_embedder
from ingest.parse import SUPPORTED_SUFFIXES
from ingest.pipeline import ingest
from ingest.report import IngestReport

if TYPE_CHECKING:
    from indexes.embeddings import TextEmbedder

DEBOUNCE_MS = 5000
"""Changes that come closer together than ``QUIET_MS`` wait for each other, at most so long."""

QUIET_MS = 500
RETRY_MS = 10_000
_MOUNTS = Path("/proc/self/mounts")
_REMOTE = (
    "nfs",
    "cifs",
    "smb",
    "fuse",
    "9p",
    "afs",
    "ceph",
    "vboxsf",
    "drvfs",
    "davfs",
    "glusterfs",
)


def watch(
    settings: Settings,
    domain: str,
    folder: Path,
    *,
    poll: bool = False,
    tell: Callable[[str], None],
    embedder: TextEmbedder | None = None,
    stop: threading.Event | None = None,
    debounce_ms: int = DEBOUNCE_MS,
) -> Iterator[IngestReport]:
    """Ingest ``folder`` with pruning now and after every change; the reports that tell anything.

    Network drives, whose changes the system does not announce, are looked through at intervals
    (``poll`` forces that). A store that is busy and a folder that is empty or gone for a while are
    told and tried again. Ends when ``stop`` is set. Raises KeyboardInterrupt on Ctrl-C,
    InputError for a path that is no folder, and what ``ingest`` raises of configuration and models.
    """
    config = domain_config(settings, domain)
    folder = folder.expanduser().resolve()
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; name the one to watch")
    model = embedder or load_embedder(config.embedding, settings.models_dir)
    told = ""
    before: IngestReport | None = None
    # The first round needs no change; the second finds what changed before the watching began.
    waiting = 2
    for changes in _rounds(folder, poll or is_remote(folder), stop, debounce_ms):
        if not changes and not waiting:
            continue
        try:
            report = ingest(settings, domain, [folder], prune=True, embedder=model, progress=False)
        except (InputError, StoreBusyError) as error:
            if str(error) != told:
                tell(str(error))
            told = str(error)
            waiting = 1 if isinstance(error, StoreBusyError) else max(0, waiting - 1)
            continue
        waiting, told = max(0, waiting - 1), ""
        if before is None or _news(before, report):
            yield report
        before = report


def _news(before: IngestReport, report: IngestReport) -> bool:
    written = report.added + report.changed + report.reparsed + report.removed
    return bool(written) or report.quarantined != before.quarantined


def _rounds(
    folder: Path, poll: bool, stop: threading.Event | None, debounce_ms: int
) -> Iterator[set[tuple[Change, str]]]:
    """An empty round at once and every ``RETRY_MS``, and one after each group of changes."""
    yield set()

    def supported(_: Change, path: str) -> bool:
        return Path(path).suffix.lower() in SUPPORTED_SUFFIXES or not Path(path).suffix

    def changes(force: bool) -> Iterator[set[tuple[Change, str]]]:
        return watch_files(
            folder,
            watch_filter=supported,
            debounce=debounce_ms,
            step=min(QUIET_MS, debounce_ms),
            stop_event=stop,
            rust_timeout=RETRY_MS,
            yield_on_timeout=True,
            force_polling=force,
        )

    try:
        yield from changes(poll)
    except OSError:  # the system's limit of watched folders
        if poll:
            raise
        yield from changes(True)


def is_remote(folder: Path, mounts: Path = _MOUNTS) -> bool:
    """Whether the folder lies on a network drive, as far as the system tells (Linux)."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    best = ("", "")
    for line in lines:
        _, place, kind, *_ = line.split(" ")
        place = place.replace("\\040", " ")
        inside = place == "/" or str(folder) == place or str(folder).startswith(place + os.sep)
        if inside and len(place) >= len(best[0]):
            best = (place, kind)
    return best[1].startswith(_REMOTE)
