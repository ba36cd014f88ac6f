"""Fusion modes, one algorithm a file."""

from __future__ import annotations

from configs.settings import FusionMode
from fusion.modes.dist_based_score import DistBasedScore
from fusion.modes.reciprocal_rerank import ReciprocalRerank
from fusion.modes.relative_score import RelativeScore
from fusion.modes.simple import Simple
from fusion.modes.weighted_geometric_mean import WeightedGeometricMean
from fusion.types import Fuser


def get_fuser(mode: FusionMode, *, floor: float, rrf_k: float) -> Fuser:
    """The fuser of that name. ``floor`` (0–1) and ``rrf_k`` (> 0) go to the modes that use them."""
    if mode == "weighted_geometric_mean":
        return WeightedGeometricMean(floor)
    if mode == "reciprocal_rerank":
        return ReciprocalRerank(rrf_k)
    if mode == "relative_score":
        return RelativeScore()
    if mode == "dist_based_score":
        return DistBasedScore()
    if mode == "simple":
        return Simple()
    raise ValueError(f"unknown fusion mode {mode!r}")
