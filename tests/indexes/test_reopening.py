from __future__ import annotations

import threading

import pytest

from indexes.reopening import Reopenable


class Source:
    """Counts openings; each value is the number of its opening."""

    def __init__(self) -> None:
        self.version, self.opened, self.now = 1, 0, 0.0
        self.closed: list[int] = []
        self.hold: threading.Event | None = None
        self.fail = False

    def open(self) -> int:
        if self.hold is not None:
            self.hold.wait(10)
        if self.fail:
            raise OSError("no space")
        self.opened += 1
        return self.opened

    def make(self, interval_s: float = 0.0, patience_s: float = 5.0) -> Reopenable[int]:
        return Reopenable(
            self.open,
            self.closed.append,
            lambda: self.version,
            interval_s=interval_s,
            patience_s=patience_s,
            clock=lambda: self.now,
        )


def use(held: Reopenable[int]) -> int:
    with held.use() as value:
        return value


def test_the_value_is_opened_again_when_the_version_moves_and_only_then() -> None:
    source = Source()
    held = source.make()
    assert [use(held), use(held)] == [1, 1]
    source.version = 2
    assert [use(held), use(held)] == [2, 2]
    assert source.closed == [1]


def test_the_old_value_is_closed_after_its_last_use() -> None:
    source = Source()
    held = source.make()
    with held.use() as old:
        source.version = 2
        assert use(held) == 2
        assert old == 1
        assert source.closed == []
    assert source.closed == [1]


def test_reopening_keeps_its_distance() -> None:
    source = Source()
    held = source.make(interval_s=2.0)
    source.version = 2
    assert use(held) == 1
    source.now = 1.9
    assert use(held) == 1
    source.now = 2.0
    assert use(held) == 2


def test_a_slow_reopening_does_not_hold_a_caller_up() -> None:
    source = Source()
    held = source.make(patience_s=0.01)
    source.hold = threading.Event()
    source.version = 2
    assert use(held) == 1  # still being opened
    source.hold.set()
    held.close()
    assert sorted(source.closed) == [1, 2]


def test_when_reopening_fails_the_old_value_goes_on_and_it_is_tried_again() -> None:
    source = Source()
    held = source.make()
    source.fail, source.version = True, 2
    assert use(held) == 1
    source.fail = False
    assert use(held) == 2


def test_close_waits_for_running_uses_and_refuses_new_ones() -> None:
    source = Source()
    held = source.make()
    with held.use():
        held.close()
        assert source.closed == []
    assert source.closed == [1]
    held.close()
    assert source.closed == [1]
    with pytest.raises(RuntimeError):
        use(held)


def test_many_threads_never_see_a_closed_value() -> None:
    source = Source()
    held = source.make(patience_s=0.001)
    wrong: list[int] = []

    def work() -> None:
        for _ in range(300):
            with held.use() as value:
                if value in source.closed:
                    wrong.append(value)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(50):
        source.version += 1
    for thread in threads:
        thread.join()
    held.close()
    assert wrong == []
    assert sorted(source.closed) == list(range(1, source.opened + 1))


def test_a_value_that_failed_is_replaced_by_a_newer_one_however_long_that_takes() -> None:
    source = Source()
    held = source.make(interval_s=1000.0, patience_s=0.0)
    with held.use() as failed:
        assert not held.renew(failed)  # nothing newer is there
        source.version = 2
        assert held.renew(failed)
        assert held.renew(failed)  # another thread's failure finds the new one open
    assert use(held) == 2
    source.version, source.fail = 3, True
    assert not held.renew(2)
    assert use(held) == 2
