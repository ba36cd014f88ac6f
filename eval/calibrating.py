"""Fit what a raw score means: P(relevant | score) of every signal, from judged lists.

Platt's logistic curve (Platt 1999) or isotonic regression (Zadrozny & Elkan 2002), whichever has
the lower log loss on held-out questions. With little history the curve is shrunk towards the
configured one: share n / (n + ``PRIOR``) of the fit, n = relevant hits seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from configs.errors import InputError
from configs.settings import CalibrationConfig
from eval.signal_arrays import calibrated
from eval.training import assign_folds

Floats = npt.NDArray[np.float64]
PRIOR = 20.0
FOLDS = 5
KNOTS = 40
BINS = 15
_TINY = 1e-6


@dataclass(frozen=True, slots=True)
class Judgements:
    """Hits of one signal: raw scores (n,), whether relevant (n,), the question's group (n,)."""

    scores: Floats
    relevant: npt.NDArray[np.bool_]
    groups: tuple[str, ...]

    def take(self, rows: npt.NDArray[np.bool_]) -> Judgements:
        """Those where ``rows`` (n,) is True."""
        kept = np.flatnonzero(rows)
        return Judgements(
            self.scores[kept], self.relevant[kept], tuple(self.groups[i] for i in kept)
        )


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The chosen curve, fitted on everything; ``held_out`` (n,): what each hit got from a curve
    that did not see its group; ``losses``: held-out log loss (nats) of each kind; ``share`` in
    [0, 1] of the fit against the prior."""

    config: CalibrationConfig
    held_out: Floats
    losses: Mapping[str, float]
    share: float


def choose(data: Judgements, prior: CalibrationConfig, seed: int = 0) -> Calibrated:
    """The better kind by grouped cross-validation, shrunk to ``prior``.

    Without a relevant and an irrelevant hit there is nothing to learn: the prior itself.
    """
    if data.relevant.all() or not data.relevant.any():
        return Calibrated(prior, calibrated(prior, data.scores), {}, 0.0)
    folds = np.array(assign_folds(data.groups, FOLDS, seed))
    held = {kind: np.zeros(len(data.scores)) for kind in ("platt", "isotonic")}
    for fold in range(FOLDS):
        test = folds == fold
        train = data.take(~test)
        for kind, values in held.items():
            values[test] = calibrated(fit(train, prior, kind), data.scores[test])
    losses = {kind: log_loss(values, data.relevant) for kind, values in held.items()}
    best = min(losses, key=lambda kind: losses[kind])
    return Calibrated(fit(data, prior, best), held[best], losses, _share(data))


def fit(data: Judgements, prior: CalibrationConfig, kind: str) -> CalibrationConfig:
    """The curve of that kind (``platt`` or ``isotonic``) on these hits, shrunk to ``prior``."""
    if data.relevant.all() or not data.relevant.any():
        return prior
    share = _share(data)
    return _platt(data, prior, share) if kind == "platt" else _isotonic(data, prior, share)


def log_loss(predicted: Floats, relevant: npt.NDArray[np.bool_]) -> float:
    """Mean negative log likelihood in nats, probabilities kept within 1e-6 and 1 - 1e-6."""
    kept = np.clip(predicted, _TINY, 1.0 - _TINY)
    return float(-np.where(relevant, np.log(kept), np.log1p(-kept)).mean())


def calibration_error(
    predicted: Floats, relevant: npt.NDArray[np.bool_], *, equal_mass: bool = False
) -> float:
    """Expected calibration error in [0, 1] over 15 bins of equal width (Guo et al. 2017), or of
    equally many hits (Nguyen & O'Connor 2015), which is stricter where most hits are irrelevant.

    Raises InputError for no hits.
    """
    if not len(predicted):
        raise InputError("there are no judged hits; give questions that the corpus answers")
    return float(sum(n * abs(p - y) for p, y, n in bins(predicted, relevant, equal_mass))) / len(
        predicted
    )


def bins(
    predicted: Floats, relevant: npt.NDArray[np.bool_], equal_mass: bool = False
) -> list[tuple[float, float, int]]:
    """(mean prediction, share of relevant, hits) of every bin that is not empty."""
    order = np.argsort(predicted, kind="stable")
    if equal_mass:
        parts: Sequence[npt.NDArray[np.intp]] = np.array_split(order, BINS)
    else:
        place = np.minimum((predicted * BINS).astype(int), BINS - 1)
        parts = [np.flatnonzero(place == b) for b in range(BINS)]
    return [
        (float(predicted[p].mean()), float(relevant[p].mean()), len(p)) for p in parts if len(p)
    ]


def _share(data: Judgements) -> float:
    seen = float(data.relevant.sum())
    return seen / (seen + PRIOR)


def _platt(data: Judgements, prior: CalibrationConfig, share: float) -> CalibrationConfig:
    from sklearn.linear_model import LogisticRegression

    # Standardised for the solver's sake; scores of one value make no slope.
    mean, spread = float(data.scores.mean()), float(data.scores.std())
    if spread < _TINY:
        return prior
    model = LogisticRegression(C=1e4, max_iter=1000)
    model.fit(((data.scores - mean) / spread)[:, None], data.relevant)
    slope = float(model.coef_[0][0]) / spread
    intercept = float(model.intercept_[0]) - slope * mean
    if slope <= 0:  # higher scores would count less: noise
        return prior
    if prior.kind == "platt":
        slope = share * slope + (1.0 - share) * prior.slope
        intercept = share * intercept + (1.0 - share) * prior.intercept
    elif share < 0.5:  # another kind of prior cannot be mixed with: it stays until there is more
        return prior
    return CalibrationConfig(kind="platt", slope=_short(slope), intercept=_short(intercept))


def _isotonic(data: Judgements, prior: CalibrationConfig, share: float) -> CalibrationConfig:
    from sklearn.isotonic import IsotonicRegression

    model = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    model.fit(data.scores, data.relevant)
    # Quantiles alone would leave the few high scores, which matter most, one step.
    tail = np.sort(data.scores)[-max(2, len(data.scores) // 100) :]
    places = np.linspace(0.0, 1.0, KNOTS // 2)
    at = np.concatenate([np.quantile(data.scores, places), np.quantile(tail, places)])
    x = np.unique(np.round(at, 6))
    if len(x) < 2:
        return prior
    y = share * model.predict(x) + (1.0 - share) * calibrated(prior, x)
    y = np.clip(np.maximum.accumulate(y), 0.0, 1.0)
    # A slight slope keeps scores of one step apart, so that the signal's order is kept.
    y = np.clip(y + np.linspace(0.0, 1e-4, len(y)), 0.0, 1.0)
    return CalibrationConfig(
        kind="isotonic",
        x=tuple(float(value) for value in x),
        y=tuple(float(value) for value in np.maximum.accumulate(np.round(y, 7))),
    )


def _short(value: float) -> float:
    return float(f"{value:.5g}")
