"""Parses files in processes of their own, several at a time, results in the order of the files.

A file that makes its parser hang, crash or eat memory costs its process and itself, nothing else.
Own code because the pools at hand do not fit: ``concurrent.futures`` and ``loky`` have no time-out
per task and lose every running task with one process, ``pebble`` has one but is LGPL and returns a
task's results in one piece, a million records at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Self

from configs.settings import IngestConfig
from ingest.parsing_worker import Failure, ParsedItem, Parser, ParseTask, WorkerSetup, out_of_memory

AHEAD_BYTES = 64 * 2**20
"""Parsed, not yet consumed results (pickled) above which only the file in turn is read on."""

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]);"
    " from ingest.parsing_worker import main; main(int(sys.argv[1]))"
)
_NO_MEMORY = (-signal.SIGKILL, -signal.SIGABRT)  # C libraries abort when they get no memory
_LIMITS = (-signal.SIGALRM, *_NO_MEMORY)
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass
class _Worker:
    """One process; ``task`` is the number of the file it parses, None while it waits for one."""

    process: subprocess.Popen[bytes]
    connection: Connection
    folder: Path
    task: int | None = None


@dataclass
class _Results:
    """What came of one file and was not consumed yet."""

    messages: deque[bytes] = field(default_factory=deque)
    ended: bool = False
    begun: bool = False  # something of it was given away
    crashed: bool = False  # once: its second process decides


class ParsingPool:
    """Parses ``tasks``; a context manager. ``items(n)`` must be called for n = 0, 1, 2 … in order.

    Processes start when there is work for them and are new interpreters (no fork of a process that
    runs models, no second run of the caller's script). They share no signal with the caller:
    Ctrl-C reaches the caller alone, and they end when it does.
    """

    def __init__(self, tasks: Sequence[ParseTask], config: IngestConfig, parse: Parser) -> None:
        self._tasks, self._config = tasks, config
        self._setup = WorkerSetup(parse, config.parse_seconds, config.parse_memory_mb)
        self._limit = min(config.parse_workers or available_cores(), len(tasks))
        self._workers: list[_Worker] = []
        self._results = [_Results() for _ in tasks]
        self._next = 0  # the first task that no process has had
        self._again: list[int] = []  # tasks whose process crashed
        self._turn = 0  # the task whose items are consumed
        self._buffered = 0
        self._changed = threading.Condition()
        self._closing = False
        self._error: BaseException | None = None
        self._waker, self._waking = os.pipe()
        os.set_blocking(self._waking, False)
        self._folder = Path(tempfile.mkdtemp(prefix="policy-fusion-"))
        self._thread = threading.Thread(target=self._run, name="parsing", daemon=True)

    def __enter__(self) -> Self:
        if self._tasks:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes, also amid a file."""
        with self._changed:
            self._closing = True
        if self._thread.is_alive():
            self._wake()
            self._thread.join()
        for worker in list(self._workers):
            self._end(worker)
        os.close(self._waking)
        os.close(self._waker)
        shutil.rmtree(self._folder, ignore_errors=True)

    def items(self, number: int) -> Iterator[ParsedItem]:
        """The items of one task as they come; a Failure, if any, is the last."""
        results = self._results[number]
        with self._changed:
            self._turn = number
        self._wake()
        while True:
            with self._changed:
                while not results.messages and not results.ended and self._error is None:
                    self._changed.wait()
                if self._error is not None:
                    raise self._error
                if not results.messages:
                    return
                message = results.messages.popleft()
                self._buffered -= len(message)
            self._wake()
            item: ParsedItem = pickle.loads(message)
            yield item

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):  # full: it has been woken often enough
            os.write(self._waking, b"!")

    # -- the thread that talks to the processes -----------------------------------------------

    def _run(self) -> None:
        try:
            while not self._closing:
                self._assign()
                busy = [w for w in self._workers if w.task is not None]
                if not busy and not self._again and self._next >= len(self._tasks):
                    return
                with self._changed:
                    heard = [w for w in busy if self._may_read(w)]
                ready = wait([self._waker, *(w.connection for w in heard)])
                if self._waker in ready:
                    os.read(self._waker, 4096)
                for worker in heard:
                    if worker.connection in ready:
                        self._read(worker)
        except BaseException as error:  # told to the consumer, who would wait for ever
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def _may_read(self, worker: _Worker) -> bool:
        if self._buffered < AHEAD_BYTES:
            return True
        return worker.task == self._turn and not self._results[self._turn].messages

    def _assign(self) -> None:
        while self._again or self._next < len(self._tasks):
            idle = next((w for w in self._workers if w.task is None), None)
            if idle is None:
                if len(self._workers) >= self._limit:
                    return
                idle = self._started()
            number = self._again[0] if self._again else self._next
            try:
                idle.connection.send_bytes(pickle.dumps(self._tasks[number]))
            except OSError:  # it had ended after its last file
                self._end(idle)
                continue
            idle.task = number
            if self._again:
                del self._again[0]
            else:
                self._next += 1

    def _started(self) -> _Worker:
        ours, theirs = Pipe()
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        debug = bool(os.environ.get("POLICY_FUSION_DEBUG"))
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-c", _START, str(theirs.fileno()), json.dumps(sys.path)],
                pass_fds=[theirs.fileno()],
                env={**os.environ, **_ONE_THREAD, "TMPDIR": str(folder)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=None if debug else subprocess.DEVNULL,
                start_new_session=True,
            )
        worker = _Worker(process, ours, folder)
        self._workers.append(worker)
        ours.send_bytes(pickle.dumps(self._setup))
        return worker

    def _read(self, worker: _Worker) -> None:
        assert worker.task is not None
        results = self._results[worker.task]
        try:
            message = worker.connection.recv_bytes()
        except (EOFError, OSError):
            self._end(worker)
            code = worker.process.returncode
            # What crashed may be what an earlier file left behind in that process.
            if code not in _LIMITS and not (results.begun or results.crashed):
                results.crashed = True
                self._again.append(worker.task)
                return
            message = pickle.dumps(Failure(self._why(code)))
            with self._changed:
                results.messages.append(message)
                self._buffered += len(message)
                results.ended = True
                self._changed.notify_all()
            return
        with self._changed:
            if message:
                results.begun = True
                results.messages.append(message)
                self._buffered += len(message)
            else:
                results.ended = True
                worker.task = None
            self._changed.notify_all()

    def _end(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.connection.close()
        try:  # one that ended by itself tells why
            worker.process.wait(timeout=0.0 if self._closing else 5.0)
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()
        shutil.rmtree(worker.folder, ignore_errors=True)

    def _why(self, code: int) -> str:
        if code == -signal.SIGALRM:
            seconds = self._config.parse_seconds
            return f"took longer than {seconds:g} s to read: split it or save it again"
        if code in _NO_MEMORY:
            return out_of_memory(self._config.parse_memory_mb)
        return "made its reader crash: open it in its program and save it again"


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
