"""One source alone: what fusion has to beat."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from configs.settings import Settings

Floats = npt.NDArray[np.float64]


def singles(settings: Settings) -> dict[str, Settings]:
    """Profiles that use one thing only: a domain, or one signal in every domain."""
    found = {
        only: with_domain_weights(
            settings, {name: float(name == only) for name in settings.domains}
        )
        for only in settings.domains
    }
    found["dense"] = with_signal_weights(settings, 1.0, 0.0)
    found["keyword"] = with_signal_weights(settings, 0.0, 1.0)
    return found


def with_domain_weights(settings: Settings, weights: Mapping[str, float]) -> Settings:
    """The profile with these weights (>= 0) of its domains; all of them are named."""
    domains = {
        name: domain.model_copy(update={"weight": weights[name]})
        for name, domain in settings.domains.items()
    }
    return settings.model_copy(update={"domains": domains})


def with_signal_weights(settings: Settings, dense: float, keyword: float) -> Settings:
    """The profile with these weights (>= 0) of both signals in every domain."""
    domains = {
        name: domain.model_copy(
            update={
                "dense": domain.dense.model_copy(update={"weight": dense}),
                "keyword": domain.keyword.model_copy(update={"weight": keyword}),
            }
        )
        for name, domain in settings.domains.items()
    }
    return settings.model_copy(update={"domains": domains})


def best_single(values: Mapping[str, Floats], rows: npt.NDArray[np.intp], weights: Floats) -> str:
    """The name with the highest weighted mean over ``rows``; the first by name among equals."""
    return max(sorted(values), key=lambda name: float(weights @ values[name][rows]))
