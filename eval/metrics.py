"""Rank metrics of judged results, computed by ir-measures (trec_eval's definitions).

MRR (Voorhees 1999), nDCG with binary gains (Järvelin & Kekäläinen 2002), hit rate (success at k),
recall and average precision over at most ``RECALL_DEPTH`` results. All values lie in [0, 1].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ir_measures

from configs.errors import InputError

RECALL_DEPTH = 100
"""Results that must be retrieved per question: recall and average precision look this deep."""

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Judged:
    """A question's gold units and, per rank, the unit first covered there (None: none).

    At most the first ``RECALL_DEPTH`` ranks count. Made by ``eval.relevance``.
    """

    units: tuple[str, ...]
    ranking: tuple[str | None, ...]

    @property
    def rank(self) -> int | None:
        """Rank of the first hit, from 1; None without one."""
        return next((rank for rank, unit in enumerate(self.ranking, 1) if unit is not None), None)


def measures(top_k: int = 10) -> dict[str, Any]:
    """Metric name -> ir-measures object. ``mrr`` is cut at ``top_k``, so is ``ndcg@{top_k}``."""
    if not 1 <= top_k <= RECALL_DEPTH:
        raise InputError(f"top_k is {top_k}; give a number from 1 to {RECALL_DEPTH}")
    hit_depths = sorted({1, 5, 10, top_k})
    return {
        "mrr": ir_measures.RR @ top_k,
        **{f"hit_rate@{k}": ir_measures.Success @ k for k in hit_depths},
        f"ndcg@{top_k}": ir_measures.nDCG @ top_k,
        f"recall@{RECALL_DEPTH}": ir_measures.R @ RECALL_DEPTH,
        "map": ir_measures.AP @ RECALL_DEPTH,
    }


def score(judged: Mapping[str, Judged], top_k: int = 10) -> dict[str, dict[str, float]]:
    """Per question the value of every metric; no results give 0.

    Raises InputError for a question without gold units: it has no such value.
    """
    names = {measure: name for name, measure in measures(top_k).items()}
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for key, one in judged.items():
        if not one.units:
            raise InputError(f"question {key} has no gold; count unanswerable questions apart")
        qrels[key] = dict.fromkeys(one.units, 1)
        run[key] = {
            unit if unit is not None else f"none:{rank}": float(RECALL_DEPTH - rank)
            for rank, unit in enumerate(one.ranking[:RECALL_DEPTH])
        }
    values: dict[str, dict[str, float]] = {
        key: dict.fromkeys(names.values(), 0.0) for key in judged
    }
    if judged:
        for found in ir_measures.iter_calc(list(names), qrels, run):
            values[found.query_id][names[found.measure]] = float(found.value)
    return values


def mean(values: Sequence[Values]) -> dict[str, float]:
    """The mean of every metric over questions; ``{}`` for no questions."""
    if not values:
        return {}
    return {name: sum(one[name] for one in values) / len(values) for name in values[0]}
