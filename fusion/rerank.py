"""Reordering of the fused head by a cross-encoder, within a time budget.

The cross-encoder is LlamaIndex's ``SentenceTransformerRerank``; it is given copies, because it
overwrites the scores of what it gets. A list is never scaled by its own minimum and maximum: a
lone bad hit would become the best.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from configs.errors import ConfigError
from configs.settings import RerankConfig
from fusion.nodes import RankedPassage

Reranked = tuple[tuple[RankedPassage, ...], dict[str, Any]]


class Reranker(Protocol):
    """Reorders the first ``top_n`` passages; the others keep their order below them."""

    @property
    def top_n(self) -> int:
        """How many passages it wants to see."""
        ...

    def rerank(self, query: str, items: Sequence[RankedPassage]) -> Reranked:
        """All the items, best first, and a note for the query's trace. Never raises."""
        ...

    def warm_up(self) -> None:
        """Load what is slow to load."""
        ...


def reorder(
    items: Sequence[RankedPassage], scores: Mapping[int, float], kind: str
) -> tuple[RankedPassage, ...]:
    """Sort the scored positions by their new score (0–1, ties keep their order), the rest below.

    A passage that was not scored keeps its fused score, lowered to the last reranked score where it
    would exceed it, so that scores never rise down the list. Each trace tells both.
    """
    ranked = sorted(scores, key=lambda position: (-scores[position], position))
    head = [_rescored(items[p], scores[p], kind, p + 1, scores[p]) for p in ranked]
    ceiling = head[-1].score if head else float("inf")
    rest = [p for p in range(len(items)) if p not in scores]
    tail = [_rescored(items[p], min(items[p].score, ceiling), kind, p + 1, None) for p in rest]
    return (*head, *tail)


def _rescored(
    item: RankedPassage, score: float, kind: str, rank: int, given: float | None
) -> RankedPassage:
    note = {"kind": kind, "score": given, "fused_rank": rank, "fused_score": item.score}
    return replace(item, score=score, trace=MappingProxyType({**item.trace, "rerank": note}))


class CrossEncoderReranker:
    """A cross-encoder within ``budget_ms``; one call at a time, thread-safe.

    ``postprocessor``: builds the LlamaIndex postprocessor at first use; its scores must be in
    [0, 1]. Pairs are scored in batches, best fused first, while the time a pair has taken so far
    says that the next batch fits; the rest keeps its fused order below. If the model cannot be
    loaded or fails, the fused order stands and the note says why.
    """

    def __init__(
        self,
        config: RerankConfig,
        postprocessor: Callable[[], BaseNodePostprocessor] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not config.model and postprocessor is None:
            raise ConfigError("rerank.model is empty; name a cross-encoder, or use kind: none")
        self._config = config
        self._build = postprocessor or (lambda: _sentence_transformer(config))
        self._clock = clock
        self._model: BaseNodePostprocessor | None = None
        self._lock = threading.Lock()
        self._pair_s: float | None = None

    @property
    def top_n(self) -> int:
        """How many passages it wants to see."""
        return self._config.top_n

    def warm_up(self) -> None:
        """Load the model and time a first pair, outside of any budget."""
        with self._lock:
            try:
                self._score("预热", [TextNode(text="预热" * 64, id_="warm-up")])
            except Exception:  # the first question meets it again and reports it
                return

    def rerank(self, query: str, items: Sequence[RankedPassage]) -> Reranked:
        """Passages with the model's scores first; see the class."""
        start = self._clock()
        budget = self._config.budget_ms / 1000
        wanted = min(len(items), self.top_n)
        note: dict[str, Any] = {"kind": "cross_encoder", "model": self._config.model}
        scores: dict[int, float] = {}
        if not self._lock.acquire(timeout=budget):
            note |= {"reranked": 0, "left": wanted, "error": "busy with other questions"}
            return tuple(items), note
        try:
            while len(scores) < wanted:
                size = self._affordable(budget - (self._clock() - start), wanted - len(scores))
                if size < 1:
                    break
                batch = range(len(scores), len(scores) + size)
                texts = [items[p].passage for p in batch]
                nodes = [TextNode(text=p.embedding_text(), id_=p.id) for p in texts]
                found = self._score(query, nodes)
                scores |= {p: found[items[p].passage.id] for p in batch}
        except Exception as error:
            text = " ".join(str(error).split())[:300]
            note |= {"reranked": 0, "left": wanted, "error": f"{type(error).__name__}: {text}"}
            return tuple(items), note
        finally:
            self._lock.release()
        note |= {"reranked": len(scores), "left": wanted - len(scores)}
        note["ms"] = round((self._clock() - start) * 1000, 1)
        return reorder(items, scores, "cross_encoder"), note

    def _affordable(self, left_s: float, pairs: int) -> int:
        if self._pair_s is None:
            return 1 if left_s > 0 else 0
        if self._pair_s <= 0:
            return min(self._config.batch_size, pairs)
        return min(self._config.batch_size, pairs, max(0, int(left_s / self._pair_s)))

    def _score(self, query: str, nodes: Sequence[TextNode]) -> dict[str, float]:
        if self._model is None:
            self._model = self._build()
        start = self._clock()
        copies = [NodeWithScore(node=node, score=0.0) for node in nodes]
        ranked = self._model.postprocess_nodes(copies, QueryBundle(query))
        taken = (self._clock() - start) / len(nodes)
        self._pair_s = taken if self._pair_s is None else 0.7 * self._pair_s + 0.3 * taken
        return {node.node_id: min(1.0, max(0.0, float(node.score or 0.0))) for node in ranked}


def build_reranker(config: RerankConfig) -> Reranker | None:
    """The reranker of a profile, nothing loaded but its weights; None for ``kind: none``.

    Raises ConfigError when the model's name or the learned weights are missing.
    """
    if config.kind == "none":
        return None
    if config.kind == "cross_encoder":
        return CrossEncoderReranker(config)
    from fusion.learned_rerank import LearnedReranker

    return LearnedReranker.load(config.model or None, top_n=config.top_n)


def _sentence_transformer(config: RerankConfig) -> BaseNodePostprocessor:
    from llama_index.postprocessor.sbert_rerank import SentenceTransformerRerank
    from torch.nn import Sigmoid

    return SentenceTransformerRerank(
        model=config.model,
        top_n=config.top_n,
        cross_encoder_kwargs={
            "max_length": config.max_length,
            "activation_fn": Sigmoid(),  # some model cards say identity: raw logits
            "local_files_only": Path(config.model).is_dir(),
        },
    )
