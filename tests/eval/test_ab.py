"""Sessions are split for good, and the comparison may be looked at any time."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configs.errors import InputError
from eval.ab import outcomes, verdict_of
from eval.sequential import block_log_e, sequential_test
from fusion.experiment import arm_of
from fusion.history import Feedback, QueryLog

START = datetime(2024, 6, 1, tzinfo=UTC)
rates = st.floats(0.001, 0.999)


def test_a_session_keeps_its_arm_and_experiments_are_independent() -> None:
    names = [f"session-{i}" for i in range(2000)]
    first = [arm_of(name, "spring") for name in names]
    assert first == [arm_of(name, "spring") for name in names]
    assert 900 < first.count("b") < 1100
    second = [arm_of(name, "autumn") for name in names]
    assert 900 < sum(x == y for x, y in zip(first, second, strict=True)) < 1100


def test_a_share_is_kept_at_its_ends_and_between() -> None:
    names = [f"session-{i}" for i in range(2000)]
    assert {arm_of(name, "x", 0.0) for name in names} == {"a"}
    assert {arm_of(name, "x", 1.0) for name in names} == {"b"}
    assert 140 < [arm_of(name, "x", 0.1) for name in names].count("b") < 260


@pytest.mark.parametrize(("session", "share"), [(" ", 0.5), ("s", 1.5), ("s", math.nan)])
def test_a_blank_session_or_an_impossible_share_is_refused(session: str, share: float) -> None:
    with pytest.raises(InputError):
        arm_of(session, "x", share)


@given(rates, rates, rates)
def test_no_bet_gains_on_average_while_the_rates_are_equal(
    p_a: float, p_b: float, truth: float
) -> None:
    def chance(success: bool) -> float:
        return truth if success else 1.0 - truth

    expected = sum(
        chance(one) * chance(other) * math.exp(block_log_e(p_a, p_b, one, other))
        for one in (True, False)
        for other in (True, False)
    )
    assert expected <= 1.0 + 1e-9


def test_the_first_pairs_by_hand() -> None:
    # First pair: both arms expect .5, so nothing is bet: e = 1. Then a has 1.18 / 1.36 = .8676,
    # b .18 / 1.36 = .1324, together .5: e = .8676 ** 2 / .25 = 3.0112 (again a good, b not).
    once = sequential_test([True], [False])
    assert (once.pairs, once.e_value, once.p_value) == (1, pytest.approx(1.0), pytest.approx(1.0))
    twice = sequential_test([True, True, True], [False, False])
    assert twice.pairs == 2
    assert twice.e_value == pytest.approx(3.0112, abs=1e-3)
    assert twice.p_value == pytest.approx(1 / 3.0112, abs=1e-3)
    assert (twice.rate_a, twice.rate_b) == (1.0, 0.0)


def test_looking_after_every_session_seldom_finds_what_is_not_there() -> None:
    rng = random.Random(5)
    alarms = 0
    for _ in range(400):
        a, b = ([rng.random() < 0.3 for _ in range(200)] for _ in range(2))
        alarms += sequential_test(a, b).p_value <= 0.05  # the lowest of all 200 looks
    assert alarms / 400 <= 0.05


def test_a_clear_difference_is_found_and_named() -> None:
    rng = random.Random(6)
    a = [rng.random() < 0.3 for _ in range(400)]
    b = [rng.random() < 0.6 for _ in range(400)]
    assert verdict_of(sequential_test(a, b), 3, 4).startswith("version 4 is better")
    assert verdict_of(sequential_test(b, a), 3, 4).startswith("version 3 is better")
    assert "go on" in verdict_of(sequential_test(a[:5], b[:5]), 3, 4)


def test_without_sessions_nothing_is_claimed() -> None:
    empty = sequential_test([], [])
    assert (empty.pairs, empty.e_value, empty.p_value) == (0, 1.0, 1.0)


def logged(number: int, session: str, weights: int | None, **changes: object) -> QueryLog:
    made = QueryLog(f"q{number}", START + timedelta(minutes=number), "", (), (), (), weights)
    fields = {f: getattr(made, f) for f in made.__slots__} | {"session": session} | changes
    return QueryLog(**fields)  # type: ignore[arg-type]


def test_a_session_counts_once_for_the_version_it_met() -> None:
    queries = [
        logged(5, "late", 2),
        logged(1, "one", None),
        logged(2, "one", None),
        logged(3, "two", 2),
        logged(4, "both", None),
        logged(6, "both", 2),
        logged(7, "", 2),
        logged(8, "trial", 2, origin="eval"),
        logged(9, "other", 7),
    ]
    verdicts = [
        Feedback("q2", "law:a@1#a1", "accepted", START),
        Feedback("q3", "law:a@1#a1", "rejected", START),
        Feedback("q5", "law:a@1#a1", "clicked", START),
    ]
    seen = outcomes(queries, verdicts, 0, 2)
    assert seen.a == (True,)
    assert seen.b == (False, True)
    assert seen.mixed == 1
