"""The retriever: partial answers, and the faults of QueryFusionRetriever that must not recur."""

from __future__ import annotations

import asyncio
import copy
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest
from llama_index.core import Settings as LlamaSettings
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.schema import QueryBundle

from configs.errors import ConfigError, InputError, SourceUnavailableError
from fusion.coverage import notice
from fusion.nodes import FusedNode, from_node
from fusion.retriever import FusionRetriever
from fusion.two_stage import FusionPlan
from indexes.schema import Filters
from tests.fakes import FakeEmbedder
from tests.fusion.fake_sources import (
    FISCAL,
    LABELS,
    LAW,
    LOCAL,
    FakeSource,
    fail,
    hang,
    passage,
    plan,
    settings,
    sleep,
    sources,
)

QUESTION = "经济补偿按什么支付"


def retriever(items: list[FakeSource], **options: object) -> FusionRetriever:
    known = {"timeouts_ms": {}, "labels": LABELS, **options}
    return FusionRetriever(items, plan(), **known)  # type: ignore[arg-type]


def statuses(found: object) -> dict[str, str]:
    return {entry.source: entry.status for entry in found.coverage}  # type: ignore[attr-defined]


def test_every_domain_contributes_and_the_best_passage_is_first() -> None:
    found = retriever(sources()).search(QUESTION)
    assert found.passages[0].passage == LAW[0]
    assert {item.passage.source for item in found.passages} == {"law", "fiscal", "local"}
    scores = [item.score for item in found.passages]
    assert scores == sorted(scores, reverse=True)
    assert statuses(found) == {"law": "ok", "fiscal": "ok", "local": "ok"}


def test_one_sleeps_one_raises_one_is_empty_and_the_query_still_answers_in_its_budget() -> None:
    slow = FakeSource("law", LAW, before=sleep(5))
    broken = FakeSource("fiscal", FISCAL, before=fail(RuntimeError("disk gone")))
    empty = FakeSource("local", ())
    start = time.monotonic()
    found = retriever([slow, broken, empty]).search(QUESTION)
    assert time.monotonic() - start < 3
    assert found.passages == ()
    assert statuses(found) == {"law": "timed_out", "fiscal": "failed", "local": "ok"}
    reasons = {entry.source: entry.reason for entry in found.coverage}
    assert "800 ms" in reasons["law"]
    assert "disk gone" in reasons["fiscal"]


def test_a_slow_domain_does_not_take_the_others_with_it() -> None:
    items = sources()
    items[2].before = sleep(5)
    found = retriever(items, timeouts_ms={"local": 50}).search(QUESTION)
    assert found.passages[0].passage == LAW[0]
    assert statuses(found)["local"] == "timed_out"


def test_partial_results_can_be_forbidden_and_the_error_names_the_source() -> None:
    items = sources()
    items[1].before = fail(RuntimeError("disk gone"))
    with pytest.raises(SourceUnavailableError, match=r"fiscal failed .*disk gone"):
        retriever(items, allow_partial=False).search(QUESTION)


def test_when_no_domain_answers_the_query_raises_rather_than_saying_there_is_no_rule() -> None:
    items = sources()
    for item in items:
        item.before = fail(RuntimeError("disk gone"))
    with pytest.raises(SourceUnavailableError, match="law failed"):
        retriever(items).search(QUESTION)


def test_a_refused_dense_model_leaves_the_keyword_signal_and_a_note() -> None:
    def refuse(signal: str) -> None:
        if signal == "dense":
            raise RuntimeError("built with another model")

    items = sources()
    items[0].before = refuse
    found = retriever(items).search(QUESTION)
    law = found.coverage[0]
    assert law.status == "ok"
    assert law.notes == ("dense: RuntimeError: built with another model",)
    assert law.lost == ("dense",)
    assert (
        notice(found.coverage) == f"注意：{LABELS['law']}的语义检索未能使用，以下回答可能不完整。"
    )
    assert found.passages[0].passage == LAW[0]


def test_a_domain_that_finds_passages_but_cannot_read_them_gives_way_to_the_others() -> None:
    items = sources()
    items[0].before_reading = fail(RuntimeError("page lost"))
    found = retriever(items, top_k=1).search(QUESTION)
    assert statuses(found)["law"] == "failed"
    assert [item.passage.source for item in found.passages] in (["fiscal"], ["local"])


