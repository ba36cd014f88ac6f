"""The common frame of the modes whose score is a sum of one addend a source."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from fusion.types import Contribution, Fused, Ranking
from fusion.weights import weighted_sources

Scores = Callable[[Ranking], Sequence[float]]
"""Gives one score per hit of a ranking, in its order."""


def weighted_sum(
    rankings: Sequence[Ranking], weights: Sequence[float], scores_of: Scores
) -> tuple[Fused, ...]:
    """Σ wᵢ · scoreᵢ over the sources that returned the passage; a missing passage counts 0."""
    sources = weighted_sources(rankings, weights)
    given: dict[str, list[Contribution]] = {}
    absent: list[Contribution] = []
    for position, (ranking, weight) in enumerate(sources):
        name = ranking.source
        missing = Contribution(name, None, None, 0.0, weight, 0.0)
        for row in given.values():
            row.append(missing)
        for rank, (hit, score) in enumerate(
            zip(ranking.hits, scores_of(ranking), strict=True), start=1
        ):
            value = Contribution(name, rank, hit.raw, score, weight, weight * score)
            existing = given.get(hit.id)
            if existing is None:
                given[hit.id] = [*absent, value]
            else:
                existing[position] = value
        absent.append(missing)
    fused = [Fused(i, math.fsum([c[5] for c in row]), tuple(row)) for i, row in given.items()]
    fused.sort(key=lambda f: (-f[1], f[0]))
    return tuple(fused)
