"""Signals are fused inside each domain, then the domains, and the trace says how."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configs.errors import InputError
from configs.settings import FusionMode, Settings, load_settings
from fusion.two_stage import FusedPassage, FusionPlan, fuse_domain, fuse_two_stage, trace_of
from indexes.schema import Hit, SignalName

MODES: tuple[FusionMode, ...] = get_args(FusionMode)
Signals = Mapping[str, Mapping[SignalName, Sequence[Hit]]]
A, B, C = "law:甲@1#a1", "law:乙@1#a1", "fiscal:丙@1#a1"
LAW_AND_FISCAL: Signals = {
    "law": {"dense": [Hit(A, 0.9), Hit(B, 0.5)], "keyword": [Hit(A, 0.4)]},
    "fiscal": {"dense": [Hit(C, 0.64)], "keyword": [Hit(C, 0.25)]},
}


def settings(
    law: float = 1.0,
    fiscal: float = 1.0,
    signal_weights: tuple[float, float] = (1.0, 1.0),
    **fusion: Any,
) -> Settings:
    dense, keyword = signal_weights

    def domain(name: str, weight: float) -> dict[str, Any]:
        return {
            "label": name,
            "collection": name,
            "embedding": {},
            "dense": {"weight": dense},
            "keyword": {"weight": keyword},
            "weight": weight,
        }

    return Settings.model_validate(
        {
            "domains": {"law": domain("law", law), "fiscal": domain("fiscal", fiscal)},
            "fusion": fusion,
        }
    )


def plan(*args: Any, **kwargs: Any) -> FusionPlan:
    return FusionPlan.from_settings(settings(*args, **kwargs))


def scores(fused: Sequence[FusedPassage]) -> dict[str, float]:
    return {passage.id: passage.score for passage in fused}


def test_worked_example_of_the_documentation() -> None:
    # Inside: A √(.9·.4) = .6, B √(.5·.01) = .0707, C √(.64·.25) = .4.
    # Across, law 3 : fiscal 1, floor .01: (inner³ · .01)^¼ for A and B, (.01³ · .4)^¼ for C.
    fused = fuse_two_stage(plan(law=3.0, fiscal=1.0), LAW_AND_FISCAL)
    assert scores(fused) == pytest.approx(
        {A: 0.00216**0.25, B: (0.005**1.5 * 0.01) ** 0.25, C: 4e-7**0.25}
    )
    assert scores(fused) == pytest.approx({A: 0.2156, B: 0.0434, C: 0.0251}, abs=5e-5)
    assert [passage.id for passage in fused] == [A, B, C]
    assert [passage.domain for passage in fused] == ["law", "law", "fiscal"]

    # law 1 : fiscal 3: (inner · .01³)^¼ and (.4³ · .01)^¼ = (.00064)^¼.
    turned = fuse_two_stage(plan(law=1.0, fiscal=3.0), LAW_AND_FISCAL)
    assert scores(turned) == pytest.approx({C: 0.1591, A: 0.0278, B: 0.0163}, abs=5e-5)
    assert [passage.id for passage in turned] == [C, A, B]


def test_signal_weights_change_the_order_inside_a_domain() -> None:
    signals: Signals = {
        "law": {"dense": [Hit(A, 0.9), Hit(B, 0.3)], "keyword": [Hit(B, 0.9), Hit(A, 0.3)]}
    }
    for mode in MODES:
        dense_first = plan(signal_weights=(2.0, 1.0), inner_mode=mode)
        keyword_first = plan(signal_weights=(1.0, 2.0), inner_mode=mode)
        assert [p.id for p in fuse_two_stage(dense_first, signals)] == [A, B]
        assert [p.id for p in fuse_two_stage(keyword_first, signals)] == [B, A]


@pytest.mark.parametrize("mode", MODES)
def test_domain_weights_change_the_order_across_domains(mode: FusionMode) -> None:
    signals: Signals = {"law": {"dense": [Hit(A, 0.6)]}, "fiscal": {"dense": [Hit(C, 0.6)]}}
    assert [p.id for p in fuse_two_stage(plan(2.0, 1.0, mode=mode), signals)] == [A, C]
    assert [p.id for p in fuse_two_stage(plan(1.0, 2.0, mode=mode), signals)] == [C, A]


def test_the_same_passage_from_both_signals_reinforces() -> None:
    signals: Signals = {
        "law": {"dense": [Hit(A, 0.6), Hit(B, 0.6)], "keyword": [Hit(A, 0.6)]},
    }
    fused = fuse_two_stage(plan(), signals)
    # A: √(.6·.6); B: √(.6·.01); each once.
    assert scores(fused) == pytest.approx({A: 0.6, B: math.sqrt(0.006)})


def test_a_signal_that_was_not_consulted_differs_from_one_that_found_nothing() -> None:
    not_consulted: Signals = {"law": {"dense": [Hit(A, 0.7)]}}
    found_nothing: Signals = {"law": {"dense": [Hit(A, 0.7)], "keyword": []}}
    assert scores(fuse_two_stage(plan(), not_consulted)) == pytest.approx({A: 0.7})
    assert scores(fuse_two_stage(plan(), found_nothing)) == pytest.approx({A: math.sqrt(0.007)})


def test_a_domain_that_was_not_consulted_differs_from_one_that_found_nothing() -> None:
    law: Mapping[SignalName, Sequence[Hit]] = {"dense": [Hit(A, 0.7)]}
    assert scores(fuse_two_stage(plan(), {"law": law})) == pytest.approx({A: 0.7})
    # All its signals failed: the same as not consulted.
    assert scores(fuse_two_stage(plan(), {"law": law, "fiscal": {}})) == pytest.approx({A: 0.7})
    nothing: Signals = {"law": law, "fiscal": {"dense": []}}
    assert scores(fuse_two_stage(plan(), nothing)) == pytest.approx({A: math.sqrt(0.007)})


def test_a_weight_of_zero_removes_a_signal_or_a_domain() -> None:
    no_fiscal = fuse_two_stage(plan(law=1.0, fiscal=0.0), LAW_AND_FISCAL)
    assert no_fiscal == fuse_two_stage(plan(), {"law": LAW_AND_FISCAL["law"]})
    no_keyword = fuse_two_stage(plan(signal_weights=(1.0, 0.0)), LAW_AND_FISCAL)
    dense_only: Signals = {d: {"dense": s["dense"]} for d, s in LAW_AND_FISCAL.items()}
    assert no_keyword == fuse_two_stage(plan(), dense_only)
    keyword_only: Signals = {"law": {"keyword": [Hit(A, 0.9)]}}
    assert fuse_two_stage(plan(signal_weights=(1.0, 0.0)), keyword_only) == ()


def test_rank_scores_are_mapped_to_the_unit_interval_for_the_outer_stage() -> None:
    # Inner RRF: A is first in both lists, the most attainable: 1; B second of one: (1/62)/(2/61).
    fused = fuse_two_stage(plan(inner_mode="reciprocal_rerank"), {"law": LAW_AND_FISCAL["law"]})
    assert scores(fused) == pytest.approx({A: 1.0, B: 61 / 124})


def test_reciprocal_rank_across_domains_is_applied_as_it_is() -> None:
    # One list of five and one of one, weights .6 and .3, k 60: every .6/(60+r) beats .3/61.
    signals: Signals = {
        "law": {"dense": [Hit(f"law:甲@1#a{i}", 0.9 - i / 10) for i in range(5)]},
        "fiscal": {"dense": [Hit(C, 0.99)]},
    }
    fused = fuse_two_stage(plan(0.6, 0.3, mode="reciprocal_rerank"), signals)
    assert [p.id for p in fused] == [*[f"law:甲@1#a{i}" for i in range(5)], C]
    assert fused[0].score == pytest.approx(0.6 / 61)
    assert fused[-1].score == pytest.approx(0.3 / 61)


def test_candidates_bound_what_a_domain_hands_on() -> None:
    law = {"dense": [Hit(f"law:甲@1#a{i}", 0.9 - i / 100) for i in range(30)]}
    small = plan(candidates=7)
    inner = fuse_domain(small, "law", law)  # type: ignore[arg-type]
    assert inner is not None
    assert len(inner) == 7
    assert len(fuse_two_stage(small, {"law": law})) == 7  # type: ignore[dict-item]


def test_nothing_consulted_or_found_gives_nothing() -> None:
    assert fuse_two_stage(plan(), {}) == ()
    assert fuse_two_stage(plan(), {"law": {}, "fiscal": {}}) == ()
    assert fuse_two_stage(plan(), {"law": {"dense": []}}) == ()


def test_an_unknown_domain_is_named() -> None:
    with pytest.raises(InputError, match=r"no domain 'labour' .* it has fiscal, law"):
        fuse_two_stage(plan(), {"labour": {"dense": [Hit(A, 0.5)]}})


def test_an_id_that_two_domains_return_reinforces_and_keeps_both_traces() -> None:
    signals: Signals = {"law": {"dense": [Hit("x", 0.4)]}, "fiscal": {"dense": [Hit("x", 0.9)]}}
    (passage,) = fuse_two_stage(plan(), signals)
    assert passage.score == pytest.approx(0.6)
    assert passage.domain == "fiscal"
    trace = trace_of(passage)
    assert trace["signals"]["score"] == pytest.approx(0.9)
    assert trace["elsewhere"]["law"]["score"] == pytest.approx(0.4)


def test_the_plan_takes_weights_modes_and_calibrations_from_the_settings() -> None:
    profile = load_settings()
    made = FusionPlan.from_settings(profile)
    assert set(made.domains) == set(profile.domains)
    for name, domain in profile.domains.items():
        assert made.domains[name].weight == domain.weight
        dense, keyword = made.domains[name].signals
        assert (dense.name, dense.weight, dense.depth) == (
            "dense",
            domain.dense.weight,
            domain.dense.depth,
        )
        assert (keyword.name, keyword.calibration) == ("keyword", domain.keyword.calibration)
    other = FusionPlan.from_settings(profile, mode="reciprocal_rerank")
    assert type(other.outer).__name__ == "ReciprocalRerank"
    assert other.inner == made.inner


def test_calibration_makes_signals_of_other_scales_comparable() -> None:
    profile = settings().model_dump()
    # BM25 scores: 12 is even odds; one unit more or less multiplies the odds by e.
    profile["domains"]["law"]["keyword"]["calibration"] = {
        "kind": "platt",
        "slope": 1.0,
        "intercept": -12.0,
    }
    made = FusionPlan.from_settings(Settings.model_validate(profile))
    fused = fuse_two_stage(made, {"law": {"keyword": [Hit(A, 12.0), Hit(B, 12.0 - math.log(3))]}})
    assert scores(fused) == pytest.approx({A: 0.5, B: 0.25})


def test_inputs_are_left_as_they_were() -> None:
    before = copy.deepcopy(LAW_AND_FISCAL)
    fuse_two_stage(plan(), LAW_AND_FISCAL)
    assert before == LAW_AND_FISCAL


def random_signals(rng: random.Random) -> Signals:
    """Two domains, two signals, overlapping inside a domain; now and then an odd score."""

    def hits(domain: str) -> list[Hit]:
        ids = [f"{domain}:甲@1#a{i}" for i in range(20)]
        odd = [math.nan, math.inf, -math.inf, -3.0, 40.0]
        return [
            Hit(id_, rng.choice(odd) if rng.random() < 0.1 else rng.random())
            for id_ in rng.sample(ids, rng.randrange(0, 15))
        ]

    return {d: {"dense": hits(d), "keyword": hits(d)} for d in ("law", "fiscal")}


def score_from(trace: dict[str, Any], rows: str) -> float:
    """The score again by the mode's own formula, from the rows of a trace read back from JSON."""
    pairs = [(row["weight"], row["score"]) for row in trace[rows]]
    if trace["combine"] == "exp_sum":
        return math.prod(score**w for w, score in pairs) ** (1 / sum(w for w, _ in pairs))
    products = [w * score for w, score in pairs]
    return max(products) if trace["combine"] == "max" else sum(products)