def test_a_source_that_returns_nonsense_fails_alone() -> None:
    items = sources()
    items[0].search = lambda *args: None  # type: ignore[method-assign,assignment,return-value]
    assert statuses(retriever(items).search(QUESTION))["law"] == "failed"


def test_a_domain_that_hangs_in_every_call_is_skipped_as_busy() -> None:
    release = threading.Event()
    items = sources()
    items[0].before = hang(release)
    asked = retriever(items, timeouts_ms={"law": 30})
    try:
        seen = [statuses(asked.search(QUESTION))["law"] for _ in range(6)]
    finally:
        release.set()
    assert seen[0] == "timed_out"
    assert seen[-1] == "skipped"


def test_a_domain_never_ingested_is_skipped_with_its_remedy() -> None:
    asked = retriever(sources()[:2], absent={"local": "run `policy-fusion ingest local PATH`"})
    found = asked.search(QUESTION)
    assert statuses(found) == {"law": "ok", "fiscal": "ok", "local": "skipped"}
    assert "ingest local" in found.coverage[2].reason
    with pytest.raises(SourceUnavailableError, match="ingest documents first"):
        asked.search(QUESTION, domains=["local"])


def test_the_coverage_lists_only_the_domains_that_were_asked_for() -> None:
    found = retriever(sources()).search(QUESTION, domains=["fiscal"])
    assert statuses(found) == {"fiscal": "ok"}
    assert {item.passage.source for item in found.passages} == {"fiscal"}


@pytest.mark.parametrize("bad", [{"domains": ["laws"]}, {"domains": []}, {"top_k": 0}])
def test_bad_arguments_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(InputError):
        retriever(sources()).search(QUESTION, **bad)  # type: ignore[arg-type]


def test_a_domain_of_weight_zero_is_not_asked() -> None:
    profile = settings()
    domains = dict(profile.domains)
    domains["local"] = domains["local"].model_copy(update={"weight": 0.0})
    changed = profile.model_copy(update={"domains": domains})
    items = sources()
    asked = FusionRetriever(items, FusionPlan.from_settings(changed))
    assert statuses(asked.search(QUESTION)) == {"law": "ok", "fiscal": "ok"}
    assert items[2].calls == []
    with pytest.raises(InputError, match="local"):
        asked.search(QUESTION, domains=["local"])


def test_two_sources_of_one_name_or_unknown_to_the_plan_are_refused() -> None:
    with pytest.raises(ConfigError, match="share a name"):
        retriever([FakeSource("law", LAW), FakeSource("law", LAW)])
    with pytest.raises(ConfigError, match="other"):
        retriever([FakeSource("other", LAW)])


def test_filters_reach_every_signal() -> None:
    asked = retriever(sources())
    question = "购买新能源车每辆补贴多少"
    in_force = asked.search(question, Filters(as_of=date(2024, 6, 1)))
    expired = asked.search(question, Filters(as_of=date(2025, 6, 1)))
    elsewhere = asked.search(question, Filters(jurisdictions=frozenset({"100000", "440000"})))
    assert in_force.passages[0].passage == LOCAL[0]
    assert LOCAL[0].id not in {item.passage.id for item in expired.passages}
    assert LOCAL[0].id not in {item.passage.id for item in elsewhere.passages}


def test_another_mode_can_be_chosen_for_one_query() -> None:
    asked = FusionRetriever(
        sources(), plan(), plans=lambda mode: FusionPlan.from_settings(settings(), mode)
    )
    usual, ranks = asked.search(QUESTION), asked.search(QUESTION, mode="reciprocal_rerank")
    assert usual.passages[0].trace["combine"] == "exp_sum"
    assert ranks.passages[0].trace["combine"] == "sum"


# -- what QueryFusionRetriever gets wrong ------------------------------------------------------


def test_both_signals_of_one_passage_reinforce_it_and_it_comes_once() -> None:
    found = retriever(sources()).search(QUESTION)
    ids = [item.passage.id for item in found.passages]
    assert len(ids) == len(set(ids))
    rows = found.passages[0].trace["signals"]["sources"]
    assert {row["source"]: row["rank"] for row in rows} == {"dense": 1, "keyword": 1}


def test_the_same_words_in_two_laws_stay_two_results() -> None:
    words = "第五条　违反本规则的，由主管部门责令改正。"
    twins = (
        passage("law", "甲规则（虚构示例）", "5", words),
        passage("law", "乙规则（虚构示例）", "5", words),
    )
    found = retriever([FakeSource("law", twins)]).search("违反规则由谁责令改正")
    assert {item.passage.metadata.title for item in found.passages} == {
        "甲规则（虚构示例）",
        "乙规则（虚构示例）",
    }


