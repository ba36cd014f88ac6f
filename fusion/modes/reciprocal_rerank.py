"""Weighted reciprocal rank fusion: Σ wᵢ / (k + rankᵢ).

Cormack, Clarke & Büttcher 2009, "Reciprocal rank fusion outperforms Condorcet and individual rank
learning methods"; with all weights 1 it is the paper's formula.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fusion.modes.columns import fuse_columns, weighted
from fusion.types import Fused, Ranking
from fusion.weights import weighted_sources


@dataclass(frozen=True, slots=True)
class ReciprocalRerank:
    """``k`` > 0 dampens the head of the lists (60 in the paper)."""

    k: float = 60.0

    def __post_init__(self) -> None:
        if not (self.k > 0 and math.isfinite(self.k)):
            raise ValueError(f"rrf_k is {self.k}: it must be a finite number above 0")

    def __call__(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> tuple[Fused, ...]:
        """Fuse by rank alone; scores are 1 / (k + rank), a missing passage counts 0."""
        sources = weighted_sources(rankings, weights)
        deepest = max((len(ranking.hits) for ranking, _ in sources), default=0)
        by_rank = [1.0 / (self.k + rank) for rank in range(1, deepest + 1)]
        columns = [weighted(r, weight, by_rank[: len(r.hits)]) for r, weight in sources]
        return fuse_columns(columns, "sum")

    def attainable(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> float:
        """First in every list: Σw / (k + 1)."""
        best = 1.0 / (self.k + 1.0)
        return math.fsum([weight * best for _, weight in weighted_sources(rankings, weights)])
