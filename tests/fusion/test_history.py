"""Query history: what is kept, what one client can do, and that queries never suffer."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from configs.errors import InputError
from configs.settings import HistoryConfig, Settings, load_settings
from fusion.cold_start import PRIOR_RATE, cold_start_weights, success_rate, weight_of
from fusion.engine import PolicyQueryEngine
from fusion.history import (
    CLIENT_CAP,
    Feedback,
    QueryLog,
    SignalLog,
    SourceLog,
    Verdict,
    asked_by,
    domain_outcomes,
    kept_query,
    verdict_weights,
)
from fusion.history_recorder import HistoryRecorder
from fusion.history_store import HistoryStore
from fusion.retriever import FusionRetriever
from fusion.serialize import answer_json
from fusion.synthesizer import PolicySynthesizer
from tests.fusion.fake_sources import LABELS, LOCAL, TODAY, plan, sources

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
QUESTION = "购买新能源车每辆补贴多少"
PASSAGE = "law:规则（虚构示例）@2020-01-01#a1"


def log(query_id: str, at: datetime = NOW) -> QueryLog:
    signal = SignalLog("law", "dense", (PASSAGE,), (0.9,), (0.7,))
    source = SourceLog("law", "ok", 12.5)
    return QueryLog(query_id, at, "虚构示例", (signal,), (source,), (PASSAGE,), weights=3)


def given(client: str, verdict: Verdict = "accepted", domain: str = "law") -> Feedback:
    return Feedback("q", f"{domain}:规则（虚构示例）@1#a1", verdict, NOW, client)


def recording(tmp_path: Path, **config: object) -> tuple[PolicyQueryEngine, HistoryStore]:
    store = HistoryStore(tmp_path / "history.sqlite", clock=lambda: NOW)
    profile: Settings = load_settings().model_copy(
        update={"history": HistoryConfig.model_validate({"enabled": True, **config})}
    )
    retriever = FusionRetriever(
        sources(), plan(), labels=LABELS, timeouts_ms=dict.fromkeys(LABELS, 5000)
    )
    recorder = HistoryRecorder(store, profile, new_id=lambda: "q-1", clock=lambda: NOW)
    made = PolicyQueryEngine(
        retriever, PolicySynthesizer(), history=recorder, clock=lambda: TODAY, top_k=3
    )
    return made, store


def test_a_record_survives_json() -> None:
    assert QueryLog.from_json(log("a").to_json()) == log("a")


def test_a_query_is_logged_with_every_list_status_and_the_order_shown(tmp_path: Path) -> None:
    engine, store = recording(tmp_path)
    with asked_by(client="desk-7", session="s1"):
        answer = engine.query(QUESTION)
    (kept,) = store.queries()
    assert answer.query_id == answer_json(answer)["query_id"] == kept.query_id == "q-1"
    assert (kept.query, kept.client, kept.session, kept.origin) == (
        QUESTION,
        "desk-7",
        "s1",
        "live",
    )
    assert {(s.domain, s.signal) for s in kept.signals} == {
        (domain, signal) for domain in LABELS for signal in ("dense", "keyword")
    }
    assert all(len(s.ids) == len(s.raw) == len(s.calibrated) for s in kept.signals)
    assert [s.status for s in kept.sources] == ["ok"] * 3
    assert kept.fused[0] == LOCAL[0].id


def test_questions_can_be_kept_as_a_hash_or_not_at_all(tmp_path: Path) -> None:
    assert kept_query("虚构示例", "none") == ""
    hashed = kept_query("虚构示例", "hash")
    assert hashed.startswith("sha256:")
    assert len(hashed) == 7 + 64
    engine, store = recording(tmp_path, queries="hash")
    engine.search(QUESTION)
    assert store.queries()[0].query == kept_query(QUESTION, "hash")


def test_a_verdict_is_kept_and_a_second_one_of_the_client_replaces_it(tmp_path: Path) -> None:
    engine, store = recording(tmp_path)
    shown = engine.search(QUESTION)
    engine.feedback(shown.query_id, LOCAL[0].id, "clicked", client="a")
    engine.feedback(shown.query_id, LOCAL[0].id, "rejected", client="a")
    engine.feedback(shown.query_id, LOCAL[0].id, "cited", client="b")
    assert {(v.client, v.verdict) for v in store.verdicts()} == {("a", "rejected"), ("b", "cited")}


@pytest.mark.parametrize(
    ("query_id", "passage", "verdict", "said"),
    [
        ("q-2", LOCAL[0].id, "clicked", "not in the history"),
        ("q-1", "law:别的（虚构示例）@1#a1", "clicked", "did not show"),
        ("q-1", LOCAL[0].id, "liked", "clicked, cited, accepted, rejected"),
    ],
)
def test_verdicts_on_what_was_never_shown_are_refused(
    tmp_path: Path, query_id: str, passage: str, verdict: str, said: str
) -> None:
    engine, _ = recording(tmp_path)
    engine.search(QUESTION)
    with pytest.raises(InputError, match=said):
        engine.feedback(query_id, passage, verdict)


def test_without_history_feedback_says_how_to_turn_it_on() -> None:
    retriever = FusionRetriever(sources(), plan(), labels=LABELS)
    engine = PolicyQueryEngine(retriever, PolicySynthesizer(), clock=lambda: TODAY)
    assert engine.search(QUESTION).query_id == ""
    with pytest.raises(InputError, match=r"history\.enabled"):
        engine.feedback("q", "p", "clicked")


def test_a_history_that_cannot_be_written_costs_the_record_not_the_query(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    store = HistoryStore(blocked / "history.sqlite")
    assert store.put(lambda: log("a"))
    store.close()
    assert store.dropped == 1
    assert not store.put(lambda: log("b"))  # closed


def test_when_the_queue_is_full_records_are_dropped_and_counted(tmp_path: Path) -> None:
    store = HistoryStore(tmp_path / "h.sqlite", queue_size=1, clock=lambda: NOW)
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> QueryLog:
        begun.set()
        go_on.wait()
        return log("a")

    store.put(slow)
    begun.wait()  # the writer is busy; one place is left
    assert [store.put(lambda: log("b")), store.put(lambda: log("c"))] == [True, False]
    go_on.set()
    assert [kept.query_id for kept in store.queries()] == ["a", "b"]
    assert store.dropped == 1
    store.close()


def test_history_is_bounded_by_rows_and_age(tmp_path: Path) -> None:
    store = HistoryStore(tmp_path / "h.sqlite", max_rows=2, max_days=10, clock=lambda: NOW)
    for name, days in (("old", 11), ("third", 3), ("second", 2), ("first", 1)):
        store.put(lambda name=name, days=days: log(name, NOW - timedelta(days=days)))
    store.flush()
    store.prune()
    assert [kept.query_id for kept in store.queries()] == ["second", "first"]


def test_verdicts_go_with_their_query(tmp_path: Path) -> None:
    store = HistoryStore(tmp_path / "h.sqlite", max_rows=1, clock=lambda: NOW)
    store.put(lambda: log("a", NOW - timedelta(days=1)))
    store.feedback("a", PASSAGE, "cited")
    store.put(lambda: log("b"))
    store.flush()
    store.prune()
    assert store.verdicts() == []


def test_evaluation_is_told_apart_from_users(tmp_path: Path) -> None:
    engine, store = recording(tmp_path)
    with asked_by(origin="eval"):
        engine.search(QUESTION)
    assert store.queries()[0].origin == "eval"


def test_a_client_with_a_thousand_verdicts_weighs_no_more_than_the_cap() -> None:
    poison = [given("bad", "rejected")] * 1000
    honest = [given(f"user{i}") for i in range(200)]
    assert sum(verdict_weights(poison)) == pytest.approx(CLIENT_CAP)
    # 200 good of 200 + 20: the same as if the client had sent 20.
    good, total = domain_outcomes([*honest, *poison])["law"]
    assert (good, total) == (pytest.approx(200), pytest.approx(220))
    assert domain_outcomes([*honest, *poison[:20]])["law"] == pytest.approx((good, total))
    clean = cold_start_weights(domain_outcomes(honest))["law"]
    moved = cold_start_weights(domain_outcomes([*honest, *poison]))["law"]
    capped = weight_of(success_rate(200, 200 + CLIENT_CAP))
    assert moved == pytest.approx(capped)
    assert moved < clean


def test_verdicts_without_a_client_count_as_one_client() -> None:
    assert sum(verdict_weights([given("")] * 500)) == pytest.approx(CLIENT_CAP)


def test_success_rates_of_practice_become_the_weights_of_practice() -> None:
    assert weight_of(0.92) == pytest.approx(1.5)
    assert weight_of(0.76) == pytest.approx(0.8)
    assert weight_of(0.0) == 0.2
    assert weight_of(1.0) == 3.0


def test_without_verdicts_all_sources_weigh_the_same() -> None:
    assert cold_start_weights({"law": (0, 0), "fiscal": (0, 0)}) == pytest.approx(
        {"law": 1.0, "fiscal": 1.0}
    )
    # (0 + 10 · prior) / (0 + 10)
    assert success_rate(0, 0) == pytest.approx(PRIOR_RATE)
    assert success_rate(10, 10) == pytest.approx((10 + 10 * PRIOR_RATE) / 20)


@pytest.mark.parametrize(("good", "total"), [(-1, 5), (6, 5), (0, float("inf"))])
def test_impossible_counts_are_refused(good: float, total: float) -> None:
    with pytest.raises(InputError, match="impossible"):
        success_rate(good, total)


def test_records_never_change(tmp_path: Path) -> None:
    one = log("a")
    with pytest.raises(AttributeError):
        one.query = "x"  # type: ignore[misc]
    assert replace(one, query="x") != one
