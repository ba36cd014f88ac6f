"""What holds of every mode whatever the rankings and weights are."""

from __future__ import annotations

import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configs.settings import CalibrationConfig, FusionMode
from fusion.calibration import calibrate_hits
from fusion.modes import get_fuser
from fusion.types import Fuser, Ranking, ScoredHit, recompute
from indexes.schema import Hit

MODES: tuple[FusionMode, ...] = get_args(FusionMode)
PLATT = CalibrationConfig(kind="platt", slope=1.5, intercept=-0.5)
every_mode = pytest.mark.parametrize("mode", MODES)

hits = st.lists(st.builds(Hit, st.sampled_from("abcdefgh"), st.floats()), max_size=12)
weights = st.one_of(st.just(0.0), st.floats(0, 1e6), st.floats(1e-3, 10))


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Ranking], list[float]]:
    """Up to four rankings of overlapping ids with any scores, and weights that are not all 0."""
    found = draw(st.lists(hits, min_size=1, max_size=4))
    rankings = [calibrate_hits(f"s{i}", some, PLATT) for i, some in enumerate(found)]
    n = len(rankings)
    return rankings, draw(st.lists(weights, min_size=n, max_size=n).filter(any))


def fuser(mode: FusionMode) -> Fuser:
    return get_fuser(mode, floor=0.02, rrf_k=60.0)


@every_mode
@given(case=cases(), order=st.permutations(range(4)))
def test_the_order_of_the_sources_does_not_matter(
    mode: FusionMode, case: tuple[list[Ranking], list[float]], order: list[int]
) -> None:
    rankings, given_weights = case
    moved = [i for i in order if i < len(rankings)]
    again = fuser(mode)([rankings[i] for i in moved], [given_weights[i] for i in moved])
    assert again == fuser(mode)(rankings, given_weights)


@every_mode
@given(case=cases(), names=st.permutations(range(4)))
def test_the_names_of_the_sources_do_not_matter(
    mode: FusionMode, case: tuple[list[Ranking], list[float]], names: list[int]
) -> None:
    rankings, given_weights = case
    renamed = [Ranking(f"s{names[i]}", r.hits) for i, r in enumerate(rankings)]
    before, after = fuser(mode)(rankings, given_weights), fuser(mode)(renamed, given_weights)
    assert [(one.id, one.score) for one in after] == [(one.id, one.score) for one in before]


@every_mode
@given(case=cases())
def test_scores_are_numbers_within_bounds_sorted_and_recomputable(
    mode: FusionMode, case: tuple[list[Ranking], list[float]]
) -> None:
    rankings, given_weights = case
    fused = fuser(mode)(rankings, given_weights)
    bound = fuser(mode).attainable(rankings, given_weights)
    lowest = 0.02 if mode == "weighted_geometric_mean" else 0.0
    for one in fused:
        assert lowest * (1 - 1e-12) <= one.score <= bound * (1 + 1e-9)
        assert math.isclose(recompute(one), one.score, rel_tol=1e-12, abs_tol=1e-12)
        assert len(one.contributions) == sum(weight > 0 for weight in given_weights)
    assert list(fused) == sorted(fused, key=lambda one: (-one.score, one.id))


@every_mode
@given(case=cases())
def test_every_passage_of_a_weighted_source_appears_once(
    mode: FusionMode, case: tuple[list[Ranking], list[float]]
) -> None:
    rankings, given_weights = case
    expected = {
        hit.id for r, w in zip(rankings, given_weights, strict=True) if w > 0 for hit in r.hits
    }
    ids = [one.id for one in fuser(mode)(rankings, given_weights)]
    assert sorted(ids) == sorted(expected)


@every_mode
@given(case=cases(), factor=st.sampled_from([0.25, 0.5, 2.0, 8.0]))
def test_weights_count_only_relative_to_each_other(
    mode: FusionMode, case: tuple[list[Ranking], list[float]], factor: float
) -> None:
    rankings, given_weights = case
    # Powers of two scale without rounding, so even the ties must stay as they are; weights near
    # the smallest float would still lose bits, so those are left out.
    given_weights = [0.0 if weight < 1e-290 else weight for weight in given_weights]
    if not any(given_weights):
        return
    scaled = fuser(mode)(rankings, [factor * weight for weight in given_weights])
    assert [one.id for one in scaled] == [one.id for one in fuser(mode)(rankings, given_weights)]


@pytest.mark.parametrize("mode", ["weighted_geometric_mean", "simple"])
@given(
    case=cases(),
    source=st.integers(0, 3),
    position=st.integers(0, 11),
    better=st.floats(0, 1),
)
def test_a_better_score_never_lowers_a_passage(
    mode: FusionMode,
    case: tuple[list[Ranking], list[float]],
    source: int,
    position: int,
    better: float,
) -> None:
    rankings, given_weights = case
    chosen = rankings[source % len(rankings)]
    if not chosen.hits:
        return
    hit = chosen.hits[position % len(chosen.hits)]
    raised = hit._replace(score=max(hit.score, better))
    others = [other for other in chosen.hits if other is not hit]
    # The rank is of no matter to these two modes.
    changed = [
        Ranking(chosen.source, (raised, *others)) if ranking is chosen else ranking
        for ranking in rankings
    ]
    before = {one.id: one.score for one in fuser(mode)(rankings, given_weights)}
    after = {one.id: one.score for one in fuser(mode)(changed, given_weights)}
    assert after.get(hit.id, 0.0) >= before.get(hit.id, 0.0)


@every_mode
@given(scores=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12))
def test_one_source_alone_keeps_its_order(mode: FusionMode, scores: list[float]) -> None:
    raw = calibrate_hits("s", [Hit(f"h{i:02}", s) for i, s in enumerate(scores)], PLATT)
    place = {one.id: one.score for one in fuser(mode)([raw], [0.7])}
    values = [place[hit.id] for hit in raw.hits]
    assert values == sorted(values, reverse=True)


@given(rank=st.integers(1, 10), case=cases())
def test_a_better_rank_never_lowers_a_passage_in_reciprocal_rank(
    rank: int, case: tuple[list[Ranking], list[float]]
) -> None:
    others, given_weights = case
    ids = [f"n{i}" for i in range(11)]
    climbing = ids[rank]
    moved = ids.copy()
    moved[rank - 1], moved[rank] = moved[rank], moved[rank - 1]

    def score(order: list[str]) -> float:
        first = Ranking("first", tuple(ScoredHit(id_, 0.5, 0.5) for id_ in order))
        fused = fuser("reciprocal_rerank")([first, *others], [1.0, *given_weights])
        return next(one.score for one in fused if one.id == climbing)

    assert score(moved) > score(ids)
