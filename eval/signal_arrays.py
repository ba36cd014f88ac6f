"""Fusion of all recorded questions at once, for tuning: ``fuse_two_stage`` as numpy arrays.

Gives the rank of the first relevant passage only, a thousand times faster than one question after
the other; the tests hold it equal to ``fusion.two_stage`` in every mode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from configs.settings import CalibrationConfig, FusionMode, Settings, SignalConfig
from eval.recording import Recorded
from fusion.calibration import HIGHEST, LOWEST
from indexes.schema import SignalName

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
SIGNALS: tuple[SignalName, ...] = ("dense", "keyword")
CUT = 10
_NEVER = 1 << 30
# What these modes give a passage depends on it alone, so those cut off cannot change the head.
_KEEPS_ORDER = ("weighted_geometric_mean", "simple")


@dataclass(frozen=True, slots=True)
class SignalArrays:
    """``raw`` (signals, questions, domains, places), NaN where a signal lacks the passage; ``rank``
    alike, 1-based; ``relevant`` (questions, domains, places). Places stand in the order of ids.

    The domains' lists must be disjoint, as ids that carry their domain are.
    """

    domains: tuple[str, ...]
    raw: Floats
    rank: npt.NDArray[np.int64]
    relevant: Bools

    @classmethod
    def of(cls, rows: Sequence[Recorded], domains: Sequence[str]) -> SignalArrays:
        """The arrays of recorded questions."""
        names = tuple(sorted(domains))
        ids = [
            [
                sorted({h.id for hits in row.signals.get(d, {}).values() for h in hits})
                for d in names
            ]
            for row in rows
        ]
        width = max((len(own) for by in ids for own in by), default=0) or 1
        shape = (len(rows), len(names), width)
        raw = np.full((len(SIGNALS), *shape), np.nan)
        rank = np.full((len(SIGNALS), *shape), _NEVER, dtype=np.int64)
        relevant = np.zeros(shape, dtype=bool)
        for i, row in enumerate(rows):
            for j, domain in enumerate(names):
                place = {id_: m for m, id_ in enumerate(ids[i][j])}
                relevant[i, j, [m for id_, m in place.items() if id_ in row.units]] = True
                for s, hits in enumerate(row.signals.get(domain, {}).get(n, ()) for n in SIGNALS):
                    # Best first, ties by id: the order that calibration gives.
                    ordered = sorted(hits, key=lambda hit: (-hit.score, hit.id))
                    for position, hit in enumerate(ordered, start=1):
                        raw[s, i, j, place[hit.id]] = hit.score
                        rank[s, i, j, place[hit.id]] = position
        return cls(names, raw, rank, relevant)

    def take(self, rows: Sequence[int]) -> SignalArrays:
        """The same of some questions."""
        chosen = np.asarray(rows, dtype=np.intp)
        return SignalArrays(
            self.domains, self.raw[:, chosen], self.rank[:, chosen], self.relevant[chosen]
        )


def unit_scores(arrays: SignalArrays, settings: Settings) -> Floats:
    """The calibrated scores, shaped as ``raw``: they need computing once for many weights."""
    configs = [_signals(settings, domain) for domain in arrays.domains]
    return np.stack(
        [
            np.stack(
                [
                    calibrated(by[s].calibration, arrays.raw[s, :, j])
                    for j, by in enumerate(configs)
                ],
                axis=1,
            )
            for s in range(len(SIGNALS))
        ]
    )


def reciprocal_ranks(
    arrays: SignalArrays,
    settings: Settings,
    factors: Floats | None = None,
    unit: Floats | None = None,
) -> Floats:
    """1 / rank of the first relevant passage of every question, 0 beyond rank ten, shape (n,).

    ``factors`` (questions, domains): what multiplies the domain weights for each question;
    ``unit``: the ``unit_scores`` of the profile's calibrations, if known.
    """
    calibrated_scores = unit_scores(arrays, settings) if unit is None else unit
    scores = np.where(*_scores(arrays, settings, factors, calibrated_scores), -np.inf)
    flat = scores.reshape(len(scores), -1)
    relevant = arrays.relevant.reshape(flat.shape)
    best = np.where(relevant, flat, -np.inf)
    place = best.argmax(axis=1)
    top = best.max(axis=1)
    before = np.arange(flat.shape[1])[None, :] < place[:, None]
    higher = (flat > top[:, None]) | ((flat == top[:, None]) & before)
    rank = 1 + higher.sum(axis=1)
    found = np.isfinite(top) & (rank <= CUT)
    return np.where(found, 1.0 / rank, 0.0)


def calibrated(config: CalibrationConfig, raw: Floats) -> Floats:
    """``fusion.calibration.calibrate`` of every number; NaN stays NaN."""
    if config.kind == "platt":
        exponent = np.clip(config.slope * raw + config.intercept, -40.0, 40.0)
        return np.asarray(np.clip(1.0 / (1.0 + np.exp(-exponent)), LOWEST, HIGHEST))
    if config.kind == "isotonic":
        return np.asarray(np.clip(np.interp(raw, config.x, config.y), LOWEST, HIGHEST))
    return np.asarray(np.clip(raw, LOWEST, HIGHEST))


def _scores(
    arrays: SignalArrays, settings: Settings, factors: Floats | None, unit: Floats
) -> tuple[Bools, Floats]:
    fusion = settings.fusion
    configs = [_signals(settings, domain) for domain in arrays.domains]
    weights = np.array([[c.weight for c in by] for by in configs]).T[:, None, :, None]
    depths = np.array([[c.depth for c in by] for by in configs]).T[:, None, :, None]
    present = (arrays.rank <= depths) & (weights > 0)
    inner, scale = _combine(
        fusion.inner_mode, fusion.inner_floor, fusion.rrf_k, weights, present, unit, arrays
    )
    alive = present.any(axis=0)
    by_domain = np.array([settings.domains[d].weight for d in arrays.domains])[None, :]
    if factors is not None:
        by_domain = by_domain * factors
    outer = by_domain[:, :, None]
    alive = alive & (outer > 0)
    unit_inner = np.minimum(1.0, inner / scale)
    return _across(fusion.mode, settings, outer, alive, inner, unit_inner)


def _combine(
    mode: FusionMode,
    floor: float,
    rrf_k: float,
    weights: Floats,
    present: Bools,
    unit: Floats,
    arrays: SignalArrays,
) -> tuple[Floats, Floats | float]:
    """The inner score of every passage and the highest attainable one."""
    total = weights.sum(axis=0)
    if mode == "weighted_geometric_mean":
        kept = np.where(present, np.maximum(unit, floor), floor)
        return np.exp((weights / total * np.log(kept)).sum(axis=0)), 1.0
    if mode == "reciprocal_rerank":
        shares = np.where(present, weights / (rrf_k + arrays.rank), 0.0)
        return shares.sum(axis=0), total / (rrf_k + 1.0)
    if mode == "simple":
        return np.where(present, weights * unit, 0.0).max(axis=0), weights.max(axis=0)
    normal = _normal(mode, arrays.raw, present)
    if mode == "relative_score":
        return (weights * normal).sum(axis=0), total
    best = np.maximum(1.0, normal.max(axis=-1, keepdims=True))
    return (weights * normal).sum(axis=0), (weights * best).sum(axis=0)


def _across(
    mode: FusionMode, settings: Settings, outer: Floats, alive: Bools, inner: Floats, unit: Floats
) -> tuple[Bools, Floats]:
    fusion = settings.fusion
    place = np.empty(0, dtype=np.int64)
    if fusion.candidates < CUT or mode not in _KEEPS_ORDER:
        place = _ranks(np.where(alive, inner, -np.inf))
        alive = alive & (place <= fusion.candidates)
    if mode == "weighted_geometric_mean":
        share = outer / outer.sum(axis=1, keepdims=True)
        floor = np.log(fusion.floor)
        return alive, share * np.log(np.maximum(unit, fusion.floor)) + (1.0 - share) * floor
    if mode == "reciprocal_rerank":
        return alive, outer / (fusion.rrf_k + place)
    if mode == "simple":
        return alive, outer * unit
    return alive, outer * _normal(mode, np.where(alive, inner, np.nan), alive)


def _ranks(scores: Floats) -> npt.NDArray[np.int64]:
    order = np.argsort(-scores, axis=-1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(1, scores.shape[-1] + 1), axis=-1)
    return ranks


def _normal(mode: FusionMode, raw: Floats, present: Bools) -> Floats:
    """Min-max or three-sigma of each list, 0 where a passage is absent."""
    count = present.sum(axis=-1, keepdims=True)
    low = np.where(present, raw, np.inf).min(axis=-1, keepdims=True)
    high = np.where(present, raw, -np.inf).max(axis=-1, keepdims=True)
    tied = (count == 0) | (low == high)
    if mode == "relative_score":
        spread = np.where(tied, 1.0, high - low)
        return np.where(present, np.where(tied, 1.0, (raw - low) / spread), 0.0)
    mean = np.where(present, raw, 0.0).sum(axis=-1, keepdims=True) / np.maximum(count, 1)
    square = np.where(present, (raw - mean) ** 2, 0.0).sum(axis=-1, keepdims=True)
    sigma = np.where(tied, 1.0, np.sqrt(square / np.maximum(count, 1)))
    place = np.where(tied, 0.5, 0.5 + (raw - mean) / (6.0 * sigma))
    return np.where(present, np.maximum(place, 0.0), 0.0)


def _signals(settings: Settings, domain: str) -> tuple[SignalConfig, ...]:
    config = settings.domains[domain]
    by_name: Mapping[str, SignalConfig] = {"dense": config.dense, "keyword": config.keyword}
    return tuple(by_name[name] for name in SIGNALS)
