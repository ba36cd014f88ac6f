"""Weighted geometric mean with a floor: (Π sᵢ^wᵢ)^(1/Σwᵢ), sᵢ = ε where source i lacks the passage.

The logarithmic opinion pool (Genest & Zidek 1986, "Combining probability distributions") over
calibrated scores. The floor keeps weights effective on disjoint lists: with "skip the missing",
(s^w)^(1/w) = s whatever w is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fusion.modes.columns import Column, fuse_columns
from fusion.types import Fused, Ranking
from fusion.weights import weighted_sources


@dataclass(frozen=True, slots=True)
class WeightedGeometricMean:
    """``floor`` is ε, in (0, 1): what a missing or lower score counts as. Scores end in [ε, 1]."""

    floor: float

    def __post_init__(self) -> None:
        if not 0.0 < self.floor < 1.0:
            raise ValueError(f"floor is {self.floor}: it must lie between 0 and 1")

    def __call__(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> tuple[Fused, ...]:
        """Fuse; values are wᵢ · ln sᵢ / Σw, the shares of the logarithm of the score."""
        sources = weighted_sources(rankings, weights)
        total = math.fsum([weight for _, weight in sources])
        floor, log = self.floor, math.log
        columns = []
        for ranking, weight in sources:
            share = weight / total
            # A score that is no number fails the comparison and counts as the floor.
            scores = [min(s, 1.0) if s > floor else floor for _, _, s in ranking.hits]
            values = [share * log(s) for s in scores]
            columns.append(Column(ranking, weight, scores, values, floor, share * log(floor)))
        return fuse_columns(columns, "exp_sum")

    def attainable(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> float:
        """1.0: every source gives the passage 1.0."""
        weighted_sources(rankings, weights)
        return 1.0
