"""How far judges agree beyond chance.

Cohen's kappa (Cohen 1960; weighted: Cohen 1968) by scikit-learn. Fleiss' kappa (Fleiss 1971) is
written here, five lines: the library that has it, statsmodels, would bring much else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from configs.errors import InputError


@dataclass(frozen=True, slots=True)
class Agreement:
    """``measure``: cohen or fleiss; ``kappa`` at most 1, 0 for chance, None where all judges gave
    one grade to everything (undefined); ``weighted``: Cohen's with quadratic weights, two judges
    only; ``identical``: share of the ``items`` on which all judges agree."""

    measure: str
    judges: int
    items: int
    kappa: float | None
    weighted: float | None
    identical: float


def agreement(ratings: Sequence[Sequence[int]]) -> Agreement:
    """Of ``ratings``: one row an item, one grade a judge. Cohen's for two judges, else Fleiss'.

    Raises InputError for no items, fewer than two judges, or rows of different length.
    """
    judges = {len(row) for row in ratings}
    if len(judges) != 1 or min(judges) < 2:
        raise InputError("agreement needs items that the same two or more judges have graded")
    (count,) = judges
    identical = sum(len(set(row)) == 1 for row in ratings) / len(ratings)
    if len({grade for row in ratings for grade in row}) == 1:
        kappa, weighted = None, None
    elif count == 2:
        first, second = ([row[judge] for row in ratings] for judge in (0, 1))
        kappa, weighted = _cohen(first, second, None), _cohen(first, second, "quadratic")
    else:
        kappa, weighted = fleiss(ratings), None
    measure = "cohen" if count == 2 else "fleiss"
    return Agreement(measure, count, len(ratings), kappa, weighted, identical)


def fleiss(ratings: Sequence[Sequence[int]]) -> float:
    """Fleiss' kappa of rows with one grade a judge; not all grades may be the same."""
    grades = sorted({grade for row in ratings for grade in row})
    counts = np.array([[row.count(g) for g in grades] for row in map(list, ratings)], dtype=float)
    judges = counts.sum(axis=1)[0]
    observed = float(((counts**2).sum(axis=1) - judges).mean() / (judges * (judges - 1)))
    chance = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    return (observed - chance) / (1.0 - chance)


def _cohen(first: Sequence[int], second: Sequence[int], weights: str | None) -> float:
    try:
        from sklearn.metrics import cohen_kappa_score
    except ImportError as error:
        raise InputError(
            "Cohen's kappa needs scikit-learn; run `pip install 'policy-fusion[eval]'`"
        ) from error
    return float(cohen_kappa_score(first, second, weights=weights))
