"""Calls with deadlines: nothing a source does reaches the caller but as an outcome."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time

import pytest

from fusion.gather import Call, Gatherer


def call(source: str, run: object, seconds: float = 5.0, key: str = "dense") -> Call:
    return Call(source, key, run, time.monotonic() + seconds)  # type: ignore[arg-type]


@pytest.fixture
def release() -> threading.Event:
    event = threading.Event()
    yield event
    event.set()


def test_outcomes_come_in_the_order_of_the_calls_whatever_they_did() -> None:
    def broken() -> None:
        raise OSError("no\nsuch disk")

    found = Gatherer().run([call("a", lambda: 1), call("b", broken), call("c", lambda: 3)])
    assert [(o.status, o.value) for o in found] == [("ok", 1), ("failed", None), ("ok", 3)]
    assert found[1].reason == "OSError: no such disk"


def test_calls_run_side_by_side() -> None:
    barrier = threading.Barrier(3, timeout=5)  # passes only when all three run at once
    found = Gatherer().run([call(name, barrier.wait) for name in ("a", "b", "b")])
    assert [o.status for o in found] == ["ok"] * 3


def test_a_timeout_error_raised_by_the_source_is_a_failure_not_a_timeout() -> None:
    def broken() -> None:
        raise TimeoutError("its own")

    (found,) = Gatherer().run([call("a", broken)])
    assert found.status == "failed"
    assert "its own" in found.reason


def test_a_hung_call_is_given_up_at_its_own_deadline(release: threading.Event) -> None:
    start = time.monotonic()
    calls = [call("a", release.wait, 0.1), call("b", lambda: "here", 0.1)]
    found = Gatherer().run(calls)
    assert [o.status for o in found] == ["timed_out", "ok"]
    assert time.monotonic() - start < 2


def test_a_source_whose_every_thread_hangs_is_turned_away_at_once_and_recovers(
    release: threading.Event,
) -> None:
    gatherer = Gatherer(threads=2)
    gatherer.run([call("a", release.wait, 0.05), call("a", release.wait, 0.05)])
    start = time.monotonic()
    busy, other = gatherer.run([call("a", lambda: 1), call("b", lambda: 2)])
    assert (busy.status, other.status) == ("busy", "ok")
    assert time.monotonic() - start < 2
    release.set()
    for _ in range(100):
        (again,) = gatherer.run([call("a", lambda: 1)])
        if again.status == "ok":
            break
        time.sleep(0.02)
    assert again.status == "ok"


def test_a_call_waiting_behind_a_hung_one_is_never_run_after_it_was_given_up(
    release: threading.Event,
) -> None:
    ran: list[str] = []
    gatherer = Gatherer(threads=1)
    calls = [call("a", release.wait, 0.3), call("a", lambda: ran.append("late"), 0.1)]
    found = gatherer.run(calls)
    assert [o.status for o in found] == ["timed_out", "timed_out"]
    release.set()
    for _ in range(100):
        (after,) = gatherer.run([call("a", lambda: "next")])
        if after.status == "ok":
            break
        time.sleep(0.02)
    assert after.value == "next"
    assert ran == []


def test_threads_of_a_source_are_bounded() -> None:
    gatherer = Gatherer(threads=3)
    gatherer.run([call("bounded", lambda: time.sleep(0.01)) for _ in range(20)])
    names = [t.name for t in threading.enumerate() if "bounded" in t.name]
    assert 1 <= len(names) <= 3


async def test_the_event_loop_runs_on_while_sources_are_waited_for(
    release: threading.Event,
) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticker = asyncio.create_task(tick())
    found = await Gatherer().arun([call("a", release.wait, 0.3), call("b", lambda: 1, 0.3)])
    ticker.cancel()
    assert [o.status for o in found] == ["timed_out", "ok"]
    assert ticks >= 3


def test_the_process_lets_a_late_call_end_before_it_exits() -> None:
    code = (
        "import time\n"
        "from fusion.gather import Call, Gatherer\n"
        "def late(): time.sleep(0.6); print('ended', flush=True)\n"
        "g = Gatherer()\n"
        "print(g.run([Call('a', 'dense', late, time.monotonic() + 0.1)])[0].status, flush=True)\n"
        "g.close()\n"
        "del g\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout.split() == ["timed_out", "ended"]


def test_a_hung_source_does_not_keep_the_process_from_exiting() -> None:
    code = (
        "import time\n"
        "from fusion.gather import Call, Gatherer\n"
        "c = Call('a', 'dense', lambda: time.sleep(60), time.monotonic() + 0.1)\n"
        "print(Gatherer().run([c])[0].status)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout.strip() == "timed_out"
