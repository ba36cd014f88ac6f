"""Weighted sum of raw scores placed between mean - 3σ and mean + 3σ of their own list.

Distribution-based score fusion (Mazzeschi 2023); LlamaIndex calls it ``dist_based_score``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fusion.modes.columns import fuse_columns, weighted
from fusion.normalisers import three_sigma
from fusion.types import Fused, Ranking
from fusion.weights import weighted_sources


@dataclass(frozen=True, slots=True)
class DistBasedScore:
    """No parameters but the weights."""

    def __call__(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> tuple[Fused, ...]:
        """Fuse; the raw scores of one list are only compared among themselves; missing counts 0."""
        sources = weighted_sources(rankings, weights)
        columns = [weighted(r, w, three_sigma([h[1] for h in r.hits])) for r, w in sources]
        return fuse_columns(columns, "sum")

    def attainable(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> float:
        """Σ wᵢ · max(1, best of list i): Σw unless a list has a hit above mean + 3σ."""
        return math.fsum(
            [
                weight * max([1.0, *three_sigma([hit.raw for hit in ranking.hits])])
                for ranking, weight in weighted_sources(rankings, weights)
            ]
        )
