"""Fusion alone, 3 sources x 50 hits with the contributions, against LlamaIndex in the same run.

Run: python benchmarks/fusion_speed.py
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from fusion.modes import get_fuser
from fusion.types import Ranking, ScoredHit

MODES = (
    "weighted_geometric_mean",
    "reciprocal_rerank",
    "relative_score",
    "dist_based_score",
    "simple",
)


def milliseconds(call: Callable[[], Any], repeats: int = 300) -> float:
    """Median of ``repeats`` calls, in milliseconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1000 * sorted(times)[repeats // 2]


def llama_index(lists: list[list[tuple[str, float]]]) -> dict[str, float]:
    """The same lists through QueryFusionRetriever's own fusion functions."""
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    retriever = QueryFusionRetriever([], llm=MockLLM(), num_queries=1, retriever_weights=[1.0] * 3)

    def results() -> dict[tuple[str, int], list[NodeWithScore]]:
        return {
            ("q", i): [NodeWithScore(node=TextNode(id_=n, text=n), score=s) for n, s in hits]
            for i, hits in enumerate(lists)
        }

    build = milliseconds(results)
    fuse: dict[str, Callable[[], Any]] = {
        "reciprocal_rerank": lambda: retriever._reciprocal_rerank_fusion(results()),
        "relative_score": lambda: retriever._relative_score_fusion(results()),
        "dist_based_score": lambda: retriever._relative_score_fusion(results(), dist_based=True),
        "simple": lambda: retriever._simple_fusion(results()),
    }
    return {mode: milliseconds(call) - build for mode, call in fuse.items()}


def main() -> None:
    """Print one line a mode: milliseconds here, there, and the ratio."""
    rng = random.Random(7)
    names = [f"law:d@v#a{i}" for i in range(90)]
    lists = [
        sorted(((n, rng.random()) for n in rng.sample(names, 50)), key=lambda p: -p[1])
        for _ in range(3)
    ]
    rankings = [
        Ranking(f"s{i}", tuple(ScoredHit(n, s, s) for n, s in hits)) for i, hits in enumerate(lists)
    ]
    theirs = llama_index(lists)
    print(f"{'mode':26} {'ms':>8} {'LlamaIndex':>12} {'ratio':>7}")
    for mode in MODES:
        fuser = get_fuser(mode, floor=0.01, rrf_k=60)  # type: ignore[arg-type]
        ours = milliseconds(lambda f=fuser: f(rankings, [0.5, 0.3, 0.2]))  # type: ignore[misc]
        other = theirs.get(mode)
        tail = f"{other:12.3f} {other / ours:7.1f}" if other else f"{'-':>12} {'-':>7}"
        print(f"{mode:26} {ours:8.3f} {tail}")


if __name__ == "__main__":
    main()
