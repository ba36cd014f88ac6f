"""Weighted sum of scores placed between mean - 3σ and mean + 3σ of their own list.

Distribution-based score fusion (Mazzeschi 2023); LlamaIndex calls it ``dist_based_score``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fusion.modes.additive import weighted_sum
from fusion.normalisers import dist_based
from fusion.types import Fused, Ranking


@dataclass(frozen=True, slots=True)
class DistBasedScore:
    """No parameters but the weights."""

    def __call__(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> tuple[Fused, ...]:
        """Fuse; scores of one list are only compared among themselves."""
        return weighted_sum(rankings, weights, lambda r: dist_based([hit.score for hit in r.hits]))

    def attainable(self, weights: Sequence[float]) -> float:
        """1.0 from every source: Σw."""
        return math.fsum(weights)
