"""Are two success rates different? A test that may be looked at after every session.

The safe test of two proportions (Turner, Ly, Grünwald: "Generic E-variables for exact sequential
k-sample tests that allow for optional stopping", 2021): a product of e-variables, one for each
pair of sessions. While the rates are equal its expectation never exceeds 1, so the chance that it
ever reaches 1/α is at most α (Ville), however often and whenever one looks and stops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

PRIOR = 0.18
"""Pseudo-counts of a success and of a failure in each arm, as the paper proposes."""


@dataclass(frozen=True, slots=True)
class SequentialResult:
    """``pairs``: sessions used of each arm; ``rate_a``, ``rate_b`` in [0, 1] among them;
    ``e_value`` now; ``p_value`` in (0, 1], anytime-valid: 1 / the highest e-value so far."""

    pairs: int
    rate_a: float
    rate_b: float
    e_value: float
    p_value: float


def sequential_test(a: Sequence[bool], b: Sequence[bool]) -> SequentialResult:
    """Compare the outcomes of both arms, each in order of time; the longer one's rest waits."""
    pairs = min(len(a), len(b))
    log_e, highest = 0.0, 0.0
    good_a = good_b = 0
    for seen, (one, other) in enumerate(zip(a, b, strict=False)):
        p_a = (good_a + PRIOR) / (seen + 2 * PRIOR)
        p_b = (good_b + PRIOR) / (seen + 2 * PRIOR)
        log_e += block_log_e(p_a, p_b, one, other)
        highest = max(highest, log_e)
        good_a, good_b = good_a + one, good_b + other
    return SequentialResult(
        pairs,
        good_a / pairs if pairs else 0.0,
        good_b / pairs if pairs else 0.0,
        math.exp(min(log_e, 700.0)),
        math.exp(-highest),
    )


def block_log_e(p_a: float, p_b: float, one: bool, other: bool) -> float:
    """Natural log of the e-variable of one session of each arm.

    ``p_a``, ``p_b`` in (0, 1): the success rates expected from the sessions before.
    """
    equal = (p_a + p_b) / 2.0

    def chance(p: float, success: bool) -> float:
        return p if success else 1.0 - p

    return (
        math.log(chance(p_a, one))
        + math.log(chance(p_b, other))
        - math.log(chance(equal, one))
        - math.log(chance(equal, other))
    )
