"""The judge of answerability: its measure, its weights, and that it learns what can be learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from configs.errors import InputError
from eval.confidence_training import (
    Judged,
    auroc,
    coverage_at_precision,
    cross_validate,
    fit_judge,
    judge_rows,
    report,
    weights,
)
from eval.datasets import Gold, Question
from fusion.answerability import WEIGHTS_VERSION, Answerability
from fusion.boosted import parse_trees, trees_file
from fusion.confidence_features import CONFIDENCE_FEATURES, confidence_features
from fusion.nodes import RankedPassage
from tests.fusion.fake_sources import LAW, LOCAL

COVERED = CONFIDENCE_FEATURES.index("covered")


def asked(n: int, answerable: bool, file: str = "a.jsonl") -> Question:
    gold = (Gold(domain="law", title="示例法", article=str(n)),) if answerable else ()
    return Question(id=f"q{n}", query=f"问题{n}", gold=gold, file=file)


def made_up(count: int, seed: int = 0) -> list[Judged]:
    rng = np.random.default_rng(seed)
    found = []
    for n in range(count):
        answerable = n % 3 > 0
        row = rng.normal(0, 0.1, len(CONFIDENCE_FEATURES))
        row[COVERED] += 0.8 if answerable else 0.2
        found.append(Judged(asked(n, answerable), tuple(row), f"g{n}"))
    return found


def test_auroc_is_that_of_scikit_learn_with_ties() -> None:
    rng = np.random.default_rng(1)
    yes, no = rng.integers(0, 6, 40) / 5, rng.integers(0, 5, 25) / 5
    expected = roc_auc_score([1] * 40 + [0] * 25, np.concatenate([yes, no]))
    assert auroc(list(yes), list(no)) == pytest.approx(expected)
    assert auroc([0.5], [0.5]) == 0.5
    with pytest.raises(InputError, match="unanswerable"):
        auroc([0.5], [])


def test_coverage_at_a_precision_is_that_of_the_lowest_threshold_that_reaches_it() -> None:
    yes, no = [0.9, 0.8, 0.6, 0.3], [0.7, 0.2, 0.1, 0.1]
    # From .8: 2 of 4 kept, none missed: 1. From .6: 3/4 to 1/4: .75. From .3: 1 to 1/4: .8.
    assert coverage_at_precision(yes, no, 0.95) == 0.5
    assert coverage_at_precision(yes, no, 0.8) == 1.0
    assert coverage_at_precision([0.1, 0.2], [0.5, 0.6], 0.95) == 0.0


def test_both_kinds_weigh_the_same_and_a_large_file_does_not_drown_a_small_one() -> None:
    questions = [asked(n, True) for n in range(16)]
    questions += [asked(n, True, "b.jsonl") for n in range(4)] + [asked(9, False)] * 5
    found = weights(questions)
    assert found[:20].sum() == pytest.approx(12.5)
    assert found[20:].sum() == pytest.approx(12.5)
    assert found[16:20].sum() / found[:16].sum() == pytest.approx(0.5)  # sqrt(4) : sqrt(16)


def test_held_out_questions_are_told_apart_by_what_tells_them_apart() -> None:
    judged = made_up(150)
    found = cross_validate(judged)
    yes = [c for j, c in zip(judged, found, strict=True) if j.question.answerable]
    no = [c for j, c in zip(judged, found, strict=True) if not j.question.answerable]
    assert auroc(yes, no) > 0.95
    assert report(judged, found).startswith(f"AUROC {auroc(yes, no):.3f} (100 answerable, 50 un")


def test_noise_is_not_taken_for_knowledge() -> None:
    judged = made_up(240)
    order = np.random.default_rng(3).permutation(240)
    shuffled = [replace(j, question=judged[i].question) for j, i in zip(judged, order, strict=True)]
    found = cross_validate(shuffled)
    yes = [c for j, c in zip(shuffled, found, strict=True) if j.question.answerable]
    no = [c for j, c in zip(shuffled, found, strict=True) if not j.question.answerable]
    assert 0.35 < auroc(yes, no) < 0.65


def test_the_written_judge_gives_the_fitted_probability() -> None:
    judged = made_up(150)
    booster = fit_judge(judged)
    text = trees_file(booster, "虚构", CONFIDENCE_FEATURES, WEIGHTS_VERSION)
    trees = parse_trees(text, "weights", CONFIDENCE_FEATURES, WEIGHTS_VERSION)
    rows = [judged[0].row, judged[1].row]
    assert trees.predict(rows, raw=False) == pytest.approx(list(booster.predict(np.array(rows))))
    judge = Answerability(trees)
    assert judge.confidence("问", []) == 0.0
    items = [RankedPassage(LAW[0], 0.5)]
    (expected,) = trees.predict([confidence_features("问", items)], raw=False)
    assert judge.confidence("问", items) == expected


def test_every_question_with_passages_is_judged_once() -> None:
    def article(n: int) -> RankedPassage:
        meta = replace(LAW[0].metadata, title="示例法", article=str(n))
        return RankedPassage(replace(LAW[0], metadata=meta), 0.4)

    found = [(asked(n, n % 2 == 0), (article(n), RankedPassage(LOCAL[0], 0.2))) for n in range(60)]
    with_none = (asked(99, True), ())
    judged = judge_rows([*found, with_none])
    assert len(judged) == 60
    assert {one.question.id for one in judged} == {f"q{n}" for n in range(60)}
