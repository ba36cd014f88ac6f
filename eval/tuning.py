"""Tune the fusion on labelled questions, prove it on questions it has not seen, write a version.

``python -m eval.tuning --questions FILE… [--store DIR] [--record FILE] [--folder DIR]``
(``make tune``). Nested cross-validation: calibrations and weights are chosen on four fifths of the
questions and judged on the fifth that is left, five times over. A new version is written only if
it is then better than the current one by a paired randomisation test (p < .05) and costs no domain
more than .01 of MRR@10.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import numpy.typing as npt

from configs.errors import PolicyFusionError
from configs.settings import Settings, load_settings
from configs.weights_file import FusionWeights, Provenance
from configs.weights_folder import add, current, next_version
from eval.calibrating import Judgements, choose, fit
from eval.datasets import load_questions
from eval.fusion_search import TRIALS, Calibrations, file_weights, search
from eval.question_groups import group_questions
from eval.recording import History, Recorded, load, record, save
from eval.signal_arrays import SIGNALS, SignalArrays, reciprocal_ranks
from eval.significance import compare_paired, randomisation_test
from eval.single_sources import best_single, singles
from eval.training import assign_folds

Floats = npt.NDArray[np.float64]
FOLDS = 5
LEVEL = 0.05
LOSS = 0.01


@dataclass(frozen=True, slots=True)
class Trial:
    """MRR@10 per question, (n,) each: the current profile, the tuned one and the best single
    source, the last two chosen without the question's fold."""

    rows: tuple[Recorded, ...]
    current: Floats
    tuned: Floats
    single: Floats
    chosen: tuple[str, ...]

    @property
    def p_value(self) -> float:
        """Two-sided, of tuned against current; every file weighs the same."""
        weights = file_weights(self.rows) * len(self.rows)
        return randomisation_test((self.tuned * weights).tolist(), (self.current * weights).tolist())


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the tuned weights may be written, and why (not)."""

    accepted: bool
    reason: str


def nested_cross_validation(
    history: History, settings: Settings, *, trials: int = TRIALS, seed: int = 0
) -> Trial:
    """Tune on all folds but one and judge on that one, for every fold.

    Near-duplicates stay in one fold. Unanswerable questions are left out.
    """
    rows = tuple(row for row in history.rows if row.question.answerable)
    arrays = SignalArrays.of(rows, history.domains)
    folds = np.array(assign_folds(group_questions([r.question for r in rows]), FOLDS, seed))
    tuned, single = np.zeros(len(rows)), np.zeros(len(rows))
    alone = {name: reciprocal_ranks(arrays, one) for name, one in singles(settings).items()}
    chosen = []
    for fold in range(FOLDS):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        best = tune(history, [rows[i] for i in train], settings, trials=trials, seed=seed)
        tuned[test] = reciprocal_ranks(arrays.take(test.tolist()), best)
        name = best_single(alone, train, file_weights([rows[i] for i in train]))
        chosen.append(name)
        single[test] = alone[name][test]
    return Trial(rows, reciprocal_ranks(arrays, settings), tuned, single, tuple(chosen))


def tune(
    history: History,
    rows: Sequence[Recorded],
    settings: Settings,
    *,
    trials: int = TRIALS,
    seed: int = 0,
) -> Settings:
    """The profile with calibrations and fusion parameters fitted on these rows."""
    arrays = SignalArrays.of(rows, history.domains)
    fitted = calibrations(rows, history.domains, settings)
    found = search(arrays, file_weights(rows), settings, fitted, trials=trials, seed=seed)
    return found.settings


def calibrations(
    rows: Sequence[Recorded], domains: Sequence[str], settings: Settings
) -> Calibrations:
    """The Platt curve of every signal of every domain, shrunk to the profile's."""
    return {
        (domain, signal): fit(
            judgements(rows, domain, signal), _configured(settings, domain, signal), "platt"
        )
        for domain in domains
        for signal in SIGNALS
    }


