"""A small evaluation, made by hand, for tests of what is written from it."""

from __future__ import annotations

from datetime import date
from typing import Any

from eval.datasets import Gold, Question
from eval.evaluation import Evaluation
from eval.metrics import measures
from eval.provenance import DomainStore, Provenance
from eval.report import SystemRun, build_report

DAY = date(2024, 6, 1)


def question(key: str, *domains: str, **more: Any) -> Question:
    gold = tuple(Gold(domain=d, title=f"{d}办法（虚构示例）", article="1") for d in domains)
    values = {"id": key, "key": key, "query": f"虚构问题{key}？", "file": "demo.jsonl", **more}
    return Question(gold=gold, **values)


def values(**mrr: float) -> dict[str, dict[str, float]]:
    return {key: dict.fromkeys(measures(), value) for key, value in mrr.items()}


QUESTIONS = (
    question("a", "law"),
    question("b", "law", kind="topic"),
    question("c", "tax", query="税 | <b>怎么</b>\n*交*？"),
    question("d", "tax"),
)


def evaluation(**more: Any) -> Evaluation:
    """MRR 1, .5, 0, 0: c is not found, d is at rank 40 (so neither is a hit of the first ten)."""
    fused = SystemRun(
        values(a=1, b=0.5, c=0, d=0),
        (10.0, 30.0),
        {"tax": 1},
        1,
        firsts={"a": "甲", "b": "乙", "c": "丙 art. 3", "d": "丁"},
        ranks={"a": 1, "b": 2, "c": None, "d": 40},
        confidences={"a": 0.9, "b": 0.9, "c": 0.9, "d": 0.1},
    )
    runs = {
        "fused": fused,
        "law": SystemRun(values(a=1, b=0, c=0, d=0), (8.0,)),
        "tax": SystemRun(values(a=0, b=0, c=0, d=0.5), (16.0,)),
    }
    report = build_report(QUESTIONS, runs, unanswerable=1, unanswerable_confidences=(0.1,))
    domains = {"law": DomainStore(1200, 3, "fake-1"), "tax": DomainStore(0, 0, None)}
    return Evaluation(report, Provenance("default", "0a1b", "2c3d", domains, DAY), **more)
