"""What was asked, what every source returned, and what people made of it: plain records.

Storing is ``fusion.history_store``'s; counting here is pure. One client cannot swing the counts:
all verdicts of a client together weigh at most ``CLIENT_CAP``; those without a client are one.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from configs.errors import InputError
from fusion.calibration import calibrate_hits
from fusion.nodes import RetrievalResult
from fusion.two_stage import FusionPlan
from indexes.schema import PassageId

Verdict = Literal["clicked", "cited", "accepted", "rejected"]
Origin = Literal["live", "eval"]
QueryKeeping = Literal["text", "hash", "none"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
CLIENT_CAP = 20.0


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: free texts that the application chooses, "" = unknown."""

    client: str = ""
    session: str = ""
    origin: Origin = "live"


_NOBODY = Caller()
_CALLER: ContextVar[Caller] = ContextVar("policy_fusion_caller", default=_NOBODY)


@contextmanager
def asked_by(client: str = "", session: str = "", origin: Origin = "live") -> Iterator[None]:
    """Queries inside of this block are logged as asked by that client; also in async code."""
    token = _CALLER.set(Caller(client, session, origin))
    try:
        yield
    finally:
        _CALLER.reset(token)


def caller() -> Caller:
    """Who asks now."""
    return _CALLER.get()


@dataclass(frozen=True, slots=True)
class SignalLog:
    """What one signal of one domain returned, best first: ids, raw scores (None where it gave no
    finite number) and calibrated scores in (0, 1); the rank is the place from 1."""

    domain: str
    signal: str
    ids: tuple[str, ...]
    raw: tuple[float | None, ...]
    calibrated: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class SourceLog:
    """How one domain took part: status as in the coverage, ``ms`` until it had answered."""

    domain: str
    status: str
    ms: float


@dataclass(frozen=True, slots=True)
class QueryLog:
    """One query. ``fused``: ids in the order shown; ``at``: time zone aware; ``weights``: the
    version of the fusion weights, None = the profile's own. ``query`` is the text, its SHA-256 or
    "", as the profile says."""

    query_id: str
    at: datetime
    query: str
    signals: tuple[SignalLog, ...]
    sources: tuple[SourceLog, ...]
    fused: tuple[str, ...]
    weights: int | None = None
    client: str = ""
    session: str = ""
    origin: Origin = "live"

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dictionary; ``from_json`` reads it."""
        return {**asdict(self), "at": self.at.isoformat()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> QueryLog:
        """The inverse of ``to_json``, also after JSON. Raises KeyError, TypeError, ValueError."""
        signals = tuple(
            SignalLog(
                s["domain"], s["signal"], tuple(s["ids"]), tuple(s["raw"]), tuple(s["calibrated"])
            )
            for s in data["signals"]
        )
        sources = tuple(SourceLog(**source) for source in data["sources"])
        return cls(
            **{
                **data,
                "at": datetime.fromisoformat(data["at"]),
                "signals": signals,
                "sources": sources,
                "fused": tuple(data["fused"]),
            }
        )


@dataclass(frozen=True, slots=True)
class Feedback:
    """A verdict on one shown passage of one query."""

    query_id: str
    passage_id: str
    verdict: Verdict
    at: datetime
    client: str = ""

    @property
    def good(self) -> bool:
        """Whether the passage helped."""
        return self.verdict != "rejected"


def check_verdict(verdict: str) -> Verdict:
    """The verdict. Raises InputError for an unknown one."""
    for known in VERDICTS:
        if verdict == known:
            return known
    raise InputError(f"verdict {verdict!r} is not known; use one of {', '.join(VERDICTS)}")


def log_of(
    result: RetrievalResult,
    plan: FusionPlan,
    *,
    query_id: str,
    at: datetime,
    keep: QueryKeeping,
    who: Caller,
    weights: int | None,
    depth: int,
) -> QueryLog:
    """The record of a finished query; of every signal the ``depth`` best hits."""
    signals = []
    for domain, by_signal in sorted(result.lists.items()):
        for signal in plan.domains[domain].signals:
            if signal.name not in by_signal:
                continue
            hits = calibrate_hits(signal.name, by_signal[signal.name], signal.calibration).hits
            signals.append(
                SignalLog(
                    domain,
                    signal.name,
                    tuple(hit.id for hit in hits[:depth]),
                    tuple(h.raw if math.isfinite(h.raw) else None for h in hits[:depth]),
                    tuple(round(hit.score, 6) for hit in hits[:depth]),
                )
            )
    return QueryLog(
        query_id=query_id,
        at=at,
        query=kept_query(result.query, keep),
        signals=tuple(signals),
        sources=tuple(SourceLog(c.source, c.status, c.ms) for c in result.coverage),
        fused=tuple(item.passage.id for item in result.passages),
        weights=weights,
        client=who.client,
        session=who.session,
        origin=who.origin,
    )


def kept_query(query: str, keep: QueryKeeping) -> str:
    """The question as it is stored: the text, ``sha256:…`` of it, or nothing."""
    if keep == "text":
        return query
    if keep == "hash":
        return "sha256:" + hashlib.sha256(query.encode("utf-8")).hexdigest()
    return ""


def verdict_weights(feedback: Sequence[Feedback], cap: float = CLIENT_CAP) -> list[float]:
    """A weight in (0, 1] per verdict: a client's verdicts together weigh at most ``cap``."""
    given = Counter(one.client for one in feedback)
    return [min(1.0, cap / given[one.client]) for one in feedback]


def domain_outcomes(
    feedback: Iterable[Feedback], cap: float = CLIENT_CAP
) -> dict[str, tuple[float, float]]:
    """Domain -> (weight of good verdicts, weight of all) on the passages that it brought."""
    listed = list(feedback)
    found: dict[str, tuple[float, float]] = {}
    for one, weight in zip(listed, verdict_weights(listed, cap), strict=True):
        domain = PassageId.parse(one.passage_id).domain
        good, total = found.get(domain, (0.0, 0.0))
        found[domain] = (good + weight * one.good, total + weight)
    return found
