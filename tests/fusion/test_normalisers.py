"""Min-max and mean ± 3σ, with a stated value for every odd input."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusion.normalisers import min_max, three_sigma

Normaliser = Callable[[Sequence[float]], list[float]]
NAN, INF = math.nan, math.inf
both = pytest.mark.parametrize("normalise", [min_max, three_sigma])


def test_min_max_puts_the_worst_at_0_and_the_best_at_1() -> None:
    assert min_max([2.0, 10.0, 4.0]) == [0.0, 1.0, 0.25]


def test_three_sigma_places_a_score_between_mean_minus_and_plus_three_sigma() -> None:
    # Mean 2, population σ 1: from -1 to 5.
    assert three_sigma([1.0, 3.0]) == pytest.approx([2 / 6, 4 / 6])
    # Mean 5, σ 2 (squares 9+1+1+1+0+0+4+16 = 32, over 8): from -1 to 11.
    assert three_sigma([2, 4, 4, 4, 5, 5, 7, 9]) == pytest.approx(
        [3 / 12, 5 / 12, 5 / 12, 5 / 12, 6 / 12, 6 / 12, 8 / 12, 10 / 12]
    )


def test_beyond_three_sigma_the_bottom_is_0_and_the_top_keeps_its_order() -> None:
    # Of 26 scores with one outlier its z is sqrt(25) = 5, so 0.5 + 5/6 above and 0.5 - 5/6 below.
    assert three_sigma([0.0] * 25 + [1.0])[-1] == pytest.approx(0.5 + 5 / 6)
    assert three_sigma([1.0] * 25 + [0.0])[-1] == 0.0


@pytest.mark.parametrize(
    ("normalise", "raw", "expected"),
    [
        (min_max, [], []),
        (min_max, [-4.0], [1.0]),
        (min_max, [0.1, 0.1, 0.1], [1.0, 1.0, 1.0]),
        (min_max, [NAN, 3.0, 1.0], [0.0, 1.0, 0.0]),
        (min_max, [INF, 3.0, 1.0, -INF], [1.0, 1.0, 0.0, 0.0]),
        (min_max, [NAN, NAN], [0.0, 0.0]),
        (min_max, [INF, -INF], [1.0, 0.0]),
        (min_max, [1.7e308, -1.7e308, 0.0], [1.0, 0.0, 0.5]),
        (three_sigma, [], []),
        (three_sigma, [-4.0], [0.5]),
        (three_sigma, [0.1, 0.1, 0.1], [0.5, 0.5, 0.5]),
        (three_sigma, [NAN, 1.0, 3.0], [0.0, 1 / 3, 2 / 3]),
        (three_sigma, [INF, 1.0, 3.0, -INF], [1.0, 1 / 3, 2 / 3, 0.0]),
        (three_sigma, [NAN, NAN], [0.0, 0.0]),
        (three_sigma, [1e308, 3e307], [2 / 3, 1 / 3]),
        (three_sigma, [1e-320, 3e-320], [1 / 3, 2 / 3]),
    ],
)
def test_odd_lists_have_stated_values(
    normalise: Normaliser, raw: list[float], expected: list[float]
) -> None:
    assert normalise(raw) == pytest.approx(expected, rel=1e-3 if 1e-320 in raw else 1e-12)


@both
@given(raw=st.lists(st.floats(), max_size=40))
def test_the_result_is_a_number_within_bounds(normalise: Normaliser, raw: list[float]) -> None:
    bound = 1.0 if normalise is min_max else max(1.0, 0.5 + math.sqrt(max(0, len(raw) - 1)) / 6)
    normal = normalise(raw)
    assert len(normal) == len(raw)
    assert all(0.0 <= value <= bound * (1 + 1e-9) for value in normal)


@both
@given(raw=st.lists(st.floats(), max_size=20))
def test_a_better_score_never_normalises_lower(normalise: Normaliser, raw: list[float]) -> None:
    pairs = sorted(
        (-INF if math.isnan(score) else score, value)
        for score, value in zip(raw, normalise(raw), strict=True)
    )
    values = [value for _, value in pairs]
    assert values == sorted(values)


@both
@given(
    raw=st.lists(st.integers(-1000, 1000), min_size=2, max_size=20),
    unit=st.integers(1, 1000),
    shift=st.integers(-1000, 1000),
)
def test_the_unit_and_the_zero_of_the_scores_do_not_matter(
    normalise: Normaliser, raw: list[int], unit: int, shift: int
) -> None:
    moved = [unit * score + shift for score in raw]
    assert normalise(moved) == pytest.approx(normalise(raw), abs=1e-9)
