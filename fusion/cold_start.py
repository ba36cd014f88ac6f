"""Weights of sources when there are verdicts but no labelled questions to tune on.

The practice: a source whose passages helped in 92 % of the cases gets a weight of about 1.5, one
with 76 % about .8. The map is the power of the odds through these two points,
w = .456 * (p / (1 - p)) ** .487: linear in log-odds on a logarithmic scale, as the logarithmic
opinion pool multiplies. p is smoothed by a Beta prior (Laplace; Gelman et al., Bayesian Data
Analysis, ch. 2), whose mean gives weight 1: without verdicts all sources are equal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from configs.errors import InputError

_GOOD, _GOOD_WEIGHT = 0.92, 1.5
_POOR, _POOR_WEIGHT = 0.76, 0.8
LOWEST, HIGHEST = 0.2, 3.0
STRENGTH = 10.0
"""Verdicts that the prior counts as."""


def _log_odds(rate: float) -> float:
    return math.log(rate / (1.0 - rate))


_EXPONENT: float = math.log(_GOOD_WEIGHT / _POOR_WEIGHT) / (_log_odds(_GOOD) - _log_odds(_POOR))
_FACTOR: float = _GOOD_WEIGHT / math.exp(_EXPONENT * _log_odds(_GOOD))
_NEUTRAL_ODDS: float = math.pow(1.0 / _FACTOR, 1.0 / _EXPONENT)
PRIOR_RATE: float = _NEUTRAL_ODDS / (1.0 + _NEUTRAL_ODDS)
"""The success rate that gives weight 1, about .83."""


def success_rate(good: float, total: float) -> float:
    """The smoothed share, in (0, 1), of ``good`` verdicts (0 <= good <= total).

    Raises InputError for impossible counts.
    """
    if not 0.0 <= good <= total or not math.isfinite(total):
        raise InputError(f"{good} good verdicts of {total} are impossible; correct the counts")
    return (good + STRENGTH * PRIOR_RATE) / (total + STRENGTH)


def weight_of(rate: float) -> float:
    """The weight, in [.2, 3], of a success rate in [0, 1]."""
    if rate <= 0.0:
        return LOWEST
    if rate >= 1.0:
        return HIGHEST
    return min(max(_FACTOR * math.pow(rate / (1.0 - rate), _EXPONENT), LOWEST), HIGHEST)


def cold_start_weights(outcomes: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Source -> weight, from source -> (good, total) weights of verdicts."""
    return {name: weight_of(success_rate(good, total)) for name, (good, total) in outcomes.items()}
