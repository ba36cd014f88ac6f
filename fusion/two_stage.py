"""Fusion in two stages: dense + keyword inside a domain, then the domains among each other.

Inside a domain the lists overlap, across domains they are disjoint: one formula with one set of
weights cannot serve both. The inner score is divided by the highest attainable one, so that the
outer stage compares numbers in [0, 1] whatever the inner mode is.

A domain or signal that was not consulted (timed out, failed, skipped) is left out of its stage: it
neither helps nor counts as a missing score. One that answered without the passage counts as such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from configs.settings import CalibrationConfig, FusionMode, Settings, SignalConfig
from fusion.calibration import calibrate_hits
from fusion.modes import get_fuser
from fusion.types import Contribution, Fused, Fuser, Ranking, ScoredHit
from indexes.schema import Hit, SignalName


@dataclass(frozen=True, slots=True)
class SignalPlan:
    """Weight (>= 0), depth (hits asked for) and calibration of one signal in one domain."""

    name: SignalName
    weight: float
    depth: int
    calibration: CalibrationConfig


@dataclass(frozen=True, slots=True)
class DomainPlan:
    """A domain's weight across domains and its signals."""

    weight: float
    signals: tuple[SignalPlan, ...]


@dataclass(frozen=True, slots=True)
class FusionPlan:
    """Everything the two stages need; ``candidates`` bounds what each domain hands to the outer."""

    domains: Mapping[str, DomainPlan]
    inner: Fuser
    outer: Fuser
    candidates: int

    @classmethod
    def from_settings(cls, settings: Settings, mode: FusionMode | None = None) -> FusionPlan:
        """The plan of a profile; ``mode`` replaces the mode across domains."""
        fusion = settings.fusion
        domains = {
            name: DomainPlan(
                domain.weight,
                (_signal("dense", domain.dense), _signal("keyword", domain.keyword)),
            )
            for name, domain in settings.domains.items()
        }
        return cls(
            domains,
            get_fuser(fusion.inner_mode, floor=fusion.inner_floor, rrf_k=fusion.rrf_k),
            get_fuser(mode or fusion.mode, floor=fusion.floor, rrf_k=fusion.rrf_k),
            fusion.candidates,
        )


@dataclass(frozen=True, slots=True)
class FusedPassage:
    """A passage's place in the end: ``outer`` over domains, ``inner`` over its domain's signals."""

    id: str
    domain: str
    score: float
    outer: Fused
    inner: Fused
    inner_scale: float


def fuse_domain(
    plan: FusionPlan, domain: str, signals: Mapping[SignalName, Sequence[Hit]]
) -> tuple[tuple[Fused, ...], float]:
    """Inner stage: the domain's fused passages, best first, and the attainable score they scale by.

    Empty where no signal of weight above 0 was consulted.
    """
    plans = [s for s in plan.domains[domain].signals if s.name in signals and s.weight > 0]
    if not plans:
        return (), 1.0
    rankings = [calibrate_hits(s.name, signals[s.name], s.calibration) for s in plans]
    weights = [s.weight for s in plans]
    return plan.inner(rankings, weights)[: plan.candidates], plan.inner.attainable(weights)


def fuse_two_stage(
    plan: FusionPlan, signals: Mapping[str, Mapping[SignalName, Sequence[Hit]]]
) -> tuple[FusedPassage, ...]:
    """Fuse what the consulted domains' signals returned; best first, ties by id.

    ``signals[domain][signal]`` are raw hits. Raises KeyError for a domain the plan does not know.
    Domains of weight 0 are removed.
    """
    inner: dict[str, tuple[str, Fused, float]] = {}
    rankings: list[Ranking] = []
    weights: list[float] = []
    for domain in sorted(signals):
        if plan.domains[domain].weight == 0:
            continue
        fused, scale = fuse_domain(plan, domain, signals[domain])
        hits = []
        for one in fused:
            if one.id not in inner:
                inner[one.id] = (domain, one, scale)
                hits.append(ScoredHit(one.id, one.score, one.score / scale))
        rankings.append(Ranking(domain, tuple(hits)))
        weights.append(plan.domains[domain].weight)
    if not rankings:
        return ()
    return tuple(
        FusedPassage(one.id, inner[one.id][0], one.score, one, inner[one.id][1], inner[one.id][2])
        for one in plan.outer(rankings, weights)
    )


def trace_of(passage: FusedPassage) -> dict[str, Any]:
    """Why the passage ranks where it does, JSON-able; the scores recompute from the values.

    ``combine`` = ``sum``: score = Σ value; ``exp_sum``: score = exp(Σ value). The outer score of
    the passage's own domain is the inner score divided by ``scale`` (clamped to the floor).
    """
    return {
        "score": passage.score,
        "combine": passage.outer.combine,
        "domains": [_row(c) for c in passage.outer.contributions],
        "signals": {
            "score": passage.inner.score,
            "scale": passage.inner_scale,
            "combine": passage.inner.combine,
            "sources": [_row(c) for c in passage.inner.contributions],
        },
    }


def _signal(name: SignalName, config: SignalConfig) -> SignalPlan:
    return SignalPlan(name, config.weight, config.depth, config.calibration)


def _row(c: Contribution) -> dict[str, Any]:
    return {
        "source": c.source,
        "rank": c.rank,
        "raw": c.raw,
        "calibrated": c.score,
        "weight": c.weight,
        "contribution": c.value,
    }
