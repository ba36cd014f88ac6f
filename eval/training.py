"""Fit the offline reranker on labelled questions, prove it on questions it has not seen, write it.

``python -m eval.training --questions FILE… [--store DIR] [--out FILE]`` (``make tune``).

LambdaMART (LightGBM) over ``fusion.list_features``. Every figure printed is of cross-validation in
which questions with the same answer stay in one fold; the trees are written only when the reranked
order beats the fused one there: a paired bootstrap interval of the MRR@10 difference above 0.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from configs.errors import PolicyFusionError
from configs.settings import Settings, load_settings
from eval.datasets import Question, load_questions
from eval.relevance import gold_units, judge
from eval.significance import compare_paired
from fusion.boosted import trees_file
from fusion.features import Question as ReadQuestion
from fusion.learned_rerank import WEIGHTS_VERSION
from fusion.list_features import RERANK_FEATURES, feature_rows
from fusion.nodes import RankedPassage

if TYPE_CHECKING:
    from indexes.embeddings import TextEmbedder

Floats = npt.NDArray[np.float64]
FOLDS = 5
CUT = 10
ROUNDS = 300
PARAMETERS = {
    "objective": "lambdarank",
    "learning_rate": 0.05,
    "num_leaves": 7,
    "min_data_in_leaf": 50,
    "feature_fraction": 0.7,
    "lambdarank_truncation_level": 30,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,  # the same trees everywhere, and none waits for another in a small fit
    "verbose": -1,
}


@dataclass(frozen=True, slots=True)
class Example:
    """One question's candidates in fused order: features (n, f) and, per rank, the gold unit."""

    question: Question
    matrix: Floats
    units: tuple[str | None, ...]

    @property
    def group(self) -> str:
        """Questions of one group must not be split between training and test."""
        return min(gold_units(self.question))

    @property
    def labels(self) -> npt.NDArray[np.bool_]:
        """Whether each candidate is the first to cover a gold unit."""
        return np.array([unit is not None for unit in self.units], dtype=bool)


@dataclass(frozen=True, slots=True)
class Trial:
    """MRR@10 per question of the fused and the reranked order, each question held out."""

    questions: tuple[Question, ...]
    fused: tuple[float, ...]
    reranked: tuple[float, ...]


def example(question: Question, items: Sequence[RankedPassage]) -> Example:
    """The candidates of a question as a training example."""
    read = ReadQuestion.read(question.query)
    rows = feature_rows(read, items)
    matrix = np.array(rows, dtype=np.float64).reshape(len(items), len(RERANK_FEATURES))
    return Example(question, matrix, judge(question, [item.passage for item in items]))


def reciprocal_rank(units: Sequence[str | None], order: Iterable[int]) -> float:
    """1 / rank of the first relevant candidate among the first ten in ``order``, else 0."""
    for rank, position in enumerate(order, start=1):
        if rank > CUT:
            break
        if units[position] is not None:
            return 1.0 / rank
    return 0.0


def fit(examples: Sequence[Example], seed: int = 0) -> Any:
    """A LightGBM booster. Every domain's questions weigh the square root of their number in total,
    so that many questions of one domain do not drown the others.

    Examples without a relevant candidate teach nothing about order and are left out.
    """
    import lightgbm

    useful = [e for e in examples if e.labels.any()]
    sizes = Counter(_stratum(e.question) for e in useful)
    weights = np.concatenate(
        [np.full(len(e.units), 1.0 / np.sqrt(sizes[_stratum(e.question)])) for e in useful]
    )
    data = lightgbm.Dataset(
        np.concatenate([e.matrix for e in useful]),
        np.concatenate([e.labels for e in useful]).astype(int),
        group=[len(e.units) for e in useful],
        weight=weights / weights.mean(),
        feature_name=list(RERANK_FEATURES),
    )
    return lightgbm.train({**PARAMETERS, "seed": seed}, data, num_boost_round=ROUNDS)


def order(booster: Any, matrix: Floats) -> list[int]:
    """Candidates best first, ties in fused order."""
    if not len(matrix):
        return []
    scores = booster.predict(matrix, num_threads=1)
    return sorted(range(len(scores)), key=lambda i: (-scores[i], i))


def cross_validate(examples: Sequence[Example], seed: int = 0) -> Trial:
    """Every question reranked by trees fitted without it and without its group."""
    folds = assign_folds([e.group for e in examples], FOLDS, seed)
    reranked = [0.0] * len(examples)
    for fold in range(FOLDS):
        model = fit([e for e, f in zip(examples, folds, strict=True) if f != fold], seed)
        for position, one in enumerate(examples):
            if folds[position] == fold:
                reranked[position] = reciprocal_rank(one.units, order(model, one.matrix))
    fused = tuple(reciprocal_rank(e.units, range(len(e.units))) for e in examples)
    return Trial(tuple(e.question for e in examples), fused, tuple(reranked))


