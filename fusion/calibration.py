"""Monotone maps from a retriever's raw score to a score in [0, 1] that sources share.

Platt scaling (Platt 1999, "Probabilistic outputs for support vector machines"): the slope is
positive, so a better raw score never gets a worse calibrated one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from configs.settings import CalibrationConfig
from fusion.types import Ranking, ScoredHit
from indexes.schema import Hit


def calibrate(config: CalibrationConfig, raw: float) -> float:
    """The calibrated score, in [0, 1]; NaN counts as -inf (0.0), +inf gives 1.0."""
    if math.isnan(raw):
        return 0.0
    if config.kind == "identity":
        return min(1.0, max(0.0, raw))
    return _sigmoid(config.slope * raw + config.intercept)


def calibrate_hits(source: str, hits: Sequence[Hit], config: CalibrationConfig) -> Ranking:
    """A source's hits as a Ranking: best raw score first (NaN last), ties by id, each id once."""
    best: dict[str, float] = {}
    for hit in hits:
        raw = -math.inf if math.isnan(hit.score) else hit.score
        if raw > best.get(hit.id, -math.inf) or hit.id not in best:
            best[hit.id] = raw
    ordered = sorted(best.items(), key=lambda item: (-item[1], item[0]))
    return Ranking(source, tuple(ScoredHit(i, raw, calibrate(config, raw)) for i, raw in ordered))


def _sigmoid(x: float) -> float:
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-x))
    z = math.exp(x)
    return z / (1.0 + z)
