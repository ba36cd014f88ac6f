"""Fit the domain router on labelled questions, prove it on held-out ones, write it.

``python -m eval.routing --record FILE [--out FILE]``. Nested cross-validation: regularisation and
strength are chosen on inner folds, routing accuracy and MRR@10 measured on outer ones. Written
only if the search is better with it, by the same gate as the weights.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from configs.errors import PolicyFusionError
from configs.settings import Settings, load_settings
from eval.fusion_search import file_weights
from eval.gate import HeldOutPair, by_file
from eval.question_groups import group_questions
from eval.recording import History, Recorded, load
from eval.signal_arrays import SignalArrays, reciprocal_ranks
from eval.training import assign_folds
from fusion.router import DomainRouter, features

Floats = npt.NDArray[np.float64]
BUCKETS = 8192
FLOOR = 0.6
STRENGTHS = (1.0, 3.0, 10.0)
GAMMAS = (0.025, 0.05, 0.1)
OUTER, INNER = 5, 3


@dataclass(frozen=True, slots=True)
class RouterTrial:
    """``pair``: MRR@10 without and with the router; ``correct`` (n,): whether the likeliest domain
    holds a right answer. All of it on questions that the router had not seen."""

    pair: HeldOutPair
    correct: npt.NDArray[np.bool_]

    def table(self) -> str:
        """Accuracy per file and overall, then MRR@10."""
        rows = self.pair.rows
        lines = [f"{'routing accuracy':24} {len(rows):5} {self.correct.mean():8.3f}"]
        lines += [
            f"  {name:22} {len(own):5} {self.correct[own].mean():8.3f}"
            for name, own in by_file(rows).items()
        ]
        return "\n".join([*lines, self.pair.table("routed")])


def fit_router(
    rows: Sequence[Recorded], domains: Sequence[str], strength: float, gamma: float
) -> DomainRouter:
    """One logistic regression a domain; every file weighs the square root of its size.

    ``strength``: inverse of the regularisation (> 0).
    """
    from sklearn.linear_model import LogisticRegression

    matrix = _matrix([row.question.query for row in rows])
    sizes = file_weights(rows)
    weights, bias = np.zeros((len(domains), BUCKETS)), np.zeros(len(domains))
    for j, domain in enumerate(domains):
        labels = np.array([domain in row.question.domains for row in rows])
        if labels.all() or not labels.any():
            bias[j] = 3.0 if labels.all() else -3.0  # nothing to tell apart: a mild constant
            continue
        model = LogisticRegression(C=strength, max_iter=500)
        model.fit(matrix, labels, sample_weight=np.sqrt(sizes / sizes.mean()))
        weights[j], bias[j] = model.coef_[0], model.intercept_[0]
    return DomainRouter(tuple(domains), weights, bias, FLOOR, gamma)


def nested_cross_validation(history: History, settings: Settings, seed: int = 0) -> RouterTrial:
    """Every question routed by a router that saw neither it nor its near-duplicates."""
    rows = tuple(row for row in history.rows if row.question.answerable)
    arrays = SignalArrays.of(rows, history.domains)
    folds = np.array(assign_folds(group_questions([r.question for r in rows]), OUTER, seed))
    routed, correct = np.zeros(len(rows)), np.zeros(len(rows), dtype=bool)
    for fold in range(OUTER):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        seen, unseen = [rows[i] for i in train], [rows[i] for i in test]
        router = choose_router(seen, arrays.take(train.tolist()), settings, seed)
        factors = factors_of(router, unseen)
        routed[test] = reciprocal_ranks(arrays.take(test.tolist()), settings, factors)
        correct[test] = [_is_right(router, row) for row in unseen]
    pair = HeldOutPair(rows, reciprocal_ranks(arrays, settings), routed)
    return RouterTrial(pair, correct)


def choose_router(
    rows: Sequence[Recorded], arrays: SignalArrays, settings: Settings, seed: int = 0
) -> DomainRouter:
    """The best strength and gamma by inner cross-validation, fitted on all ``rows``."""
    folds = np.array(assign_folds(group_questions([r.question for r in rows]), INNER, seed))
    weights = file_weights(rows)
    values: dict[tuple[float, float], float] = dict.fromkeys(product(STRENGTHS, GAMMAS), 0.0)
    for strength in STRENGTHS:
        for fold in range(INNER):
            test = np.flatnonzero(folds == fold)
            seen = [row for row, own in zip(rows, folds, strict=True) if own != fold]
            fitted = fit_router(seen, arrays.domains, strength, 1.0)
            unseen = [row for row, own in zip(rows, folds, strict=True) if own == fold]
            part = arrays.take(test.tolist())
            for gamma in GAMMAS:
                factors = factors_of(replace(fitted, gamma=gamma), unseen)
                ranks = reciprocal_ranks(part, settings, factors)
                values[strength, gamma] += float(weights[test] @ ranks)
    strength, gamma = max(values, key=lambda key: values[key])
    return fit_router(rows, arrays.domains, strength, gamma)


def factors_of(router: DomainRouter, rows: Sequence[Recorded]) -> Floats:
    """What multiplies the domain weights, (questions, domains)."""
    found = [router.factors(row.question.query) for row in rows]
    return np.array([[one[domain] for domain in router.domains] for one in found])


def _is_right(router: DomainRouter, row: Recorded) -> bool:
    chances = router.probabilities(row.question.query)
    return max(chances, key=lambda name: chances[name]) in row.question.domains


def _matrix(texts: Sequence[str]):  # type: ignore[no-untyped-def]  # scipy has no types
    from scipy.sparse import csr_matrix

    found = [features(text, BUCKETS) for text in texts]
    values = np.concatenate([np.full(len(f), 1.0 / np.sqrt(max(1, len(f)))) for f in found])
    starts = np.cumsum([0, *map(len, found)])
    return csr_matrix((values, np.concatenate(found), starts), shape=(len(texts), BUCKETS))


def main(argv: Sequence[str] | None = None) -> int:
    """Fit, print the held-out figures, write the router if the search is better with it."""
    parser = argparse.ArgumentParser(prog="python -m eval.routing", description=__doc__)
    parser.add_argument("--record", type=Path, required=True, help="made by eval.tuning --record")
    parser.add_argument("--config", default=None)
    parser.add_argument("--out", type=Path, default=Path("configs/weights/router.json"))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    try:
        history, settings = load(arguments.record), load_settings(arguments.config)
    except PolicyFusionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    trial = nested_cross_validation(history, settings, arguments.seed)
    print(trial.table())
    verdict = trial.pair.verdict()
    if not verdict.accepted:
        print(f"not written: {verdict.reason}")
        return 1
    rows = trial.pair.rows
    arrays = SignalArrays.of(rows, history.domains)
    router = choose_router(rows, arrays, settings, arguments.seed)
    counts = ", ".join(f"{len(own)} of {name}" for name, own in by_file(rows).items())
    provenance = (
        f"fitted {date.today().isoformat()} on {counts}; held out: routing accuracy "
        f"{trial.correct.mean():.3f}, {verdict.reason}"
    )
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(router.to_json(provenance) + "\n", encoding="utf-8")
    print(f"written: {arguments.out} ({verdict.reason}); gamma {router.gamma}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