def score_from_contributions(trace: dict[str, Any], rows: str) -> float:
    values = [row["contribution"] for row in trace[rows]]
    if trace["combine"] == "max":
        return float(max(values))
    return math.exp(sum(values)) if trace["combine"] == "exp_sum" else float(sum(values))


@pytest.mark.parametrize("inner_mode", MODES)
@pytest.mark.parametrize("mode", MODES)
def test_every_score_recomputes_from_the_json_of_its_trace(
    mode: FusionMode, inner_mode: FusionMode
) -> None:
    rng = random.Random(f"{mode}/{inner_mode}")
    made = plan(0.7, 1.9, (0.6, 0.4), mode=mode, inner_mode=inner_mode)
    passages = [p for _ in range(10) for p in fuse_two_stage(made, random_signals(rng))]
    assert len(passages) > 100
    for passage in passages:
        trace = json.loads(json.dumps(trace_of(passage), allow_nan=False))
        assert passage.id.startswith(trace["domain"])
        for level, rows in ((trace, "domains"), (trace["signals"], "sources")):
            assert score_from_contributions(level, rows) == pytest.approx(
                level["score"], abs=1e-12, rel=1e-12
            )
            assert score_from(level, rows) == pytest.approx(level["score"], rel=1e-9, abs=1e-12)
        inner = trace["signals"]
        (home,) = [row for row in trace["domains"] if row["source"] == trace["domain"]]
        assert home["raw"] == inner["score"]
        assert home["calibrated"] == pytest.approx(min(1.0, inner["score"] / inner["scale"]))


