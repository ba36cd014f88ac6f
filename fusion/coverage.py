"""Which knowledge domains an answer rests on, and which could not be consulted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from configs.errors import SourceUnavailableError
from fusion.gather import Outcome

CoverageStatus = Literal["ok", "timed_out", "failed", "skipped"]
SkipCode = Literal["", "busy", "not_ingested"]

_SIGNALS = {"dense": "语义检索", "keyword": "关键词检索"}
_WHY = {
    "timed_out": "超时",
    "failed": "出错",
    "skipped": "不可用",
    "busy": "繁忙",
    "not_ingested": "尚未入库",
}


@dataclass(frozen=True, slots=True)
class SourceCoverage:
    """How one domain took part in one query.

    ``ms`` is the time from the query's start until its last signal answered (or was given up);
    ``hits`` the number of distinct passages it returned. ``reason`` says in one line why the status
    is not ``ok``; ``notes`` what went wrong inside a domain that is ``ok`` all the same (one of its
    signals failed). ``code`` tells the two kinds of ``skipped`` apart; ``lost`` names the signals
    that an ``ok`` domain should have been searched by and was not.
    """

    source: str
    label: str
    status: CoverageStatus
    reason: str = ""
    ms: float = 0.0
    hits: int = 0
    notes: tuple[str, ...] = ()
    code: SkipCode = ""
    lost: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the domain was consulted."""
        return self.status == "ok"

    @property
    def why(self) -> str:
        """The reason as a reader of the answer is told it; empty when ``ok``."""
        return "" if self.ok else _WHY[self.code or self.status]


def notice(coverage: Sequence[SourceCoverage]) -> str:
    """The sentence that warns of domains not consulted, or not in full; empty when all were."""
    missing = [f"{entry.label}（{entry.why}）未能查询" for entry in coverage if not entry.ok]
    partial = [
        f"{entry.label}的{'、'.join(_SIGNALS.get(name, name) for name in entry.lost)}未能使用"
        for entry in coverage
        if entry.ok and entry.lost
    ]
    if not missing and not partial:
        return ""
    return f"注意：{'；'.join((*missing, *partial))}，以下回答可能不完整。"


def coverage_from(
    outcomes: Sequence[Outcome],
    *,
    label: str,
    started: float,
    limit_ms: int,
    hits: int,
    notes: Sequence[str] = (),
    missing: Sequence[str] = (),
) -> SourceCoverage:
    """Judge one domain by the outcomes of its calls (at least one); ``ok`` if any was answered.

    ``missing``: its planned signals that could not even be asked.
    ``started`` is the query's start in seconds of ``time.monotonic()``.
    """
    source = outcomes[0].call.source
    ms = round((max(outcome.finished for outcome in outcomes) - started) * 1000, 1)
    wrong = [outcome for outcome in outcomes if outcome.status != "ok"]
    problems = tuple(f"{outcome.call.key}: {outcome.reason}" for outcome in wrong)
    if len(wrong) < len(outcomes):
        lost = tuple(outcome.call.key for outcome in wrong)
        return SourceCoverage(
            source, label, "ok", "", ms, hits, (*notes, *problems), lost=(*missing, *lost)
        )
    reason = "; ".join(problems)
    kinds = {outcome.status for outcome in wrong}
    if "timed_out" in kinds:
        return SourceCoverage(source, label, "timed_out", f"{reason} (limit {limit_ms} ms)", ms)
    if "failed" in kinds:
        return SourceCoverage(source, label, "failed", reason, ms)
    return SourceCoverage(source, label, "skipped", reason, ms, code="busy")


def require(entries: Sequence[SourceCoverage], allow_partial: bool) -> None:
    """Raise SourceUnavailableError when no domain was consulted, or one was not and all had to."""
    missing = [entry for entry in entries if not entry.ok]
    none = len(missing) == len(entries)
    if not missing or (allow_partial and not none):
        return
    details = "; ".join(f"{e.source} {e.status} ({e.reason})" for e in missing)
    remedy = "retry" if none else "retry, or set fusion.allow_partial: true"
    if all(entry.code == "not_ingested" for entry in missing):
        remedy = "ingest documents first"
    whom = "no knowledge domain" if none else "not every knowledge domain"
    raise SourceUnavailableError(f"{whom} could be consulted: {details}; {remedy}")
