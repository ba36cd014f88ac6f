"""Weighted geometric mean with a floor: (Π sᵢ^wᵢ)^(1/Σwᵢ), sᵢ = ε where source i lacks the passage.

The logarithmic opinion pool (Genest & Zidek 1986, "Combining probability distributions") over
calibrated scores. The floor keeps weights effective on disjoint lists: with "skip the missing",
(s^w)^(1/w) = s whatever w is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fusion.types import Contribution, Fused, Ranking
from fusion.weights import weighted_sources


@dataclass(frozen=True, slots=True)
class WeightedGeometricMean:
    """``floor`` is ε, in (0, 1): what a missing or lower score counts as. Scores end in [ε, 1]."""

    floor: float

    def __post_init__(self) -> None:
        if not 0.0 < self.floor < 1.0:
            raise ValueError(f"floor is {self.floor}: it must lie between 0 and 1")

    def __call__(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> tuple[Fused, ...]:
        """Fuse; the contributions are shares of the logarithm of the score (``exp_sum``)."""
        sources = weighted_sources(rankings, weights)
        total = math.fsum(w for _, w in sources)
        floor, log = self.floor, math.log
        low = log(floor)
        given: dict[str, list[Contribution]] = {}
        absent: list[Contribution] = []
        for position, (ranking, weight) in enumerate(sources):
            name, share = ranking.source, weight / total
            missing = Contribution(name, None, None, floor, weight, share * low)
            for row in given.values():
                row.append(missing)
            for rank, (hit_id, raw, score) in enumerate(ranking.hits, 1):
                s = floor if score <= floor else 1.0 if score >= 1.0 else score
                value = Contribution(name, rank, raw, s, weight, share * log(s))
                existing = given.get(hit_id)
                if existing is None:
                    given[hit_id] = [*absent, value]
                else:
                    existing[position] = value
            absent.append(missing)
        fused = [
            Fused(i, math.exp(math.fsum([c[5] for c in row])), tuple(row), "exp_sum")
            for i, row in given.items()
        ]
        fused.sort(key=lambda f: (-f[1], f[0]))
        return tuple(fused)

    def attainable(self, weights: Sequence[float]) -> float:
        """1.0: every source gives the passage 1.0."""
        return 1.0
