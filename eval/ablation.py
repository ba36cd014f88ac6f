"""What each part of the fusion is worth: MRR@10 of the profile with one part changed.

``python -m eval.ablation --record FILE [--other NAME=FILE]…``. Works on recorded signal lists
(``eval.tuning --record``), before reranking. ``--other`` is a record of the same questions made
with other query encoders (the base's, another domain's).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
import numpy.typing as npt

from configs.errors import InputError, PolicyFusionError
from configs.settings import CalibrationConfig, FusionMode, Settings, load_settings
from eval.fusion_search import with_calibrations
from eval.gate import by_file
from eval.recording import History, load
from eval.signal_arrays import SIGNALS, SignalArrays, reciprocal_ranks
from eval.significance import compare_paired
from eval.single_sources import singles, with_domain_weights, with_signal_weights

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ablation:
    """``names`` of the variants, the first the profile as it is; ``values`` (variants, n): 1 / rank
    of the first right passage; ``files``: the file of each question."""

    names: tuple[str, ...]
    values: Floats
    files: tuple[str, ...]

    def table(self) -> str:
        """Markdown: means per file and over all, and the difference to the profile, 95 %."""
        names = sorted(set(self.files))
        masks = [np.array([file == name for file in self.files]) for name in names]
        heads = [name.removesuffix(".jsonl") for name in names]
        lines = [
            f"| variant | {' | '.join(heads)} | all | difference (95 %) |",
            "|---|" + "---|" * (len(names) + 2),
        ]
        for name, row in zip(self.names, self.values, strict=True):
            found = compare_paired(row.tolist(), self.values[0].tolist()).difference
            said = f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
            means = " | ".join(f"{row[mask].mean():.3f}" for mask in masks)
            own = "–" if name == self.names[0] else said
            lines.append(f"| {name} | {means} | {row.mean():.3f} | {own} |")
        return "\n".join(lines)


def variants(settings: Settings) -> Iterator[tuple[str, Settings]]:
    """(name, profile) with one thing changed at a time; the first is unchanged."""
    yield "the profile", settings
    modes: tuple[FusionMode, ...] = get_args(FusionMode)
    for mode in modes:
        if mode != settings.fusion.mode:
            yield f"across domains: {mode}", _fusion(settings, mode=mode)
    for mode in modes:
        if mode != settings.fusion.inner_mode:
            yield f"inside a domain: {mode}", _fusion(settings, inner_mode=mode)
    yield "no calibration", _uncalibrated(settings)
    yield "equal weights", _equal(settings)
    for name, alone in singles(settings).items():
        yield f"{name} alone", alone


def ablate(history: History, settings: Settings, others: dict[str, History]) -> Ablation:
    """All variants on the answerable questions of ``history``; ``others`` by name.

    Raises InputError when another record is not of the same questions.
    """
    rows = tuple(row for row in history.rows if row.question.answerable)
    arrays = SignalArrays.of(rows, history.domains)
    names, values = [], []
    for name, changed in variants(settings):
        names.append(name)
        values.append(reciprocal_ranks(arrays, changed))
    keys = [row.question.key for row in rows]
    for name, other in others.items():
        found = {row.question.key: row for row in other.rows}
        if missing := [key for key in keys if key not in found]:
            raise InputError(
                f"record {name!r} lacks question {missing[0]}; record it with the same questions"
            )
        theirs = SignalArrays.of([found[key] for key in keys], other.domains)
        names.append(name)
        values.append(reciprocal_ranks(theirs, settings))
    files = [""] * len(rows)
    for file, own in by_file(rows).items():
        for i in own:
            files[i] = file
    return Ablation(tuple(names), np.array(values), tuple(files))


def _fusion(settings: Settings, **changes: FusionMode) -> Settings:
    return settings.model_copy(update={"fusion": settings.fusion.model_copy(update=changes)})


def _uncalibrated(settings: Settings) -> Settings:
    plain = CalibrationConfig()
    return with_calibrations(settings, {(d, s): plain for d in settings.domains for s in SIGNALS})


def _equal(settings: Settings) -> Settings:
    signals = with_signal_weights(settings, 1.0, 1.0)
    return with_domain_weights(signals, dict.fromkeys(settings.domains, 1.0))


def _named(text: str) -> tuple[str, History]:
    name, _, file = text.partition("=")
    if not (name and file):
        raise InputError(f"--other {text!r}: write NAME=FILE")
    return name, load(Path(file))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table. 0, or 2 for a user's error."""
    parser = argparse.ArgumentParser(prog="python -m eval.ablation", description=__doc__)
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("--other", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--config", default=None)
    arguments = parser.parse_args(argv)
    try:
        history, settings = load(arguments.record), load_settings(arguments.config)
        print(ablate(history, settings, dict(map(_named, arguments.other))).table())
    except PolicyFusionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
