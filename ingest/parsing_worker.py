"""The process that parses files for ``ingest.parsing_pool``: limits first, then one file at a time.

The kernel keeps the limits, so that no parser, in Python or C, can forget about them: RLIMIT_AS
bounds the memory, an interval timer ends the process when a document takes too long (a file, or one
of the many in a JSONL file or an archive). Time spent waiting for the reader of the results does
not count.
"""

from __future__ import annotations

import pickle
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from multiprocessing.connection import Connection
from pathlib import Path

from configs.errors import InputError
from indexes.schema import Document
from ingest.readers import BadRecord

FILES_PER_WORKER = 256
"""Files after which a process ends and is replaced: what libraries leak never adds up."""

Clock = Callable[[], date]
Parser = Callable[[Path, str, Path | None, Clock], Iterator[Document | BadRecord]]


@dataclass(frozen=True, slots=True)
class Failure:
    """A whole file that could not be parsed, and why: the last of its items."""

    reason: str


ParsedItem = Document | BadRecord | Failure


@dataclass(frozen=True, slots=True)
class ParseTask:
    """One file to parse; the fields are the arguments of ``parse_file``."""

    path: Path
    domain: str
    root: Path | None
    today: date


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """``parse``: picklable by reference; ``seconds``: wall clock per document; ``memory_mb``: MiB
    of address space."""

    parse: Parser
    seconds: float
    memory_mb: int


def parse_items(task: ParseTask, parse: Parser) -> Iterator[ParsedItem]:
    """The items of one file; what stops the parser comes last, as a Failure.

    MemoryError is left to the caller, who knows the limit.
    """
    try:
        yield from parse(task.path, task.domain, task.root, lambda: task.today)
    except InputError as error:
        yield Failure(str(error))
    except MemoryError:
        raise
    except Exception as error:  # one file must not stop the others
        text = " ".join(f"{type(error).__name__}: {error}".split())
        yield Failure(f"cannot be parsed ({text}); save it again as plain UTF-8 text")


def main(descriptor: int) -> None:
    """Serve the pool at the other end of the socket until it closes. Runs as its own process.

    Messages in: a WorkerSetup, then ParseTasks. Messages out: each item pickled, then an empty
    message that ends the file.
    """
    connection = Connection(descriptor)
    # A timer that no library has overridden ends the process, whatever it is doing.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    try:
        setup: WorkerSetup = pickle.loads(connection.recv_bytes())
        _limit_memory(setup.memory_mb)
        for _ in range(FILES_PER_WORKER):
            task: ParseTask = pickle.loads(connection.recv_bytes())
            if not _serve(connection, task, setup):
                return
    except (EOFError, ConnectionError):
        return  # the pool has gone


def _serve(connection: Connection, task: ParseTask, setup: WorkerSetup) -> bool:
    """Send what is in one file; False when this process should be replaced."""
    sound = True
    signal.setitimer(signal.ITIMER_REAL, setup.seconds)
    try:
        for item in parse_items(task, setup.parse):
            message = pickle.dumps(item, pickle.HIGHEST_PROTOCOL)
            signal.setitimer(signal.ITIMER_REAL, 0)
            connection.send_bytes(message)
            signal.setitimer(signal.ITIMER_REAL, setup.seconds)
    except MemoryError:
        sound = False
    signal.setitimer(signal.ITIMER_REAL, 0)
    if not sound:
        reason = out_of_memory(setup.memory_mb)
        connection.send_bytes(pickle.dumps(Failure(reason)))
    connection.send_bytes(b"")
    return sound


def out_of_memory(memory_mb: int) -> str:
    """The reason for a file that needs too much memory."""
    return f"needs more than {memory_mb} MB of memory to read: split it or save it again"


def _limit_memory(memory_mb: int) -> None:
    wanted = memory_mb * 2**20
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    if sys.platform == "darwin":  # which keeps to this one only
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
