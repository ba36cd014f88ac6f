"""Whether one system is better than another on the same questions, or just luckier.

Paired bootstrap interval (Efron & Tibshirani 1993, percentile method) and the paired
randomisation test (Smucker, Allan & Carterette 2007), both on per-question values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from configs.errors import InputError

Floats = npt.NDArray[np.float64]
_CELLS = 2_000_000  # random numbers held at once


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its percentile interval at ``level`` (0-1)."""

    mean: float
    low: float
    high: float
    level: float = 0.95


@dataclass(frozen=True, slots=True)
class PairedResult:
    """``first`` minus ``second``: the mean difference, its interval, and the two-sided p-value."""

    first: float
    second: float
    difference: Interval
    p_value: float


def bootstrap_mean(
    values: Sequence[float], *, resamples: int = 10_000, level: float = 0.95, seed: int = 0
) -> Interval:
    """Percentile interval of the mean over questions. Raises InputError for no values."""
    data = np.asarray(values, dtype=np.float64)
    if data.size == 0:
        raise InputError("there are no values to resample; give at least one answerable question")
    if not 0.0 < level < 1.0 or resamples < 1:
        raise InputError(f"level {level} must lie between 0 and 1, and resamples be positive")
    rng = np.random.default_rng(seed)
    means = np.concatenate(
        [
            data[rng.integers(0, data.size, (rows, data.size))].mean(axis=1)
            for rows in _chunks(resamples, data.size)
        ]
    )
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return Interval(float(data.mean()), float(low), float(high), level)


def paired_bootstrap(
    first: Sequence[float],
    second: Sequence[float],
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Interval of the mean of ``first - second``; questions are resampled, pairs kept."""
    differences = _differences(first, second).tolist()
    return bootstrap_mean(differences, resamples=resamples, level=level, seed=seed)


def randomisation_test(
    first: Sequence[float], second: Sequence[float], *, resamples: int = 10_000, seed: int = 0
) -> float:
    """Two-sided p-value of the mean difference under random swaps of the two systems' values.

    Counts the observed assignment as one more (Phipson & Smyth 2010), so it is never 0.
    """
    differences = _differences(first, second)
    rng = np.random.default_rng(seed)
    # Sums that are equal in exact arithmetic differ in the last digits: compare with a tolerance.
    observed = abs(differences.sum()) - 1e-9
    extreme = 0
    for rows in _chunks(resamples, differences.size):
        signs = rng.integers(0, 2, (rows, differences.size), dtype=np.int8) * 2 - 1
        extreme += int((np.abs(signs @ differences) >= observed).sum())
    return (extreme + 1) / (resamples + 1)


def compare_paired(
    first: Sequence[float], second: Sequence[float], *, resamples: int = 10_000, seed: int = 0
) -> PairedResult:
    """Both tests on the same pairs. Raises InputError unless equally many, at least one."""
    interval = paired_bootstrap(first, second, resamples=resamples, seed=seed)
    p_value = randomisation_test(first, second, resamples=resamples, seed=seed)
    return PairedResult(float(np.mean(first)), float(np.mean(second)), interval, p_value)


def _differences(first: Sequence[float], second: Sequence[float]) -> Floats:
    if len(first) != len(second) or len(first) == 0:
        raise InputError(
            f"{len(first)} and {len(second)} values cannot be paired; "
            "give both systems' values of the same questions"
        )
    result: Floats = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    return result


def _chunks(total: int, width: int) -> Iterator[int]:
    size = max(1, _CELLS // max(1, width))
    for start in range(0, total, size):
        yield min(size, total - start)