def test_models_of_equal_dimension_each_embed_the_question_themselves() -> None:
    items = sources()[:2]
    items[0].embedder, items[1].embedder = FakeEmbedder(name="a"), FakeEmbedder(name="b")
    retriever(items).search(QUESTION)
    assert items[0].embedder.queries == [QUESTION]
    assert items[1].embedder.queries == [QUESTION]


def test_domain_weights_change_the_order() -> None:
    profile = settings()
    question = "劳动合同增值税"

    def first(**weights: float) -> str:
        domains = {
            name: domain.model_copy(update={"weight": weights.get(name, 1.0)})
            for name, domain in profile.domains.items()
        }
        changed = profile.model_copy(update={"domains": domains})
        asked = FusionRetriever(sources(), FusionPlan.from_settings(changed))
        return asked.search(question).passages[0].passage.source

    assert first(law=10.0, fiscal=0.1) == "law"
    assert first(law=0.1, fiscal=10.0) == "fiscal"


def test_nothing_that_a_source_returned_is_changed_and_nodes_are_fresh() -> None:
    items = sources()
    before = copy.deepcopy([item.stored for item in items])
    found = retriever(items).search(QUESTION)
    nodes = found.nodes
    nodes[0].node.metadata["title"] = "changed"
    nodes[0].score = -1.0
    assert [item.stored for item in items] == before
    assert found.nodes[0].node.metadata["title"] == LAW[0].metadata.title
    assert found.nodes[0].score == found.passages[0].score


# -- LlamaIndex ---------------------------------------------------------------------------------


def test_it_is_a_llama_index_retriever_with_flat_metadata_and_passage_ids() -> None:
    nodes = retriever(sources()).retrieve(QueryBundle(QUESTION))
    assert nodes[0].node_id == LAW[0].id
    assert nodes[0].text == LAW[0].content
    assert nodes[0].metadata == {"source": "law", **LAW[0].metadata.to_flat()}
    assert "content_hash" not in nodes[0].node.get_content(metadata_mode="llm")  # type: ignore[arg-type]
    assert isinstance(nodes[0], FusedNode)
    assert nodes[0].trace["signals"]
    assert from_node(nodes[0]).passage == LAW[0]


def test_callbacks_see_the_retrieval() -> None:
    debug = LlamaDebugHandler(print_trace_on_end=False)
    retriever(sources(), callback_manager=CallbackManager([debug])).retrieve(QUESTION)
    (pair,) = debug.get_event_pairs(CBEventType.RETRIEVE)
    assert pair[1].payload is not None
    assert pair[1].payload["nodes"][0].node_id == LAW[0].id


async def test_async_queries_give_the_same_and_share_one_deadline() -> None:
    asked = retriever(sources())
    expected = [node.node_id for node in asked.retrieve(QUESTION)]
    many = await asyncio.gather(*(asked.aretrieve(QUESTION) for _ in range(10)))
    assert [[node.node_id for node in nodes] for nodes in many] == [expected] * 10


def test_many_threads_get_the_answers_to_their_own_questions() -> None:
    asked = retriever(sources(), timeouts_ms=dict.fromkeys(LABELS, 20_000))
    questions = {"经济补偿按什么支付": LAW[0].id, "购买新能源车每辆补贴": LOCAL[0].id}
    with ThreadPoolExecutor(8) as pool:
        jobs = [(q, pool.submit(asked.search, q)) for q in list(questions) * 10]
        found = [(q, job.result()) for q, job in jobs]
    assert all(result.query == q for q, result in found)
    assert all(result.passages[0].passage.id == questions[q] for q, result in found)


def test_no_global_model_is_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(LlamaSettings, "_llm", None)
    monkeypatch.setattr(LlamaSettings, "_embed_model", None)
    retriever(sources()).retrieve(QUESTION)
    assert LlamaSettings._llm is None
    assert LlamaSettings._embed_model is None


def test_more_passages_than_a_signal_s_depth_can_be_asked_for() -> None:
    items = sources()
    asked: list[int] = []
    real = items[0].search
    items[0].search = lambda s, q, k, f: asked.append(k) or real(s, q, k, f)  # type: ignore[method-assign,func-returns-value]
    retriever(items).search(QUESTION, top_k=5000)
    assert asked
    assert set(asked) == {5000}
