"""Plain immutable values that the fusion arithmetic takes and gives back.

Nothing here knows LlamaIndex, a vector store or a model. The small ones are named tuples: a fused
query makes hundreds of them, and frozen dataclasses cost three times as much to build.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol


class ScoredHit(NamedTuple):
    """A passage id with the raw score of its retriever and its calibrated score in [0, 1]."""

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

    ``rank`` is 1-based, None where the source did not return the passage (then ``raw`` is None too
    and ``score`` is what the mode counts for a missing passage). ``value`` is the addend: the
    fused score is recomputed from the values by ``recompute``.
    """

    source: str
    rank: int | None
    raw: float | None
    score: float
    weight: float
    value: float


class Fused(NamedTuple):
    """One passage of a fused ranking, with one contribution per source of non-zero weight.

    ``combine`` tells how the values make the score: ``sum``, or ``exp_sum`` (a geometric mean is
    the exponential of a sum of logarithms).
    """

    id: str
    score: float
    contributions: tuple[Contribution, ...]
    combine: Literal["sum", "exp_sum"] = "sum"


def recompute(fused: Fused) -> float:
    """The score again, from the contributions alone."""
    total = math.fsum(c.value for c in fused.contributions)
    return math.exp(total) if fused.combine == "exp_sum" else total


class Fuser(Protocol):
    """A fusion algorithm.

    ``weights[i]`` belongs to ``rankings[i]``; raises ``ValueError`` for weights that are negative,
    not finite, all zero or of another length. The result is sorted by score descending, ties by
    id ascending, and does not depend on the order of the sources.
    """

    def __call__(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> tuple[Fused, ...]:
        """Fuse the rankings."""
        ...

    def attainable(self, weights: Sequence[float]) -> float:
        """The highest score any passage can get with these weights (> 0)."""
        ...
