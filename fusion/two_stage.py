"""Fusion in two stages: dense + keyword inside a domain, then the domains among each other.

Inside a domain the lists overlap, across domains they are disjoint: one formula with one set of
weights cannot serve both. The inner score is divided by the highest attainable one, so that the
outer stage compares numbers in [0, 1] whatever the inner mode is.

A domain or signal that was not consulted (timed out, failed, skipped) is left out of its stage: it
neither helps nor counts as a missing score. One that answered without the passage counts as such.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from configs.errors import InputError
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


class InnerScore(NamedTuple):
    """A passage's place inside one domain; ``scale``: the highest score attainable there."""

    fused: Fused
    scale: float

    @property
    def unit(self) -> float:
        """The inner score on the scale that all inner modes share, in [0, 1]."""
        return min(1.0, self.fused.score / self.scale) if self.scale > 0 else 0.0


class FusedPassage(NamedTuple):
    """A passage's place in the end: ``outer`` over domains, ``inner`` over each one's signals.

    ``inner`` has an entry for every domain that returned the passage, which is one as long as ids
    carry their domain; ``domain`` is the one that gave the most (the first by name among equals).
    """

    id: str
    domain: str
    score: float
    outer: Fused
    inner: Mapping[str, InnerScore]


def fuse_domain(
    plan: FusionPlan, domain: str, signals: Mapping[SignalName, Sequence[Hit]]
) -> tuple[InnerScore, ...] | None:
    """Inner stage: at most ``plan.candidates`` passages of the domain, best first.

    None where no signal of weight above 0 was consulted.
    """
    plans = [s for s in plan.domains[domain].signals if s.name in signals and s.weight > 0]
    if not plans:
        return None
    rankings = [calibrate_hits(s.name, signals[s.name], s.calibration) for s in plans]
    weights = [s.weight for s in plans]
    scale = plan.inner.attainable(rankings, weights)
    return tuple(
        [InnerScore(fused, scale) for fused in plan.inner(rankings, weights)[: plan.candidates]]
    )


def fuse_two_stage(
    plan: FusionPlan, signals: Mapping[str, Mapping[SignalName, Sequence[Hit]]]
) -> tuple[FusedPassage, ...]:
    """Fuse what the consulted domains' signals returned; best first, ties by id.

    ``signals[domain][signal]`` are raw hits, in any order; leave out what was not consulted.
    Domains and signals of weight 0 are removed. Raises InputError for a domain that the plan
    does not know.
    """
    unknown = sorted(set(signals) - set(plan.domains))
    if unknown:
        raise InputError(
            f"no domain {unknown[0]!r} in the fusion plan; it has {', '.join(sorted(plan.domains))}"
        )
    inner: dict[str, dict[str, InnerScore]] = {}
    rankings: list[Ranking] = []
    weights: list[float] = []
    for domain in sorted(signals):
        weight = plan.domains[domain].weight
        passages = fuse_domain(plan, domain, signals[domain]) if weight > 0 else None
        if passages is None:
            continue
        hits = [ScoredHit(p.fused.id, p.fused.score, p.unit) for p in passages]
        for passage in passages:
            inner.setdefault(passage.fused.id, {})[domain] = passage
        rankings.append(Ranking(domain, tuple(hits)))
        weights.append(weight)
    return tuple(
        [
            FusedPassage(one.id, _home(one, inner[one.id]), one.score, one, inner[one.id])
            for one in plan.outer(rankings, weights)
        ]
    )


def trace_of(passage: FusedPassage) -> dict[str, Any]:
    """Why the passage ranks where it does, JSON-able; every score recomputes from what it holds.

    ``combine`` = ``sum``: score = Σ contribution; ``exp_sum``: exp(Σ contribution); ``max``: the
    greatest contribution. In ``domains``, ``raw`` is a domain's inner score and ``calibrated`` that
    score divided by the domain's ``scale``. ``signals`` explains the inner score of ``domain``,
    ``elsewhere`` that of any other domain that returned the same id. A row of a source that did not
    return the passage has ``rank``, ``raw`` and ``calibrated`` None; ``raw`` is None, too, where
    the source gave no finite number.
    """
    return {
        "score": passage.score,
        "domain": passage.domain,
        "combine": passage.outer.combine,
        "domains": [_row(c) for c in passage.outer.contributions],
        "signals": _inner_trace(passage.inner[passage.domain]),
        "elsewhere": {
            domain: _inner_trace(inner)
            for domain, inner in passage.inner.items()
            if domain != passage.domain
        },
    }


def _home(outer: Fused, inner: Mapping[str, InnerScore]) -> str:
    if len(inner) == 1:
        return next(iter(inner))
    return max((c for c in outer.contributions if c.source in inner), key=lambda c: c.value).source


def _inner_trace(inner: InnerScore) -> dict[str, Any]:
    return {
        "score": inner.fused.score,
        "scale": inner.scale,
        "combine": inner.fused.combine,
        "sources": [_row(c) for c in inner.fused.contributions],
    }


def _row(c: Contribution) -> dict[str, Any]:
    return {
        "source": c.source,
        "rank": c.rank,
        "raw": c.raw if c.raw is not None and math.isfinite(c.raw) else None,
        "calibrated": c.calibrated,
        "score": c.score,
        "weight": c.weight,
        "contribution": c.value,
    }


def _signal(name: SignalName, config: SignalConfig) -> SignalPlan:
    return SignalPlan(name, config.weight, config.depth, config.calibration)
