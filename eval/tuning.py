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
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import numpy.typing as npt

from configs.errors import InputError, PolicyFusionError
from configs.settings import CalibrationConfig, Settings, load_settings
from configs.weights_file import FusionWeights, Provenance
from configs.weights_folder import add, current, next_version, versions
from eval.calibrating import Judgements, fit
from eval.datasets import load_questions
from eval.fusion_search import TRIALS, Calibrations, file_weights, search
from eval.gate import HeldOutPair
from eval.question_groups import group_questions
from eval.recording import History, Recorded, load, record, save
from eval.signal_arrays import SIGNALS, SignalArrays, reciprocal_ranks
from eval.single_sources import best_single, singles
from eval.training import add_adapters_option, assign_folds, embedders_for

Floats = npt.NDArray[np.float64]
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Trial:
    """``pair``: the profile as it is against the tuned one; ``single`` (n,): MRR@10 of the best
    single source; tuned and single were chosen without the question's fold, ``chosen`` names the
    single sources by fold."""

    pair: HeldOutPair
    single: Floats
    chosen: tuple[str, ...]

    def table(self) -> str:
        """All held-out figures."""
        weights = file_weights(self.pair.rows)
        return (
            f"{self.pair.table('tuned')}\n"
            f"best single source (chosen by fold: {', '.join(self.chosen)}): "
            f"mean of files {weights @ self.single:.3f}"
        )

    def warning(self) -> str | None:
        """What to say when fusing does not beat one source alone; None when it does."""
        weights = file_weights(self.pair.rows)
        values = (self.pair.current, self.pair.candidate)
        fused = max(float(weights @ value) for value in values)
        alone = float(weights @ self.single)
        if fused > alone:
            return None
        name = Counter(self.chosen).most_common(1)[0][0]
        return (
            f"fusion ({fused:.3f}) does not beat {name} alone ({alone:.3f} on held-out questions)"
        )


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
    pair = HeldOutPair(rows, reciprocal_ranks(arrays, settings), tuned)
    return Trial(pair, single, tuple(chosen))


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
    fitted = {
        kind: calibrations(rows, history.domains, settings, kind) for kind in ("platt", "isotonic")
    }
    found = search(arrays, file_weights(rows), settings, fitted, trials=trials, seed=seed)
    return found.settings


def calibrations(
    rows: Sequence[Recorded], domains: Sequence[str], settings: Settings, kind: str
) -> Calibrations:
    """The curve (``platt`` or ``isotonic``) of every signal, shrunk to the profile's."""
    return {
        (domain, signal): fit(
            judgements(rows, domain, signal), configured(settings, domain, signal), kind
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


def configured(settings: Settings, domain: str, signal: str) -> CalibrationConfig:
    """The calibration that the profile has."""
    config = settings.domains[domain]
    return config.dense.calibration if signal == "dense" else config.keyword.calibration


def new_version(
    settings: Settings, trial: Trial, history: History, folder: Path, arguments: argparse.Namespace
) -> FusionWeights:
    """The version to be written, with its provenance."""
    counts = Counter(row.question.file for row in trial.pair.rows)
    return FusionWeights.of(
        settings,
        next_version(folder),
        Provenance(
            created=date.today(),
            questions=dict(sorted(counts.items())),
            held_out=trial.pair.held_out(),
            p_value=round(trial.pair.p_value, 5),
            seed=arguments.seed,
            trials=arguments.trials,
            note=trial.warning() or "",
        ),
        parent=current(folder),
        models=history.fingerprints,
    )


def own_version(settings: Settings, history: History) -> FusionWeights:
    """The profile's own values as version 1."""
    source = Provenance(created=date.today(), note="the profile's own values")
    return FusionWeights.of(settings, 1, source, models=history.fingerprints)


def recorded(arguments: argparse.Namespace, settings: Settings) -> History:
    """The record that is named, or a fresh one, which is kept under that name."""
    if arguments.record is not None and arguments.record.is_file():
        return load(arguments.record)
    if not arguments.questions:
        raise InputError("no questions; name files with --questions, or a record with --record")
    placed = settings if arguments.store is None else settings.with_store(arguments.store)
    questions = load_questions(arguments.questions)
    embedders = embedders_for(placed, arguments.held_out_adapters, questions, arguments.seed)
    history = record(placed, questions, today=date.today(), embedders=embedders)
    if arguments.record is not None:
        save(history, arguments.record)
    return history


def main(argv: Sequence[str] | None = None) -> int:
    """Record if need be, tune, print the held-out figures, write a version if it is better.

    0 written, 1 not better, 2 a user's error.
    """
    parser = argparse.ArgumentParser(prog="python -m eval.tuning", description=__doc__)
    parser.add_argument("--questions", nargs="+", type=Path, default=[])
    parser.add_argument("--config", default=None)
    parser.add_argument("--store", default=None)
    parser.add_argument("--record", type=Path, default=None)
    parser.add_argument("--folder", type=Path, default=Path("configs/weights/fusion"))
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--seed", type=int, default=0)
    add_adapters_option(parser)
    arguments = parser.parse_args(argv)
    try:
        settings = load_settings(arguments.config)
        history = recorded(arguments, settings)
        trial = nested_cross_validation(
            history, settings, trials=arguments.trials, seed=arguments.seed
        )
        print(trial.table())
        if warning := trial.warning():
            name = Counter(trial.chosen).most_common(1)[0][0]
            print(f"warning: {warning}; its parameters are used instead")
            best = singles(settings)[name]
        elif not (verdict := trial.pair.verdict()).accepted:
            print(f"not written: {verdict.reason}")
            return 1
        else:
            print(verdict.reason)
            best = tune(
                history, trial.pair.rows, settings, trials=arguments.trials, seed=arguments.seed
            )
        if not versions(arguments.folder):  # so that there is something to go back to
            add(arguments.folder, own_version(settings, history))
        version = new_version(best, trial, history, arguments.folder, arguments)
        print(f"written: {add(arguments.folder, version)}")
        if settings.weights is None:
            print(f"to use it, put into the profile: weights: {arguments.folder.resolve()}")
    except PolicyFusionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
