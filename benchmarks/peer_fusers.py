"""How other libraries fuse one question's lists: each as (prepare, fuse), so that only ``fuse`` is
timed. Default settings, equal weights; a library that is not installed is left out."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Lists = Sequence[Mapping[str, float]]
"""Per source id -> raw score, best first."""


@dataclass(frozen=True, slots=True)
class PeerFuser:
    """``order(fuse(prepare(lists)))`` are the fused ids, best first."""

    name: str
    prepare: Callable[[Lists], Any]
    fuse: Callable[[Any], Any]
    order: Callable[[Any], list[str]]


def peers() -> list[PeerFuser]:
    """All modes of the libraries that are installed."""
    found = _llama_index()
    if importlib.util.find_spec("langchain_classic"):
        found.append(_langchain())
    if importlib.util.find_spec("haystack"):
        found += _haystack()
    return found


def _llama_index() -> list[PeerFuser]:
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    def prepare(lists: Lists) -> Any:
        return {
            ("question", i): [
                NodeWithScore(node=TextNode(id_=id_, text=id_), score=score)
                for id_, score in found.items()
            ]
            for i, found in enumerate(lists)
        }

    def order(nodes: Any) -> list[str]:
        return [node.node.node_id for node in nodes]

    def fuser(mode: str) -> PeerFuser:
        def fuse(results: Any) -> Any:
            retriever = QueryFusionRetriever(
                [_NoRetriever()] * len(results), llm=MockLLM(), num_queries=1
            )
            calls: dict[str, Callable[[Any], Any]] = {
                "reciprocal_rerank": retriever._reciprocal_rerank_fusion,
                "relative_score": retriever._relative_score_fusion,
                "dist_based_score": lambda r: retriever._relative_score_fusion(r, dist_based=True),
                "simple": retriever._simple_fusion,
            }
            return calls[mode](results)

        return PeerFuser(f"LlamaIndex {mode}", prepare, fuse, order)

    modes = ("reciprocal_rerank", "relative_score", "dist_based_score", "simple")
    return [fuser(mode) for mode in modes]


def _langchain() -> PeerFuser:
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableLambda

    def prepare(lists: Lists) -> Any:
        return [[Document(page_content=id_) for id_ in found] for found in lists]

    def fuse(documents: Any) -> Any:
        nothing: list[Any] = [RunnableLambda(lambda _: [])] * len(documents)
        weights = [1.0 / len(documents)] * len(documents)
        ensemble = EnsembleRetriever(retrievers=nothing, weights=weights)
        return ensemble.weighted_reciprocal_rank(documents)

    return PeerFuser("LangChain ensemble", prepare, fuse, lambda d: [x.page_content for x in d])


def _haystack() -> list[PeerFuser]:
    from haystack import Document
    from haystack.components.joiners import DocumentJoiner

    def prepare(lists: Lists) -> Any:
        return [
            [Document(id=id_, content=id_, score=score) for id_, score in found.items()]
            for found in lists
        ]

    modes = (
        "concatenate",
        "merge",
        "reciprocal_rank_fusion",
        "distribution_based_rank_fusion",
    )

    def fuser(mode: str) -> PeerFuser:
        joiner = DocumentJoiner(join_mode=mode)
        return PeerFuser(
            f"Haystack {mode}",
            prepare,
            lambda documents: joiner.run(documents=documents)["documents"],
            lambda documents: [document.id for document in documents],
        )

    return [fuser(mode) for mode in modes]


class _NoRetriever:
    """Stands where a retriever is wanted; the lists come from the record."""

    object_map: Mapping[str, Any] = {}

    def get_prompts(self) -> Mapping[str, Any]:
        """None."""
        return {}
