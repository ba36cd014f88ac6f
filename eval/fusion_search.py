"""Search for the fusion parameters with the best mean MRR@10 over question files.

Tree-structured Parzen estimators (Bergstra et al. 2011) by Optuna, seeded; a penalty on unequal
weights, so that history must pay for every step away from equal ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from configs.settings import CalibrationConfig, FusionMode, Settings
from eval.recording import Recorded
from eval.signal_arrays import SignalArrays, reciprocal_ranks, unit_scores

Floats = npt.NDArray[np.float64]
MODES: tuple[FusionMode, ...] = get_args(FusionMode)
PENALTY = 0.01
KEPT = "kept"
TRIALS = 200
Calibrations = Mapping[tuple[str, str], CalibrationConfig]


@dataclass(frozen=True, slots=True)
class Found:
    """The best parameters as a profile, and their penalised objective on the training questions."""

    settings: Settings
    value: float


def file_weights(rows: Sequence[Recorded]) -> Floats:
    """A weight per question, (n,), that sums to 1 and gives every file the same."""
    files = [row.question.file for row in rows]
    names = sorted(set(files))
    return np.array([1.0 / (len(names) * files.count(name)) for name in files])


def search(
    arrays: SignalArrays,
    weights: Floats,
    settings: Settings,
    calibrations: Mapping[str, Calibrations],
    *,
    trials: int = TRIALS,
    seed: int = 0,
) -> Found:
    """Try ``trials`` parameter sets; equal weights and the profile's own are among them.

    ``weights`` (n,) of the questions; ``calibrations``: named sets of curves, of which the best is
    chosen, too; the profile's own are another (``kept``).
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    bases = {KEPT: settings}
    bases |= {name: with_calibrations(settings, curves) for name, curves in calibrations.items()}
    units = {name: unit_scores(arrays, base) for name, base in bases.items()}

    def objective(trial: Any) -> float:
        name = trial.suggest_categorical("calibration", list(bases))
        tried = _suggest(trial, bases[name])
        ranks = reciprocal_ranks(arrays, tried, None, units[name])
        return float(weights @ ranks) - PENALTY * inequality(tried)

    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True)
    )
    own = {"calibration": KEPT, **_parameters(settings)}
    study.enqueue_trial(own)
    study.enqueue_trial({**own, **_equal(settings)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.optimize(objective, n_trials=trials)
    best = study.best_trial
    return Found(_suggest(best, bases[best.params["calibration"]]), float(study.best_value))


def with_calibrations(settings: Settings, calibrations: Calibrations) -> Settings:
    """The profile with these calibrations; others stay."""
    domains = {}
    for name, domain in settings.domains.items():
        dense = calibrations.get((name, "dense"), domain.dense.calibration)
        keyword = calibrations.get((name, "keyword"), domain.keyword.calibration)
        domains[name] = domain.model_copy(
            update={
                "dense": domain.dense.model_copy(update={"calibration": dense}),
                "keyword": domain.keyword.model_copy(update={"calibration": keyword}),
            }
        )
    return settings.model_copy(update={"domains": domains})


def inequality(settings: Settings) -> float:
    """Mean squared natural log of every weight against the equal one, 0 = all equal."""
    outer = np.log([max(d.weight, 1e-3) for d in settings.domains.values()])
    spread = [float(x) for x in (outer - outer.mean()) ** 2]
    for domain in settings.domains.values():
        ratio = max(domain.dense.weight, 1e-3) / max(domain.keyword.weight, 1e-3)
        spread.append(float(np.log(ratio) / 2) ** 2)
    return float(np.mean(spread))


def _suggest(trial: Any, base: Settings) -> Settings:
    mode = trial.suggest_categorical("mode", MODES)
    inner_mode = trial.suggest_categorical("inner_mode", MODES)
    fusion: dict[str, Any] = {"mode": mode, "inner_mode": inner_mode}
    if mode == "weighted_geometric_mean":
        fusion["floor"] = _short(trial.suggest_float("floor", 1e-6, 0.2, log=True))
    if inner_mode == "weighted_geometric_mean":
        fusion["inner_floor"] = _short(trial.suggest_float("inner_floor", 1e-6, 0.2, log=True))
    if "reciprocal_rerank" in (mode, inner_mode):
        fusion["rrf_k"] = _short(trial.suggest_float("rrf_k", 1.0, 200.0, log=True))
    shallow = trial.suggest_float("depth", 0.2, 1.0)
    weights = {d: trial.suggest_float(f"w_{d}", 0.2, 5.0, log=True) for d in base.domains}
    highest = max(weights.values())
    domains = {}
    for name, domain in base.domains.items():
        share = round(trial.suggest_float(f"dense_{name}", 0.05, 0.95), 3)
        dense = {"weight": share, "depth": max(10, round(shallow * domain.dense.depth))}
        words = {
            "weight": round(1.0 - share, 3),
            "depth": max(10, round(shallow * domain.keyword.depth)),
        }
        domains[name] = domain.model_copy(
            update={
                "weight": _short(weights[name] / highest),
                "dense": domain.dense.model_copy(update=dense),
                "keyword": domain.keyword.model_copy(update=words),
            }
        )
    fused = base.fusion.model_copy(update=fusion)
    return base.model_copy(update={"domains": domains, "fusion": fused})


def _parameters(settings: Settings) -> dict[str, Any]:
    fusion = settings.fusion
    found: dict[str, Any] = {"mode": fusion.mode, "inner_mode": fusion.inner_mode, "depth": 1.0}
    found["floor"] = fusion.floor
    found["inner_floor"] = fusion.inner_floor
    found["rrf_k"] = fusion.rrf_k
    for name, domain in settings.domains.items():
        total = domain.dense.weight + domain.keyword.weight
        found[f"w_{name}"] = min(max(domain.weight, 0.2), 5.0)
        found[f"dense_{name}"] = min(max(domain.dense.weight / total, 0.05), 0.95)
    return found


def _equal(settings: Settings) -> dict[str, Any]:
    names = settings.domains
    return {**{f"w_{name}": 1.0 for name in names}, **{f"dense_{name}": 0.5 for name in names}}


def _short(value: float) -> float:
    return float(f"{value:.4g}")
