"""Ask the configured knowledge domains a question and get a cited answer: a LlamaIndex engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.callbacks.schema import CBEventType, EventPayload
from llama_index.core.instrumentation.events.query import QueryEndEvent, QueryStartEvent
from llama_index.core.llms import LLM
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType
from llama_index_instrumentation import get_dispatcher

from configs.errors import InputError
from configs.settings import FusionMode, Settings
from fusion.answerability import Answerability
from fusion.earlier_law import named_version_date
from fusion.history import Feedback
from fusion.history_recorder import HistoryRecorder
from fusion.lookup import ReferenceLookup
from fusion.neighbours import Neighbours
from fusion.nodes import RankedPassage, RetrievalResult
from fusion.opening import open_engine_parts
from fusion.other_versions import OtherVersions
from fusion.place_notes import place_notes
from fusion.question_abroad import asks_abroad
from fusion.request import Request, parse_request, question_of
from fusion.rerank import Reranker
from fusion.retriever import FusionRetriever
from fusion.synthesizer import PolicySynthesizer

if TYPE_CHECKING:
    from indexes.embeddings import TextEmbedder

dispatcher = get_dispatcher(__name__)


class PolicyQueryEngine(BaseQueryEngine):
    """Retrieval from all domains, reranking, and a cited answer. Thread-safe.

    Every asking method takes ``as_of`` (a date or ``YYYY-MM-DD``: the rules in force that day;
    by default the day whose law the question asks for, else today by ``clock``; ``"any"`` =
    whatever the dates), ``jurisdiction`` (a place: its rules, those of its superiors and national
    ones; by default the places that the question names; ``"any"`` = everywhere), ``domains``,
    ``mode`` and ``top_k``. They raise InputError for a bad argument or question (blank, or above
    10,000 characters), and SourceUnavailableError when no domain could be consulted.
    """

    def __init__(
        self,
        retriever: FusionRetriever,
        synthesizer: PolicySynthesizer,
        *,
        reranker: Reranker | None = None,
        lookup: ReferenceLookup | None = None,
        answerability: Answerability | None = None,
        history: HistoryRecorder | None = None,
        versions: OtherVersions | None = None,
        neighbours: Neighbours | None = None,
        top_k: int = 10,
        clock: Callable[[], date] = date.today,
        refresh: Callable[[], None] | None = None,
        on_close: Callable[[], None] | None = None,
        warmers: Sequence[Callable[[], None]] = (),
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        self._retriever = retriever
        self._synthesizer = synthesizer
        self._reranker = reranker
        self._lookup = lookup
        self._answerability = answerability
        self._history = history
        self._versions = versions
        self._neighbours = neighbours
        self._top_k = top_k
        self._clock = clock
        self._refresh = refresh
        self._on_close = on_close
        self._warmers = tuple(warmers)
        self._closed = False

    @classmethod
    def from_config(
        cls,
        config: str | Path | Settings | None = None,
        *,
        store: str | Path | None = None,
        clock: Callable[[], date] = date.today,
        now: Callable[[], datetime] = datetime.now,
        llm: LLM | None = None,
        embedders: Mapping[str, TextEmbedder] | None = None,
        warm: bool = True,
    ) -> Self:
        """Open the store of a profile, and load the models unless ``warm`` is False.

        ``now``: local time, by which ``synthesis.schedule`` goes. ``llm`` takes the place of
        ``synthesis.llm``; ``embedders`` that of the configured models,
        by domain. A domain that was never ingested is skipped until it is there, and the coverage
        says so; one whose model is missing or another than it was ingested with is searched by
        keywords.
        Raises ConfigError.
        """
        parts = open_engine_parts(config, store=store, llm=llm, embedders=embedders, now=now)
        engine = cls(
            parts.retriever,
            parts.synthesizer,
            reranker=parts.reranker,
            lookup=parts.lookup,
            answerability=parts.answerability,
            history=parts.history,
            versions=parts.versions,
            neighbours=parts.neighbours,
            top_k=parts.settings.fusion.top_k,
            clock=clock,
            refresh=parts.refresh,
            on_close=parts.close,
            warmers=parts.warmers,
        )
        if warm:
            engine.warm_up()
        return engine

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains a question goes to when none are named."""
        return self._retriever.domains

    def warm_up(self) -> None:
        """Load models and touch every index, so that time limits measure searching only.

        What fails here fails again, and is reported, when it is asked.
        """
        for warm in self._warmers:
            warm()

    def query(
        self,
        str_or_query_bundle: QueryType,
        *,
        as_of: date | str | None = None,
        jurisdiction: str | None = None,
        domains: Sequence[str] | None = None,
        mode: FusionMode | None = None,
        top_k: int | None = None,
        streaming: bool = False,
    ) -> RESPONSE_TYPE:
        """A PolicyAnswer; with ``streaming`` a PolicyStream (sources at once, citations after)."""
        request = self._request(str_or_query_bundle, as_of, jurisdiction, domains, mode, top_k)
        dispatcher.event(QueryStartEvent(query=str_or_query_bundle))
        with self.callback_manager.as_trace("query"):
            response = self._answer(request, streaming)
        dispatcher.event(QueryEndEvent(query=str_or_query_bundle, response=response))
        return response

    async def aquery(
        self,
        str_or_query_bundle: QueryType,
        *,
        as_of: date | str | None = None,
        jurisdiction: str | None = None,
        domains: Sequence[str] | None = None,
        mode: FusionMode | None = None,
        top_k: int | None = None,
        streaming: bool = False,
    ) -> RESPONSE_TYPE:
        """As ``query`` without blocking the event loop; streams are AsyncPolicyStream."""
        request = self._request(str_or_query_bundle, as_of, jurisdiction, domains, mode, top_k)
        dispatcher.event(QueryStartEvent(query=str_or_query_bundle))
        with self.callback_manager.as_trace("query"):
            response = await self._aanswer(request, streaming)
        dispatcher.event(QueryEndEvent(query=str_or_query_bundle, response=response))
        return response

    def search(
        self,
        query: QueryType,
        *,
        as_of: date | str | None = None,
        jurisdiction: str | None = None,
        domains: Sequence[str] | None = None,
        mode: FusionMode | None = None,
        top_k: int | None = None,
    ) -> RetrievalResult:
        """The passages, reranked, best first, with coverage and trace; no answer is written."""
        return self._search(self._request(query, as_of, jurisdiction, domains, mode, top_k))

    async def asearch(
        self,
        query: QueryType,
        *,
        as_of: date | str | None = None,
        jurisdiction: str | None = None,
        domains: Sequence[str] | None = None,
        mode: FusionMode | None = None,
        top_k: int | None = None,
    ) -> RetrievalResult:
        """As ``search``."""
        request = self._request(query, as_of, jurisdiction, domains, mode, top_k)
        return await self._asearch(request)

    def retrieve(self, query_bundle: QueryType) -> list[NodeWithScore]:
        """The passages as LlamaIndex nodes, best first (the rules in force today)."""
        return self.search(query_bundle).nodes

    async def aretrieve(self, query_bundle: QueryType) -> list[NodeWithScore]:
        """As ``retrieve``."""
        return (await self.asearch(query_bundle)).nodes

    def synthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        """The answer from these nodes."""
        return self._synthesizer.synthesize(query_bundle, nodes, additional_source_nodes)

    async def asynthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        """As ``synthesize``."""
        return await self._synthesizer.asynthesize(query_bundle, nodes, additional_source_nodes)

    def feedback(
        self, query_id: str, passage_id: str, verdict: str, *, client: str = ""
    ) -> Feedback:
        """Keep a verdict (clicked, cited, accepted, rejected) on a passage that a query showed.

        ``query_id`` is that of the answer or result. Raises InputError when the history is off, or
        does not know the query, the passage or the verdict.
        """
        if self._history is None:
            raise InputError("no history is kept; set history.enabled: true in the profile")
        return self._history.store.feedback(query_id, passage_id, verdict, client=client)

    def close(self) -> None:
        """Close stores and end threads; the engine must not be asked afterwards. Idempotent."""
        if not self._closed:
            self._closed = True
            self._retriever.close()
            if self._history is not None:
                self._history.store.close()
            if self._versions is not None:
                self._versions.close()
            if self._on_close is not None:
                self._on_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.close)

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return self._answer(self._request(query_bundle), False)

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return await self._aanswer(self._request(query_bundle), False)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"response_synthesizer": self._synthesizer}

    def _request(
        self,
        query: QueryType,
        as_of: date | str | None = None,
        jurisdiction: str | None = None,
        domains: Sequence[str] | None = None,
        mode: FusionMode | None = None,
        top_k: int | None = None,
    ) -> Request:
        if self._closed:
            raise InputError("this engine is closed; open another one")
        request = parse_request(
            question_of(query),
            as_of=as_of,
            today=self._clock,
            jurisdiction=jurisdiction,
            domains=domains,
            mode=mode,
            top_k=self._top_k if top_k is None else top_k,
        )
        if self._lookup is None or as_of is not None or request.dated:
            return request
        lookup = self._lookup
        return request.on(
            named_version_date(request.question, self._clock(), lookup.ending, lookup.versions)
        )

    def _answer(self, request: Request, streaming: bool) -> RESPONSE_TYPE:
        payload: dict[str, Any] = {EventPayload.QUERY_STR: request.question}
        with self.callback_manager.event(CBEventType.QUERY, payload=payload) as event:
            response = self._synthesizer.answer(
                self._beside(request, self._search(request)), streaming=streaming
            )
            event.on_end(payload={EventPayload.RESPONSE: response})
        return response

    async def _aanswer(self, request: Request, streaming: bool) -> RESPONSE_TYPE:
        payload: dict[str, Any] = {EventPayload.QUERY_STR: request.question}
        with self.callback_manager.event(CBEventType.QUERY, payload=payload) as event:
            found = await self._asearch(request)
            found = await asyncio.to_thread(self._beside, request, found)
            response = await self._synthesizer.aanswer(found, streaming=streaming)
            event.on_end(payload={EventPayload.RESPONSE: response})
        return response

    def _search(self, request: Request) -> RetrievalResult:
        if self._refresh is not None:
            self._refresh()
        found = self._retriever.search(
            request.question, request.filters, request.domains, request.mode, self._depth(request)
        )
        return self._reranked(request, found)

    async def _asearch(self, request: Request) -> RetrievalResult:
        if self._refresh is not None:
            await asyncio.to_thread(self._refresh)
        found = await self._retriever.asearch(
            request.question, request.filters, request.domains, request.mode, self._depth(request)
        )
        return await asyncio.to_thread(self._reranked, request, found)

    def _confidence(self, question: str, passages: Sequence[RankedPassage]) -> float | None:
        if asks_abroad(question):
            return 0.0
        judge = self._answerability
        return judge.confidence(question, passages) if judge else None

    def _beside(self, request: Request, found: RetrievalResult) -> RetrievalResult:
        if self._neighbours is None:
            return found
        return self._neighbours.apply(found, request.filters, request.domains)

    def _depth(self, request: Request) -> int:
        # Twice as deep where rules of other places will be dropped.
        return self._wanted(request) * (2 if request.placed else 1)

    def _wanted(self, request: Request) -> int:
        return max(request.top_k, self._reranker.top_n if self._reranker else 0)

    def _reranked(self, request: Request, found: RetrievalResult) -> RetrievalResult:
        begun = None  # searched while this thread ranks
        if self._versions is not None:
            begun = self._versions.begin(request.question, request.filters, request.domains)
        passages, trace = request.in_place(found.passages), {**found.trace, **request.read()}
        passages = passages[: self._wanted(request)]
        if self._reranker is not None:
            passages, trace["rerank"] = self._reranker.rerank(request.question, passages)
        found = replace(
            found,
            passages=passages,
            trace=MappingProxyType(trace),
            confidence=self._confidence(request.question, passages),
        )
        if self._lookup is not None:
            found = self._lookup.apply(found, request.filters, request.domains)
        passages = found.passages[: request.top_k]
        notes = place_notes(request.placed, (item.passage for item in passages))
        found = replace(found, passages=passages, dated=request.dated, place_notes=notes)
        if self._versions is not None:
            found = self._versions.apply(
                found, request.filters, request.domains, request.placed, begun
            )
        return found if self._history is None else self._history.record(found)
