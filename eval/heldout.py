"""Fused against every single domain and plain BM25, on questions that the trees have not seen.

``python -m eval.heldout --questions FILE… [--store DIR] [--json FILE]``. Five folds, questions with
the same answer together; the reranker's trees are fitted on four and applied to the fifth, to the
fused list and to each domain's own. ``--held-out-adapters`` does the same for query adapters. What
the profile holds (calibrations, weights) is not fitted again: figures on questions it was tuned on
carry that.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from configs.errors import PolicyFusionError
from configs.settings import Settings
from eval.balanced import Balanced, balance
from eval.baseline import Bm25Baseline
from eval.datasets import Question, load_questions
from eval.relevance import judge
from eval.significance import compare_paired
from eval.training import (
    CUT,
    FOLDS,
    Example,
    add_adapters_option,
    assign_folds,
    candidates,
    embedders_for,
    example,
    fit,
    order,
    reciprocal_rank,
    unranked_settings,
)

if TYPE_CHECKING:
    from indexes.embeddings import TextEmbedder

FUSED, RERANKED, BASELINE = "fused", "reranked", "BM25"


@dataclass(frozen=True, slots=True)
class HeldOut:
    """MRR@10 per question and system: ``fused`` (no reranker), ``reranked``, each domain alone
    (reranked), ``BM25``. ``values[system][i]`` belongs to ``questions[i]``."""

    questions: tuple[Question, ...]
    values: Mapping[str, tuple[float, ...]]

    def balanced(self, domains: Sequence[str]) -> Balanced | None:
        """Reranked fusion against the domains alone where each domain asks equally often."""

        def keyed(system: str) -> dict[str, dict[str, float]]:
            pairs = zip(self.questions, self.values[system], strict=True)
            return {question.key: {"mrr": value} for question, value in pairs}

        return balance(self.questions, keyed(RERANKED), {name: keyed(name) for name in domains})


def held_out(
    fused: Sequence[Example],
    alone: Mapping[str, Sequence[Example]],
    baseline: Sequence[float],
    seed: int = 0,
) -> HeldOut:
    """Every list reranked by trees fitted without its question and its group.

    ``alone[domain][i]`` and ``baseline[i]`` are of the question of ``fused[i]``.
    """
    folds = assign_folds([one.group for one in fused], FOLDS, seed)
    values = {name: [0.0] * len(fused) for name in (RERANKED, *alone)}
    for fold in range(FOLDS):
        trees = fit([e for e, f in zip(fused, folds, strict=True) if f != fold], seed)
        for i, own in enumerate(folds):
            if own != fold:
                continue
            for name, one in ((RERANKED, fused[i]), *((n, lists[i]) for n, lists in alone.items())):
                values[name][i] = reciprocal_rank(one.units, order(trees, one.matrix))
    plain = tuple(reciprocal_rank(e.units, range(len(e.units))) for e in fused)
    return HeldOut(
        tuple(e.question for e in fused),
        {FUSED: plain, **{k: tuple(v) for k, v in values.items()}, BASELINE: tuple(baseline)},
    )


def summary(found: HeldOut, domains: Sequence[str], seed: int = 0) -> dict[str, Any]:
    """Per file and in all: the means, and the paired difference of reranked to each other system
    (mean, 95 % interval, p of the randomisation test); the balanced figures."""
    files = sorted({question.file for question in found.questions})
    rows = {}
    for name in (*files, "all"):
        places = [i for i, q in enumerate(found.questions) if name in ("all", q.file)]
        mine = {k: [v[i] for i in places] for k, v in found.values.items()}
        rows[name] = {
            "queries": len(places),
            "mrr": {system: float(np.mean(values)) for system, values in mine.items()},
            "reranked_minus": {
                system: _paired(mine[RERANKED], values, seed)
                for system, values in mine.items()
                if system != RERANKED
            },
        }
    even = found.balanced(domains)
    return {"files": rows, "balanced": even.to_dict() if even else None}


def _paired(first: Sequence[float], second: Sequence[float], seed: int) -> dict[str, float]:
    result = compare_paired(first, second, seed=seed)
    gap = result.difference
    return {"mean": gap.mean, "low": gap.low, "high": gap.high, "p": result.p_value}


def print_summary(made: Mapping[str, Any], console: Console) -> None:
    """Two tables: the means, and what reranked fusion gains over each other system."""
    systems = list(made["files"]["all"]["mrr"])
    means = Table(title=f"MRR@{CUT}, held out", title_justify="left", box=box.SIMPLE_HEAD)
    gains = Table(title="reranked minus …, 95 %", title_justify="left", box=box.SIMPLE_HEAD)
    for table in (means, gains):
        table.add_column("questions")
        table.add_column("n", justify="right")
        for system in systems:
            if table is means or system != RERANKED:
                table.add_column(system, justify="right", no_wrap=True)
    for name, row in made["files"].items():
        size = str(row["queries"])
        means.add_row(name, size, *(f"{row['mrr'][s]:.3f}" for s in systems))
        gaps = [row["reranked_minus"][s] for s in systems if s != RERANKED]
        gains.add_row(
            name, size, *(f"{g['mean']:+.3f} [{g['low']:+.3f}, {g['high']:+.3f}]" for g in gaps)
        )
    console.print(means)
    console.print(gains)
    even = made["balanced"]
    if even:
        console.print(
            f"balanced, {even['per_domain']} questions a domain: fused {even['fused']:.3f}, "
            f"mean of single sources {even['single_source_mean']:.3f}, ratio {even['ratio']:.2f}; "
            f"each on its own questions {even['own_domain_mean']:.3f}"
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status 0, or 1 after one line on standard error."""
    parser = argparse.ArgumentParser(prog="python -m eval.heldout", description=__doc__)
    parser.add_argument("--questions", nargs="+", type=Path, required=True, metavar="FILE")
    parser.add_argument("--config", default=None, help="profile (default: configs/default.yaml)")
    parser.add_argument("--store", default=None, help="store directory instead of the profile's")
    parser.add_argument("--json", type=Path, default=None, help="also write the figures here")
    parser.add_argument("--seed", type=int, default=0)
    add_adapters_option(parser)
    options = parser.parse_args(argv)
    try:
        settings = unranked_settings(options.config)
        questions = [q for q in load_questions(options.questions) if q.answerable]
        embedders = embedders_for(settings, options.held_out_adapters, questions, options.seed)
        made = _measure(settings, options.store, questions, embedders, options.seed)
    except PolicyFusionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print_summary(made, Console(width=160))
    if options.json is not None:
        options.json.write_text(json.dumps(made, ensure_ascii=False, indent=1), encoding="utf-8")
    return 0


def _measure(
    settings: Settings,
    store: str | None,
    questions: Sequence[Question],
    embedders: Mapping[str, TextEmbedder] | None,
    seed: int,
) -> dict[str, Any]:
    from indexes.catalog import PassageCatalog
    from indexes.store_layout import StoreLayout

    def lists(*domains: str) -> list[Example]:
        found = candidates(settings, store, questions, domains or None, embedders)
        return [example(q, items) for q, items in found]

    fused = lists()
    alone = {name: lists(name) for name in settings.domains}
    catalog = PassageCatalog(StoreLayout(Path(store or settings.store.dir)).catalog)
    rows = chain.from_iterable(catalog.passages(domain) for domain in settings.domains)
    bm25 = Bm25Baseline(passage for _, passage in rows)
    catalog.close()
    peer = []
    for question in questions:
        units = judge(question, bm25.search(question.query, CUT))
        peer.append(reciprocal_rank(units, range(len(units))))
    return summary(held_out(fused, alone, peer, seed), tuple(settings.domains), seed)


if __name__ == "__main__":
    raise SystemExit(main())
