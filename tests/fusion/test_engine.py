"""The query engine: from a profile and a store to a cited answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Settings as LlamaSettings
from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.query_engine import RouterQueryEngine
from llama_index.core.schema import QueryBundle
from llama_index.core.tools import QueryEngineTool

from configs.errors import ConfigError, InputError, SourceUnavailableError
from configs.settings import Settings
from fusion.answer import AsyncPolicyStream, PolicyAnswer, PolicyStream
from fusion.engine import PolicyQueryEngine
from fusion.retriever import FusionRetriever
from fusion.serialize import answer_json, result_json
from fusion.synthesizer import PolicySynthesizer
from indexes.schema import Document, Passage
from indexes.writer import DocumentChange, DomainWriter
from tests.fakes import FakeEmbedder
from tests.fusion.fake_llms import ScriptedLLM
from tests.fusion.fake_sources import (
    FISCAL,
    LABELS,
    LAW,
    LOCAL,
    TODAY,
    FakeSource,
    plan,
    settings,
    sleep,
    sources,
)

QUESTION = "购买新能源车每辆补贴多少"


def engine(items: Sequence[FakeSource] | None = None, **options: Any) -> PolicyQueryEngine:
    retriever = FusionRetriever(
        sources() if items is None else items,
        plan(),
        labels=LABELS,
        timeouts_ms=dict.fromkeys(LABELS, 5000),
    )
    known = {"clock": lambda: TODAY, **options}
    return PolicyQueryEngine(retriever, PolicySynthesizer(llm=known.pop("llm", None)), **known)


def ids(made: Any) -> list[str]:
    return [node.node_id for node in made.source_nodes]


def test_an_answer_has_text_citations_nodes_trace_and_coverage() -> None:
    made = engine().query(QUESTION)
    assert isinstance(made, PolicyAnswer)
    assert f"{LOCAL[0].content}[1]" in str(made)
    assert made.citations[0].jurisdiction == "上海市"
    assert [entry.status for entry in made.coverage] == ["ok"] * 3
    assert made.trace["retrieval"]["as_of"] == "2024-06-01"
    assert made.trace["passages"][LOCAL[0].id]["signals"]["sources"]
    assert 0 <= made.confidence <= 1


def test_the_rules_in_force_today_answer_unless_another_day_is_asked_for() -> None:
    late = engine(clock=lambda: date(2025, 6, 1))
    assert LOCAL[0].id not in ids(late.query(QUESTION))
    assert ids(late.query(QUESTION, as_of="2024-06-01"))[0] == LOCAL[0].id
    assert ids(late.query(QUESTION, as_of=date(2024, 6, 1)))[0] == LOCAL[0].id
    assert ids(late.query(QUESTION, as_of="any"))[0] == LOCAL[0].id


def test_a_place_sees_its_own_rules_and_national_ones() -> None:
    asked = engine()
    assert ids(asked.query(QUESTION, jurisdiction="上海市"))[0] == LOCAL[0].id
    elsewhere = ids(asked.query(QUESTION, jurisdiction="广东省"))
    assert LOCAL[0].id not in elsewhere
    assert LAW[0].id in elsewhere


def test_domains_and_top_k_narrow_the_search() -> None:
    made = engine().query(QUESTION, domains=["law", "fiscal"], top_k=2)
    assert len(made.source_nodes) == 2
    assert {node.metadata["source"] for node in made.source_nodes} <= {"law", "fiscal"}
    assert len(engine().query(QUESTION, domains="law").coverage) == 1  # type: ignore[union-attr,arg-type]


@pytest.mark.parametrize(
    "bad",
    [
        {"as_of": "last year"},
        {"as_of": "2024-13-01"},
        {"jurisdiction": "不存在的地方"},
        {"domains": ["laws"]},
        {"top_k": 0},
    ],
)
def test_bad_arguments_are_refused_in_one_line(bad: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        engine().query(QUESTION, **bad)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bad", ["", " \n\t", "问" * 10_001, 7])
def test_a_question_that_is_none_is_refused(bad: Any) -> None:
    with pytest.raises(InputError):
        engine().query(bad)


def test_search_and_retrieve_give_what_the_answer_rests_on() -> None:
    asked = engine()
    found = asked.search(QUESTION, top_k=2)
    assert [item.passage.id for item in found.passages] == ids(asked.query(QUESTION, top_k=2))
    assert asked.retrieve(QueryBundle(QUESTION))[0].node_id == found.passages[0].passage.id


def test_a_slow_domain_is_named_in_the_answer() -> None:
    items = sources()
    items[2].before = sleep(5)
    retriever = FusionRetriever(items, plan(), labels=LABELS, timeouts_ms={"local": 50})
    made = PolicyQueryEngine(retriever, PolicySynthesizer(), clock=lambda: TODAY).query(
        "经济补偿按什么支付"
    )
    assert str(made).startswith("注意：地方政策库（超时）未能查询")


def test_streams_sync_and_async() -> None:
    asked = engine(llm=ScriptedLLM(pieces=["每辆补贴", "一万元。[1]"]))
    made = asked.query(QUESTION, streaming=True)
    assert isinstance(made, PolicyStream)
    assert made.source_nodes[0].node_id == LOCAL[0].id
    assert list(made.response_gen) == ["每辆补贴", "一万元。[1]"]
    assert made.citations[0].id == LOCAL[0].id

    async def ask() -> str:
        stream = await asked.aquery(QUESTION, streaming=True)
        assert isinstance(stream, AsyncPolicyStream)
        return "".join([piece async for piece in stream.async_response_gen()])

    assert asyncio.run(ask()) == "每辆补贴一万元。[1]"


async def test_async_queries_give_the_same_answers_side_by_side() -> None:
    asked = engine()
    expected = str(asked.query(QUESTION))
    made = await asyncio.gather(*(asked.aquery(QUESTION) for _ in range(8)))
    assert [str(one) for one in made] == [expected] * 8
    assert [n.node_id for n in await asked.aretrieve(QUESTION)] == ids(made[0])
    assert (await asked.asearch(QUESTION)).passages == asked.search(QUESTION).passages


def test_threads_share_an_engine() -> None:
    asked = engine()
    questions = {QUESTION: LOCAL[0].id, "经济补偿按什么支付": LAW[0].id}
    with ThreadPoolExecutor(8) as pool:
        jobs = [(q, pool.submit(asked.query, q)) for q in list(questions) * 8]
        assert all(ids(job.result())[0] == questions[q] for q, job in jobs)


def test_a_closed_engine_says_so() -> None:
    with engine() as asked:
        asked.query(QUESTION)
    asked.close()
    with pytest.raises(InputError, match="closed"):
        asked.query(QUESTION)


# -- inside LlamaIndex -------------------------------------------------------------------------


class PickSecond(BaseSelector):
    """A selector that needs no model."""

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        return None

    def _select(self, choices: Any, query: QueryBundle) -> SelectorResult:
        return SelectorResult(selections=[SingleSelection(index=1, reason="policy")])

    async def _aselect(self, choices: Any, query: QueryBundle) -> SelectorResult:
        return self._select(choices, query)


def test_it_is_a_tool_and_a_route() -> None:
    asked = engine()
    tool = QueryEngineTool.from_defaults(asked, name="policy", description="政策")
    assert LOCAL[0].content in tool.call(QUESTION).content
    other = QueryEngineTool.from_defaults(engine([]), name="other", description="其他")
    router = RouterQueryEngine(PickSecond(), [other, tool], llm=ScriptedLLM(pieces=["x"]))
    made = router.query(QUESTION)
    assert isinstance(made, PolicyAnswer)
    assert made.citations[0].id == LOCAL[0].id


async def test_it_is_a_tool_asynchronously() -> None:
    tool = QueryEngineTool.from_defaults(engine(), name="policy", description="政策")
    assert LOCAL[0].content in (await tool.acall(QUESTION)).content


def test_callbacks_see_the_query_and_the_text_model_is_never_global(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(LlamaSettings, "_llm", None)
    monkeypatch.setattr(LlamaSettings, "_embed_model", None)
    debug = LlamaDebugHandler(print_trace_on_end=False)
    engine(callback_manager=CallbackManager([debug])).query(QUESTION)
    ((start, end),) = debug.get_event_pairs(CBEventType.QUERY)
    assert start.payload == {"query_str": QUESTION}
    assert end.payload is not None
    assert str(end.payload["response"]).endswith("[1]")
    assert LlamaSettings._llm is None
    assert LlamaSettings._embed_model is None


# -- JSON --------------------------------------------------------------------------------------


def test_answers_and_results_are_json() -> None:
    asked = engine()
    made = asked.query(QUESTION)
    assert isinstance(made, PolicyAnswer)
    answer = json.loads(json.dumps(answer_json(made)))
    assert (answer["query"], answer["answer"]) == (QUESTION, str(made))
    assert answer["citations"][0]["quote"] == LOCAL[0].content
    cited = answer["results"][answer["citations"][0]["marker"] - 1]
    assert cited["id"] == LOCAL[0].id
    assert (cited["effective"], cited["file"]) == ("2024-01-01", LOCAL[0].metadata.file)
    found = json.loads(json.dumps(result_json(asked.search(QUESTION))))
    assert found["results"] == answer["results"]
    law = next(row for row in found["results"] if row["id"] == LAW[0].id)
    assert law["heading_path"] == ["第四章 解除"]
    assert {row["source"]: row["status"] for row in found["coverage"]} == dict.fromkeys(
        LABELS, "ok"
    )


# -- from a profile ----------------------------------------------------------------------------

EMBEDDERS = {name: FakeEmbedder() for name in LABELS}


def ingest(profile: Settings, domain: str, passages: Sequence[Passage]) -> None:
    with DomainWriter.open(profile, domain, FakeEmbedder()) as writer:
        for p in passages:
            made = Document(domain, p.id, p.metadata.title, p.metadata.version, p.content, (p,))
            writer.apply([DocumentChange(p.id, made)])


@pytest.fixture
def profile(tmp_path: Path) -> Settings:
    made = settings(store={"dir": str(tmp_path / "store"), "reopen_seconds": 0.0})
    domains = {
        name: domain.model_copy(update={"timeout_ms": 20_000})
        for name, domain in made.domains.items()
    }
    return made.model_copy(update={"domains": domains})


@pytest.fixture
def opened(profile: Settings) -> Iterator[PolicyQueryEngine]:
    ingest(profile, "law", LAW)
    ingest(profile, "local", LOCAL)
    made = PolicyQueryEngine.from_config(profile, clock=lambda: TODAY, embedders=EMBEDDERS)
    yield made
    made.close()


def test_a_store_is_opened_searched_and_followed(
    opened: PolicyQueryEngine, profile: Settings
) -> None:
    made = opened.query(QUESTION, jurisdiction="上海市")
    assert isinstance(made, PolicyAnswer)
    assert ids(made)[0] == LOCAL[0].id
    coverage = {entry.source: entry for entry in made.coverage}
    assert {name: entry.status for name, entry in coverage.items()} == {
        "law": "ok",
        "fiscal": "skipped",
        "local": "ok",
    }
    assert "ingest fiscal" in coverage["fiscal"].reason
    assert "财税政策库（尚未入库）" in str(made)
    ingest(profile, "fiscal", FISCAL)
    after = opened.query("小规模纳税人免征增值税")
    assert ids(after)[0] == FISCAL[0].id
    assert [entry.status for entry in after.coverage] == ["ok"] * 3  # type: ignore[union-attr]


def test_a_domain_built_with_another_model_is_searched_by_keywords(profile: Settings) -> None:
    ingest(profile, "law", LAW)
    other = {**EMBEDDERS, "law": FakeEmbedder(name="other")}
    with PolicyQueryEngine.from_config(profile, clock=lambda: TODAY, embedders=other) as asked:
        made = asked.query("经济补偿按什么支付", domains=["law"])
        assert ids(made)[0] == LAW[0].id
        assert made.coverage[0].notes[0].startswith("dense: ")  # type: ignore[union-attr]
        assert "的语义检索未能使用" in str(made).splitlines()[0]


def test_half_a_character_in_a_question_does_no_harm(profile: Settings) -> None:
    ingest(profile, "law", LAW)
    with PolicyQueryEngine.from_config(profile, clock=lambda: TODAY, embedders=EMBEDDERS) as asked:
        made = asked.query("经济补偿按什么支付\ud83d", domains=["law"])
        assert ids(made)[0] == LAW[0].id


def test_an_empty_store_is_an_error_with_its_remedy(profile: Settings) -> None:
    with (
        PolicyQueryEngine.from_config(profile, embedders=EMBEDDERS) as asked,
        pytest.raises(SourceUnavailableError, match="ingest"),
    ):
        asked.query(QUESTION)


def test_a_bad_profile_or_embedder_is_refused(tmp_path: Path, profile: Settings) -> None:
    with pytest.raises(ConfigError, match="no such configuration"):
        PolicyQueryEngine.from_config(tmp_path / "missing.yaml")
    with pytest.raises(InputError, match="laws"):
        PolicyQueryEngine.from_config(profile, embedders={"laws": FakeEmbedder()})
    with pytest.raises(InputError, match="mode"):
        PolicyQueryEngine.from_config(profile, embedders=EMBEDDERS).search(
            QUESTION,
            mode="best",  # type: ignore[arg-type]
        )
