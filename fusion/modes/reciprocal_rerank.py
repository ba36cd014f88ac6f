"""Weighted reciprocal rank fusion: Σ wᵢ / (k + rankᵢ).

Cormack, Clarke & Büttcher 2009, "Reciprocal rank fusion outperforms Condorcet and individual rank
learning methods"; with all weights 1 it is the paper's formula.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fusion.modes.additive import weighted_sum
from fusion.types import Fused, Ranking


@dataclass(frozen=True, slots=True)
class ReciprocalRerank:
    """``k`` > 0 dampens the head of the lists (60 in the paper)."""

    k: float = 60.0

    def __post_init__(self) -> None:
        if not (self.k > 0 and math.isfinite(self.k)):
            raise ValueError(f"rrf_k is {self.k}: it must be a finite number above 0")

    def __call__(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> tuple[Fused, ...]:
        """Fuse by rank alone; the raw and calibrated scores do not matter."""
        return weighted_sum(
            rankings,
            weights,
            lambda ranking: [1.0 / (self.k + rank) for rank in range(1, len(ranking.hits) + 1)],
        )

    def attainable(self, weights: Sequence[float]) -> float:
        """First in every list: Σw / (k + 1)."""
        return math.fsum(weights) / (self.k + 1.0)