def test_a_trace_names_rank_raw_and_calibrated_score_of_every_source() -> None:
    by_id = {p.id: p for p in fuse_two_stage(plan(), LAW_AND_FISCAL)}
    trace = trace_of(by_id[B])
    dense, keyword = trace["signals"]["sources"]
    assert (dense["source"], dense["rank"], dense["raw"], dense["calibrated"]) == (
        "dense",
        2,
        0.5,
        0.5,
    )
    assert (keyword["rank"], keyword["raw"], keyword["calibrated"]) == (None, None, None)
    assert (keyword["score"], keyword["weight"]) == (0.01, 1.0)
    fiscal, law = trace["domains"]
    assert (fiscal["source"], fiscal["rank"], fiscal["score"]) == ("fiscal", None, 0.01)
    assert (law["source"], law["rank"]) == ("law", 2)


signal_names: st.SearchStrategy[SignalName] = st.sampled_from(["dense", "keyword"])
some_hits = st.lists(st.builds(Hit, st.sampled_from("abcdef"), st.floats()), max_size=8)
any_signals = st.dictionaries(
    st.sampled_from(["law", "fiscal"]), st.dictionaries(signal_names, some_hits)
)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("weight", [1.0, 5e-324, 1e300])
@given(signals=any_signals)
def test_any_scores_and_weights_give_finite_scores_and_each_id_once(
    mode: FusionMode, weight: float, signals: Signals
) -> None:
    made = plan(weight, 1.0, (weight, 1.0), mode=mode, inner_mode=mode)
    fused = fuse_two_stage(made, signals)
    ids = [p.id for p in fused]
    assert len(set(ids)) == len(ids)
    assert all(math.isfinite(p.score) for p in fused)
    # The order of domains and signals in the mapping is of no matter.
    turned = {d: dict(reversed(s.items())) for d, s in reversed(signals.items())}
    assert fuse_two_stage(made, turned) == fused
    for passage in fused:
        json.dumps(trace_of(passage), allow_nan=False)
