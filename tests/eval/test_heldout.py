"""Held-out comparison: same folds for every system, figures that can be worked by hand."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from eval.datasets import Gold, Question
from eval.heldout import held_out, print_summary, summary
from eval.training import Example
from fusion.list_features import RERANK_FEATURES

SIGNAL = RERANK_FEATURES.index("dense_raw")


def one(n: int, domain: str, good: int | None, size: int = 4) -> Example:
    gold = (Gold(domain=domain, title="示例法", article=str(n)),)
    question = Question(
        id=f"q{n}", key=f"q{n}", query=f"问题{n}", gold=gold, file=f"{domain}.jsonl"
    )
    matrix = np.random.default_rng(n).normal(0, 0.05, (size, len(RERANK_FEATURES)))
    units: list[str | None] = [None] * size
    if good is not None:
        units[good] = "gold"
        matrix[good, SIGNAL] += 1.0
    return Example(question, matrix, tuple(units))


@pytest.fixture(scope="module")
def made() -> dict[str, object]:
    fused = [one(n, "law" if n % 2 else "local", good=3) for n in range(100)]
    law = [one(n, "law" if n % 2 else "local", good=1 if n % 2 else None) for n in range(100)]
    local = [one(n, "law" if n % 2 else "local", good=None) for n in range(100)]
    found = held_out(fused, {"law": law, "local": local}, [0.5] * 100)
    return summary(found, ("law", "local"))


def test_every_system_is_scored_on_the_same_questions(made: dict[str, object]) -> None:
    row = made["files"]["all"]  # type: ignore[index]
    assert row["queries"] == 100
    assert row["mrr"]["fused"] == 0.25  # the good one stands fourth
    assert row["mrr"]["BM25"] == 0.5
    assert row["mrr"]["local"] == 0.0
    assert row["mrr"]["reranked"] > 0.95
    assert 0.45 < row["mrr"]["law"] <= 0.5  # half of the questions are not law's


def test_differences_are_paired_and_signed(made: dict[str, object]) -> None:
    gaps = made["files"]["law.jsonl"]["reranked_minus"]  # type: ignore[index]
    means = made["files"]["law.jsonl"]["mrr"]  # type: ignore[index]
    assert gaps["BM25"]["mean"] == pytest.approx(means["reranked"] - 0.5)
    assert gaps["BM25"]["low"] > 0
    assert abs(gaps["law"]["mean"]) < 0.1


def test_the_balanced_ratio_divides_by_the_mean_of_the_single_sources(
    made: dict[str, object],
) -> None:
    even = made["balanced"]
    assert isinstance(even, dict)
    assert even["per_domain"] == 50
    assert even["ratio"] == pytest.approx(even["fused"] / even["single_source_mean"])
    assert even["ratio"] > 3.5  # about 1 / ((.5 + 0) / 2)


def test_the_tables_name_every_system_and_file(made: dict[str, object]) -> None:
    text = io.StringIO()
    print_summary(made, Console(file=text, width=160))
    for word in ("fused", "reranked", "law", "local", "BM25", "law.jsonl", "all", "ratio"):
        assert word in text.getvalue()
