"""What each mode does, in numbers worked by hand."""

from __future__ import annotations

import math
from typing import get_args

import pytest

from configs.settings import FusionMode
from fusion.modes import get_fuser
from fusion.modes.reciprocal_rerank import ReciprocalRerank
from fusion.modes.weighted_geometric_mean import WeightedGeometricMean
from fusion.types import Contribution, Fused, Fuser, Ranking, ScoredHit, recompute

MODES: tuple[FusionMode, ...] = get_args(FusionMode)


def ranking(source: str, *hits: tuple[str, float]) -> Ranking:
    """A ranking whose raw scores are ten times the calibrated ones."""
    return Ranking(source, tuple(ScoredHit(id_, 10 * score, score) for id_, score in hits))


def fuser(mode: FusionMode) -> Fuser:
    return get_fuser(mode, floor=0.01, rrf_k=60.0)


def scores(fused: tuple[Fused, ...]) -> dict[str, float]:
    return {one.id: one.score for one in fused}


A = ranking("a", ("x", 0.9), ("y", 0.64), ("z", 0.5))
B = ranking("b", ("z", 0.8), ("x", 0.4))


def test_geometric_mean_multiplies_and_counts_a_missing_score_as_the_floor() -> None:
    # x: √(.9·.4) = .6; z: √(.5·.8) = √.4; y: √(.64·.01) = .08
    fused = fuser("weighted_geometric_mean")([A, B], [1.0, 1.0])
    assert [one.id for one in fused] == ["z", "x", "y"]
    assert scores(fused) == pytest.approx({"z": math.sqrt(0.4), "x": 0.6, "y": 0.08})


def test_geometric_mean_weighs_by_exponents() -> None:
    # (.5³ · 1/16)^(1/4) = (2⁻³ · 2⁻⁴)^(1/4) = 2^(-7/4)
    fused = WeightedGeometricMean(1 / 16)([ranking("a", ("p", 0.5)), ranking("b")], [3.0, 1.0])
    assert scores(fused) == pytest.approx({"p": 2 ** (-7 / 4)})


def test_geometric_mean_keeps_scores_within_the_floor_and_one() -> None:
    odd = ranking("a", ("over", 1.5), ("under", 0.001), ("none", math.nan))
    fused = scores(fuser("weighted_geometric_mean")([odd], [1.0]))
    assert fused == pytest.approx({"over": 1.0, "under": 0.01, "none": 0.01})


def test_reciprocal_rank_adds_weight_over_k_plus_rank() -> None:
    fused = fuser("reciprocal_rerank")([A, B], [2.0, 1.0])
    assert scores(fused) == pytest.approx(
        {"x": 2 / 61 + 1 / 62, "y": 2 / 62, "z": 2 / 63 + 1 / 61}, abs=1e-15
    )
    assert [one.id for one in fused] == ["x", "z", "y"]


def test_relative_score_adds_weighted_min_max_of_the_raw_scores() -> None:
    # a: raw 9, 6.4, 5 -> 1, 1.4/4, 0; b: raw 8, 4 -> 1, 0
    fused = fuser("relative_score")([A, B], [0.5, 0.25])
    assert scores(fused) == pytest.approx({"x": 0.5, "y": 0.5 * 1.4 / 4, "z": 0.25})


def test_dist_based_score_adds_weighted_places_between_mean_and_three_sigma() -> None:
    # a: raw 3, 1 -> 4/6, 2/6 (mean 2, σ 1); b: raw 6, 2 -> 4/6, 2/6 (mean 4, σ 2)
    a, b = ranking("a", ("x", 0.3), ("y", 0.1)), ranking("b", ("y", 0.6), ("z", 0.2))
    fused = fuser("dist_based_score")([a, b], [0.75, 1.0])
    assert scores(fused) == pytest.approx({"x": 0.5, "y": 0.25 + 4 / 6, "z": 2 / 6})
    assert [one.id for one in fused] == ["y", "x", "z"]


def test_simple_keeps_the_greatest_weighted_calibrated_score() -> None:
    fused = fuser("simple")([A, B], [0.5, 1.0])
    assert scores(fused) == pytest.approx({"x": 0.45, "y": 0.32, "z": 0.8})


def test_simple_keeps_calibrated_scores_within_zero_and_one() -> None:
    odd = ranking("a", ("over", 1.5), ("none", math.nan), ("under", -0.5))
    assert scores(fuser("simple")([odd], [0.5])) == {"over": 0.5, "none": 0.0, "under": 0.0}


def test_the_two_normalising_modes_read_raw_scores_and_not_calibrated_ones() -> None:
    hits = (ScoredHit("x", 2.0, 0.9), ScoredHit("y", 1.0, 0.1), ScoredHit("z", 0.0, 0.05))
    assert scores(fuser("relative_score")([Ranking("a", hits)], [1.0])) == pytest.approx(
        {"x": 1.0, "y": 0.5, "z": 0.0}
    )
    # Mean 1, σ √(2/3): the middle is at 0.5, the others 1/6σ above and below.
    away = 1 / (6 * math.sqrt(2 / 3))
    assert scores(fuser("dist_based_score")([Ranking("a", hits)], [1.0])) == pytest.approx(
        {"x": 0.5 + away, "y": 0.5, "z": 0.5 - away}
    )


