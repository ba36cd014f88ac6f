"""From the raw score of a signal to a number that means the same in every list.

A calibration is fitted once on history, not on the list at hand (as min-max is), so a weak list
keeps weak scores. Platt 1999, "Probabilistic outputs for support vector machines": a logistic
curve of the raw score. Zadrozny & Elkan 2002, "Transforming classifier scores into accurate
multiclass probability estimates": an isotonic curve, here with straight lines between its knots.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence

from configs.settings import CalibrationConfig
from fusion.types import Ranking, ScoredHit
from indexes.schema import Hit

LOWEST = 1e-12
HIGHEST = 1.0 - LOWEST


def calibrate(config: CalibrationConfig, raw: float) -> float:
    """The calibrated score, within [LOWEST, HIGHEST] and so inside (0, 1).

    It never falls as ``raw`` grows. NaN and -inf give LOWEST, +inf gives HIGHEST.
    """
    return _curve(config)(raw)


def calibrate_hits(source: str, hits: Sequence[Hit], config: CalibrationConfig) -> Ranking:
    """The ranking of one source: each id once (its best raw score), best first, ties by id.

    A hit whose raw score is NaN was returned without a usable score: it stays, ranked and
    calibrated as the worst, and its raw score becomes -inf.
    """
    best: dict[str, float] = {}
    for hit in hits:
        score = hit.score
        if math.isnan(score):
            score = -math.inf
        known = best.get(hit.id)
        if known is None or score > known:
            best[hit.id] = score
    curve = _curve(config)
    ids = sorted(best)
    ids.sort(key=best.__getitem__, reverse=True)  # stable also in reverse: ties stay by id
    return Ranking(source, tuple([ScoredHit(id_, best[id_], curve(best[id_])) for id_ in ids]))


def _curve(config: CalibrationConfig) -> Callable[[float], float]:
    slope, intercept = config.slope, config.intercept

    def identity(raw: float) -> float:
        # The comparison is False for NaN, which so becomes LOWEST.
        return min(raw, HIGHEST) if raw > LOWEST else LOWEST

    def platt(raw: float) -> float:
        exponent = slope * raw + intercept
        if not exponent > -40.0:  # also NaN
            return LOWEST
        if exponent > 40.0:
            return HIGHEST
        return min(max(1.0 / (1.0 + math.exp(-exponent)), LOWEST), HIGHEST)

    xs, ys = config.x, config.y

    def isotonic(raw: float) -> float:
        # The first comparison is False for NaN, which so becomes LOWEST; so does -inf.
        if not raw > -math.inf:
            return LOWEST
        if raw == math.inf:
            return HIGHEST
        if raw <= xs[0]:
            return _inside(ys[0])
        if raw >= xs[-1]:
            return _inside(ys[-1])
        right = bisect_right(xs, raw)
        low, high = ys[right - 1], ys[right]
        share = (raw - xs[right - 1]) / (xs[right] - xs[right - 1])
        return _inside(min(low + share * (high - low), high))

    return {"platt": platt, "isotonic": isotonic, "identity": identity}[config.kind]


def _inside(value: float) -> float:
    return min(max(value, LOWEST), HIGHEST)
