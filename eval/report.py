"""What an evaluation found, aggregated from per-question values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from rich.console import Group

from eval.balanced import Balanced, balance
from eval.datasets import Question
from eval.metrics import Values, mean
from eval.significance import Interval, PairedResult, bootstrap_mean, compare_paired
from eval.tables import notes, quality_table

FUSED = "fused"
NO_KIND = "unlabelled"


@dataclass(frozen=True, slots=True)
class SystemRun:
    """One system's per-question values (question key -> metric -> value) and its behaviour.

    ``failures``: domain -> searches in which it could not be consulted; ``incomplete``: questions
    for which at least one could not. By question key: ``firsts`` name the passage that came first,
    ``ranks`` are those of the first hit (None: not found), ``confidences`` say how sure it was, in
    [0, 1].
    """

    values: Mapping[str, Values]
    latencies_ms: tuple[float, ...] = ()
    failures: Mapping[str, int] = field(default_factory=dict)
    incomplete: int = 0
    firsts: Mapping[str, str] = field(default_factory=dict)
    ranks: Mapping[str, int | None] = field(default_factory=dict)
    confidences: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Slice:
    """Means over ``queries`` questions; every metric in [0, 1]."""

    queries: int
    metrics: Values

    def to_dict(self) -> dict[str, Any]:
        return {**self.metrics, "queries": self.queries}


@dataclass(frozen=True, slots=True)
class Latency:
    """Median and 95th percentile of ``samples`` searches, in milliseconds."""

    p50: float
    p95: float
    samples: int


@dataclass(frozen=True, slots=True)
class EvalReport:
    """Figures of one evaluation; ``overall`` is the fused engine on all answerable questions.

    ``per_domain``, ``per_kind``, ``per_file``: the fused engine on the questions with gold in that
    domain, of that kind, of that file. ``single_source``: each source alone on all answerable
    questions; ``own_domain``: each source alone on its own domain's questions. A source that
    never answered is in ``unavailable`` and in no comparison. ``best_single`` is the single source
    with the highest MRR, ``advantage`` fused minus that one on the same questions. ``values``:
    system -> question key -> metric -> value, for paired tests against another report.
    ``questions``: the answerable ones; ``firsts``, ``ranks`` and ``confidences``: of the fused
    engine, as in ``SystemRun``; ``unanswerable_confidences``: of questions without an answer.
    """

    top_k: int
    unanswerable: int
    overall: Slice
    mrr_interval: Interval
    per_domain: Mapping[str, Slice]
    single_source: Mapping[str, Slice]
    own_domain: Mapping[str, Slice]
    per_kind: Mapping[str, Slice]
    per_file: Mapping[str, Slice]
    latency: Mapping[str, Latency]
    failures: Mapping[str, int]
    incomplete: int
    unavailable: tuple[str, ...]
    balanced: Balanced | None
    best_single: str | None
    advantage: PairedResult | None
    values: Mapping[str, Mapping[str, Values]] = field(repr=False)
    questions: tuple[Question, ...] = field(repr=False)
    firsts: Mapping[str, str] = field(repr=False)
    ranks: Mapping[str, int | None] = field(repr=False)
    confidences: Mapping[str, float] = field(repr=False)
    unanswerable_confidences: tuple[float, ...] = field(default=(), repr=False)

    @property
    def queries(self) -> int:
        """All questions read, answerable or not."""
        return self.overall.queries + self.unanswerable

    @property
    def failed(self) -> tuple[Question, ...]:
        """The questions without a hit among the first ``top_k`` of the fused engine."""
        return tuple(question for question in self.questions if not self.hit(question.key))

    def hit(self, key: str) -> bool:
        """Whether the fused engine has an answer to this question among its first ``top_k``."""
        return self.values[FUSED][key][f"hit_rate@{self.top_k}"] > 0

    @property
    def slowest_source(self) -> str | None:
        """The single source with the highest median latency."""
        singles = [name for name in self.latency if name != FUSED]
        return max(singles, key=lambda name: self.latency[name].p50, default=None)

    @property
    def latency_ratio(self) -> float | None:
        """Median latency of the fused engine divided by that of the slowest single source."""
        fused, slowest = self.latency.get(FUSED), self.slowest_source
        if fused is None or slowest is None or not self.latency[slowest].p50:
            return None
        return fused.p50 / self.latency[slowest].p50

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; docs/evaluation.md explains every key."""
        fused = self.latency.get(FUSED)
        return {
            "top_k": self.top_k,
            "queries": self.queries,
            "answerable": self.overall.queries,
            "unanswerable": self.unanswerable,
            "overall": self.overall.to_dict(),
            "overall_mrr_interval": asdict(self.mrr_interval),
            "fused": self.overall.to_dict(),
            "per_domain": _plain(self.per_domain),
            "single_source": _plain(self.single_source),
            "single_source_own_domain": _plain(self.own_domain),
            "fused_minus_best_single": None
            if self.advantage is None
            else {"source": self.best_single, "metric": "mrr", **asdict(self.advantage)},
            "balanced": None if self.balanced is None else self.balanced.to_dict(),
            "latency_ms": {
                **({} if fused is None else asdict(fused)),
                "single_source": {
                    name: asdict(one) for name, one in self.latency.items() if name != FUSED
                },
                "slowest_source": self.slowest_source,
                "ratio_to_slowest_source": self.latency_ratio,
            },
            "coverage": {
                "incomplete_queries": self.incomplete,
                "failures": dict(self.failures),
                "unavailable": list(self.unavailable),
            },
            "per_kind": _plain(self.per_kind),
            "per_file": _plain(self.per_file),
        }

    def to_json(self) -> str:
        """``to_dict`` as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def table(self) -> Group:
        """For ``rich.console.Console().print``: readable from 100 columns up."""
        return Group(quality_table(self), notes(self))


def build_report(
    questions: Sequence[Question],
    runs: Mapping[str, SystemRun],
    *,
    unanswerable: int = 0,
    unanswerable_confidences: tuple[float, ...] = (),
    top_k: int = 10,
    seed: int = 0,
) -> EvalReport:
    """Aggregate the runs of ``fused`` and of every single source (by domain) on these questions.

    ``questions`` are the answerable ones, at least one; every run has values for each of them.
    """
    fused = runs[FUSED]
    keys = [question.key for question in questions]
    unavailable = tuple(
        name for name, one in runs.items() if name != FUSED and one.incomplete == len(questions)
    )
    singles = {n: r.values for n, r in runs.items() if n != FUSED and n not in unavailable}
    whole = {name: _slice(values, keys) for name, values in singles.items()}
    best = max(whole, key=lambda name: whole[name].metrics["mrr"], default=None)
    own = {name: [q.key for q in questions if name in q.domains] for name in singles}
    return EvalReport(
        top_k=top_k,
        unanswerable=unanswerable,
        overall=_slice(fused.values, keys),
        mrr_interval=bootstrap_mean(_mrr(fused.values, keys), seed=seed),
        per_domain=_grouped(questions, fused.values, lambda q: sorted(q.domains)),
        single_source=whole,
        own_domain={n: _slice(singles[n], group) for n, group in own.items() if group},
        per_kind=_grouped(questions, fused.values, lambda q: [q.kind or NO_KIND]),
        per_file=_grouped(questions, fused.values, lambda q: [q.file]),
        latency={n: one for n, r in runs.items() if (one := _latency(r.latencies_ms))},
        failures=dict(fused.failures),
        incomplete=fused.incomplete,
        unavailable=unavailable,
        balanced=balance(questions, fused.values, singles, seed=seed),
        best_single=best,
        advantage=None
        if best is None
        else compare_paired(_mrr(fused.values, keys), _mrr(singles[best], keys), seed=seed),
        values={name: one.values for name, one in runs.items()},
        questions=tuple(questions),
        firsts=dict(fused.firsts),
        ranks=dict(fused.ranks),
        confidences=dict(fused.confidences),
        unanswerable_confidences=unanswerable_confidences,
    )


def _mrr(values: Mapping[str, Values], keys: Iterable[str]) -> list[float]:
    return [values[key]["mrr"] for key in keys]


def _slice(values: Mapping[str, Values], keys: Sequence[str]) -> Slice:
    return Slice(len(keys), mean([values[key] for key in keys]))


def _grouped(
    questions: Sequence[Question],
    values: Mapping[str, Values],
    groups_of: Callable[[Question], Sequence[str]],
) -> dict[str, Slice]:
    groups: dict[str, list[str]] = {}
    for question in questions:
        for name in groups_of(question):
            groups.setdefault(name, []).append(question.key)
    return {name: _slice(values, groups[name]) for name in sorted(groups)}


def _latency(samples_ms: Sequence[float]) -> Latency | None:
    if not samples_ms:
        return None
    p50, p95 = np.percentile(samples_ms, [50, 95])
    return Latency(float(p50), float(p95), len(samples_ms))


def _plain(slices: Mapping[str, Slice]) -> dict[str, Any]:
    return {name: one.to_dict() for name, one in slices.items()}