def test_a_contribution_tells_rank_raw_calibrated_and_counted_score() -> None:
    by_id = {one.id: one for one in fuser("reciprocal_rerank")([B, A], [3.0, 2.0])}
    assert by_id["y"].contributions == (
        Contribution("a", 2, 6.4, 1 / 62, 2.0, 2 / 62, 0.64),
        Contribution("b", None, None, 0.0, 3.0, 0.0, None),
    )
    geometric = {one.id: one for one in fuser("weighted_geometric_mean")([A, B], [1.0, 3.0])}
    missing = geometric["y"].contributions[1]
    assert missing[:5] == ("b", None, None, 0.01, 3.0)
    assert missing.value == pytest.approx(0.75 * math.log(0.01))
    assert missing.calibrated is None


@pytest.mark.parametrize("mode", MODES)
class TestEveryMode:
    def test_changing_weights_changes_the_order(self, mode: FusionMode) -> None:
        a = ranking("a", ("x", 0.9), ("y", 0.5))
        b = ranking("b", ("y", 0.9), ("x", 0.5))
        assert [one.id for one in fuser(mode)([a, b], [2.0, 1.0])] == ["x", "y"]
        assert [one.id for one in fuser(mode)([a, b], [1.0, 2.0])] == ["y", "x"]

    def test_changing_weights_changes_the_order_of_disjoint_lists(self, mode: FusionMode) -> None:
        a, b = ranking("a", ("x", 0.8)), ranking("b", ("y", 0.8))
        assert [one.id for one in fuser(mode)([a, b], [2.0, 1.0])] == ["x", "y"]
        assert [one.id for one in fuser(mode)([a, b], [1.0, 2.0])] == ["y", "x"]

    def test_a_weight_of_zero_removes_the_source_and_its_hits(self, mode: FusionMode) -> None:
        c = ranking("c", ("only-here", 0.99), ("x", 0.99))
        assert fuser(mode)([A, B, c], [1.0, 2.0, 0.0]) == fuser(mode)([A, B], [1.0, 2.0])

    def test_ties_go_by_id(self, mode: FusionMode) -> None:
        a = ranking("a", ("q", 0.9), ("m", 0.5))
        b = ranking("b", ("m", 0.9), ("q", 0.5))
        fused = fuser(mode)([a, b], [1.0, 1.0])
        assert fused[0].score == fused[1].score
        assert [one.id for one in fused] == ["m", "q"]

    def test_returned_by_both_beats_returned_by_one(self, mode: FusionMode) -> None:
        a = ranking("a", ("both", 0.7), ("one", 0.7))
        b = ranking("b", ("both", 0.7), ("other", 0.1))
        fused = scores(fuser(mode)([a, b], [1.0, 1.0]))
        if mode == "simple":
            assert fused["both"] == fused["one"]
        else:
            assert fused["both"] > fused["one"]

    def test_nothing_in_gives_nothing_out(self, mode: FusionMode) -> None:
        assert fuser(mode)([], []) == ()
        assert fuser(mode)([ranking("a"), ranking("b")], [1.0, 1.0]) == ()

    def test_an_empty_list_beside_a_full_one_is_no_trouble(self, mode: FusionMode) -> None:
        fused = fuser(mode)([A, ranking("empty")], [1.0, 1.0])
        assert [one.id for one in fused] == ["x", "y", "z"]
        assert all(one.contributions[1].rank is None for one in fused)

    def test_an_id_twice_in_one_ranking_is_refused(self, mode: FusionMode) -> None:
        with pytest.raises(ValueError, match="'a' has an id twice"):
            fuser(mode)([ranking("a", ("x", 0.9), ("x", 0.5))], [1.0])

    def test_bad_weights_are_refused(self, mode: FusionMode) -> None:
        for weights in ([-1.0, 2.0], [0.0, 0.0], [1.0], [math.nan, 1.0]):
            with pytest.raises(ValueError, match="weight"):
                fuser(mode)([A, B], weights)

    def test_scores_recompute_from_the_contributions(self, mode: FusionMode) -> None:
        for one in fuser(mode)([A, B], [0.3, 0.7]):
            assert recompute(one) == pytest.approx(one.score, abs=1e-12)

    def test_the_first_of_every_list_attains_the_attainable_score(self, mode: FusionMode) -> None:
        a = ranking("a", ("x", 1.0), ("y", 0.2), ("z", 0.1))
        b = ranking("b", ("x", 1.0), ("z", 0.3))
        top = fuser(mode)([a, b], [0.5, 2.0])[0].score
        bound = fuser(mode).attainable([a, b], [0.5, 2.0])
        if mode == "dist_based_score":
            assert top < bound == 2.5  # nothing lies 3σ above the mean of so short a list
        else:
            assert top == pytest.approx(bound)


def test_an_outlier_raises_what_dist_based_score_can_attain() -> None:
    # One of 26 differs: z = √25 = 5, place 0.5 + 5/6, times the weight 3.
    ids = [f"id{i:02}" for i in range(25)]
    a = ranking("a", ("top", 0.9), *[(id_, 0.1) for id_ in ids])
    assert fuser("dist_based_score").attainable([a], [3.0]) == pytest.approx(3 * (0.5 + 5 / 6))


@pytest.mark.parametrize("floor", [0.0, 1.0, -0.5, math.nan])
def test_a_floor_outside_zero_and_one_is_refused(floor: float) -> None:
    with pytest.raises(ValueError, match="floor"):
        WeightedGeometricMean(floor)


@pytest.mark.parametrize("k", [0.0, -1.0, math.inf, math.nan])
def test_an_rrf_constant_that_is_not_positive_is_refused(k: float) -> None:
    with pytest.raises(ValueError, match="rrf_k"):
        ReciprocalRerank(k)


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown fusion mode 'median'"):
        get_fuser("median", floor=0.01, rrf_k=60.0)  # type: ignore[arg-type]
