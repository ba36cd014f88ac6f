"""Paired tests against hand arithmetic, exact enumeration and scipy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from configs.errors import InputError
from eval.significance import (
    bootstrap_mean,
    compare_paired,
    paired_bootstrap,
    randomisation_test,
)


def exact_p_value(differences: list[float]) -> float:
    observed = abs(sum(differences))
    swaps = list(product((1, -1), repeat=len(differences)))
    sums = [abs(sum(s * d for s, d in zip(swap, differences, strict=True))) for swap in swaps]
    return sum(total >= observed - 1e-12 for total in sums) / len(swaps)


def test_equal_systems_differ_by_nothing() -> None:
    same = [0.0, 0.5, 1.0]
    result = compare_paired(same, same)
    assert (result.difference.low, result.difference.mean, result.difference.high) == (0, 0, 0)
    assert result.p_value == 1.0


def test_a_constant_advantage_has_a_point_interval() -> None:
    interval = paired_bootstrap([0.5, 0.75, 1.0], [0.25, 0.5, 0.75])
    assert (interval.low, interval.mean, interval.high) == (0.25, 0.25, 0.25)


def test_five_wins_of_five_have_p_of_two_in_thirty_two() -> None:
    p_value = randomisation_test([1.0] * 5, [0.0] * 5, resamples=50_000)
    assert exact_p_value([1.0] * 5) == 2 / 32
    assert p_value == pytest.approx(2 / 32, abs=0.005)


def test_the_p_value_agrees_with_exact_enumeration() -> None:
    first = [1.0, 0.5, 0.0, 1.0, 0.2, 0.33, 1.0, 0.1]
    second = [0.5, 0.5, 0.25, 0.2, 0.1, 0.0, 1.0, 0.0]
    differences = [a - b for a, b in zip(first, second, strict=True)]
    p_value = randomisation_test(first, second, resamples=50_000)
    assert p_value == pytest.approx(exact_p_value(differences), abs=0.007)


def test_swapping_the_systems_keeps_p_and_mirrors_the_difference() -> None:
    first, second = [1.0, 0.0, 0.5, 1.0], [0.0, 0.25, 0.5, 0.5]
    there, back = compare_paired(first, second), compare_paired(second, first)
    assert there.p_value == back.p_value
    assert there.difference.mean == -back.difference.mean
    assert (there.first, there.second) == (0.625, 0.3125)


def test_scipy_gives_the_same_interval_and_p_value() -> None:
    rng = np.random.default_rng(7)
    first = rng.random(120)
    second = np.clip(first + rng.normal(-0.03, 0.2, 120), 0, 1)
    differences = first - second
    theirs = stats.bootstrap(
        (differences,), np.mean, n_resamples=20_000, method="percentile", rng=1
    ).confidence_interval
    interval = paired_bootstrap(first.tolist(), second.tolist(), resamples=20_000, seed=3)
    assert interval.low == pytest.approx(theirs.low, abs=0.002)
    assert interval.high == pytest.approx(theirs.high, abs=0.002)
    permuted = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=20_000, rng=1
    )
    p_value = randomisation_test(first.tolist(), second.tolist(), resamples=20_000, seed=3)
    assert p_value == pytest.approx(permuted.pvalue, abs=0.01)


def test_the_interval_of_a_share_has_the_width_of_the_binomial() -> None:
    interval = bootstrap_mean([1.0] * 200 + [0.0] * 200, resamples=20_000)
    half = 1.96 * (0.25 / 400) ** 0.5
    assert interval.mean == 0.5
    assert interval.high - interval.low == pytest.approx(2 * half, rel=0.06)


def test_a_seed_repeats_and_many_rows_are_drawn_in_chunks() -> None:
    values = np.linspace(0, 1, 3000).tolist()
    assert bootstrap_mean(values, seed=5) == bootstrap_mean(values, seed=5)
    assert bootstrap_mean(values, seed=5) != bootstrap_mean(values, seed=6)


@pytest.mark.parametrize(("first", "second"), [([], []), ([1.0], [1.0, 0.0])])
def test_values_that_cannot_be_paired_are_an_input_error(
    first: list[float], second: list[float]
) -> None:
    with pytest.raises(InputError, match="cannot be paired"):
        compare_paired(first, second)


def test_nothing_to_resample_and_a_level_out_of_range_are_input_errors() -> None:
    with pytest.raises(InputError, match="no values"):
        bootstrap_mean([])
    with pytest.raises(InputError, match="level"):
        bootstrap_mean([1.0], level=1.0)
