"""The search with everything that learns fitted anew in each fold: no question meets itself.

``python -m eval.nested --record FILE [--store DIR] [--json FILE]``. Nested cross-validation on
recorded signal lists (``eval.tuning --record``, with ``--held-out-adapters`` behind encoders): in
every fold calibrations, weights, modes and depths are searched and the reranker is fitted on the
other four; near-duplicate questions stay together. The gate is left out: what is found is used.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from rich.console import Console

from configs.errors import PolicyFusionError
from configs.settings import Settings, load_settings
from eval.fusion_search import TRIALS
from eval.heldout import FUSED, RERANKED, HeldOut, print_summary, summary
from eval.question_groups import group_questions
from eval.recording import History, Recorded, load
from eval.training import FOLDS, Example, assign_folds, example, fit, order, reciprocal_rank
from eval.tuning import tune
from fusion.nodes import RankedPassage
from fusion.two_stage import FusionPlan, fuse_two_stage, trace_of
from indexes.catalog import PassageCatalog
from indexes.schema import Passage
from indexes.store_layout import StoreLayout

Read = Callable[[Sequence[str]], Mapping[str, Passage]]


def nested(
    history: History, settings: Settings, read: Read, *, trials: int = TRIALS, seed: int = 0
) -> HeldOut:
    """MRR@10 of every answerable question: fused, reranked, and each domain alone (reranked).

    ``read`` gives the passages of ids, those that it knows.
    """
    rows = tuple(row for row in history.rows if row.question.answerable)
    folds = assign_folds(group_questions([row.question for row in rows]), FOLDS, seed)
    names = (FUSED, RERANKED, *settings.domains)
    values = {name: [0.0] * len(rows) for name in names}
    for fold in range(FOLDS):
        train = [row for row, own in zip(rows, folds, strict=True) if own != fold]
        best = tune(history, train, settings, trials=trials, seed=seed)
        plan, depth = FusionPlan.from_settings(best), best.rerank.top_n
        trees = fit([candidates_of(row, plan, read, depth) for row in train], seed)
        for i, row in enumerate(rows):
            if folds[i] != fold:
                continue
            one = candidates_of(row, plan, read, depth)
            values[FUSED][i] = reciprocal_rank(one.units, range(len(one.units)))
            values[RERANKED][i] = reciprocal_rank(one.units, order(trees, one.matrix))
            for domain in settings.domains:
                alone = candidates_of(row, plan, read, depth, domain)
                values[domain][i] = reciprocal_rank(alone.units, order(trees, alone.matrix))
    questions = tuple(row.question for row in rows)
    return HeldOut(questions, {name: tuple(found) for name, found in values.items()})


def candidates_of(
    row: Recorded, plan: FusionPlan, read: Read, depth: int, domain: str | None = None
) -> Example:
    """The first ``depth`` of the recorded lists fused, of all domains or one."""
    signals = {name: found for name, found in row.signals.items() if domain in (None, name)}
    fused = fuse_two_stage(plan, signals)[:depth]
    known = read([item.id for item in fused])
    ranked = [
        RankedPassage(known[item.id], item.score, MappingProxyType(trace_of(item)))
        for item in fused
        if item.id in known
    ]
    return example(row.question, ranked)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables. 0, or 2 for a user's error."""
    parser = argparse.ArgumentParser(prog="python -m eval.nested", description=__doc__)
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("--config", default=None)
    parser.add_argument("--store", default=None, help="the store that was recorded")
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, default=None, help="also write the figures here")
    options = parser.parse_args(argv)
    try:
        history, settings = load(options.record), load_settings(options.config)
        layout = StoreLayout(Path(options.store or settings.store.dir))
        catalog = PassageCatalog(layout.catalog)
        found = nested(history, settings, catalog.get, trials=options.trials, seed=options.seed)
        catalog.close()
    except PolicyFusionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    made = summary(found, tuple(settings.domains), options.seed)
    print_summary(made, Console(width=160))
    if options.json is not None:
        options.json.write_text(json.dumps(made, ensure_ascii=False, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
