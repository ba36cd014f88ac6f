"""The modes that others have, too, give the numbers that the others give."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence

import pytest

from configs.settings import FusionMode
from fusion.modes import get_fuser
from fusion.types import Ranking, ScoredHit

Lists = list[dict[str, float]]
WEIGHTS = [0.5, 0.3, 0.2]


def random_lists(seed: int, depth: int) -> Lists:
    """Three overlapping lists of distinct scores on different scales."""
    rng = random.Random(seed)
    ids = [f"d{i:02}" for i in range(2 * depth)]
    scales = (1.0, 30.0, 0.01)
    return [{id_: scale * rng.random() for id_ in rng.sample(ids, depth)} for scale in scales]


def ours(mode: FusionMode, lists: Lists, weights: Sequence[float]) -> dict[str, float]:
    rankings = []
    for i, scores in enumerate(lists):
        best_first = sorted(scores, key=lambda id_: -scores[id_])
        hits = tuple(ScoredHit(id_, scores[id_], scores[id_]) for id_ in best_first)
        rankings.append(Ranking(f"s{i}", hits))
    fused = get_fuser(mode, floor=0.01, rrf_k=60.0)(rankings, weights)
    return {one.id: one.score for one in fused}


QUERIES = {f"q{seed}": random_lists(seed, 20) for seed in range(15)}
RANX = """
import json, sys, ranx
queries = json.load(sys.stdin)
def fuse(**how):
    runs = [ranx.Run({q: lists[i] for q, lists in queries.items()}) for i in range(3)]
    fused = ranx.fuse(runs=runs, **how).to_dict()
    return {q: {i: float(s) for i, s in scores.items()} for q, scores in fused.items()}
json.dump({
    "rrf": fuse(method="rrf", norm=None, params={"k": 60}),
    "wsum": fuse(method="wsum", norm="min-max", params={"weights": [0.5, 0.3, 0.2]}),
}, sys.stdout)
"""


@pytest.fixture(scope="module")
def ranx_scores() -> dict[str, dict[str, dict[str, float]]]:
    """Scores by method, query and id: ranx in its own process, where numba compiles nothing."""
    pytest.importorskip("ranx")
    done = subprocess.run(
        [sys.executable, "-c", RANX],
        input=json.dumps(QUERIES),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    scores: dict[str, dict[str, dict[str, float]]] = json.loads(done.stdout)
    return scores


@pytest.mark.parametrize("query", QUERIES)
def test_reciprocal_rank_equals_ranx(
    query: str, ranx_scores: dict[str, dict[str, dict[str, float]]]
) -> None:
    scores = ours("reciprocal_rerank", QUERIES[query], [1.0, 1.0, 1.0])
    assert scores == pytest.approx(ranx_scores["rrf"][query], abs=1e-12)


@pytest.mark.parametrize("query", QUERIES)
def test_relative_score_equals_the_weighted_sum_of_min_max_in_ranx(
    query: str, ranx_scores: dict[str, dict[str, dict[str, float]]]
) -> None:
    scores = ours("relative_score", QUERIES[query], WEIGHTS)
    assert scores == pytest.approx(ranx_scores["wsum"][query], abs=1e-9)


@pytest.mark.parametrize("dist_based", [False, True])
def test_score_modes_equal_llama_index(dist_based: bool) -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    retriever = QueryFusionRetriever([], llm=MockLLM(), num_queries=1, retriever_weights=WEIGHTS)
    mode: FusionMode = "dist_based_score" if dist_based else "relative_score"
    for seed in range(15):
        lists = random_lists(seed, 10)  # at most 10: nothing lies beyond 3σ, where ours differs
        results = {
            ("q", i): [NodeWithScore(node=TextNode(text=n), score=s) for n, s in scores.items()]
            for i, scores in enumerate(lists)
        }
        fused = retriever._relative_score_fusion(results, dist_based=dist_based)
        theirs = {node.node.get_content(): node.score for node in fused}
        assert ours(mode, lists, WEIGHTS) == pytest.approx(theirs, abs=1e-12)
