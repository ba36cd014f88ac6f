"""Running questions through an engine, with fakes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from configs.errors import InputError, SourceUnavailableError
from eval.adapters import engine_search
from eval.datasets import Gold, Question, load_questions
from eval.metrics import RECALL_DEPTH
from eval.report import EvalReport
from eval.runner import evaluate, sample, sample_unanswerable
from fusion.coverage import SourceCoverage
from fusion.nodes import RankedPassage, RetrievalResult
from indexes.schema import Passage, PassageMetadata

DOMAINS = ("law", "fiscal", "local")


def passage(domain: str, article: str) -> Passage:
    metadata = PassageMetadata(title=f"{domain}示例", file=f"{domain}.md", article=article)
    return Passage(f"{domain}:示例@1#a{article}", domain, "虚构示例", metadata)


@dataclass
class FakeEngine:
    """``answers``: query -> (domain, article) best first; asked of some domains it drops the rest.

    It remembers queries as an embedder does: the first search of a query costs 100 ms more.
    Every domain takes the milliseconds of ``cost``, and a fused search 5 more than the slowest.
    """

    answers: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    down: set[str] = field(default_factory=set)
    cost: dict[str, float] = field(default_factory=lambda: dict.fromkeys(DOMAINS, 10.0))
    domains: Sequence[str] = DOMAINS
    now_ms: float = 0.0
    seen: set[str] = field(default_factory=set)
    calls: list[dict[str, Any]] = field(default_factory=list)

    def clock(self) -> float:
        return self.now_ms / 1000.0

    def search(self, query: str, **options: Any) -> RetrievalResult:
        self.calls.append({"query": query, **options})
        asked = tuple(options["domains"] or self.domains)
        self.now_ms += 0.0 if query in self.seen else 100.0
        self.seen.add(query)
        self.now_ms += max(self.cost[d] for d in asked) + (5.0 if len(asked) > 1 else 0.0)
        if set(asked) <= self.down:
            raise SourceUnavailableError("every domain is down; try again")
        up = [d for d in asked if d not in self.down]
        found = [passage(d, a) for d, a in self.answers.get(query, []) if d in up]
        return RetrievalResult(
            query=query,
            passages=tuple(RankedPassage(p, 1.0 / (i + 1)) for i, p in enumerate(found)),
            coverage=tuple(SourceCoverage(d, d, "ok" if d in up else "timed_out") for d in asked),
        )


def gold(domain: str, article: str) -> dict[str, str]:
    return {"domain": domain, "title": f"{domain}示例", "article": article}


def write(path: Path, *questions: dict[str, Any]) -> Path:
    lines = [json.dumps({"id": q["query"], **q}, ensure_ascii=False) for q in questions]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    return [
        write(
            tmp_path / "one.jsonl",
            {"query": "q1", "gold": [gold("law", "1")], "kind": "topic"},
            {"query": "q2", "gold": [gold("fiscal", "2")], "kind": "topic"},
            {"query": "none", "gold": []},
        ),
        write(
            tmp_path / "two.jsonl",
            {
                "query": "q3",
                "gold": [gold("local", "3"), gold("law", "4")],
                "as_of": "2020-05-20",
                "jurisdiction": "上海市",
            },
        ),
    ]


ANSWERS = {
    # Fused: right at rank 1, 2 and never; law alone: 1, 0, 0; fiscal alone: 0, 1, 0.
    "q1": [("law", "1"), ("law", "9")],
    "q2": [("law", "8"), ("fiscal", "2")],
    "q3": [("law", "7"), ("local", "9")],
}


def run(files: list[Path], engine: FakeEngine, **options: Any) -> EvalReport:
    return evaluate(files, engine, progress=False, clock=engine.clock, **options)


def test_the_fused_engine_is_scored_over_all_domains_kinds_and_files(files: list[Path]) -> None:
    report = run(files, FakeEngine(ANSWERS))
    assert (report.queries, report.overall.queries, report.unanswerable) == (4, 3, 1)
    assert report.overall.metrics["mrr"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert report.overall.metrics["hit_rate@1"] == pytest.approx(1 / 3)
    mrr = {name: (one.queries, one.metrics["mrr"]) for name, one in report.per_domain.items()}
    assert mrr == {"fiscal": (1, 0.5), "law": (2, 0.5), "local": (1, 0.0)}
    kinds = {name: one.metrics["mrr"] for name, one in report.per_kind.items()}
    assert kinds == {"topic": 0.75, "unlabelled": 0.0}
    per_file = {name: one.metrics["mrr"] for name, one in report.per_file.items()}
    assert per_file == {"one.jsonl": 0.75, "two.jsonl": 0.0}


def test_every_single_source_is_scored_on_all_and_on_its_own_questions(files: list[Path]) -> None:
    report = run(files, FakeEngine(ANSWERS))
    everything = {name: one.metrics["mrr"] for name, one in report.single_source.items()}
    assert everything == pytest.approx({"law": 1 / 3, "fiscal": 1 / 3, "local": 0.0})
    own = {name: one.metrics["mrr"] for name, one in report.own_domain.items()}
    assert own == {"law": 0.5, "fiscal": 1.0, "local": 0.0}
    assert report.advantage is not None
    assert report.advantage.difference.mean == pytest.approx(1 / 2 - 1 / 3)


def test_values_per_question_are_kept_for_paired_tests(files: list[Path]) -> None:
    values = run(files, FakeEngine(ANSWERS)).values
    assert {key: one["mrr"] for key, one in values["fused"].items()} == {
        "q1": 1.0,
        "q2": 0.5,
        "q3": 0.0,
    }
    assert set(values) == {"fused", *DOMAINS}


def test_date_place_mode_and_depth_are_passed_on(files: list[Path]) -> None:
    engine = FakeEngine(ANSWERS)
    run(files, engine, mode="reciprocal_rerank")
    asked = [call for call in engine.calls if call["query"] == "q3"]
    assert [call["domains"] for call in asked if call["domains"] is None] == [None]
    assert {call["domains"] for call in asked} == {None, ("law",), ("fiscal",), ("local",)}
    for call in asked:
        assert call["as_of"] == date(2020, 5, 20)
        assert call["jurisdiction"] == "上海市"
        assert call["mode"] == "reciprocal_rerank"
        assert call["top_k"] == RECALL_DEPTH
    assert not [call for call in engine.calls if call["query"] == "none"]


def test_remembered_queries_make_no_system_look_faster(tmp_path: Path) -> None:
    questions = [{"query": f"q{i}", "gold": [gold("law", "1")]} for i in range(12)]
    cost = {"law": 10.0, "fiscal": 20.0, "local": 40.0}
    report = run([write(tmp_path / "q.jsonl", *questions)], FakeEngine(cost=cost))
    # 100 ms of embedding are in each of them, though a query is embedded but once.
    p50 = {name: pytest.approx(one.p50) for name, one in report.latency.items()}
    assert p50 == {"fused": 145.0, "law": 110.0, "fiscal": 120.0, "local": 140.0}
    assert {name: one.samples for name, one in report.latency.items()} == {
        "fused": 6,
        "law": 2,
        "fiscal": 2,
        "local": 2,
    }
    assert report.slowest_source == "local"
    assert report.latency_ratio == pytest.approx(145 / 140)


def test_a_source_that_is_down_is_counted_and_kept_out_of_comparisons(files: list[Path]) -> None:
    report = run(files, FakeEngine(ANSWERS, down={"law"}))
    assert report.overall.queries == 3
    assert report.incomplete == 3
    assert report.failures == {"law": 3}
    assert report.unavailable == ("law",)
    assert set(report.single_source) == {"fiscal", "local"}
    assert report.balanced is not None
    assert set(report.balanced.single_source) == {"fiscal", "local"}


def test_an_engine_that_can_ask_no_domain_scores_zero_and_says_so(files: list[Path]) -> None:
    report = run(files, FakeEngine(ANSWERS, down=set(DOMAINS)))
    assert report.overall.metrics["mrr"] == 0.0
    assert report.failures == dict.fromkeys(DOMAINS, 3)
    assert report.best_single is None
    assert report.balanced is None


def test_what_came_first_and_the_rank_of_the_first_hit_are_kept(files: list[Path]) -> None:
    report = run(files, FakeEngine(ANSWERS))
    assert report.ranks == {"q1": 1, "q2": 2, "q3": None}
    assert report.firsts["q3"] == "law示例 art. 7"
    assert [question.key for question in report.failed] == ["q3"]


def test_unanswerable_questions_are_asked_for_their_confidence_only(files: list[Path]) -> None:
    class Sure(FakeEngine):
        def search(self, query: str, **options: Any) -> RetrievalResult:
            confidence = 0.25 if query == "none" else 0.75
            return replace(super().search(query, **options), confidence=confidence)

    report = run(files, Sure(ANSWERS), ask_unanswerable=True)
    assert report.unanswerable_confidences == (0.25,)
    assert report.confidences == dict.fromkeys(("q1", "q2", "q3"), 0.75)
    assert report.overall.queries == 3
    assert report.latency["fused"].samples == 2
    assert run(files, Sure(ANSWERS)).unanswerable_confidences == ()


def test_a_limit_draws_the_same_share_of_the_unanswerable() -> None:
    gold = (Gold(title="示例法"),)
    answerable = [Question(id=f"a{i}", query="问", gold=gold) for i in range(20)]
    rest = [Question(id=f"u{i}", query="问", gold=()) for i in range(10)]
    assert len(sample_unanswerable([*answerable, *rest], 4, seed=0)) == 2
    assert len(sample_unanswerable([*answerable, *rest], 1, seed=0)) == 1
    assert sample_unanswerable([*answerable, *rest], None, seed=0) == rest
    assert sample_unanswerable(answerable, 4, seed=0) == []


def test_a_rejected_question_is_named(files: list[Path]) -> None:
    class Picky(FakeEngine):
        def search(self, query: str, **options: Any) -> RetrievalResult:
            if query == "q2":
                raise InputError("place is not known; correct it")
            return super().search(query, **options)

    with pytest.raises(InputError, match=r"^one\.jsonl: question q2: place is not known"):
        run(files, Picky(ANSWERS))


def test_only_unanswerable_questions_are_an_input_error(tmp_path: Path) -> None:
    path = write(tmp_path / "none.jsonl", {"query": "none", "gold": []})
    with pytest.raises(InputError, match="no question has a gold answer"):
        run([path], FakeEngine())


def test_a_limit_draws_a_repeatable_sample(files: list[Path]) -> None:
    assert run(files, FakeEngine(ANSWERS), limit=2).overall.queries == 2
    path = files[0].with_name("many.jsonl")
    write(path, *({"query": f"q{i}", "gold": [gold("law", "1")]} for i in range(40)))
    engines = [FakeEngine(), FakeEngine(), FakeEngine()]
    for engine, seed in zip(engines, (1, 1, 2), strict=True):
        run([path], engine, limit=10, seed=seed)
    assert engines[0].seen == engines[1].seen != engines[2].seen


def test_an_impossible_cut_is_refused_before_any_search(files: list[Path]) -> None:
    engine = FakeEngine(ANSWERS)
    with pytest.raises(InputError, match="top_k is 0"):
        run(files, engine, top_k=0)
    assert engine.calls == []


def test_a_limit_below_one_is_an_input_error() -> None:
    with pytest.raises(InputError, match="limit"):
        sample([], 0, seed=0)


def test_the_adapter_names_the_domains_that_gave_no_answer(files: list[Path]) -> None:
    question = load_questions(files)[1]
    found = engine_search(FakeEngine(ANSWERS, down={"law"}))(question, 10)
    assert [p.id for p in found.passages] == ["fiscal:示例@1#a2"]
    assert found.failed == ("law",)