def judgements(rows: Sequence[Recorded], domain: str, signal: str) -> Judgements:
    """Every hit of one signal with its question's verdict on it."""
    hits = [
        (hit.score, hit.id in row.units, row.question.key)
        for row in rows
        for name, found in row.signals.get(domain, {}).items()
        if name == signal
        for hit in found
    ]
    return Judgements(
        np.array([score for score, _, _ in hits], dtype=np.float64),
        np.array([relevant for _, relevant, _ in hits], dtype=bool),
        tuple(group for _, _, group in hits),
    )


def gate(trial: Trial) -> Verdict:
    """Better beyond doubt, and no domain paying for it."""
    weights = file_weights(trial.rows)
    gain = float(weights @ (trial.tuned - trial.current))
    p_value = trial.p_value
    if gain <= 0 or p_value >= LEVEL:
        return Verdict(False, f"held-out gain {gain:+.4f} with p = {p_value:.3f} is not beyond doubt")
    for domain in sorted({d for row in trial.rows for d in row.question.domains}):
        own = [i for i, row in enumerate(trial.rows) if domain in row.question.domains]
        loss = float((trial.current[own] - trial.tuned[own]).mean())
        if loss > LOSS:
            return Verdict(False, f"domain {domain} would lose {loss:.3f} of MRR@10")
    return Verdict(True, f"held-out gain {gain:+.4f}, p = {p_value:.4f}")


def report(trial: Trial) -> str:
    """The table: per file and for the mean of files, all on held-out questions."""
    lines = [
        f"{'questions':24} {'n':>5} {'single':>7} {'current':>8} {'tuned':>7} "
        f"{'tuned - current (95 %)':>26}"
    ]
    for name, own in _parts(trial.rows).items():
        before, after = trial.current[own], trial.tuned[own]
        found = compare_paired(after.tolist(), before.tolist()).difference
        lines.append(
            f"{name:24} {len(own):5} {trial.single[own].mean():7.3f} {before.mean():8.3f} "
            f"{after.mean():7.3f} {found.mean:+9.4f} [{found.low:+.4f}, {found.high:+.4f}]"
        )
    weights = file_weights(trial.rows)
    lines.append(
        f"{'mean of files':24} {len(trial.rows):5} {weights @ trial.single:7.3f} "
        f"{weights @ trial.current:8.3f} {weights @ trial.tuned:7.3f} "
        f"{weights @ (trial.tuned - trial.current):+9.4f} p = {trial.p_value:.4f}"
    )
    lines.append(f"best single source, by fold: {', '.join(trial.chosen)}")
    return "\n".join(lines)


def single_note(trial: Trial) -> str | None:
    """A warning when fusing (the better of current and tuned) does not beat one source alone."""
    weights = file_weights(trial.rows)
    fused = max(float(weights @ trial.current), float(weights @ trial.tuned))
    single = float(weights @ trial.single)
    if fused > single:
        return None
    return f"fusion ({fused:.3f}) does not beat the best single source ({single:.3f})"


def provenance(trial: Trial, day: date, *, trials: int, seed: int, note: str) -> Provenance:
    """What the written version says of how it was made."""
    held_out = {
        name: (round(float(trial.current[own].mean()), 4), round(float(trial.tuned[own].mean()), 4))
        for name, own in _parts(trial.rows).items()
    }
    counts: Mapping[str, int] = Counter(row.question.file for row in trial.rows)
    return Provenance(
        created=day,
        questions=dict(sorted(counts.items())),
        held_out=held_out,
        p_value=round(trial.p_value, 5),
        seed=seed,
        trials=trials,
        note=note,
    )


def _parts(rows: Sequence[Recorded]) -> dict[str, list[int]]:
    parts: dict[str, list[int]] = {}
    for i, row in enumerate(rows):
        parts.setdefault(row.question.file, []).append(i)
    return dict(sorted(parts.items()))


def _configured(settings: Settings, domain: str, signal: str):  # type: ignore[no-untyped-def]
    config = settings.domains[domain]
    return config.dense.calibration if signal == "dense" else config.keyword.calibration
