"""Train a domain's query adapter, prove it on questions it has not seen, write it.

``python -m eval.adapters_training --domain law --questions FILE… [--store DIR] [--out FILE]``.

Two losses. InfoNCE (van den Oord, Li & Vinyals 2018) orders the domain's passages for its own
questions. Alone it would ruin the scores' scale: they would rank within a question and no longer
compare between questions or domains. So the domain's dense calibration, kept as it is for the base,
must also give the right probability of every pair (binary cross-entropy), on the questions of other
domains too, for which every passage here is wrong.

Negatives are the passages nearest to the batch's questions, and random ones. Only the map of the
query moves. It is then taken in part (``share``), chosen on folds inside the training folds.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from configs.errors import ConfigError, PolicyFusionError
from configs.settings import CalibrationConfig, load_settings
from eval.adapter_pairs import AdapterPairs, Floats, collect_pairs, group, hard_negatives, ranks
from eval.datasets import load_questions
from eval.significance import PairedResult, compare_paired
from eval.training import FOLDS, assign_folds
from indexes.embeddings import TextEmbedder, load_embedder
from indexes.query_adapter import QueryAdapter

Ranks = list[tuple[int, ...]]

EPOCHS = 5
BATCH = 32
LEARNING_RATE = 1e-3
TEMPERATURE = 0.01
CALIBRATED = 0.5  # weight of the binary cross-entropy
PENALTY = 0.01  # of the map's squared entries: pulls towards the base
HARD, RANDOM = 24, 40  # negatives per question; a batch shares them
SHARES = (0.15, 0.3, 0.45, 0.6, 0.8, 1.0)
PROBE = "虚构示例：怎样申请补贴？"


@dataclass(frozen=True, slots=True, eq=False)
class LinearMap:
    """``move(q) = q W + b``; W (d, d), b (d,)."""

    matrix: Floats
    shift: Floats

    def moves(self, queries: Floats) -> Floats:
        """What is added to the query vectors, (n, d)."""
        result: Floats = queries @ self.matrix + self.shift
        return result

    def scaled(self, share: float) -> LinearMap:
        """The map that takes ``share`` (0-1) of every move."""
        factor = np.float32(share)
        return LinearMap(self.matrix * factor, self.shift * factor)


@dataclass(frozen=True, slots=True, eq=False)
class AdapterTrial:
    """Ranks per question of base and adapted queries, each question held out; per fold the map that
    did not see it; ``share``: what all folds together would choose."""

    base: Ranks
    adapted: Ranks
    maps: Mapping[int, LinearMap]
    share: float


def fit_map(
    pairs: AdapterPairs, training: Sequence[int], scale: CalibrationConfig, seed: int = 0
) -> LinearMap:
    """Train on these questions. Adam, cosine decay; the same numbers for the same seed.

    ``scale``: the calibration that the adapted cosines must keep.
    """
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits, normalize

    torch.set_num_threads(1)  # the same sums everywhere
    rng = np.random.default_rng(seed)
    hard = hard_negatives(pairs, training, HARD)
    right = {question: np.array(pairs.right(question), dtype=np.int64) for question in training}
    size = pairs.queries.shape[1]
    matrix = torch.zeros(size, size, requires_grad=True)
    shift = torch.zeros(size, requires_grad=True)
    optimiser = torch.optim.Adam([matrix, shift], lr=LEARNING_RATE)
    steps = EPOCHS * -(-len(training) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(EPOCHS):
        dealt = rng.permutation(np.asarray(training))
        for start in range(0, len(dealt), BATCH):
            batch = dealt[start : start + BATCH].tolist()
            random = rng.integers(0, len(pairs.passages), RANDOM * len(batch))
            parts = [random, *(hard[i] for i in batch), *(right[i] for i in batch)]
            rows = np.unique(np.concatenate(parts))
            labels = torch.from_numpy(np.stack([np.isin(rows, right[i]) for i in batch]))
            query = torch.from_numpy(pairs.queries[batch])
            moved = normalize(query + query @ matrix + shift, dim=1)
            cosines = moved @ torch.from_numpy(pairs.passages[rows]).T
            loss = PENALTY * (matrix.square().sum() + shift.square().sum())
            own = labels.any(1)
            if own.any():
                logits = cosines[own] / TEMPERATURE
                of_right = logits.masked_fill(~labels[own], -1e9).logsumexp(1)
                loss = loss + (logits.logsumexp(1) - of_right).mean()
            pair_loss = binary_cross_entropy_with_logits(
                scale.slope * cosines + scale.intercept, labels.float(), reduction="none"
            )
            shown = torch.from_numpy(pairs.admitted[np.ix_(batch, rows)])
            loss = loss + CALIBRATED * (pair_loss * shown).sum(1).mean()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
    return LinearMap(matrix.detach().numpy(), shift.detach().numpy())


def mrr(found: Ranks, cut: int = 10) -> list[float]:
    """Per question 1 / the best rank of a gold unit, 0 beyond ``cut``."""
    return [1.0 / min(r) if min(r) <= cut else 0.0 for r in found]


def recall(found: Ranks, cut: int) -> list[float]:
    """Per question the share of its gold units of rank ``cut`` or better."""
    return [sum(rank <= cut for rank in r) / len(r) for r in found]


def choose_share(found: dict[float, Ranks]) -> float:
    """The share with the highest mean of MRR@10 and recall@50; of equals the smallest."""
    values = {s: float(np.mean(mrr(r)) + np.mean(recall(r, 50))) for s, r in found.items()}
    return max(sorted(values), key=lambda share: values[share])


def cross_validate(pairs: AdapterPairs, scale: CalibrationConfig, seed: int = 0) -> AdapterTrial:
    """Every question of the domain searched with a map, and a share, chosen without its fold."""
    names = sorted(set(pairs.folds[pairs.own()].tolist()))
    inner: dict[tuple[int, int], dict[float, Ranks]] = {}  # (held out, judged) -> ranks
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            training = np.flatnonzero(~np.isin(pairs.folds, (first, second))).tolist()
            if training:
                fitted = fit_map(pairs, training, scale, seed)
                inner[first, second] = _judge(pairs, fitted, second, SHARES)
                inner[second, first] = _judge(pairs, fitted, first, SHARES)
    base: dict[int, tuple[int, ...]] = {}
    adapted: dict[int, tuple[int, ...]] = {}
    outer: list[dict[float, Ranks]] = []
    maps: dict[int, LinearMap] = {}
    for fold in names:
        judged = [found for (held_out, _), found in inner.items() if held_out == fold]
        share = choose_share(_together(judged)) if judged else min(SHARES)
        training = np.flatnonzero(pairs.folds != fold).tolist()
        fitted = fit_map(pairs, training, scale, seed)
        found = _judge(pairs, fitted, fold, (0.0, *SHARES))
        for row, place in enumerate(_held_out(pairs, fold)):
            base[place], adapted[place] = found[0.0][row], found[share][row]
        outer.append({s: found[s] for s in SHARES})
        maps[fold] = fitted.scaled(share)
    own = pairs.own()
    before, after = [base[i] for i in own], [adapted[i] for i in own]
    return AdapterTrial(before, after, maps, choose_share(_together(outer)))


def _held_out(pairs: AdapterPairs, fold: int) -> list[int]:
    return pairs.own(np.flatnonzero(pairs.folds == fold).tolist())


def _judge(
    pairs: AdapterPairs, fitted: LinearMap, fold: int, shares: Sequence[float]
) -> dict[float, Ranks]:
    held_out = _held_out(pairs, fold)
    return ranks(pairs, held_out, fitted.moves(pairs.queries[held_out]), shares)


def _together(parts: Sequence[dict[float, Ranks]]) -> dict[float, Ranks]:
    return {share: [r for part in parts for r in part[share]] for share in SHARES}


def report(trial: AdapterTrial) -> tuple[str, bool]:
    """The table of a trial, and whether the adapter is better beyond doubt: the interval of the
    MRR@10 difference above 0, and that of recall@100 not below it."""
    lines = [f"{'held-out questions':20} {'base':>6} {'adapted':>8} {'difference (95 %)':>26}"]
    found: dict[str, PairedResult] = {}
    measures: dict[str, Callable[[Ranks], list[float]]] = {
        "MRR@10": mrr,
        "recall@50": lambda r: recall(r, 50),
        "recall@100": lambda r: recall(r, 100),
    }
    for name, measure in measures.items():
        result = found[name] = compare_paired(measure(trial.adapted), measure(trial.base))
        gain = result.difference
        lines.append(
            f"{name:20} {result.second:6.3f} {result.first:8.3f} "
            f"{gain.mean:+9.3f} [{gain.low:+.3f}, {gain.high:+.3f}]"
        )
    better = found["MRR@10"].difference.low > 0 and found["recall@100"].difference.high >= 0
    return "\n".join(lines), better


def to_adapter(fitted: LinearMap, embedder: TextEmbedder, provenance: str) -> QueryAdapter:
    """The map as what ``embedding.adapter`` loads, bound to this base."""
    told = embedder.fingerprint
    probe = np.asarray(embedder.embed_query(PROBE), dtype=np.float32)
    instruction, key = told.query_instruction, told.key
    return QueryAdapter(fitted.matrix, fitted.shift, PROBE, probe, instruction, key, provenance)


def main(argv: Sequence[str] | None = None) -> int:
    """Train, print the held-out figures, write the adapter if it is better. 0, 1 or 2."""
    parser = argparse.ArgumentParser(prog="python -m eval.adapters_training", description=__doc__)
    parser.add_argument("--domain", required=True)
    parser.add_argument("--questions", nargs="+", type=Path, required=True)
    parser.add_argument("--config", default=None)
    parser.add_argument("--store", default=None)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--held-out", type=Path, default=None, help="also write each fold's map")
    parser.add_argument("--today", type=date.fromisoformat, default=date.today())
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    try:
        return _run(arguments)
    except PolicyFusionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _run(arguments: argparse.Namespace) -> int:
    from indexes.domain_index import domain_config

    domain, seed = arguments.domain, arguments.seed
    settings = load_settings(arguments.config)
    if arguments.store is not None:
        settings = settings.with_store(arguments.store)
    config = domain_config(settings, domain)
    scale = config.dense.calibration
    if scale.kind != "platt":
        raise ConfigError(
            f"domains.{domain}.dense.calibration is not platt; fit it on the base model first"
        )
    plain = config.embedding.model_copy(update={"adapter": None})
    embedder = load_embedder(plain, settings.models_dir)
    questions = [q for q in load_questions(arguments.questions) if q.answerable]
    dealt = assign_folds([group(q) for q in questions], FOLDS, seed)
    folds = {q.key: fold for q, fold in zip(questions, dealt, strict=True)}
    pairs = collect_pairs(settings, domain, embedder, questions, folds, arguments.today)
    trial = cross_validate(pairs, scale, seed)
    table, better = report(trial)
    own, others = len(pairs.own()), len(pairs.gold) - len(pairs.own())
    print(f"{domain}: {own} questions, {others} of other domains, {len(pairs.passages)} passages")
    print(table)
    origin = (
        f"domain {domain}, trained {arguments.today.isoformat()} on {own} labelled questions, "
        f"{others} of other domains and {len(pairs.passages)} passages, seed {seed}"
    )
    if arguments.held_out is not None:
        arguments.held_out.mkdir(parents=True, exist_ok=True)
        for fold, fitted in trial.maps.items():
            path = arguments.held_out / f"{domain}.{fold}.npz"
            to_adapter(fitted, embedder, f"{origin}, without fold {fold}").save(path)
    if not better:
        print("not written: on held-out questions the adapter is not better beyond doubt")
        return 1
    fitted = fit_map(pairs, range(len(pairs.gold)), scale, seed).scaled(trial.share)
    out: Path = arguments.out or Path(f"configs/weights/query-{domain}.npz")
    out.parent.mkdir(parents=True, exist_ok=True)
    to_adapter(fitted, embedder, f"{origin}, share {trial.share:g}").save(out)
    print(f"written: {out} (share {trial.share:g} of the trained map)")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
