"""A small offline reranker: boosted trees over ``fusion.list_features``.

LambdaMART (Burges 2010, "From RankNet to LambdaRank to LambdaMART: An Overview"), run by LightGBM.
The score is the logistic of the trees' sum: it orders, and lies in (0, 1), but is no probability.
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
from fusion.features import Question
from fusion.list_features import RERANK_FEATURES, feature_rows
from fusion.nodes import RankedPassage, coverage_of, from_node, to_node
from fusion.rerank import Reranked, reorder

WEIGHTS_FILE = "weights/reranker.json"
WEIGHTS_VERSION = 3


@dataclass(frozen=True, slots=True)
class TreeModel:
    """LightGBM trees over ``RERANK_FEATURES``; ``provenance`` says what they were fitted on."""

    booster: Any
    provenance: str

    def scores(self, rows: Sequence[Sequence[float]]) -> list[float]:
        """One score in (0, 1) per row of features, higher is better."""
        if not rows:
            return []
        import numpy as np

        raw = self.booster.predict(np.asarray(rows, dtype=np.float64), num_threads=1)
        return [1.0 / (1.0 + math.exp(-min(500.0, max(-500.0, float(x))))) for x in raw]

    @classmethod
    def parse(cls, text: str, name: str) -> TreeModel:
        """Read ``{version: 3, features: [names], model: LightGBM text, provenance}``.

        Raises ConfigError when it is another version, names other features, or holds no trees.
        """
        try:
            raw: dict[str, Any] = json.loads(text)
            version, names, trees = raw["version"], list(raw["features"]), str(raw["model"])
            provenance = str(raw["provenance"])
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{name}: not a weights file ({error}); run `make tune`") from error
        if version != WEIGHTS_VERSION or tuple(names) != RERANK_FEATURES:
            odd = sorted(set(names) ^ set(RERANK_FEATURES))
            raise ConfigError(
                f"{name}: made for other features (version {version}, differing: {odd}); "
                "run `make tune`"
            )
        # LightGBM aborts the process on some broken model texts; a whole one says where it ends.
        if not trees.startswith("tree\n") or "end of trees" not in trees:
            raise ConfigError(
                f"{name}: the trees are cut off or no LightGBM model; run `make tune`"
            )
        import lightgbm

        try:
            booster = lightgbm.Booster(model_str=trees)
        except lightgbm.basic.LightGBMError as error:
            raise ConfigError(f"{name}: LightGBM refuses it ({error}); run `make tune`") from error
        return cls(booster, provenance)


class LearnedReranker(BaseNodePostprocessor):
    """Applies a ``TreeModel`` to the first ``top_n`` passages; also a LlamaIndex postprocessor.

    The rest keeps its order below. Nodes of other retrievers work too; what only our trace knows
    counts 0 for them.
    """

    top_n: int = Field(default=50, ge=1)
    _model: TreeModel = PrivateAttr()

    def __init__(self, model: TreeModel, top_n: int = 50) -> None:
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
        return cls(TreeModel.parse(text, name), top_n)

    def warm_up(self) -> None:
        """Load the tables that features are read with."""
        Question.read("预热")

    def rerank(self, query: str, items: Sequence[RankedPassage]) -> Reranked:
        """All the items, best first, and the note for the trace."""
        question = Question.read(query)
        rows = feature_rows(question, items[: self.top_n])
        scores = dict(enumerate(self._model.scores(rows)))
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
