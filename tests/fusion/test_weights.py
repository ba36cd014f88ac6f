"""Weights are checked once, for every mode."""

from __future__ import annotations

import math

import pytest

from fusion.types import Ranking
from fusion.weights import check_weights, weighted_sources


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        ([0.5, -0.1], "weight 1 is -0.1: weights must not be negative"),
        ([math.nan, 1.0], "weight 0 is nan: weights must be finite"),
        ([1.0, math.inf], "weight 1 is inf: weights must be finite"),
        ([0.0, 0.0], "all weights are 0"),
        ([1.0], "1 weights for 2 sources"),
        ([1.0, 1.0, 1.0], "3 weights for 2 sources"),
        ([1e308, 1e308], "add up to infinity"),
    ],
)
def test_bad_weights_are_refused_with_the_reason(weights: list[float], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        check_weights(weights, 2)


@pytest.mark.parametrize("weights", [[0.5, 0.5], [0.0, 3.0], [5e-324, 0.0], [7.0, 1e300]])
def test_weights_need_not_add_up_to_one(weights: list[float]) -> None:
    check_weights(weights, 2)


def test_a_weight_of_zero_removes_the_source_and_names_decide_the_order() -> None:
    b, a, c = Ranking("b", ()), Ranking("a", ()), Ranking("c", ())
    assert weighted_sources([b, a, c], [2, 1, 0]) == [(a, 1.0), (b, 2.0)]


def test_two_rankings_of_one_source_are_refused() -> None:
    with pytest.raises(ValueError, match="share a source name"):
        weighted_sources([Ranking("a", ()), Ranking("a", ())], [1.0, 1.0])
