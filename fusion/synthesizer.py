"""The answer to a question from what was retrieved: a LlamaIndex response synthesizer.

With an LLM it works as LlamaIndex's compact mode does with one call: as many of the passages chosen
by ``fusion.context`` as the context window holds in one prompt; what does not fit is left out (and
said in the trace) rather than refined in further calls. Without an LLM it extracts sentences
verbatim. Either way the text carries markers ``[n]``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.callbacks.schema import CBEventType, EventPayload
from llama_index.core.indices.prompt_helper import ChatPromptHelper, PromptHelper
from llama_index.core.instrumentation.events.synthesis import (
    SynthesizeEndEvent,
    SynthesizeStartEvent,
)
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType
from llama_index.core.types import RESPONSE_TEXT_TYPE
from llama_index_instrumentation import get_dispatcher

from configs.settings import SynthesisConfig
from fusion.answer import AsyncPolicyStream, PolicyAnswer, PolicyStream
from fusion.context import choose_context
from fusion.llm import key_hint
from fusion.nodes import RankedPassage, RetrievalResult, coverage_of, from_node
from fusion.prompts import (
    DEFAULT_TEMPLATE,
    TokenCounter,
    context_budget,
    estimate_tokens,
    pack,
)
from fusion.writing import Writing
from indexes.schema import Passage, PassageMetadata

dispatcher = get_dispatcher(__name__)


class PolicySynthesizer(BaseSynthesizer):
    """Writes cited answers; ``llm`` None = extractive.

    ``count_tokens``: the LLM's tokenizer; by default an estimate that is rather too high. ``now``:
    local time, by which ``schedule`` goes. An LLM
    that fails, says nothing or marks no source is followed by excerpts and a remark; nothing that
    it does raises. LlamaIndex's global ``Settings`` are never asked for an LLM.
    """

    def __init__(
        self,
        config: SynthesisConfig | None = None,
        llm: LLM | None = None,
        *,
        count_tokens: TokenCounter = estimate_tokens,
        streaming: bool = False,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        def tokens(text: str) -> list[int]:
            return [0] * count_tokens(text)

        # The base class would replace a missing LLM by OpenAI and a missing helper by tiktoken's.
        stand_in = llm or MockLLM()
        super().__init__(
            llm=stand_in,
            callback_manager=stand_in.callback_manager or CallbackManager(),
            prompt_helper=PromptHelper(tokenizer=tokens),
            chat_prompt_helper=ChatPromptHelper(tokenizer=tokens),
            streaming=streaming,
        )
        self._config = config or SynthesisConfig()
        self._writer = llm
        self._now = now
        self._count = count_tokens
        self._template: BasePromptTemplate = DEFAULT_TEMPLATE

    def answer(self, result: RetrievalResult, *, streaming: bool = False) -> RESPONSE_TYPE:
        """A PolicyAnswer, or a PolicyStream when ``streaming``."""
        prepared = self._prepared(result)
        writing, prompt, problem = prepared
        if streaming:
            # The lambda, as the stream does not exist yet.
            pieces = self._stream(*prepared, lambda answer: stream.finish(answer))  # noqa: PLW0108
            stream = PolicyStream(pieces)
            stream.begin(writing.result.nodes, result.coverage, writing.confidence)
            return stream
        writing.head()
        if self._writer is None or prompt is None:
            writing.without_llm(problem)
            return writing.answer()
        try:
            text = _text(self._writer.predict(self._template, **prompt))
        except Exception as error:
            writing.end(self._failure(error))
        else:
            writing.write(text)
            writing.end()
        return writing.answer()

    async def aanswer(self, result: RetrievalResult, *, streaming: bool = False) -> RESPONSE_TYPE:
        """As ``answer``; streams are AsyncPolicyStream."""
        prepared = self._prepared(result)
        writing, prompt, problem = prepared
        if streaming:
            # The lambda, as the stream does not exist yet.
            pieces = self._astream(*prepared, lambda answer: stream.finish(answer))  # noqa: PLW0108
            stream = AsyncPolicyStream(pieces)
            stream.begin(writing.result.nodes, result.coverage, writing.confidence)
            return stream
        writing.head()
        if self._writer is None or prompt is None:
            writing.without_llm(problem)
            return writing.answer()
        try:
            text = _text(await self._writer.apredict(self._template, **prompt))
        except Exception as error:
            writing.end(self._failure(error))
        else:
            writing.write(text)
            writing.end()
        return writing.answer()

    def synthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        """The LlamaIndex entry: ours or any text nodes, best first."""
        dispatcher.event(SynthesizeStartEvent(query=query))
        result = _result(query, nodes)
        payload: dict[str, Any] = {EventPayload.QUERY_STR: result.query}
        with self._callback_manager.event(CBEventType.SYNTHESIZE, payload=payload) as event:
            response = self.answer(result, streaming=self._streaming)
            response.source_nodes = [*response.source_nodes, *(additional_source_nodes or ())]
            event.on_end(payload={EventPayload.RESPONSE: response})
        dispatcher.event(SynthesizeEndEvent(query=query, response=response))
        return response

    async def asynthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        """As ``synthesize``."""
        dispatcher.event(SynthesizeStartEvent(query=query))
        result = _result(query, nodes)
        payload: dict[str, Any] = {EventPayload.QUERY_STR: result.query}
        with self._callback_manager.event(CBEventType.SYNTHESIZE, payload=payload) as event:
            response = await self.aanswer(result, streaming=self._streaming)
            response.source_nodes = [*response.source_nodes, *(additional_source_nodes or ())]
            event.on_end(payload={EventPayload.RESPONSE: response})
        dispatcher.event(SynthesizeEndEvent(query=query, response=response))
        return response

    def get_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> RESPONSE_TEXT_TYPE:
        """The text for bare chunks, which are cited by their position."""
        return str(self.answer(_bare(query_str, text_chunks)))

    async def aget_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> RESPONSE_TEXT_TYPE:
        """As ``get_response``."""
        return str(await self.aanswer(_bare(query_str, text_chunks)))

    def _get_prompts(self) -> dict[str, BasePromptTemplate]:
        return {"text_qa_template": self._template}

    def _update_prompts(self, prompts: dict[str, BasePromptTemplate]) -> None:
        self._template = prompts.get("text_qa_template", self._template)

    def _prepared(self, result: RetrievalResult) -> tuple[Writing, dict[str, str] | None, str]:
        """The answer to be written, the prompt if a model is to be asked, and what is wrong."""
        writing = Writing(replace(result, beside=()), self._config.at(self._now()))
        return writing, *self._prompt(result, writing)

    def _prompt(
        self, result: RetrievalResult, writing: Writing
    ) -> tuple[dict[str, str] | None, str]:
        """The variables of the template; None where no model is to be asked, and what is wrong."""
        if self._writer is None or not writing.enough:
            return None, ""
        about, config = self._writer.metadata, self._config
        frame = self._template.format(context="", fence="", query_str=result.query)
        budget = context_budget(
            about.context_window, about.num_output, result.query, self._count, frame
        )
        ranked = result.passages
        choice = choose_context(
            ranked,
            config.max_passages,
            trade_off=config.context.trade_off,
            same=config.context.same,
        )
        ids = [item.passage.id for item in ranked]
        new = [item for item in result.beside if item.passage.id not in ids]
        items = (*ranked, *new)
        ids += [item.passage.id for item in new]
        beside = [
            n
            for n in (ids.index(item.passage.id) for item in result.beside)
            if n not in choice.chosen and ids[n] not in choice.collapsed
        ]
        packed = pack(items, budget, self._count, choice.chosen, beside)
        if not packed.count:
            return None, f"no passage fits into a context of {about.context_window} tokens"
        given = max(len(ranked), *packed.markers)  # neighbours that did not fit are no sources
        trace = {"markers": list(packed.markers), "collapsed": dict(choice.collapsed)}
        writing.start_llm(about.model_name, items[:given], packed, trace)
        return {"context": packed.context, "fence": packed.fence, "query_str": result.query}, ""

    def _stream(
        self,
        writing: Writing,
        prompt: dict[str, str] | None,
        problem: str,
        finish: Callable[[PolicyAnswer], None],
    ) -> Generator[str, None, None]:
        yield from filter(None, [writing.head()])
        if self._writer is None or prompt is None:
            yield writing.without_llm(problem)
        else:
            try:
                for piece in self._writer.stream(self._template, **prompt):
                    yield from filter(None, [writing.feed(_text(piece))])
            except Exception as error:
                problem = self._failure(error)
            yield from filter(None, [writing.end(problem)])
        finish(writing.answer())

    async def _astream(
        self,
        writing: Writing,
        prompt: dict[str, str] | None,
        problem: str,
        finish: Callable[[PolicyAnswer], None],
    ) -> AsyncGenerator[str, None]:
        if head := writing.head():
            yield head
        if self._writer is None or prompt is None:
            yield writing.without_llm(problem)
        else:
            try:
                async for piece in await self._writer.astream(self._template, **prompt):
                    if text := writing.feed(_text(piece)):
                        yield text
            except Exception as error:
                problem = self._failure(error)
            if text := writing.end(problem):
                yield text
        finish(writing.answer())

    def _failure(self, error: Exception) -> str:
        text = " ".join(str(error).split())[:300]
        return f"{type(error).__name__}: {text}{key_hint(self._config.llm)}"


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"the model gave {type(value).__name__} instead of text")
    return value


def _result(query: QueryType, nodes: Sequence[NodeWithScore]) -> RetrievalResult:
    question = query.query_str if isinstance(query, QueryBundle) else query
    return RetrievalResult(question, tuple(from_node(node) for node in nodes), coverage_of(nodes))


def _bare(question: str, chunks: Sequence[str]) -> RetrievalResult:
    items = tuple(
        RankedPassage(Passage(f"{n}", "", chunk, PassageMetadata(f"资料{n}", "")), 1.0)
        for n, chunk in enumerate(chunks, start=1)
    )
    return RetrievalResult(question, items, ())
