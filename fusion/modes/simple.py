"""Keep the best: a passage's score is its highest weighted calibrated score, max wᵢ · sᵢ.

Fox & Shaw 1994 (CombMAX). LlamaIndex's ``simple`` keeps the best score and ignores the weights;
here they matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fusion.modes.columns import fuse_columns, weighted
from fusion.types import Fused, Ranking
from fusion.weights import weighted_sources


@dataclass(frozen=True, slots=True)
class Simple:
    """No parameters but the weights."""

    def __call__(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> tuple[Fused, ...]:
        """Fuse; values are wᵢ · sᵢ, 0 for a missing passage; scores are kept within 0 and 1."""
        columns = [
            # A score that is no number fails the comparison and counts 0.
            weighted(r, weight, [min(s, 1.0) if s > 0.0 else 0.0 for _, _, s in r.hits])
            for r, weight in weighted_sources(rankings, weights)
        ]
        return fuse_columns(columns, "max")

    def attainable(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> float:
        """1.0 from the heaviest source."""
        return max((weight for _, weight in weighted_sources(rankings, weights)), default=0.0)
