"""Keep the best: a passage's score is its highest weighted calibrated score, max wᵢ · sᵢ.

Fox & Shaw 1994 (CombMAX). LlamaIndex's ``simple`` keeps the best score and ignores the weights;
here they matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fusion.modes.additive import weighted_sum
from fusion.types import Fused, Ranking


@dataclass(frozen=True, slots=True)
class Simple:
    """No parameters but the weights."""

    def __call__(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> tuple[Fused, ...]:
        """Fuse; only the winning source has a value above 0 (the first by name among equals)."""
        fused = []
        for one in weighted_sum(rankings, weights, lambda r: [hit.score for hit in r.hits]):
            best = max(one.contributions, key=lambda c: c.value)
            kept = tuple(c if c is best else c._replace(value=0.0) for c in one.contributions)
            fused.append(Fused(one.id, best.value, kept))
        fused.sort(key=lambda f: (-f.score, f.id))
        return tuple(fused)

    def attainable(self, weights: Sequence[float]) -> float:
        """1.0 from the heaviest source."""
        return max(weights)
