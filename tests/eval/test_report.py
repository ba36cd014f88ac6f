"""The report: JSON, the table, balanced figures."""

from __future__ import annotations

import dataclasses
import io
import json

import pytest
from rich.console import Console

from eval.balanced import balance
from eval.datasets import Gold, Question
from eval.metrics import measures
from eval.report import EvalReport, SystemRun, build_report


def question(key: str, *domains: str, kind: str | None = None) -> Question:
    gold = tuple(Gold(domain=domain, title="虚构示例", article="1") for domain in domains)
    return Question(id=key, key=key, query="虚构？", gold=gold, kind=kind, file="demo.jsonl")


def values(**mrr: float) -> dict[str, dict[str, float]]:
    return {key: dict.fromkeys(measures(), value) for key, value in mrr.items()}


QUESTIONS = [question("a", "law"), question("b", "law"), question("c", "law"), question("d", "tax")]


@pytest.fixture
def report() -> EvalReport:
    runs = {
        "fused": SystemRun(values(a=1, b=0.5, c=0.25, d=0.5), (10.0, 30.0), {"tax": 1}, 1),
        "law": SystemRun(values(a=1, b=1, c=0, d=0), (8.0,)),
        "tax": SystemRun(values(a=0, b=0, c=0, d=1), (16.0,)),
    }
    return build_report(QUESTIONS, runs, unanswerable=2)


def test_json_holds_the_promised_keys_and_values(report: EvalReport) -> None:
    known = json.loads(report.to_json())
    assert known["overall"]["mrr"] == 0.5625
    assert known["overall"] == known["fused"]
    assert set(known["overall"]) == {*measures(), "queries"}
    assert known["per_domain"]["tax"]["hit_rate@10"] == 0.5
    assert known["single_source"]["law"] == {**dict.fromkeys(measures(), 0.5), "queries": 4}
    assert known["single_source_own_domain"]["law"]["mrr"] == pytest.approx(2 / 3)
    assert (known["queries"], known["answerable"], known["unanswerable"]) == (6, 4, 2)
    assert known["latency_ms"]["p50"] == 20.0
    assert known["latency_ms"]["p95"] == pytest.approx(29.0)  # 10 + 0.95 * (30 - 10)
    assert known["latency_ms"]["single_source"]["law"]["p50"] == 8.0
    assert known["latency_ms"]["ratio_to_slowest_source"] == 1.25
    assert known["coverage"]["failures"] == {"tax": 1}
    assert known["coverage"]["incomplete_queries"] == 1
    assert set(known["per_kind"]) == {"unlabelled"}
    assert known["per_file"]["demo.jsonl"]["mrr"] == 0.5625
    best = known["fused_minus_best_single"]
    assert (best["source"], best["difference"]["mean"]) == ("law", 0.0625)


def test_the_report_is_frozen(report: EvalReport) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.top_k = 5  # type: ignore[misc]


def test_the_table_shows_whole_figures_in_a_hundred_columns(report: EvalReport) -> None:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(report.table())
    text = console.export_text()
    header = next(line for line in text.splitlines() if "MRR@10" in line)
    assert all(name in header for name in ("queries", "hit@1", "hit@10", "nDCG@10", "recall@100"))
    fused = next(line for line in text.splitlines() if "fused, all" in line)
    assert "0.562" in fused
    assert max(map(len, text.splitlines())) <= 100
    assert "2 unanswerable" in text
    assert "1.25 times" in text


def test_balanced_draws_weigh_every_domain_alike() -> None:
    # One question a domain: d always, and one of a, b, c. Fused is 1 on law and 0 on tax.
    balanced = balance(
        QUESTIONS,
        values(a=1, b=1, c=1, d=0),
        {"law": values(a=0.5, b=0.5, c=0.5, d=0), "tax": values(a=0, b=0, c=0, d=0.25)},
    )
    assert balanced is not None
    assert (balanced.per_domain, balanced.repeats) == (1, 20)
    assert balanced.fused == 0.5  # (1 + 0) / 2, where the plain mean over questions is .75
    assert balanced.single_source == {"law": 0.25, "tax": 0.125}
    assert balanced.single_source_mean == 0.1875
    assert balanced.ratio == pytest.approx(0.5 / 0.1875)
    assert balanced.own_domain == {"law": 0.5, "tax": 0.25}
    assert balanced.own_domain_ratio == pytest.approx(0.5 / 0.375)


def test_balanced_draws_are_without_replacement_and_average_over_repeats() -> None:
    questions = [*QUESTIONS, question("e", "tax"), question("f", "tax")]
    exact = values(a=1, b=0.5, c=0, d=0, e=0, f=0)
    everything = balance(questions, exact, {"law": exact, "tax": exact}, repeats=3)
    assert everything is not None
    assert everything.per_domain == 3
    assert everything.fused == pytest.approx(1.5 / 6)  # three of three: nothing left to chance
    drawn = balance(QUESTIONS, exact, {"law": exact, "tax": exact}, repeats=2000)
    assert drawn is not None
    assert drawn.own_domain["law"] == pytest.approx(0.5, abs=0.04)  # mean of 1, .5, 0


def test_balanced_needs_two_domains_with_questions() -> None:
    exact = values(a=1, b=1, c=1, d=1)
    assert balance(QUESTIONS[:3], exact, {"law": exact, "tax": exact}) is None


def test_a_question_of_two_domains_counts_for_both() -> None:
    exact = values(x=1)
    balanced = balance([question("x", "law", "tax")], exact, {"law": exact, "tax": exact})
    assert balanced is not None
    assert balanced.per_domain == 1


def test_ratios_of_sources_that_find_nothing_are_unknown() -> None:
    nothing = values(a=0, b=0, c=0, d=0)
    balanced = balance(QUESTIONS, values(a=1, b=1, c=1, d=1), {"law": nothing, "tax": nothing})
    assert balanced is not None
    assert balanced.ratio is None
    assert balanced.own_domain_ratio is None
