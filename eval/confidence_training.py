"""Fit the judge of answerability on labelled questions, prove it on questions it has not seen.

``python -m eval.confidence_training --questions FILE… [--store DIR] [--out FILE]``. Questions with
an empty gold are the unanswerable ones. Everything printed is of cross-validation in which the
reranker's trees, too, are fitted without the question at hand: trees that have seen an answerable
question rank its answer too high, and the judge would learn to recognise that.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from configs.errors import InputError, PolicyFusionError
from eval.datasets import Question, load_questions
from eval.small_stores import small_store_candidates
from eval.training import (
    FOLDS,
    Example,
    add_adapters_option,
    assign_folds,
    candidates,
    embedders_for,
    example,
    fit,
    unranked_settings,
)
from fusion.answerability import WEIGHTS_VERSION
from fusion.boosted import trees_file
from fusion.confidence_features import CONFIDENCE_FEATURES, confidence_features
from fusion.nodes import RankedPassage

Floats = npt.NDArray[np.float64]
ROUNDS = 120
PARAMETERS = {
    "objective": "binary",
    "learning_rate": 0.05,
    "num_leaves": 5,
    "min_data_in_leaf": 20,
    "lambda_l2": 5.0,
    "feature_fraction": 0.6,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
}
PRECISION = 0.95
THRESHOLDS = tuple(n / 10 for n in range(1, 10))


@dataclass(frozen=True, slots=True)
class Judged:
    """One question with the numbers of ``CONFIDENCE_FEATURES``; questions of one group must not
    be split between training and test."""

    question: Question
    row: tuple[float, ...]
    group: str


def auroc(answerable: Sequence[float], unanswerable: Sequence[float]) -> float:
    """Chance that an answerable question gets the higher confidence, ties counting half (the
    Mann-Whitney statistic). Raises InputError when either is empty."""
    if not answerable or not unanswerable:
        raise InputError("both answerable and unanswerable questions are needed; add some")
    low = np.sort(np.asarray(unanswerable))
    below = np.searchsorted(low, answerable, side="left")
    equal = np.searchsorted(low, answerable, side="right") - below
    return float(np.mean(below + equal / 2) / len(low))


def weights(questions: Sequence[Question]) -> Floats:
    """Both kinds weigh the same in total; within a kind each file the square root of its number, so
    that many questions of one style do not drown the others."""
    answerable = np.array([q.answerable for q in questions])
    sizes = Counter((q.answerable, q.file) for q in questions)
    raw = np.array([1 / math.sqrt(sizes[q.answerable, q.file]) for q in questions])
    for kind in (answerable, ~answerable):
        raw[kind] *= len(questions) / 2 / raw[kind].sum()
    return raw


def fit_judge(judged: Sequence[Judged], seed: int = 0) -> Any:
    """A LightGBM booster of P(answerable) at equal odds."""
    import lightgbm

    questions = [one.question for one in judged]
    data = lightgbm.Dataset(
        np.array([one.row for one in judged]),
        np.array([q.answerable for q in questions]).astype(int),
        weight=weights(questions),
        feature_name=list(CONFIDENCE_FEATURES),
    )
    return lightgbm.train({**PARAMETERS, "seed": seed}, data, num_boost_round=ROUNDS)


def cross_validate(judged: Sequence[Judged], seed: int = 0) -> list[float]:
    """The confidence of every question by trees fitted without it and its group."""
    folds = assign_folds([one.group for one in judged], FOLDS, seed)
    found = [0.0] * len(judged)
    for fold in range(FOLDS):
        booster = fit_judge([j for j, f in zip(judged, folds, strict=True) if f != fold], seed)
        held = [i for i, f in enumerate(folds) if f == fold]
        rows = np.array([judged[i].row for i in held])
        for i, value in zip(held, booster.predict(rows, num_threads=1), strict=True):
            found[i] = float(value)
    return found


def report(judged: Sequence[Judged], confidences: Sequence[float]) -> str:
    """AUROC in all and by file, and what each threshold keeps and catches."""
    both = list(zip(judged, confidences, strict=True))
    yes = [c for j, c in both if j.question.answerable]
    no = [c for j, c in both if not j.question.answerable]
    lines = [f"AUROC {auroc(yes, no):.3f} ({len(yes)} answerable, {len(no)} unanswerable)"]
    for file in sorted({j.question.file for j, _ in both}):
        own_yes = [c for j, c in both if j.question.file == file and j.question.answerable]
        own_no = [c for j, c in both if j.question.file == file and not j.question.answerable]
        if own_yes:
            lines.append(f"  answerable of {file}: AUROC {auroc(own_yes, no):.3f}")
        if own_no:
            lines.append(f"  unanswerable of {file}: AUROC {auroc(yes, own_no):.3f}")
        if own_yes and own_no:
            lines.append(f"  both of {file}: AUROC {auroc(own_yes, own_no):.3f}")
    lines.append(
        f"answerable kept at {PRECISION:.0%} precision (equal odds): "
        f"{coverage_at_precision(yes, no, PRECISION):.3f}"
    )
    lines.append("threshold  answerable kept  unanswerable caught  precision at equal odds")
    for threshold in THRESHOLDS:
        kept = float(np.mean([c >= threshold for c in yes]))
        missed = float(np.mean([c >= threshold for c in no]))
        precision = kept / (kept + missed) if kept + missed else 1.0
        lines.append(f"{threshold:9.1f} {kept:16.3f} {1 - missed:20.3f} {precision:24.3f}")
    return "\n".join(lines)


def coverage_at_precision(yes: Sequence[float], no: Sequence[float], precision: float) -> float:
    """The largest share of the answerable that a threshold keeps at this precision, in [0, 1].

    ``yes``, ``no``: confidences of answerable and unanswerable questions, which weigh the same;
    0 when no threshold reaches ``precision``.
    """
    above, below = np.sort(yes), np.sort(no)
    best = 0.0
    for threshold in dict.fromkeys(above.tolist()):
        kept = 1.0 - np.searchsorted(above, threshold, side="left") / len(above)
        missed = 1.0 - np.searchsorted(below, threshold, side="left") / len(below)
        if kept / (kept + missed) >= precision:
            best = max(best, float(kept))
    return best


def judge_rows(
    found: Sequence[tuple[Question, Sequence[RankedPassage]]],
    small: Sequence[tuple[Question, Sequence[RankedPassage], str]] = (),
    seed: int = 0,
) -> list[Judged]:
    """The features of every question, its passages reranked by trees fitted without it.

    ``small``: questions asked of small stores, with the key of their original in ``found``, whose
    fold they share; the trees are fitted on ``found`` alone.
    """
    examples = [example(question, items) for question, items in found]
    groups = [_group(one) for one in examples]
    folds = assign_folds(groups, FOLDS, seed)
    place = {question.key: i for i, (question, _) in enumerate(found)}
    asked = [
        *((question, items, i) for i, (question, items) in enumerate(found)),
        *((question, items, place[original]) for question, items, original in small),
    ]
    judged: list[Judged] = []
    for fold in range(FOLDS):
        useful = [
            one
            for one, f in zip(examples, folds, strict=True)
            if f != fold and one.question.answerable and len(one.matrix)
        ]
        booster = fit(useful, seed)
        for question, items, i in asked:
            if folds[i] == fold and items:
                one = example(question, items)
                row = confidence_features(question.query, _reranked(booster, one, items))
                judged.append(Judged(question, row, groups[i]))
    return judged


def _group(one: Example) -> str:
    return one.group if one.question.answerable else one.question.query


def _reranked(booster: Any, one: Example, items: Sequence[RankedPassage]) -> list[RankedPassage]:
    scores = 1 / (1 + np.exp(-np.asarray(booster.predict(one.matrix, num_threads=1))))
    order = np.argsort(-scores, kind="stable")
    return [RankedPassage(items[i].passage, float(scores[i]), items[i].trace) for i in order]


def main(argv: Sequence[str] | None = None) -> int:
    """Fit, print the held-out figures, write the weights. 0 or 2."""
    parser = argparse.ArgumentParser(prog="python -m eval.confidence_training", description=__doc__)
    parser.add_argument("--questions", nargs="+", type=Path, required=True)
    parser.add_argument("--config", default=None)
    parser.add_argument("--store", default=None)
    parser.add_argument("--out", type=Path, default=Path("configs/weights/confidence.json"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--small-stores",
        type=int,
        default=0,
        metavar="N",
        help="also ask N stores of some fifty documents cut out of this one (eval.small_stores)",
    )
    add_adapters_option(parser)
    arguments = parser.parse_args(argv)
    try:
        settings = unranked_settings(arguments.config)
        questions = load_questions(arguments.questions)
        embedders = embedders_for(settings, arguments.held_out_adapters, questions, arguments.seed)
        found = candidates(settings, arguments.store, questions, embedders=embedders)
        placed = settings if arguments.store is None else settings.with_store(arguments.store)
        small = small_store_candidates(
            placed, found, arguments.small_stores, embedders, arguments.seed
        )
        judged = judge_rows(found, small, arguments.seed)
        print(report(judged, cross_validate(judged, arguments.seed)))
    except PolicyFusionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    counts = Counter(f"{'' if j.question.answerable else 'un'}answerable" for j in judged)
    made = f"fitted {date.today().isoformat()} on " + ", ".join(
        f"{n} {kind} questions" for kind, n in sorted(counts.items())
    )
    text = trees_file(fit_judge(judged), made, CONFIDENCE_FEATURES, WEIGHTS_VERSION)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(text + "\n", encoding="utf-8")
    print(f"written: {arguments.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