def assign_folds(groups: Sequence[str], folds: int, seed: int) -> list[int]:
    """A fold per item, the same for all items of a group, groups dealt out at random."""
    names = sorted(set(groups))
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[i]: place % folds for place, i in enumerate(order)}
    return [fold_of[group] for group in groups]


def report(trial: Trial) -> tuple[str, bool]:
    """The table of a trial, and whether the reranked order is better beyond doubt."""
    lines = [f"{'questions':28} {'n':>5} {'fused':>7} {'reranked':>9} {'difference (95 %)':>26}"]
    files = sorted({q.file for q in trial.questions})
    better = False
    for name in (*files, "all"):
        rows = [i for i, q in enumerate(trial.questions) if name in ("all", q.file)]
        before, after = [trial.fused[i] for i in rows], [trial.reranked[i] for i in rows]
        found = compare_paired(after, before)
        lines.append(
            f"{name:28} {len(rows):5} {np.mean(before):7.3f} {np.mean(after):9.3f} "
            f"{found.difference.mean:+9.3f} "
            f"[{found.difference.low:+.3f}, {found.difference.high:+.3f}]"
        )
        better = found.difference.low > 0
    return "\n".join(lines), better


def _stratum(question: Question) -> str:
    return min(question.domains, default="")


def unranked_settings(config: str | None) -> Settings:
    """The profile as training wants it: no reranker, and no look-up of what a question names,
    which is read, not ranked, and would teach nothing."""
    settings = load_settings(config)
    unranked = settings.rerank.model_copy(update={"kind": "none"})
    named = settings.references.model_copy(update={"enabled": False})
    return settings.model_copy(update={"rerank": unranked, "references": named})


def candidates(
    settings: Settings,
    store: str | None,
    questions: Sequence[Question],
    domains: Sequence[str] | None = None,
    embedders: Mapping[str, TextEmbedder] | None = None,
) -> list[tuple[Question, tuple[RankedPassage, ...]]]:
    """What fusion finds for each question, ``rerank.top_n`` deep, with a progress bar.

    ``domains``: only these are asked. ``embedders``: instead of the profile's, by domain.
    """
    from tqdm import tqdm

    from fusion.engine import PolicyQueryEngine

    with PolicyQueryEngine.from_config(settings, store=store, embedders=embedders) as engine:
        found = []
        for question in tqdm(
            questions, desc=f"candidates {domains[0] if domains else ''}".rstrip(), disable=None
        ):
            result = engine.search(
                question.query,
                as_of=question.as_of,
                jurisdiction=question.jurisdiction,
                domains=domains,
                top_k=settings.rerank.top_n,
            )
            found.append((question, result.passages))
    return found


def _examples(arguments: argparse.Namespace) -> list[Example]:
    questions = [q for q in load_questions(arguments.questions) if q.answerable]
    settings = unranked_settings(arguments.config)
    embedders = embedders_for(settings, arguments.held_out_adapters, questions, arguments.seed)
    found = candidates(settings, arguments.store, questions, embedders=embedders)
    return [example(q, items) for q, items in found]


def embedders_for(
    settings: Settings, adapters: Path | None, questions: Sequence[Question], seed: int
) -> dict[str, TextEmbedder] | None:
    """The embedders that did not see the questions they are asked; None without ``adapters``."""
    if adapters is None:
        return None
    from eval.held_out import held_out_embedders

    return held_out_embedders(settings, adapters, questions, seed)


def add_adapters_option(parser: argparse.ArgumentParser) -> None:
    """``--held-out-adapters``, for what is fitted or judged behind query adapters."""
    parser.add_argument(
        "--held-out-adapters",
        type=Path,
        default=None,
        metavar="DIR",
        help="adapters by fold (eval.adapters_training --held-out)",
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Fit, print the held-out figures, write the weights if they are better. 0, 1 or 2."""
    parser = argparse.ArgumentParser(prog="python -m eval.training", description=__doc__)
    parser.add_argument("--questions", nargs="+", type=Path, required=True)
    parser.add_argument("--config", default=None)
    parser.add_argument("--store", default=None)
    parser.add_argument("--out", type=Path, default=Path("configs/weights/reranker.json"))
    parser.add_argument("--seed", type=int, default=0)
    add_adapters_option(parser)
    arguments = parser.parse_args(argv)
    try:
        examples = _examples(arguments)
    except PolicyFusionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    table, better = report(cross_validate(examples, arguments.seed))
    print(table)
    if not better:
        print("not written: on held-out questions the reranked order is not better beyond doubt")
        return 1
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(
        trees_file(
            fit(examples), provenance(examples, date.today()), RERANK_FEATURES, WEIGHTS_VERSION
        )
        + "\n",
        encoding="utf-8",
    )
    print(f"written: {arguments.out}")
    return 0


def provenance(examples: Sequence[Example], day: date) -> str:
    """What the file of trees says of how it was made."""
    counts: Mapping[str, int] = Counter(e.question.file for e in examples)
    named = ", ".join(f"{n} of {file}" for file, n in sorted(counts.items()))
    return f"fitted {day.isoformat()} on {named}"


if __name__ == "__main__":
    raise SystemExit(main())
