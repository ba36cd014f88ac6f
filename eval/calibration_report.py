"""``python -m eval.calibration_report --record FILE [--png FILE]``: are the calibrations honest?

Per signal: expected calibration error of the configured curve and of one fitted on other
questions, and the reliability diagram (DeGroot & Fienberg 1983) of the latter.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from configs.errors import PolicyFusionError
from configs.settings import CalibrationConfig, Settings, load_settings
from eval.calibrating import (
    Calibrated,
    Judgements,
    bins,
    calibration_error,
    choose,
    log_loss,
)
from eval.recording import History, load
from eval.signal_arrays import SIGNALS, calibrated
from eval.tuning import configured, judgements


@dataclass(frozen=True, slots=True)
class SignalReport:
    """One signal: its judged hits, the configured curve and the fitted one."""

    data: Judgements
    before: CalibrationConfig
    fitted: Calibrated

    def line(self, name: str) -> str:
        """Chosen kind, log loss and both calibration errors before and after, held out."""
        old = calibrated(self.before, self.data.scores)
        new, truth = self.fitted.held_out, self.data.relevant
        return (
            f"{name:16} {int(truth.sum()):6} {self.fitted.config.kind:9} "
            f"{log_loss(old, truth):8.4f} {log_loss(new, truth):8.4f} "
            f"{calibration_error(old, truth):8.4f} {calibration_error(new, truth):8.4f} "
            f"{calibration_error(old, truth, equal_mass=True):8.4f} "
            f"{calibration_error(new, truth, equal_mass=True):8.4f}"
        )


def examine(history: History, settings: Settings, seed: int = 0) -> dict[str, SignalReport]:
    """``domain/signal`` -> its report; held-out figures are of grouped cross-validation."""
    rows = [row for row in history.rows if row.question.answerable]
    found = {}
    for domain in history.domains:
        for signal in SIGNALS:
            data = judgements(rows, domain, signal)
            before = configured(settings, domain, signal)
            found[f"{domain}/{signal}"] = SignalReport(data, before, choose(data, before, seed))
    return found


def table(reports: Mapping[str, SignalReport]) -> str:
    """All signals, one a line."""
    columns = ("loss", "fitted", "ECE", "fitted", "ECE mass", "fitted")
    head = f"{'signal':16} {'hits':>6} {'chosen':9} "
    lines = [head + " ".join(f"{column:>8}" for column in columns)]
    return "\n".join([*lines, *(report.line(name) for name, report in reports.items())])


def draw(reports: Mapping[str, SignalReport], path: Path) -> None:
    """Write the reliability diagrams: predicted against observed share of relevant hits, on
    logarithmic axes, because most hits of a list are irrelevant."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6), layout="constrained")
    axes = figure.subplots(-(-len(reports) // 3), 3, squeeze=False).flat
    for axis, (name, report) in zip(axes, reports.items(), strict=False):
        axis.plot([1e-4, 1], [1e-4, 1], color="grey", linewidth=0.8)
        old = calibrated(report.before, report.data.scores)
        for label, values in (("configured", old), ("fitted", report.fitted.held_out)):
            points = [(p, y) for p, y, _ in bins(values, report.data.relevant, True) if y > 0]
            axis.plot(*zip(*points, strict=True), marker="o", markersize=3, label=label)
        axis.set(title=name, xscale="log", yscale="log", xlabel="predicted", ylabel="observed")
        axis.legend(fontsize=7)
    figure.savefig(path, dpi=120)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table, draw the diagram if a file is named. 0, or 2 for a user's error."""
    parser = argparse.ArgumentParser(prog="python -m eval.calibration_report", description=__doc__)
    parser.add_argument("--record", type=Path, required=True, help="made by eval.tuning --record")
    parser.add_argument("--config", default=None)
    parser.add_argument("--png", type=Path, default=None)
    arguments = parser.parse_args(argv)
    try:
        reports = examine(load(arguments.record), load_settings(arguments.config))
    except PolicyFusionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(table(reports))
    if arguments.png is not None:
        draw(reports, arguments.png)
        print(f"written: {arguments.png}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
