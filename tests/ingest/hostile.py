"""Parsers that misbehave, by the name of the file; the worker processes import them by name."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from indexes.schema import Document
from ingest.parse import BadRecord, parse_file
from ingest.parsing_worker import Clock


def misbehave(
    path: Path, domain: str, root: Path | None, clock: Clock
) -> Iterator[Document | BadRecord]:
    """As ``parse_file``, except for files whose names begin with a kind of trouble."""
    name = path.name
    if name.startswith("hang"):
        while True:
            time.sleep(0.01)
    if name.startswith("eat"):
        hoard = []
        while True:
            hoard.append(bytearray(2**24))
    if name.startswith("crash"):
        os.kill(os.getpid(), signal.SIGSEGV)
    if name.startswith("once") and not (marker := path.with_suffix(".crashed")).exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGSEGV)
    if name.startswith("exit"):
        os._exit(0)
    yield from parse_file(path, domain, root, clock)
    if name.startswith("late"):
        os.kill(os.getpid(), signal.SIGSEGV)


def heavy_imports(*_: object) -> Iterator[Document | BadRecord]:
    """Tells, as a record, which big libraries the parsing process has loaded, and its number."""
    heavy = sorted({"torch", "chromadb", "transformers", "llama_index"} & set(sys.modules))
    yield BadRecord(" ".join(heavy) or "none", str(os.getpid()))
