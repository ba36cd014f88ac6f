"""Per-query score normalisers, total over every input: the result is never NaN.

In all of them NaN and -inf count as the worst (0.0) and +inf as the best (1.0); the statistics
are those of the finite scores alone. Nothing in gives nothing out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def min_max(scores: Sequence[float]) -> tuple[float, ...]:
    """(s - min) / (max - min), in [0, 1] (Lee 1997, "Analyses of multiple evidence combination").

    One score, or all tied: 1.0 each, as LlamaIndex's ``relative_score`` gives for positive scores.
    That is what the method says, and why it is not the default here: the best of an irrelevant
    list gets 1.0.
    """
    finite = [s for s in scores if math.isfinite(s)]
    if not finite:
        return tuple(_limit(s) for s in scores)
    low, high = min(finite), max(finite)
    return _scaled(scores, low, high, tied=1.0)


def dist_based(scores: Sequence[float]) -> tuple[float, ...]:
    """Position between mean - 3σ and mean + 3σ, clipped to [0, 1] (σ of the population).

    The method of LlamaIndex's ``dist_based_score`` (distribution-based score fusion, Mazzeschi
    2023), with the clipping it leaves out. One score, or all tied: 0.5, the place of the mean.
    """
    finite = [s for s in scores if math.isfinite(s)]
    if not finite:
        return tuple(_limit(s) for s in scores)
    top = max(abs(s) for s in finite) or 1.0
    shrunk = [s / top for s in finite]  # so that squares of huge scores do not overflow
    mean = math.fsum(shrunk) / len(shrunk)
    sigma = math.sqrt(math.fsum((s - mean) ** 2 for s in shrunk) / len(shrunk))
    if min(finite) == max(finite):
        sigma = 0.0  # rounding of the mean must not invent a spread
    low, high = mean - 3 * sigma, mean + 3 * sigma
    return _scaled([s / top for s in scores], low, high, tied=0.5)


def _scaled(scores: Sequence[float], low: float, high: float, tied: float) -> tuple[float, ...]:
    half = high / 2 - low / 2  # halves, so that max - min does not overflow
    if half <= 0.0:
        return tuple(tied if math.isfinite(s) else _limit(s) for s in scores)
    return tuple(
        min(1.0, max(0.0, (s / 2 - low / 2) / half)) if math.isfinite(s) else _limit(s)
        for s in scores
    )


def _limit(score: float) -> float:
    return 1.0 if score == math.inf else 0.0
