"""How sure the retrieval is that it found something to the point."""

from __future__ import annotations

from collections.abc import Sequence

from fusion.nodes import RankedPassage, RetrievalResult


def confidence_of(result: RetrievalResult, shown: Sequence[RankedPassage]) -> float:
    """The result's own confidence, else that of the passages shown; 1.0 where the question names
    an article that is among them."""
    if any("reference" in item.trace for item in shown):
        return 1.0
    return confidence(shown) if result.confidence is None else result.confidence


def confidence(items: Sequence[RankedPassage]) -> float:
    """The best passage's agreement of its domain's signals, 0–1; 0.0 without passages.

    Of one passage: the weighted mean of its calibrated signal scores, a signal that did not return
    it counting 0. That does not depend on the fusion mode, as fused scores do (ranks say nothing of
    whether the best is good).
    What the question names (an article that exists) is certain. A passage without a trace counts
    its own score, clipped to [0, 1].
    """
    return max((_agreement(item) for item in items), default=0.0)


def _agreement(item: RankedPassage) -> float:
    rows = item.trace.get("signals", {}).get("sources", ())
    total = sum(row["weight"] for row in rows)
    if total <= 0:
        return min(1.0, max(0.0, item.score))
    found = sum(row["weight"] * row["calibrated"] for row in rows if row["rank"] is not None)
    return float(min(1.0, max(0.0, found / total)))
