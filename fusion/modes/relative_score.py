"""Weighted CombSUM of min-max normalised raw scores: Σ wᵢ · minmax(rawᵢ).

Fox & Shaw 1994, "Combination of multiple searches" (CombSUM) with the normalisation of Lee 1997;
LlamaIndex calls it ``relative_score``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fusion.modes.columns import fuse_columns, weighted
from fusion.normalisers import min_max
from fusion.types import Fused, Ranking
from fusion.weights import weighted_sources


@dataclass(frozen=True, slots=True)
class RelativeScore:
    """No parameters but the weights."""

    def __call__(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> tuple[Fused, ...]:
        """Fuse; the raw scores of one list are only compared among themselves; missing counts 0."""
        sources = weighted_sources(rankings, weights)
        columns = [weighted(r, weight, min_max([h[1] for h in r.hits])) for r, weight in sources]
        return fuse_columns(columns, "sum")

    def attainable(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> float:
        """1.0 from every source: Σw."""
        return math.fsum([weight for _, weight in weighted_sources(rankings, weights)])
