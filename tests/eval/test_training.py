"""The offline reranker is fitted and judged on different questions."""

from __future__ import annotations

import json

import numpy as np
import pytest

from configs.errors import ConfigError
from eval.datasets import Gold, Question
from eval.training import (
    Example,
    Trial,
    assign_folds,
    cross_validate,
    fit,
    reciprocal_rank,
    report,
)
from fusion.boosted import parse_trees, trees_file
from fusion.list_features import RERANK_FEATURES

SIGNAL = RERANK_FEATURES.index("dense_raw")


def made_up(number: int, good: int, size: int = 12) -> Example:
    """A question whose relevant candidate stands at ``good`` and alone has a high first signal."""
    rng = np.random.default_rng(number)
    matrix = rng.normal(0.0, 0.05, (size, len(RERANK_FEATURES)))
    matrix[good, SIGNAL] += 1.0
    units = tuple(f"article:甲法#{number}" if i == good else None for i in range(size))
    gold = (Gold(domain="law", title="甲法", article=str(number + 1)),)
    question = Question(id=str(number), query="问", gold=gold, file="made.jsonl")
    return Example(question, matrix, units)


def test_reciprocal_rank_counts_from_one_and_stops_after_ten() -> None:
    units = (None, "a", None, "b")
    assert reciprocal_rank(units, [0, 3, 1, 2]) == 0.5
    assert reciprocal_rank([None] * 10 + ["a"], range(11)) == 0.0
    assert reciprocal_rank((), ()) == 0.0


def test_questions_with_one_answer_are_never_split_between_folds() -> None:
    groups = [f"g{i % 7}" for i in range(40)]
    folds = assign_folds(groups, 5, seed=3)
    assert all(len({f for f, g in zip(folds, groups, strict=True) if g == name}) == 1
               for name in set(groups))  # fmt: skip
    assert set(folds) == set(range(5))
    assert folds == assign_folds(groups, 5, seed=3)


def test_the_telling_feature_is_learned_and_lifts_unseen_questions() -> None:
    examples = [made_up(n, good=(n * 5) % 11 + 1) for n in range(80)]
    trial = cross_validate(examples)
    assert np.mean(trial.reranked) > 0.95 > np.mean(trial.fused)
    gains = fit(examples).feature_importance("gain")
    assert int(np.argmax(gains)) == SIGNAL


def test_a_reranker_that_only_follows_noise_is_not_accepted() -> None:
    rng = np.random.default_rng(5)
    questions = tuple(made_up(n, 0).question for n in range(60))
    same = tuple(float(v) for v in rng.choice([0.0, 0.5, 1.0], 60))
    shuffled = tuple(float(v) for v in rng.permutation(same))
    _, better = report(Trial(questions, same, shuffled))
    assert not better
    _, better = report(Trial(questions, (0.1,) * 60, (0.6,) * 60))
    assert better


def test_the_written_trees_score_as_the_fitted_ones() -> None:
    examples = [made_up(n, good=(n * 5) % 11 + 1) for n in range(80)]
    booster = fit(examples)
    read = parse_trees(
        trees_file(booster, "虚构", RERANK_FEATURES, 3), "weights", RERANK_FEATURES, 3
    )
    rows = examples[3].matrix
    raw = booster.predict(rows)
    assert read.predict([tuple(row) for row in rows]) == pytest.approx(raw)
    assert read.provenance == "虚构"


def test_a_cut_off_or_foreign_weights_file_is_refused_with_the_remedy() -> None:
    whole = json.loads(
        trees_file(fit([made_up(n, 3) for n in range(80)]), "虚构", RERANK_FEATURES, 3)
    )
    for change in ({"model": whole["model"][:2000]}, {"model": "x"}, {"features": ["dense"]},
                   {"version": 1}):  # fmt: skip
        with pytest.raises(ConfigError, match="make tune"):
            parse_trees(json.dumps({**whole, **change}), "weights", RERANK_FEATURES, 3)
