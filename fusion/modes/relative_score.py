"""Weighted CombSUM of min-max normalised scores: Σ wᵢ · minmax(sᵢ).

Fox & Shaw 1994, "Combination of multiple searches" (CombSUM) with the normalisation of Lee 1997;
LlamaIndex calls it ``relative_score``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fusion.modes.additive import weighted_sum
from fusion.normalisers import min_max
from fusion.types import Fused, Ranking


@dataclass(frozen=True, slots=True)
class RelativeScore:
    """No parameters but the weights."""

    def __call__(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> tuple[Fused, ...]:
        """Fuse; scores of one list are only compared among themselves."""
        return weighted_sum(rankings, weights, lambda r: min_max([hit.score for hit in r.hits]))

    def attainable(self, weights: Sequence[float]) -> float:
        """1.0 from every source: Σw."""
        return math.fsum(weights)
