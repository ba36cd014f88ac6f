"""Checks of source weights, the same for every fusion mode."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fusion.types import Ranking


def check_weights(weights: Sequence[float], n: int) -> None:
    """Raise ValueError with the reason unless there are ``n`` finite weights >= 0, one above 0.

    They need not add up to 1, but their sum must be finite. A weight of 0 removes its source.
    """
    if len(weights) != n:
        raise ValueError(f"{len(weights)} weights for {n} sources: give one weight a source")
    for position, weight in enumerate(weights):
        if not math.isfinite(weight):
            raise ValueError(f"weight {position} is {weight}: weights must be finite numbers")
        if weight < 0:
            raise ValueError(f"weight {position} is {weight}: weights must not be negative")
    if n and not any(weights):
        raise ValueError("all weights are 0: give at least one source a weight")
    if sum(weights) == math.inf:
        raise ValueError("the weights add up to infinity: give smaller weights")


def weighted_sources(
    rankings: Sequence[Ranking], weights: Sequence[float]
) -> list[tuple[Ranking, float]]:
    """The sources of weight above 0, in the order of their names (so that order never matters).

    Raises ValueError for bad weights or two rankings of one name.
    """
    check_weights(weights, len(rankings))
    names = [ranking.source for ranking in rankings]
    if len(set(names)) != len(names):
        raise ValueError(f"two rankings share a source name: {sorted(names)}")
    pairs = [(r, float(w)) for r, w in zip(rankings, weights, strict=True) if w > 0]
    return sorted(pairs, key=lambda pair: pair[0].source)
