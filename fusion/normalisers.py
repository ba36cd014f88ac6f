"""Per-list normalisers: raw scores of one ranking, in any order -> numbers of the same order.

They look at one list alone, so the best of an irrelevant list gets as much as the best of a
relevant one; the calibrated modes (``fusion.calibration``) exist because of that. Shared edge
cases: an empty list gives an empty list; NaN and -inf get 0.0, what a passage that was not
returned gets; +inf gets the most that any hit of the list gets (at least 1.0); only the finite
scores shape the scale. The result is never NaN and never below 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def min_max(raw: Sequence[float]) -> list[float]:
    """``(s - min) / (max - min)``, in [0, 1].

    Lee 1997, "Analyses of multiple evidence combination".

    A single hit, or all hits tied, gets 1.0: the best of a list gets 1.0 whatever the others are
    (LlamaIndex gives 1.0 only to positive ties, ranx 0.0, which counts a found passage as missing).
    """
    finite = [score for score in raw if math.isfinite(score)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    if low == high:
        return [0.0 if math.isnan(score) or score == -math.inf else 1.0 for score in raw]
    if high - low == math.inf:
        # The spread of two huge scores overflows: halve everything first.
        return min_max([score / 2 for score in raw])
    spread = high - low
    if len(finite) == len(raw):
        return [(score - low) / spread for score in raw]
    return [
        (score - low) / spread if math.isfinite(score) else float(score == math.inf)
        for score in raw
    ]


def three_sigma(raw: Sequence[float]) -> list[float]:
    """``(s - (mean - 3σ)) / 6σ`` with the population σ, floored at 0 (Mazzeschi 2023, DBSF).

    The mean gets 0.5, and so does a single hit or every hit of a tied list (LlamaIndex gives 1.0
    or 0.0 by the sign of the score). Scores more than 3σ below the mean get 0.0, so that being
    returned never counts less than not being returned; those more than 3σ above stay above 1, so
    that the head keeps its order. With n hits the result is at most ``0.5 + sqrt(n - 1) / 6``;
    for n <= 10 neither bound is reached and the formula is LlamaIndex's.
    """
    finite = [score for score in raw if math.isfinite(score)]
    scale = max(map(abs, finite), default=0.0)
    if scale and not 1e-100 < scale < 1e100:
        # Squares would overflow or vanish; the formula does not depend on the unit.
        if scale < 1e-300:
            raw = [score * 1e200 for score in raw]
            scale *= 1e200
        raw = [score / scale for score in raw]
        finite = [score for score in raw if math.isfinite(score)]
    count = len(finite)
    mean, sigma = 0.0, 0.0
    if count and min(finite) != max(finite):
        mean = math.fsum(finite) / count
        sigma = math.sqrt(math.fsum([(score - mean) ** 2 for score in finite]) / count)
    if sigma == 0.0:
        normal = [0.5 if math.isfinite(score) else 0.0 for score in raw]
    else:
        width = 6.0 * sigma
        places = [0.5 + (score - mean) / width for score in raw]
        # The comparison is False for NaN, too.
        normal = [place if 0.0 < place < math.inf else 0.0 for place in places]
    if math.inf in raw:
        top = max(1.0, *normal)
        return [
            top if score == math.inf else value for score, value in zip(raw, normal, strict=True)
        ]
    return normal
