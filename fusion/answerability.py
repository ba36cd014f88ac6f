"""Whether the material answers a question: boosted trees over ``fusion.confidence_features``.

A binary classifier of labelled answerable and unanswerable questions, both kinds weighing the same,
so 0.5 is where either is as likely. Fitted by ``python -m eval.confidence_training``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fusion.boosted import Trees, load_trees
from fusion.confidence_features import CONFIDENCE_FEATURES, confidence_features
from fusion.nodes import RankedPassage

WEIGHTS_FILE = "weights/confidence.json"
WEIGHTS_VERSION = 1


class Answerability:
    """Judges reranked passages; thread-safe."""

    def __init__(self, trees: Trees) -> None:
        self._trees = trees

    @classmethod
    def load(cls, path: str | Path | None = None) -> Answerability:
        """With the weights of a file, by default the packaged ones. Raises ConfigError."""
        instead = "synthesis.confidence: agreement"
        trees = load_trees(path, WEIGHTS_FILE, CONFIDENCE_FEATURES, WEIGHTS_VERSION, instead)
        return cls(trees)

    def confidence(self, query: str, items: Sequence[RankedPassage]) -> float:
        """In [0, 1]; 0.0 without passages. ``items``: all that were reranked, best first."""
        if not items:
            return 0.0
        return self._trees.predict([confidence_features(query, items)], raw=False)[0]
