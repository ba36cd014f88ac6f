"""Plain immutable values that the fusion arithmetic takes and gives back.

Nothing here knows LlamaIndex, a vector store or a model. The small ones are named tuples: a fused
query makes hundreds of them, and frozen dataclasses cost three times as much to build.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

Combine = Literal["sum", "exp_sum", "max"]
"""How the values of the sources make a score: their sum, its exponential (a geometric mean is the
exponential of a sum of logarithms), or the greatest."""


class ScoredHit(NamedTuple):
    """A passage id with the raw score of its retriever and its calibrated score in (0, 1)."""

    id: str
    raw: float
    score: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one source returned, best first, each id once. May be empty."""

    source: str
    hits: tuple[ScoredHit, ...]


class Contribution(NamedTuple):
    """What one source gave to one fused score.

    ``score`` is what the mode counts: the calibrated score (kept within the floor and 1), the
    normalised raw score or the reciprocal rank, as the mode says. ``value`` is what the score
    becomes with its weight; ``recompute`` makes the fused score of the values alone. ``rank`` is
    1-based; where the source did not return the passage ``rank``, ``raw`` and ``calibrated`` are
    None, and ``score`` is what the mode counts for a missing passage.
    """

    source: str
    rank: int | None
    raw: float | None
    score: float
    weight: float
    value: float
    calibrated: float | None = None


class Fused(NamedTuple):
    """One passage of a fused ranking, with one contribution per source of non-zero weight.

    The contributions stand in the order of the sources' names.
    """

    id: str
    score: float
    contributions: tuple[Contribution, ...]
    combine: Combine = "sum"


def _exp_sum(values: Iterable[float]) -> float:
    return math.exp(math.fsum(values))


# fsum rounds once, so equal addends in another order give exactly the same score.
COMBINE: Mapping[Combine, Callable[[Iterable[float]], float]] = {
    "sum": math.fsum,
    "exp_sum": _exp_sum,
    "max": max,
}


def recompute(fused: Fused) -> float:
    """The score again, from the contributions alone."""
    return COMBINE[fused.combine]([c.value for c in fused.contributions])


class Fuser(Protocol):
    """A fusion algorithm.

    ``weights[i]`` belongs to ``rankings[i]``; both methods raise ``ValueError`` for weights that
    are negative, not finite, all zero or of another length, for two rankings of one source and for
    an id twice in one ranking.
    """

    def __call__(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> tuple[Fused, ...]:
        """The fused ranking: score descending, ties by id; whatever the order of the sources."""
        ...

    def attainable(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> float:
        """A bound (>= 0) that no score of these rankings with these weights exceeds."""
        ...
