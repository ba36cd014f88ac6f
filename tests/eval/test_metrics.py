"""Metrics against hand arithmetic and a second implementation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configs.errors import InputError
from eval.metrics import RECALL_DEPTH, Judged, mean, score

AS_IN_RANX = {"mrr@10": "mrr", "map@100": "map"} | {
    name: name for name in ("hit_rate@1", "hit_rate@5", "hit_rate@10", "ndcg@10", "recall@100")
}


def one(units: str, ranking: list[str | None], top_k: int = 10) -> dict[str, float]:
    return score({"q": Judged(tuple(units), tuple(ranking))}, top_k)["q"]


def test_a_worked_ranking_of_three_units() -> None:
    # a at rank 2, b at rank 7, c never.
    values = one("abc", [None, "a", None, None, None, None, "b", None])
    ideal = 1 + 1 / log2(3) + 1 / log2(4)
    assert values == pytest.approx(
        {
            "mrr": 1 / 2,
            "hit_rate@1": 0.0,
            "hit_rate@5": 1.0,
            "hit_rate@10": 1.0,
            "ndcg@10": (1 / log2(3) + 1 / log2(8)) / ideal,
            "recall@100": 2 / 3,
            "map": (1 / 2 + 2 / 7) / 3,
        }
    )


def test_a_perfect_ranking_is_one_everywhere() -> None:
    assert set(one("ab", ["b", "a", None]).values()) == {1.0}


def test_no_results_are_zero_and_no_error() -> None:
    assert set(one("ab", []).values()) == {0.0}
    assert set(one("ab", [None, None]).values()) == {0.0}


def test_empty_results_count_beside_others() -> None:
    values = score({"hit": Judged(("a",), ("a",)), "empty": Judged(("a",), ())})
    assert mean(list(values.values()))["mrr"] == 0.5


def test_rank_eleven_is_recalled_but_earns_no_mrr() -> None:
    values = one("a", [*[None] * 10, "a"])
    assert (values["mrr"], values["hit_rate@10"], values["ndcg@10"]) == (0.0, 0.0, 0.0)
    assert values["recall@100"] == 1.0
    assert values["map"] == pytest.approx(1 / 11)


def test_results_beyond_the_recall_depth_do_not_count() -> None:
    assert one("a", [*[None] * RECALL_DEPTH, "a"])["recall@100"] == 0.0


def test_top_k_moves_the_cut_of_mrr_and_ndcg() -> None:
    ranking: list[str | None] = [None, None, "a"]
    assert one("a", ranking, top_k=3)["mrr"] == pytest.approx(1 / 3)
    assert one("a", ranking, top_k=2)["mrr"] == 0.0
    assert one("a", ranking, top_k=3)["ndcg@3"] == pytest.approx(1 / 2)
    assert one("a", ranking, top_k=3)["hit_rate@3"] == 1.0


@pytest.mark.parametrize("top_k", [0, RECALL_DEPTH + 1])
def test_a_top_k_out_of_range_is_an_input_error(top_k: int) -> None:
    with pytest.raises(InputError, match="top_k"):
        one("a", ["a"], top_k)


def test_a_question_without_gold_is_an_input_error() -> None:
    with pytest.raises(InputError, match="no gold"):
        one("", [None])


def test_the_mean_of_no_questions_is_empty() -> None:
    assert mean([]) == {}


@st.composite
def judged(draw: st.DrawFn) -> Judged:
    units = tuple(f"u{i}" for i in range(draw(st.integers(1, 6))))
    found = draw(st.lists(st.sampled_from(units), unique=True))
    ranking: list[str | None] = [None] * draw(st.integers(0, 20))
    for unit in found:
        ranking.insert(draw(st.integers(0, len(ranking))), unit)
    return Judged(units, tuple(ranking))


@given(judged())
def test_every_metric_lies_between_zero_and_one_and_agrees_with_its_definition(
    case: Judged,
) -> None:
    values = score({"q": case})["q"]
    assert all(0.0 <= value <= 1.0 + 1e-12 for value in values.values())
    ranks = [rank for rank, unit in enumerate(case.ranking, 1) if unit is not None]
    assert values["mrr"] == pytest.approx(1 / ranks[0] if ranks and ranks[0] <= 10 else 0.0)
    assert values["recall@100"] == pytest.approx(len(ranks) / len(case.units))


RANX = """
import json, sys
import ranx
qrels, run, names = json.load(sys.stdin)
run = ranx.Run(run)
ranx.evaluate(ranx.Qrels(qrels), run, names)
print(json.dumps({n: {q: float(v) for q, v in run.scores[n].items()} for n in names}))
"""


def test_ranx_gives_the_same_values() -> None:
    pytest.importorskip("ranx", reason="the second implementation is not installed")
    cases = {
        "late": Judged(("a", "b", "c"), (None, "a", None, "c", *[None] * 8, "b")),
        "first": Judged(("a",), ("a", None)),
        "missed": Judged(("a", "b"), (None, None, None)),
        "deep": Judged(("a", "b"), (*[None] * 40, "b")),
    }
    qrels = {key: dict.fromkeys(case.units, 1) for key, case in cases.items()}
    run = {
        key: {unit or f"none{i}": 1.0 / (i + 1) for i, unit in enumerate(case.ranking)}
        for key, case in cases.items()
    }
    # Compiling ranx takes half a minute, so it runs uncompiled, which only a fresh process can.
    done = subprocess.run(
        [sys.executable, "-c", RANX],
        input=json.dumps([qrels, run, list(AS_IN_RANX)]),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = json.loads(done.stdout.splitlines()[-1])
    ours = score(cases)
    for name, ours_name in AS_IN_RANX.items():
        expected = {key: pytest.approx(value) for key, value in theirs[name].items()}
        assert {key: ours[key][ours_name] for key in cases} == expected, name
