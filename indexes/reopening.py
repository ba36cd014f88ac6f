"""A resource that is opened again, beside its running users, when its data have moved on."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
_log = logging.getLogger(__name__)
REST = 10.0
"""A reopening that took t seconds is followed by at least ``REST`` x t without one."""


@dataclass
class _Held(Generic[T]):
    value: T
    version: int
    users: int = 0
    retired: bool = False


class Reopenable(Generic[T]):
    """Hands out one open value to any number of threads; the old one is closed after its last use.

    Reopening happens in the background. A caller waits for it ``patience_s`` seconds at most and
    then goes on with the old value, so that a large store never costs a question its time-out.
    """

    def __init__(
        self,
        opener: Callable[[], T],
        closer: Callable[[T], None],
        version: Callable[[], int],
        *,
        interval_s: float,
        patience_s: float = 0.2,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._opener, self._closer, self._version = opener, closer, version
        self._interval, self._patience, self._clock = interval_s, patience_s, clock
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None
        self._closed = False
        # The version is read before opening: what is opened is at least that new.
        known = version()
        self._held = _Held(opener(), known)
        self._not_before = clock() + interval_s

    @contextmanager
    def use(self) -> Iterator[T]:
        """The value, kept open until the block ends."""
        self._follow()
        with self._lock:
            if self._closed:
                raise RuntimeError("used after close")
            held = self._held
            held.users += 1
        try:
            yield held.value
        finally:
            self._release(held)

    def renew(self, failed: T) -> bool:
        """After ``failed`` could not be used: wait until another value is open, False without."""
        known = self._version()
        with self._lock:
            if self._held.value is not failed:
                return True
            if self._closed or known == self._held.version:
                return False
            worker = self._worker or self._start(known)
        worker.join()
        with self._lock:
            return self._held.value is not failed

    def _follow(self) -> None:
        known = self._version()
        with self._lock:
            due = known != self._held.version and self._clock() >= self._not_before
            if not due or self._worker is not None or self._closed:
                return
            worker = self._start(known)
        worker.join(self._patience)

    def _start(self, version: int) -> threading.Thread:
        worker = threading.Thread(target=self._reopen, args=(version,), daemon=True)
        self._worker = worker
        worker.start()
        return worker

    def _reopen(self, version: int) -> None:
        started = self._clock()
        fresh: _Held[T] | None = None
        try:
            fresh = _Held(self._opener(), version)
        except Exception:
            _log.warning(
                "the store could not be opened again; searching the old view", exc_info=True
            )
        now = self._clock()
        with self._lock:
            self._worker = None
            self._not_before = now + max(self._interval, REST * (now - started))
            old = self._held
            if fresh is None:
                return
            self._held = fresh
            old.users += 1
            old.retired = True
            fresh.retired = self._closed
            fresh.users += 1
        self._release(old)
        self._release(fresh)

    def _release(self, held: _Held[T]) -> None:
        with self._lock:
            held.users -= 1
            last = held.retired and held.users == 0
        if last:
            self._closer(held.value)

    def close(self) -> None:
        """Close the value after its last use; later ``use`` is refused."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            worker = self._worker
        if worker is not None:
            worker.join()
        with self._lock:
            held = self._held
            if held.retired:
                return
            held.users += 1
            held.retired = True
        self._release(held)
