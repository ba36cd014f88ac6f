"""Raw scores become comparable scores in (0, 1), and hits become a ranking."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configs.settings import CalibrationConfig
from fusion.calibration import HIGHEST, LOWEST, calibrate, calibrate_hits
from fusion.types import ScoredHit
from indexes.schema import Hit

IDENTITY = CalibrationConfig()
PLATT = CalibrationConfig(kind="platt", slope=2.0, intercept=-1.0)
ISOTONIC = CalibrationConfig(kind="isotonic", x=(0.0, 1.0, 3.0), y=(0.1, 0.2, 0.8))
curves = st.builds(
    CalibrationConfig,
    kind=st.sampled_from(["platt", "identity"]),
    slope=st.floats(0, exclude_min=True, allow_infinity=False),
    intercept=st.floats(allow_nan=False, allow_infinity=False),
)
knots = st.integers(2, 6).flatmap(
    lambda n: st.builds(
        lambda x, y: CalibrationConfig(kind="isotonic", x=tuple(sorted(x)), y=tuple(sorted(y))),
        st.lists(st.floats(-1e12, 1e12), min_size=n, max_size=n, unique=True),
        st.lists(st.floats(0, 1), min_size=n, max_size=n),
    )
)
configs = curves | knots


def test_isotonic_goes_straight_between_its_knots() -> None:
    assert [calibrate(ISOTONIC, x) for x in (0.0, 1.0, 3.0)] == [0.1, 0.2, 0.8]
    assert calibrate(ISOTONIC, 0.5) == pytest.approx(0.15)
    assert calibrate(ISOTONIC, 2.0) == pytest.approx(0.5)  # half way from .2 to .8
    assert calibrate(ISOTONIC, -9.0) == 0.1
    assert calibrate(ISOTONIC, 9.0) == 0.8


def test_platt_is_the_logistic_curve() -> None:
    assert calibrate(PLATT, 0.5) == 0.5
    # 2·1.5 - 1 = 2: 1 / (1 + e^-2); and by symmetry at -0.5.
    assert calibrate(PLATT, 1.5) == pytest.approx(1 / (1 + math.e**-2), abs=1e-15)
    assert calibrate(PLATT, -0.5) == pytest.approx(1 - 1 / (1 + math.e**-2), abs=1e-15)
    # ln 3 above the middle is three to one.
    three_to_one = CalibrationConfig(kind="platt", slope=1.0, intercept=math.log(3))
    assert calibrate(three_to_one, 0.0) == pytest.approx(0.75)


def test_identity_clips_to_the_open_unit_interval() -> None:
    assert calibrate(IDENTITY, 0.3) == 0.3
    assert calibrate(IDENTITY, 1.0) == calibrate(IDENTITY, 17.0) == HIGHEST < 1.0
    assert calibrate(IDENTITY, 0.0) == calibrate(IDENTITY, -2.0) == LOWEST > 0.0


@pytest.mark.parametrize("config", [IDENTITY, PLATT])
def test_a_score_that_is_no_number_counts_as_the_worst(config: CalibrationConfig) -> None:
    assert calibrate(config, math.nan) == calibrate(config, -math.inf) == LOWEST
    assert calibrate(config, math.inf) == HIGHEST


@given(config=configs, raw=st.floats())
def test_every_score_lands_inside_zero_and_one(config: CalibrationConfig, raw: float) -> None:
    assert 0.0 < calibrate(config, raw) < 1.0


@given(config=configs, a=st.floats(allow_nan=False), b=st.floats(allow_nan=False))
def test_a_better_raw_score_never_calibrates_lower(
    config: CalibrationConfig, a: float, b: float
) -> None:
    low, high = sorted((a, b))
    assert calibrate(config, low) <= calibrate(config, high)


def test_hits_are_ranked_once_each_by_their_best_score_and_ties_by_id() -> None:
    hits = [Hit("b", 0.5), Hit("c", 0.2), Hit("a", 0.5), Hit("c", 0.9), Hit("c", 0.1)]
    ranking = calibrate_hits("dense", hits, IDENTITY)
    assert ranking.source == "dense"
    assert ranking.hits == (
        ScoredHit("c", 0.9, 0.9),
        ScoredHit("a", 0.5, 0.5),
        ScoredHit("b", 0.5, 0.5),
    )


def test_a_hit_without_a_usable_score_stays_as_the_last() -> None:
    hits = [Hit("x", math.nan), Hit("b", -1e308), Hit("y", math.nan), Hit("y", 0.4)]
    ranking = calibrate_hits("dense", hits, IDENTITY)
    assert [hit.id for hit in ranking.hits] == ["y", "b", "x"]
    assert ranking.hits[-1] == ScoredHit("x", -math.inf, LOWEST)


def test_no_hits_make_an_empty_ranking() -> None:
    assert calibrate_hits("dense", [], PLATT).hits == ()


@given(
    st.lists(st.builds(Hit, st.sampled_from("abcde"), st.floats()), max_size=12),
    st.randoms(use_true_random=False),
)
def test_the_order_in_which_hits_arrive_does_not_matter(hits: list[Hit], rng: object) -> None:
    shuffled = list(hits)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert calibrate_hits("s", shuffled, PLATT) == calibrate_hits("s", hits, PLATT)
