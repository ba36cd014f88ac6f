"""One source alone: what fusion has to beat."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from configs.settings import Settings

Floats = npt.NDArray[np.float64]


def singles(settings: Settings) -> dict[str, Settings]:
    """Profiles that use one thing only: a domain, or one signal in every domain."""
    found = {}
    for only in settings.domains:
        domains = {
            name: domain.model_copy(update={"weight": 1.0 if name == only else 0.0})
            for name, domain in settings.domains.items()
        }
        found[only] = settings.model_copy(update={"domains": domains})
    for dense, name in ((1.0, "dense"), (0.0, "keyword")):
        domains = {
            domain_name: domain.model_copy(
                update={
                    "dense": domain.dense.model_copy(update={"weight": dense}),
                    "keyword": domain.keyword.model_copy(update={"weight": 1.0 - dense}),
                }
            )
            for domain_name, domain in settings.domains.items()
        }
        found[name] = settings.model_copy(update={"domains": domains})
    return found


def best_single(values: Mapping[str, Floats], rows: npt.NDArray[np.intp], weights: Floats) -> str:
    """The name with the highest weighted mean over ``rows``; the first by name among equals."""
    return max(sorted(values), key=lambda name: float(weights @ values[name][rows]))
