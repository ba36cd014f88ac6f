"""A small offline reranker: boosted trees over ``fusion.list_features``.

LambdaMART (Burges 2010, "From RankNet to LambdaRank to LambdaMART: An Overview"), run by LightGBM.
The score is the logistic of the trees' sum: it orders, and lies in (0, 1), but is no probability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import Field, PrivateAttr

from fusion.boosted import Trees, load_trees
from fusion.features import Question
from fusion.list_features import RERANK_FEATURES, feature_rows
from fusion.nodes import RankedPassage, coverage_of, from_node, to_node
from fusion.rerank import Reranked, reorder

WEIGHTS_FILE = "weights/reranker.json"
WEIGHTS_VERSION = 3


class LearnedReranker(BaseNodePostprocessor):
    """Applies trees over ``RERANK_FEATURES`` to the first ``top_n`` passages.

    Also a LlamaIndex postprocessor.

    The rest keeps its order below. Nodes of other retrievers work too; what only our trace knows
    counts 0 for them.
    """

    top_n: int = Field(default=50, ge=1)
    _model: Trees = PrivateAttr()

    def __init__(self, model: Trees, top_n: int = 50) -> None:
        super().__init__(top_n=top_n)  # type: ignore[call-arg]  # a pydantic field
        self._model = model

    @classmethod
    def class_name(cls) -> str:
        """LlamaIndex's name of the component."""
        return "LearnedReranker"

    @classmethod
    def load(cls, path: str | Path | None = None, top_n: int = 50) -> LearnedReranker:
        """With the weights of a file, by default the packaged ones. Raises ConfigError."""
        trees = load_trees(
            path, WEIGHTS_FILE, RERANK_FEATURES, WEIGHTS_VERSION, "rerank.kind: none"
        )
        return cls(trees, top_n)

    def warm_up(self) -> None:
        """Load the tables that features are read with."""
        Question.read("预热")

    def rerank(self, query: str, items: Sequence[RankedPassage]) -> Reranked:
        """All the items, best first, and the note for the trace."""
        question = Question.read(query)
        rows = feature_rows(question, items[: self.top_n])
        scores = dict(enumerate(map(_logistic, self._model.predict(rows))))
        note = {"kind": "learned", "reranked": len(scores), "left": 0}
        return reorder(items, scores, "learned"), note

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            return list(nodes)
        ranked, _ = self.rerank(query_bundle.query_str, [from_node(node) for node in nodes])
        coverage = coverage_of(nodes)
        return [to_node(item, coverage) for item in ranked]


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-min(500.0, max(-500.0, x))))
