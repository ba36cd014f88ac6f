"""Fusion against other libraries' on the same recorded lists, in one run.

``python -m benchmarks.peers --record FILE``: a record of ``eval.tuning --record``; extra ``peers``.
Every system gets the lists of every signal of every domain. ``tuned`` and ranx are chosen on four
folds and applied to the fifth; the profile's own parameters may have been fitted on the same
questions. Times are of the fusion alone, inputs made before, medians.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.peer_fusers import Lists, PeerFuser, peers
from benchmarks.ranx_fusion import apply, choose
from configs.errors import PolicyFusionError
from configs.settings import Settings, load_settings
from eval.datasets import Question
from eval.gate import by_file
from eval.metrics import Judged, score
from eval.question_groups import group_questions
from eval.recording import History, Recorded, load
from eval.relevance import gold_units
from eval.signal_arrays import SIGNALS
from eval.significance import paired_bootstrap
from eval.training import assign_folds
from eval.tuning import FOLDS, tune
from fusion.two_stage import FusionPlan, fuse_two_stage

METRICS = {"mrr": "MRR@10", "ndcg@10": "nDCG@10", "hit_rate@10": "hit@10"}
DEPTH = 100
RANX_QUESTIONS = 300
"""Of the training questions, as many choose ranx's method: its search is slow."""
Values = Mapping[str, Mapping[str, float]]


def judged(question: Question, row: Recorded, order: Sequence[str]) -> Judged:
    """The first ids judged: a gold unit counts where it is first covered."""
    seen: set[str] = set()
    ranking: list[str | None] = []
    for id_ in order[:DEPTH]:
        new = next((unit for unit in row.units.get(id_, ()) if unit not in seen), None)
        ranking.append(new)
        if new is not None:
            seen.add(new)
    return Judged(gold_units(question), tuple(ranking))


def values_of(rows: Sequence[Recorded], orders: Sequence[Sequence[str]]) -> Values:
    """Question key -> metric -> value."""
    pairs = zip(rows, orders, strict=True)
    return score({row.question.key: judged(row.question, row, order) for row, order in pairs})


def lists_of(row: Recorded, domains: Sequence[str]) -> Lists:
    """The lists of all signals of all domains."""
    return [
        {hit.id: hit.score for hit in row.signals.get(domain, {}).get(signal, ())}
        for domain in domains
        for signal in SIGNALS
    ]


def timed(calls: Sequence[Callable[[], Sequence[str]]]) -> tuple[list[Sequence[str]], float]:
    """What each call gives, and the median milliseconds."""
    found, times = [], []
    for call in calls:
        start = time.perf_counter()
        found.append(call())
        times.append(1000 * (time.perf_counter() - start))
    return found, float(np.median(times))


def run_peer(peer: PeerFuser, lists: Sequence[Lists]) -> tuple[list[Sequence[str]], float]:
    """The orders of one library, and its median milliseconds."""
    orders: list[Sequence[str]] = []
    times = []
    for one in lists:
        given = peer.prepare(one)
        start = time.perf_counter()
        fused = peer.fuse(given)
        times.append(1000 * (time.perf_counter() - start))
        orders.append(peer.order(fused))
    return orders, float(np.median(times))


def run_ours(rows: Sequence[Recorded], settings: Settings) -> tuple[list[Sequence[str]], float]:
    """The two stages of a profile."""
    plan = FusionPlan.from_settings(settings)

    def call(row: Recorded) -> Callable[[], Sequence[str]]:
        return lambda: [item.id for item in fuse_two_stage(plan, row.signals)]

    return timed([call(row) for row in rows])


def systems(
    history: History, settings: Settings, trials: int, seed: int
) -> tuple[tuple[Recorded, ...], dict[str, tuple[list[Sequence[str]], float]]]:
    """The answerable questions, and per system its orders and milliseconds a query."""
    rows = tuple(row for row in history.rows if row.question.answerable)
    lists = [lists_of(row, history.domains) for row in rows]
    found = {"policy-fusion (profile)": run_ours(rows, settings)}
    folds = assign_folds(group_questions([row.question for row in rows]), FOLDS, seed)
    tuned: list[Sequence[str]] = [()] * len(rows)
    ranx: list[Sequence[str]] = [()] * len(rows)
    ranx_ms, tuned_ms = 0.0, []
    for fold in range(FOLDS):
        test = [i for i, own in enumerate(folds) if own == fold]
        train = [i for i, own in enumerate(folds) if own != fold]
        best = tune(history, [rows[i] for i in train], settings, trials=trials, seed=seed)
        orders, ms = run_ours([rows[i] for i in test], best)
        tuned_ms.append(ms)
        # ranx cannot judge a question without a relevant id in the lists.
        useful = [i for i in train if rows[i].units]
        useful = np.random.default_rng(seed).permutation(useful)[:RANX_QUESTIONS].tolist()
        chosen = choose([lists[i] for i in useful], [sorted(rows[i].units) for i in useful])
        print(f"ranx, fold {fold}: {chosen}", file=sys.stderr)
        part = [lists[i] for i in test]
        apply(part, chosen)  # compiled before it is timed
        start = time.perf_counter()
        fused = apply(part, chosen)
        ranx_ms += 1000 * (time.perf_counter() - start)
        for i, ours, theirs in zip(test, orders, fused, strict=True):
            tuned[i], ranx[i] = ours, theirs
    found["policy-fusion (tuned)"] = tuned, float(np.median(tuned_ms))
    found["ranx (tuned)"] = ranx, ranx_ms / len(rows)
    for peer in peers():
        found[peer.name] = run_peer(peer, lists)
    return rows, found


def table(
    rows: Sequence[Recorded], found: Mapping[str, tuple[list[Sequence[str]], float]]
) -> list[str]:
    """Means over files; the lead in MRR@10 of both of ours with 95 % intervals over questions."""
    parts = by_file(rows)
    keys = [row.question.key for row in rows]
    values = {name: values_of(rows, orders) for name, (orders, _) in found.items()}
    ours = list(found)[:2]
    heads = " | ".join(f"lead of {name.split('(')[1].rstrip(')')} (95 %)" for name in ours)
    lines = [
        f"| system | {' | '.join(METRICS.values())} | {heads} | ms |",
        "|---|" + "---|" * (len(METRICS) + len(ours) + 1),
    ]
    for name, (_, ms) in found.items():
        means = [
            np.mean([np.mean([values[name][keys[i]][m] for i in own]) for own in parts.values()])
            for m in METRICS
        ]
        leads = " | ".join(_lead(values, keys, one, name) for one in ours)
        shown = " | ".join(f"{value:.3f}" for value in means)
        lines.append(f"| {name} | {shown} | {leads} | {ms:.2f} |")
    return lines


def _lead(values: Mapping[str, Values], keys: Sequence[str], first: str, second: str) -> str:
    if first == second:
        return "–"
    pairs = [[values[name][key]["mrr"] for key in keys] for name in (first, second)]
    lead = paired_bootstrap(*pairs)
    return f"{lead.mean:+.3f} [{lead.low:+.3f}, {lead.high:+.3f}]"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table as Markdown. 0, or 2 for a user's error."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("--config", default=None)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    try:
        history, settings = load(arguments.record), load_settings(arguments.config)
    except PolicyFusionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(table(*systems(history, settings, arguments.trials, arguments.seed))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
