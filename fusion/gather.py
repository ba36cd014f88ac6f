"""Calls to several sources at once, each with its own deadline.

A call that hangs cannot be killed, so it must cost little: every source has a few daemon threads
of its own (a bulkhead, Nygard, *Release It!*, 2007). Hung calls hold only their source's threads,
never another source, and the exit of the process for two seconds at most; while all of them hang,
further calls are turned away at once as busy.
"""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Literal

THREADS_PER_SOURCE = 8
EXIT_GRACE_S = 2.0
"""A thread that the exit of the process meets inside native code (a model) aborts it, so wait."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call to one source; ``deadline`` in seconds of ``time.monotonic()``."""

    source: str
    key: str
    run: Callable[[], Any]
    deadline: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call: ``value`` when ``ok``, else one line of ``reason``.

    ``finished`` is the ``time.monotonic()`` at which it answered or was given up.
    """

    call: Call
    status: Literal["ok", "timed_out", "failed", "busy"]
    finished: float
    value: Any = None
    reason: str = ""


@dataclass(eq=False, slots=True)
class _Job:
    call: Call
    context: contextvars.Context
    future: Future[tuple[Any, float]] = field(default_factory=Future)


class _Workers:
    """The daemon threads of one source, started when first needed."""

    def __init__(self, source: str, size: int) -> None:
        self._source = source
        self._size = size
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._running: set[_Job] = set()
        self._load = 0
        self._threads = 0
        _every_workers.add(self)

    def submit(self, call: Call) -> _Job | None:
        """Queue the call; None when every thread is held by a call past its deadline."""
        job = _Job(call, contextvars.copy_context())
        with self._lock:
            now = time.monotonic()
            if sum(other.call.deadline < now for other in self._running) >= self._size:
                return None
            self._load += 1
            if self._load > self._threads and self._threads < self._size:
                self._threads += 1
                name = f"policy-fusion-{self._source}-{self._threads}"
                threading.Thread(target=self._work, name=name, daemon=True).start()
        self._queue.put(job)
        return job

    @property
    def busy(self) -> bool:
        """Whether any call is running."""
        with self._lock:
            return bool(self._running)

    def stop(self) -> None:
        """Let idle threads end; a hung one ends when its call returns."""
        with self._lock:
            for _ in range(self._threads):
                self._queue.put(None)

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            with self._lock:
                self._running.add(job)
            try:
                _execute(job)
            finally:
                with self._lock:
                    self._running.discard(job)
                    self._load -= 1


_every_workers: weakref.WeakSet[_Workers] = weakref.WeakSet()


@atexit.register
def _let_calls_end() -> None:
    deadline = time.monotonic() + EXIT_GRACE_S
    while any(workers.busy for workers in list(_every_workers)) and time.monotonic() < deadline:
        time.sleep(0.01)


def _execute(job: _Job) -> None:
    if not job.future.set_running_or_notify_cancel():
        return  # given up while it waited for a thread
    try:
        value = job.context.run(job.call.run)
    except BaseException as error:  # whatever a source raises is its own failure, not the query's
        job.future.set_exception(error)
    else:
        job.future.set_result((value, time.monotonic()))


class Gatherer:
    """Runs calls side by side and returns when each has answered or reached its deadline.

    Thread-safe. ``threads`` bounds the calls that one source has in flight.
    """

    def __init__(self, threads: int = THREADS_PER_SOURCE) -> None:
        self._size = threads
        self._lock = threading.Lock()
        self._workers: dict[str, _Workers] = {}

    def run(self, calls: Sequence[Call]) -> list[Outcome]:
        """The outcomes, one per call in the same order; never raises for a call."""
        return self.begin(calls)()

    def begin(self, calls: Sequence[Call]) -> Callable[[], list[Outcome]]:
        """Start the calls now; what comes back waits for them and gives what ``run`` does."""
        jobs = self._submit(calls)

        def outcomes() -> list[Outcome]:
            for job in sorted(filter(None, jobs), key=lambda job: job.call.deadline):
                wait([job.future], timeout=max(0.0, job.call.deadline - time.monotonic()))
            return [_outcome(call, job) for call, job in zip(calls, jobs, strict=True)]

        return outcomes

    async def arun(self, calls: Sequence[Call]) -> list[Outcome]:
        """As ``run``, without blocking the event loop."""
        jobs = self._submit(calls)
        for job in sorted(filter(None, jobs), key=lambda job: job.call.deadline):
            waiter = asyncio.wrap_future(job.future)
            timeout = max(0.0, job.call.deadline - time.monotonic())
            try:
                await asyncio.wait([waiter], timeout=timeout)
            finally:
                if waiter.done():
                    waiter.exception()  # read it, or asyncio logs it as never retrieved
                else:
                    waiter.cancel()
        return [_outcome(call, job) for call, job in zip(calls, jobs, strict=True)]

    def close(self) -> None:
        """End the idle threads; later calls start new ones."""
        with self._lock:
            workers, self._workers = list(self._workers.values()), {}
        for worker in workers:
            worker.stop()

    def _submit(self, calls: Sequence[Call]) -> list[_Job | None]:
        jobs = []
        for call in calls:
            with self._lock:
                workers = self._workers.setdefault(call.source, _Workers(call.source, self._size))
            jobs.append(workers.submit(call))
        return jobs


def _outcome(call: Call, job: _Job | None) -> Outcome:
    now = time.monotonic()
    if job is None:
        return Outcome(call, "busy", now, reason="still busy with calls that did not return")
    if not job.future.done() or job.future.cancelled():
        job.future.cancel()
        return Outcome(call, "timed_out", now, reason="no answer within its time limit")
    error = job.future.exception()
    if error is not None:
        text = " ".join(str(error).split())
        return Outcome(call, "failed", now, reason=f"{type(error).__name__}: {text}".rstrip(": "))
    value, finished = job.future.result()
    return Outcome(call, "ok", finished, value=value)
