"""What a report draws: means with intervals per group, gains over single sources, reliability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from eval.calibrating import bins, calibration_error
from eval.report import FUSED, NO_KIND, EvalReport
from eval.significance import Interval, PairedResult, bootstrap_mean, compare_paired

ALL = "all"


@dataclass(frozen=True, slots=True)
class Group:
    """Some of the questions: ``kind`` is all, domain, kind or file; system -> interval of MRR."""

    kind: str
    name: str
    queries: int
    systems: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class Gain:
    """MRR of fused minus ``source`` alone on the questions of ``group`` (all, or a domain)."""

    group: str
    source: str
    result: PairedResult


@dataclass(frozen=True, slots=True)
class Reliability:
    """Predicted against observed shares: ``points`` are (mean prediction, share right, count) of
    the bins that are not empty, ``error`` the expected calibration error in [0, 1]."""

    name: str
    points: tuple[tuple[float, float, int], ...]
    error: float

    @property
    def samples(self) -> int:
        """Predictions in all bins."""
        return sum(count for _, _, count in self.points)


@dataclass(frozen=True, slots=True)
class Figures:
    """All that the plots and the text of a report are made of; ``headline``: metric -> interval."""

    headline: Mapping[str, Interval]
    groups: tuple[Group, ...]
    gains: tuple[Gain, ...]
    reliability: tuple[Reliability, ...]

    def of(self, kind: str) -> tuple[Group, ...]:
        """The groups of one kind."""
        return tuple(group for group in self.groups if group.kind == kind)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def figures(
    report: EvalReport, *, answered: Mapping[str, float] | None = None, seed: int = 0
) -> Figures:
    """Groups: all questions, every domain, every kind and file where there are several.

    Reliability is that of the confidence: whether an answer is among the first ``top_k``, which it
    never is for an unanswerable question. ``answered``: question key -> confidence of its answer,
    which saw fewer passages than a search that is measured.
    """
    singles = [name for name in report.values if name != FUSED and name not in report.unavailable]
    names = [FUSED, *singles]
    groups = tuple(
        Group(kind, name, len(keys), {s: _interval(report, s, keys, seed) for s in names})
        for kind, name, keys in _groups(report)
    )
    everything = [question.key for question in report.questions]
    gains = [Gain(ALL, name, _gain(report, name, everything, seed)) for name in singles]
    for name in singles:
        own = [question.key for question in report.questions if name in question.domains]
        if own:
            gains.append(Gain(name, name, _gain(report, name, own, seed)))
    headline = {
        metric: bootstrap_mean([report.values[FUSED][key][metric] for key in everything], seed=seed)
        for metric in report.overall.metrics
    }
    judged = [(sure, report.hit(key)) for key, sure in report.confidences.items()]
    judged += [(sure, False) for sure in report.unanswerable_confidences]
    reliable = [reliability("confidence of the search", judged)] if judged else []
    if answered:
        hits = {key: report.hit(key) for key in everything}
        asked = [(sure, hits.get(key, False)) for key, sure in answered.items()]
        reliable.append(reliability("confidence of the answer", asked))
    return Figures(headline, groups, tuple(gains), tuple(reliable))


def reliability(name: str, judged: Sequence[tuple[float, bool]]) -> Reliability:
    """Of (prediction in [0, 1], whether right) pairs. Raises InputError for none."""
    predicted = np.clip(np.array([p for p, _ in judged], dtype=np.float64), 0.0, 1.0)
    right = np.array([y for _, y in judged], dtype=np.bool_)
    error = calibration_error(predicted, right)  # first: it refuses an empty list
    return Reliability(name, tuple(bins(predicted, right)), error)


def _groups(report: EvalReport) -> list[tuple[str, str, list[str]]]:
    asked = report.questions
    found = [(ALL, ALL, [q.key for q in asked])]
    found += [
        ("domain", name, [q.key for q in asked if name in q.domains]) for name in report.per_domain
    ]
    if len(report.per_kind) > 1:
        found += [
            ("kind", name, [q.key for q in asked if (q.kind or NO_KIND) == name])
            for name in report.per_kind
        ]
    if len(report.per_file) > 1:
        found += [
            ("file", name, [q.key for q in asked if q.file == name]) for name in report.per_file
        ]
    return found


def _mrr(report: EvalReport, system: str, keys: Sequence[str]) -> list[float]:
    return [report.values[system][key]["mrr"] for key in keys]


def _interval(report: EvalReport, system: str, keys: Sequence[str], seed: int) -> Interval:
    return bootstrap_mean(_mrr(report, system, keys), seed=seed)


def _gain(report: EvalReport, source: str, keys: Sequence[str], seed: int) -> PairedResult:
    return compare_paired(_mrr(report, FUSED, keys), _mrr(report, source, keys), seed=seed)
