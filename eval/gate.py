"""Whether a change of the fusion may be kept: better beyond doubt, and no domain pays for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eval.fusion_search import file_weights
from eval.recording import Recorded
from eval.significance import compare_paired, randomisation_test

Floats = npt.NDArray[np.float64]
LEVEL = 0.05
LOSS = 0.01


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the candidate may be kept, and why (not)."""

    accepted: bool
    reason: str


@dataclass(frozen=True, slots=True)
class HeldOutPair:
    """MRR@10 per question, (n,) each, of the profile as it is and of the candidate, which was
    chosen without the question's fold."""

    rows: tuple[Recorded, ...]
    current: Floats
    candidate: Floats

    @property
    def gain(self) -> float:
        """Mean over files of the mean difference, candidate - current."""
        return float(file_weights(self.rows) @ (self.candidate - self.current))

    @property
    def p_value(self) -> float:
        """Two-sided, of the paired randomisation test; every file weighs the same."""
        weights = file_weights(self.rows) * len(self.rows)
        after, before = self.candidate * weights, self.current * weights
        return randomisation_test(after.tolist(), before.tolist())

    def verdict(self) -> Verdict:
        """Kept if the gain is positive with p < .05 and no domain's questions lose more than .01.

        A domain's questions are those with a right answer in it.
        """
        gain, p_value = self.gain, self.p_value
        if gain <= 0 or p_value >= LEVEL:
            return Verdict(
                False, f"held-out gain {gain:+.4f} (p = {p_value:.4f}) is not beyond doubt"
            )
        for domain in sorted({d for row in self.rows for d in row.question.domains}):
            own = [i for i, row in enumerate(self.rows) if domain in row.question.domains]
            loss = float((self.current[own] - self.candidate[own]).mean())
            if loss > LOSS:
                return Verdict(False, f"domain {domain} would lose {loss:.3f} of MRR@10")
        return Verdict(True, f"held-out gain {gain:+.4f}, p = {p_value:.4f}")

    def held_out(self) -> dict[str, tuple[float, float]]:
        """File -> (mean before, mean after)."""
        return {
            name: (
                round(float(self.current[own].mean()), 4),
                round(float(self.candidate[own].mean()), 4),
            )
            for name, own in by_file(self.rows).items()
        }

    def table(self, name: str) -> str:
        """The figures per file, with a 95 % bootstrap interval of the difference, and per domain;
        ``name``: the candidate's."""
        lines = [f"{'questions':24} {'n':>5} {'current':>8} {name:>8} {'difference (95 %)':>27}"]
        parts = by_file(self.rows)
        for domain in sorted({d for row in self.rows for d in row.question.domains}):
            parts[f"domain {domain}"] = [
                i for i, row in enumerate(self.rows) if domain in row.question.domains
            ]
        for part, own in parts.items():
            before, after = self.current[own], self.candidate[own]
            found = compare_paired(after.tolist(), before.tolist()).difference
            lines.append(
                f"{part:24} {len(own):5} {before.mean():8.3f} {after.mean():8.3f} "
                f"{found.mean:+10.4f} [{found.low:+.4f}, {found.high:+.4f}]"
            )
        weights = file_weights(self.rows)
        lines.append(
            f"{'mean of files':24} {len(self.rows):5} {weights @ self.current:8.3f} "
            f"{weights @ self.candidate:8.3f} {self.gain:+10.4f} p = {self.p_value:.4f}"
        )
        return "\n".join(lines)


def by_file(rows: Sequence[Recorded]) -> dict[str, list[int]]:
    """File -> the places of its questions, sorted by name."""
    parts: dict[str, list[int]] = {}
    for i, row in enumerate(rows):
        parts.setdefault(row.question.file, []).append(i)
    return dict(sorted(parts.items()))
