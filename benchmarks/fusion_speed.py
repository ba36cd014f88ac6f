"""Time of the fusion alone, with every contribution, against LlamaIndex in the same run.

3 sources x 50 hits, once with overlapping and once with disjoint lists; ours gives a full trace,
LlamaIndex none. Its nodes carry 虚构示例 text of 140 characters and ten metadata keys, as passages
of this project do: it hashes them to tell them apart. Building and copying of inputs is not timed.

Run: python -m benchmarks.fusion_speed
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, get_args

from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, TextNode

from configs.settings import FusionMode, load_settings
from fusion.modes import get_fuser
from fusion.two_stage import FusionPlan, fuse_two_stage, trace_of
from fusion.types import Ranking, ScoredHit
from indexes.schema import Hit, SignalName

MODES: tuple[FusionMode, ...] = get_args(FusionMode)
WEIGHTS = [0.5, 0.3, 0.2]
TEXT = "虚构示例：申请人应当在规定期限内提交材料。" * 7

Lists = list[dict[str, float]]


def milliseconds(
    call: Callable[[Any], Any], setup: Callable[[], Any] = lambda: None, repeats: int = 300
) -> tuple[float, float]:
    """Median and minimum time of ``call(setup())`` without the setup, in milliseconds."""
    times = []
    for _ in range(repeats):
        given = setup()
        start = time.perf_counter()
        call(given)
        times.append(1000 * (time.perf_counter() - start))
    return sorted(times)[repeats // 2], min(times)


def lists_of(pool: int, sources: int = 3, depth: int = 50) -> Lists:
    """Random lists, best first; their ids overlap the more the smaller ``pool`` is."""
    rng = random.Random(7)
    ids = [f"law:虚构示例{i}@2024-01-01#a{i}" for i in range(pool)]
    found = []
    for source in range(sources):
        some = rng.sample(ids, depth) if pool < sources * depth else ids[source::sources][:depth]
        scored = sorted(((rng.random(), id_) for id_ in some), reverse=True)
        found.append({id_: score for score, id_ in scored})
    return found


def rankings_of(lists: Lists) -> list[Ranking]:
    """The lists as rankings whose calibrated scores are the raw ones."""
    return [
        Ranking(f"s{i}", tuple(ScoredHit(id_, s, s) for id_, s in scores.items()))
        for i, scores in enumerate(lists)
    ]


def llama_index(mode: FusionMode, lists: Lists) -> tuple[float, float] | None:
    """The same lists through QueryFusionRetriever's own fusion; None where it has no such mode."""
    retriever = QueryFusionRetriever([], llm=MockLLM(), num_queries=1, retriever_weights=WEIGHTS)
    metadata = {f"key{i}": f"虚构示例{i}" for i in range(10)}

    def nodes() -> dict[tuple[str, int], list[NodeWithScore]]:
        return {
            ("q", i): [
                NodeWithScore(node=TextNode(id_=id_, text=TEXT + id_, metadata=metadata), score=s)
                for id_, s in scores.items()
            ]
            for i, scores in enumerate(lists)
        }

    calls: dict[FusionMode, Callable[[Any], Any]] = {
        "reciprocal_rerank": retriever._reciprocal_rerank_fusion,
        "relative_score": retriever._relative_score_fusion,
        "dist_based_score": lambda given: retriever._relative_score_fusion(given, dist_based=True),
        "simple": retriever._simple_fusion,
    }
    return milliseconds(calls[mode], nodes, repeats=60) if mode in calls else None


def two_stages() -> None:
    """The whole arithmetic of one query of the default profile at depth 100, calibration too."""
    plan = FusionPlan.from_settings(load_settings())
    names: tuple[SignalName, ...] = ("dense", "keyword")
    signals = {
        domain: {
            name: [Hit(f"{domain}{id_}", s) for id_, s in scores.items()]
            for name, scores in zip(names, lists_of(170, 2, 100), strict=True)
        }
        for domain in plan.domains
    }
    median, least = milliseconds(lambda _: fuse_two_stage(plan, signals), repeats=100)
    fused = fuse_two_stage(plan, signals)
    hits = sum(len(found) for domain in signals.values() for found in domain.values())
    print(f"two stages, {hits} hits, {len(fused)} passages: {median:.2f} ms (min {least:.2f})")
    median, least = milliseconds(lambda _: [trace_of(passage) for passage in fused[:10]])
    print(f"traces of the first 10 as JSON values: {median:.3f} ms (min {least:.3f})")


def main() -> None:
    """Print one line a mode and overlap, then the two stages."""
    print(f"{'3 x 50 hits':36} {'ms':>7} {'min':>7} {'LlamaIndex':>11} {'min':>7} {'ratio':>6}")
    for kind, pool in (("overlapping", 90), ("disjoint", 150)):
        lists = lists_of(pool)
        rankings = rankings_of(lists)
        for mode in MODES:
            fuser = get_fuser(mode, floor=0.01, rrf_k=60.0)

            def fuse(_: None, fuser: Any = fuser, given: Any = rankings) -> None:
                fuser(given, WEIGHTS)

            median, least = milliseconds(fuse)
            theirs = llama_index(mode, lists)
            tail = (
                f"{'no such mode':>11}"
                if theirs is None
                else f"{theirs[0]:11.3f} {theirs[1]:7.3f} {theirs[0] / median:6.1f}"
            )
            print(f"{mode + ', ' + kind:36} {median:7.3f} {least:7.3f} {tail}")
    two_stages()


if __name__ == "__main__":
    main()
