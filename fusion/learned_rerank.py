"""A small offline reranker: logistic regression over ``fusion.features``.

Pointwise learning to rank (Liu 2009, "Learning to Rank for Information Retrieval", ch. 2): the
score is the probability that the passage answers the question, the same in any list.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import Field, PrivateAttr

from configs.errors import ConfigError
from fusion.features import FEATURE_NAMES, Question, features
from fusion.nodes import RankedPassage, coverage_of, from_node, to_node
from fusion.rerank import Reranked, reorder

WEIGHTS_FILE = "weights/reranker.json"
WEIGHTS_VERSION = 1


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """``probability = 1 / (1 + exp(-(intercept + Σ weight · feature)))``.

    ``weights`` belong to ``FEATURE_NAMES``; ``provenance`` says what they were fitted on.
    """

    weights: tuple[float, ...]
    intercept: float
    provenance: str

    def probability(self, values: Sequence[float]) -> float:
        """In (0, 1)."""
        pairs = zip(self.weights, values, strict=True)
        logit = self.intercept + math.fsum(weight * value for weight, value in pairs)
        logit = min(500.0, max(-500.0, logit))
        return 1.0 / (1.0 + math.exp(-logit))

    @classmethod
    def parse(cls, text: str, name: str) -> LogisticModel:
        """Read ``{version: 1, weights: {feature: number}, intercept, provenance}``.

        Raises ConfigError when it is another version, or names other features.
        """
        try:
            raw: dict[str, Any] = json.loads(text)
            version, given = raw["version"], dict(raw["weights"])
            intercept, provenance = float(raw["intercept"]), str(raw["provenance"])
            weights = {feature: float(weight) for feature, weight in given.items()}
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{name}: not a weights file ({error}); run `make tune`") from error
        if version != WEIGHTS_VERSION or set(weights) != set(FEATURE_NAMES):
            odd = sorted(set(weights) ^ set(FEATURE_NAMES))
            raise ConfigError(
                f"{name}: made for other features (version {version}, differing: {odd}); "
                "run `make tune`"
            )
        if not all(map(math.isfinite, (*weights.values(), intercept))):
            raise ConfigError(f"{name}: a weight is not finite; run `make tune`")
        return cls(tuple(weights[feature] for feature in FEATURE_NAMES), intercept, provenance)


class LearnedReranker(BaseNodePostprocessor):
    """Applies a ``LogisticModel`` to the first ``top_n`` passages; also a LlamaIndex postprocessor.

    The rest keeps its order below. Nodes of other retrievers work too; what only our trace knows
    counts 0 for them.
    """

    top_n: int = Field(default=50, ge=1)
    _model: LogisticModel = PrivateAttr()

    def __init__(self, model: LogisticModel, top_n: int = 50) -> None:
        super().__init__(top_n=top_n)  # type: ignore[call-arg]  # a pydantic field
        self._model = model

    @classmethod
    def class_name(cls) -> str:
        """LlamaIndex's name of the component."""
        return "LearnedReranker"

    @classmethod
    def load(cls, path: str | Path | None = None, top_n: int = 50) -> LearnedReranker:
        """With the weights of a file, by default the packaged ones. Raises ConfigError."""
        source = resources.files("configs").joinpath(WEIGHTS_FILE) if path is None else Path(path)
        name = f"configs/{WEIGHTS_FILE}" if path is None else str(path)
        try:
            text = source.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"{name}: the reranker's weights cannot be read; run `make tune`, "
                "or set rerank.kind: none"
            ) from error
        return cls(LogisticModel.parse(text, name), top_n)

    def warm_up(self) -> None:
        """Load the tables that features are read with."""
        Question.read("预热")

    def rerank(self, query: str, items: Sequence[RankedPassage]) -> Reranked:
        """All the items, best first, and the note for the trace."""
        question = Question.read(query)
        scores = {
            position: self._model.probability(features(question, item.passage, item.trace))
            for position, item in enumerate(items[: self.top_n])
        }
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
