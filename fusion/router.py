"""Which domains does a question concern? A small learned prior on the domains' weights.

Logistic regression, one against the rest, over hashed character n-grams (Weinberger et al. 2009,
feature hashing): no model, no dictionary, pure numpy. It only shifts the weights, between ``floor``
and 1, so a domain that it thinks irrelevant is still searched and can still come first.
"""

from __future__ import annotations

import base64
import json
import unicodedata
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from configs.errors import ConfigError
from fusion.two_stage import FusionPlan

PACKAGED = "packaged"
ROUTER_VERSION = 1
_SIZES = (1, 2)

Floats = npt.NDArray[np.float64]


def features(text: str, buckets: int) -> npt.NDArray[np.intp]:
    """The distinct buckets, sorted, of the text's character n-grams (n = 1, 2).

    Width and case are made equal and white space is left out first; [] for a blank text.
    """
    plain = "".join(unicodedata.normalize("NFKC", text).lower().split())
    grams = {plain[i : i + n] for n in _SIZES for i in range(len(plain) - n + 1)}
    found = {zlib.crc32(gram.encode("utf-8", "ignore")) % buckets for gram in grams}
    return np.array(sorted(found), dtype=np.intp)


@dataclass(frozen=True, slots=True)
class DomainRouter:
    """``weights`` (domains, buckets), ``bias`` (domains,); ``floor`` in (0, 1]: the least factor of
    a domain; ``gamma`` > 0: how much the probabilities count."""

    domains: tuple[str, ...]
    weights: Floats
    bias: Floats
    floor: float
    gamma: float

    def probabilities(self, question: str) -> dict[str, float]:
        """Per domain the probability, in (0, 1), that it holds an answer (no sum of 1)."""
        found = features(question, self.weights.shape[1])
        scale = np.sqrt(max(1, len(found)))
        logits = self.weights[:, found].sum(axis=1) / scale + self.bias
        chances = 1.0 / (1.0 + np.exp(-np.clip(logits, -40.0, 40.0)))
        return {name: float(p) for name, p in zip(self.domains, chances, strict=True)}

    def factors(self, question: str) -> dict[str, float]:
        """Per domain what its weight is multiplied by, in [floor, 1]: 1 for the likeliest, max(
        floor, (p / highest p) ** gamma) for the others."""
        chances = self.probabilities(question)
        highest = max(chances.values())
        return {name: max(self.floor, (p / highest) ** self.gamma) for name, p in chances.items()}

    def applied(self, plan: FusionPlan, question: str) -> tuple[FusionPlan, Mapping[str, float]]:
        """The plan for this question, and the factors; domains it does not know keep weight."""
        factors = {n: f for n, f in self.factors(question).items() if n in plan.domains}
        domains = {
            name: replace(domain, weight=domain.weight * factors.get(name, 1.0))
            for name, domain in plan.domains.items()
        }
        return replace(plan, domains=domains), factors

    def to_json(self, provenance: str) -> str:
        """The file of this router; weights in 8 bits, one scale a domain."""
        scales = np.maximum(np.abs(self.weights).max(axis=1), 1e-9) / 127.0
        packed = np.round(self.weights / scales[:, None]).astype(np.int8)
        data = {
            "version": ROUTER_VERSION,
            "provenance": provenance,
            "domains": self.domains,
            "floor": self.floor,
            "gamma": self.gamma,
            "bias": [round(float(b), 6) for b in self.bias],
            "scales": [float(f"{s:.8g}") for s in scales],
            "weights": [base64.b64encode(row.tobytes()).decode("ascii") for row in packed],
        }
        return json.dumps(data, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> DomainRouter:
        """Read ``to_json``'s text. Raises ValueError, KeyError or TypeError for another."""
        data: Mapping[str, Any] = json.loads(text)
        if data["version"] != ROUTER_VERSION:
            raise ValueError(f"version {data['version']} is not {ROUTER_VERSION}")
        rows = [np.frombuffer(base64.b64decode(row), dtype=np.int8) for row in data["weights"]]
        weights = np.stack(rows) * np.array(data["scales"], dtype=np.float64)[:, None]
        router = cls(
            tuple(data["domains"]),
            weights,
            np.array(data["bias"], dtype=np.float64),
            float(data["floor"]),
            float(data["gamma"]),
        )
        if len(router.domains) != len(rows) or len(router.bias) != len(rows):
            raise ValueError("domains, bias and weights differ in number")
        if not (0.0 < router.floor <= 1.0 and router.gamma > 0.0):
            raise ValueError("floor must lie in (0, 1] and gamma above 0")
        return router


def load_router(named: str) -> DomainRouter:
    """The router of a file, or ``packaged``. Raises ConfigError when it cannot be read."""
    packaged = resources.files("configs").joinpath("weights", "router.json")
    try:
        text = (
            packaged.read_text(encoding="utf-8")
            if named == PACKAGED
            else Path(named).expanduser().read_text(encoding="utf-8")
        )
        return DomainRouter.from_json(text)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"fusion.router {named!r} cannot be read ({type(error).__name__}: {error}); "
            "name a file that `python -m eval.routing` wrote, or remove the key"
        ) from error
