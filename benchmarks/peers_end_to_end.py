"""One query end to end, by this project's retriever and by other libraries', over the same sources.

``python -m benchmarks.peers_end_to_end --store DIR --questions DIR``; extra ``peers``. Every system
asks the same six searches (two signals in three domains, as deep as the profile says) of the same
open indexes, in its fastest way of asking several retrievers at once, fuses them and gives ten
passages with their texts. Questions in random order, the systems one after the other on each, the
first ``WARM`` questions uncounted. Other libraries' retrievers return texts, so that theirs read
every hit; ours reads the ten that it returns. Their fusion modes differ by a millisecond or two
(``benchmarks.peers``), so one mode of each is asked.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from configs.settings import Settings, load_settings
from eval.datasets import load_questions
from fusion.retriever import FusionRetriever
from fusion.two_stage import FusionPlan
from indexes.domain_index import DomainIndex
from indexes.embeddings import load_embedder
from indexes.schema import NO_FILTERS, Passage, SignalName

WARM = 10
TOP = 10
Found = list[tuple[Passage, float]]
Search = Callable[[str], Found]
System = Callable[[str], int]
"""Asks a question; how many passages came."""


def searches(settings: Settings, indexes: Sequence[DomainIndex]) -> list[Search]:
    """The searches that every system asks, each with the texts of its hits."""

    def search(index: DomainIndex, signal: SignalName, depth: int) -> Search:
        def run(question: str) -> Found:
            hits = index.search(signal, question, depth, NO_FILTERS)
            read = index.passages([hit.id for hit in hits])
            return [(read[hit.id], hit.score) for hit in hits if hit.id in read]

        return run

    plan = FusionPlan.from_settings(settings)
    return [
        search(index, signal.name, signal.depth)
        for index in indexes
        for signal in plan.domains[index.name].signals
        if signal.name in index.signals
    ]


def systems(retriever: FusionRetriever, found: Sequence[Search]) -> dict[str, System]:
    """Name -> system, of the libraries that are installed."""
    made: dict[str, System] = {
        "policy-fusion": lambda question: len(retriever.search(question, top_k=TOP).passages),
        "LlamaIndex QueryFusionRetriever": _llama_index(found),
    }
    if importlib.util.find_spec("langchain_classic"):
        made["LangChain EnsembleRetriever"] = _langchain(found)
    if importlib.util.find_spec("haystack"):
        made["Haystack DocumentJoiner"] = _haystack(found)
    return made


def _llama_index(found: Sequence[Search]) -> System:
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
    from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

    class Retriever(BaseRetriever):
        def __init__(self, search: Search) -> None:
            super().__init__()
            self._search = search

        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return [
                NodeWithScore(node=TextNode(id_=p.id, text=p.content), score=score)
                for p, score in self._search(query_bundle.query_str)
            ]

        async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return await asyncio.to_thread(self._retrieve, query_bundle)

    fusion = QueryFusionRetriever(
        [Retriever(search) for search in found],
        llm=MockLLM(),
        num_queries=1,
        mode=FUSION_MODES.RECIPROCAL_RANK,
        similarity_top_k=TOP,
        use_async=True,
    )
    return lambda question: len(fusion.retrieve(question))


def _langchain(found: Sequence[Search]) -> System:
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableLambda

    def runnable(search: Search) -> Any:
        def run(question: str) -> list[Any]:
            return [Document(page_content=p.content, id=p.id) for p, _ in search(question)]

        return RunnableLambda(run)

    weights = [1.0 / len(found)] * len(found)
    ensemble = EnsembleRetriever(retrievers=[runnable(search) for search in found], weights=weights)
    return lambda question: len(asyncio.run(ensemble.ainvoke(question))[:TOP])


def _haystack(found: Sequence[Search]) -> System:
    from haystack import Document, Pipeline, component
    from haystack.components.joiners import DocumentJoiner

    @component
    class Retriever:
        def __init__(self, search: Search) -> None:
            self._search = search

        @component.output_types(documents=list[Document])
        def run(self, question: str) -> dict[str, Any]:
            return {
                "documents": [
                    Document(id=p.id, content=p.content, score=score)
                    for p, score in self._search(question)
                ]
            }

    pipeline = Pipeline()
    pipeline.add_component("join", DocumentJoiner(join_mode="merge", top_k=TOP))
    for n, search in enumerate(found):
        pipeline.add_component(f"search{n}", Retriever(search))
        pipeline.connect(f"search{n}.documents", "join.documents")

    def run(question: str) -> int:
        given = {f"search{n}": {"question": question} for n in range(len(found))}
        joined = asyncio.run(pipeline.run_async(given, concurrency_limit=len(found)))
        return len(joined["join"]["documents"])

    return run


def measure(asked: dict[str, System], questions: Sequence[str]) -> dict[str, list[float]]:
    """Name -> milliseconds of each question after the first ``WARM``."""
    times: dict[str, list[float]] = {name: [] for name in asked}
    for n, question in enumerate(questions):
        for name, system in asked.items():
            started = time.perf_counter()
            if not system(question):
                raise RuntimeError(f"{name} found nothing for {question!r}")
            if n >= WARM:
                times[name].append((time.perf_counter() - started) * 1000)
    return times


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, required=True, help="a store of the whole corpus")
    parser.add_argument("--questions", type=Path, required=True, help="folder of questions")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--config", default="default")
    given = parser.parse_args()
    settings = load_settings(given.config).with_store(given.store)
    indexes = [
        DomainIndex.open(settings, name, load_embedder(domain.embedding, settings.models_dir))
        for name, domain in settings.domains.items()
        if domain.weight > 0
    ]
    patient = {index.name: 60_000 for index in indexes}
    retriever = FusionRetriever(
        indexes, FusionPlan.from_settings(settings), timeouts_ms=patient, top_k=TOP
    )
    files = sorted(given.questions.glob("*.jsonl"))
    texts = [question.query for question in load_questions(files)]
    random.Random(0).shuffle(texts)
    times = measure(systems(retriever, searches(settings, indexes)), texts[: given.count + WARM])
    ours = np.asarray(times["policy-fusion"])
    print("| system | p50 ms | p95 ms | median ratio to policy-fusion |\n|---|---|---|---|")
    for name, values in times.items():
        ratio = float(np.median(np.asarray(values) / ours))
        p50, p95 = np.percentile(values, [50, 95])
        print(f"| {name} | {p50:.1f} | {p95:.1f} | {ratio:.2f} |")
    retriever.close()
    for index in indexes:
        index.close()


if __name__ == "__main__":
    main()
