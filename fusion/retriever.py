"""All knowledge domains asked at once, their rankings fused: a LlamaIndex retriever.

Differs from ``QueryFusionRetriever`` on purpose: weights count in every mode, each domain embeds
the question with its own model, passages are told apart by id (never by a hash of text and
metadata), nothing a source returned is changed, and a source that is slow, fails or is missing
costs its own passages only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from configs.errors import ConfigError, InputError
from configs.settings import FusionMode
from fusion.coverage import SourceCoverage, coverage_from, require
from fusion.gather import Call, Gatherer, Outcome
from fusion.nodes import RankedPassage, RetrievalResult
from fusion.router import DomainRouter
from fusion.sources import SearchSource
from fusion.two_stage import FusedPassage, FusionPlan, SignalPlan, fuse_two_stage, trace_of
from indexes.schema import NO_FILTERS, Filters, Hit, Passage, SignalName

DEFAULT_TIMEOUT_MS = 800
READ_GRACE_MS = 200
"""The least time a domain has to read the fused passages, even when its search took all it had."""

_Hits = dict[str, dict[SignalName, Sequence[Hit]]]
_Steps = Generator[list[Call], list[Outcome], RetrievalResult]


@dataclass(frozen=True, slots=True)
class _Ask:
    query: str
    filters: Filters
    sources: tuple[SearchSource, ...]
    plan: FusionPlan
    top_k: int
    started: float
    routing: Mapping[str, float] | None


class FusionRetriever(BaseRetriever):
    """Retrieves from several knowledge domains and fuses in two stages.

    ``timeouts_ms``: per domain, counted from the query's start (800 where absent). An answer that
    came late but before the slowest domain's is used all the same. Domains and signals of weight 0
    are not asked. ``absent``: domains that belong here but cannot be searched, with the remedy;
    they show in the coverage as skipped. ``notes``: standing remarks on a domain, for the coverage.
    ``plans`` gives the plan of another fusion mode; ``router`` scales the domains' weights by the
    question. Thread-safe.

    A query raises SourceUnavailableError when no domain could be consulted (an empty list would
    read as "no rule applies"), or any could not and ``allow_partial`` is False.
    """

    def __init__(
        self,
        sources: Sequence[SearchSource],
        plan: FusionPlan,
        *,
        timeouts_ms: Mapping[str, int] | None = None,
        top_k: int = 10,
        allow_partial: bool = True,
        labels: Mapping[str, str] | None = None,
        absent: Mapping[str, str] | None = None,
        notes: Mapping[str, Sequence[str]] | None = None,
        plans: Callable[[FusionMode], FusionPlan] | None = None,
        gatherer: Gatherer | None = None,
        router: DomainRouter | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        names = [source.name for source in sources]
        if len(set(names)) != len(names):
            raise ConfigError(f"two sources share a name in {names}; give each its own")
        unplanned = sorted({*names, *(absent or {})} - set(plan.domains))
        if unplanned:
            raise ConfigError(f"the fusion plan has no domain {unplanned[0]!r}; add it to domains")
        self._sources = {source.name: source for source in sources}
        self._plan = plan
        self._plans = plans
        self._timeouts = dict(timeouts_ms or {})
        self._top_k = top_k
        self._allow_partial = allow_partial
        self._labels = dict(labels or {})
        self._absent = dict(absent or {})
        self._notes = dict(notes or {})
        self._gatherer = gatherer or Gatherer()
        self._router = router

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains this retriever asks by default, in the plan's order, searchable or not."""
        return tuple(
            name
            for name, domain in self._plan.domains.items()
            if domain.weight > 0 and (name in self._sources or name in self._absent)
        )

    def add_source(self, source: SearchSource, notes: Sequence[str] = ()) -> None:
        """Search an absent domain from the next query on, as it is there by now."""
        # Fresh mappings: running queries keep the ones that they began with.
        self._notes = {**self._notes, source.name: tuple(notes)}
        self._sources = {**self._sources, source.name: source}
        self._absent = {name: why for name, why in self._absent.items() if name != source.name}

    def search(
        self,
        query: str,
        filters: Filters = NO_FILTERS,
        domains: Sequence[str] | None = None,
        mode: FusionMode | None = None,
        top_k: int | None = None,
    ) -> RetrievalResult:
        """The ``top_k`` best passages, with coverage and trace.

        Raises InputError for an unknown domain or a ``top_k`` below 1, SourceUnavailableError as
        the class says.
        """
        steps = self._steps(query, filters, domains, mode, top_k)
        outcomes: list[Outcome] | None = None
        while True:
            try:
                calls = steps.send(outcomes) if outcomes is not None else next(steps)
            except StopIteration as stop:
                result: RetrievalResult = stop.value
                return result
            outcomes = self._gatherer.run(calls)

    async def asearch(
        self,
        query: str,
        filters: Filters = NO_FILTERS,
        domains: Sequence[str] | None = None,
        mode: FusionMode | None = None,
        top_k: int | None = None,
    ) -> RetrievalResult:
        """As ``search``, without blocking the event loop while the domains are asked."""
        steps = self._steps(query, filters, domains, mode, top_k)
        outcomes: list[Outcome] | None = None
        while True:
            try:
                calls = steps.send(outcomes) if outcomes is not None else next(steps)
            except StopIteration as stop:
                result: RetrievalResult = stop.value
                return result
            outcomes = await self._gatherer.arun(calls)

    def close(self) -> None:
        """End the search threads. The sources belong to the caller."""
        self._gatherer.close()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.search(query_bundle.query_str).nodes

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return (await self.asearch(query_bundle.query_str)).nodes

    def _steps(
        self,
        query: str,
        filters: Filters,
        domains: Sequence[str] | None,
        mode: FusionMode | None,
        top_k: int | None,
    ) -> _Steps:
        """The one course of a query; whoever drives it makes the yielded calls."""
        ask, absent = self._prepare(query, filters, domains, mode, top_k)
        outcomes = (yield self._search_calls(ask)) if ask.sources else []
        coverage, hits = self._judge(ask, outcomes)
        require((*coverage.values(), *absent), self._allow_partial)
        found: dict[str, Passage | None] = {}
        while True:
            fused = fuse_two_stage(ask.plan, hits)[: ask.top_k]
            wanted = self._read_calls(ask, fused, found)
            reads = (yield wanted) if wanted else []
            lost = [outcome for outcome in reads if outcome.status != "ok"]
            for outcome in reads:
                if outcome.status == "ok":
                    found.update(outcome.value)
            if not lost:
                break
            for outcome in lost:  # its passages cannot be shown, so it must not displace others
                hits.pop(outcome.call.source)
                coverage[outcome.call.source] = self._entry(ask, [outcome], 0)
            require((*coverage.values(), *absent), self._allow_partial)
        return self._result(ask, fused, found, hits, (*coverage.values(), *absent))

    def _prepare(
        self,
        query: str,
        filters: Filters,
        domains: Sequence[str] | None,
        mode: FusionMode | None,
        top_k: int | None,
    ) -> tuple[_Ask, tuple[SourceCoverage, ...]]:
        started = time.monotonic()
        wanted = self.domains if domains is None else tuple(dict.fromkeys(domains))
        unknown = [name for name in wanted if name not in self.domains]
        if unknown or not wanted:
            known = ", ".join(self.domains)
            raise InputError(
                f"domain {', '.join(unknown) or '(none given)'} is not known or has weight 0; "
                f"use {known or 'another configuration'}"
            )
        count = self._top_k if top_k is None else top_k
        if count < 1:
            raise InputError(f"top_k is {count}; it must be at least 1")
        if mode is not None and self._plans is None:
            raise InputError(f"mode {mode!r} cannot be chosen here; set the plan at construction")
        plan = self._plans(mode) if mode is not None and self._plans else self._plan
        routing = None
        if self._router is not None and len(wanted) > 1:
            plan, routing = self._router.applied(plan, query)
        gone, there = self._absent, self._sources  # in this order: see add_source
        absent = tuple(
            SourceCoverage(name, self._label(name), "skipped", gone[name], code="not_ingested")
            for name in wanted
            if name in gone and name not in there
        )
        sources = tuple(there[name] for name in wanted if name in there)
        return _Ask(query, filters, sources, plan, count, started, routing), absent

    def _search_calls(self, ask: _Ask) -> list[Call]:
        calls = []
        for source in ask.sources:
            deadline = ask.started + self._timeout_s(source.name)
            for signal in ask.plan.domains[source.name].signals:
                if signal.weight == 0 or signal.name not in source.signals:
                    continue

                def run(
                    source: SearchSource = source, signal: SignalPlan = signal
                ) -> Sequence[Hit]:
                    depth = max(signal.depth, ask.top_k)
                    return tuple(source.search(signal.name, ask.query, depth, ask.filters))

                calls.append(Call(source.name, signal.name, run, deadline))
        return calls

    def _read_calls(
        self, ask: _Ask, fused: Sequence[FusedPassage], found: Mapping[str, Passage | None]
    ) -> list[Call]:
        wanted: dict[str, list[str]] = {}
        for item in fused:
            if item.id not in found:
                wanted.setdefault(item.domain, []).append(item.id)
        now = time.monotonic()
        calls = []
        for name, ids in wanted.items():
            deadline = max(ask.started + self._timeout_s(name), now + READ_GRACE_MS / 1000)

            def run(
                source: SearchSource = self._sources[name], ids: Sequence[str] = tuple(ids)
            ) -> Mapping[str, Passage | None]:
                return {**dict.fromkeys(ids), **source.passages(ids)}

            calls.append(Call(name, "passages", run, deadline))
        return calls

    def _judge(
        self, ask: _Ask, outcomes: Sequence[Outcome]
    ) -> tuple[dict[str, SourceCoverage], _Hits]:
        coverage: dict[str, SourceCoverage] = {}
        hits: _Hits = {}
        for source in ask.sources:
            own = [outcome for outcome in outcomes if outcome.call.source == source.name]
            if not own:
                label = self._label(source.name)
                reason = "none of its signals can be searched"
                coverage[source.name] = SourceCoverage(source.name, label, "skipped", reason)
                continue
            answered: dict[SignalName, Sequence[Hit]] = {}
            for outcome in own:
                if outcome.status == "ok":
                    answered[_signal(outcome.call.key)] = outcome.value
            if answered:
                hits[source.name] = answered
            distinct = {hit.id for found in answered.values() for hit in found}
            coverage[source.name] = self._entry(ask, own, len(distinct))
        return coverage, hits

    def _entry(self, ask: _Ask, outcomes: Sequence[Outcome], hits: int) -> SourceCoverage:
        name = outcomes[0].call.source
        searchable = self._sources[name].signals
        planned = (plan.name for plan in ask.plan.domains[name].signals if plan.weight > 0)
        return coverage_from(
            outcomes,
            label=self._label(name),
            started=ask.started,
            limit_ms=self._timeouts.get(name, DEFAULT_TIMEOUT_MS),
            hits=hits,
            notes=self._notes.get(name, ()),
            missing=tuple(signal for signal in planned if signal not in searchable),
        )

    def _result(
        self,
        ask: _Ask,
        fused: Sequence[FusedPassage],
        found: Mapping[str, Passage | None],
        hits: _Hits,
        coverage: tuple[SourceCoverage, ...],
    ) -> RetrievalResult:
        ranked = []
        gone = []
        for item in fused:
            passage = found.get(item.id)
            if passage is None:
                gone.append(item.id)
            else:
                ranked.append(RankedPassage(passage, item.score, MappingProxyType(trace_of(item))))
        order = {name: position for position, name in enumerate(self.domains)}
        trace = {
            "ms": round((time.monotonic() - ask.started) * 1000, 1),
            "as_of": ask.filters.as_of.isoformat() if ask.filters.as_of else None,
            "jurisdictions": sorted(ask.filters.jurisdictions or ()),
            **({"missing_passages": gone} if gone else {}),
            **({"routing": dict(ask.routing)} if ask.routing else {}),
        }
        return RetrievalResult(
            query=ask.query,
            passages=tuple(ranked),
            coverage=tuple(sorted(coverage, key=lambda entry: order[entry.source])),
            trace=MappingProxyType(trace),
            lists=MappingProxyType(hits),
        )

    def _label(self, name: str) -> str:
        return self._labels.get(name, name)

    def _timeout_s(self, name: str) -> float:
        return self._timeouts.get(name, DEFAULT_TIMEOUT_MS) / 1000


def _signal(key: str) -> SignalName:
    return "dense" if key == "dense" else "keyword"
