"""Fused against single sources where every domain asks equally often.

Data sets are lopsided (most public questions are on statutes), and a mean over them says which
domain has most questions. Here every domain gives the same number of questions, drawn without
replacement, again and again with one seed, and the figures are averages over the draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eval.datasets import Question
from eval.metrics import Values


@dataclass(frozen=True, slots=True)
class Balanced:
    """MRR on balanced draws of ``per_domain`` questions of each domain, ``repeats`` times.

    ``single_source``: each source alone over all questions drawn, as a user without routing would
    ask it; ``own_domain``: each over the questions of its own domain only, as if an oracle chose
    the source. A question with gold in several domains may be drawn for each of them. Ratios are
    fused divided by the mean of the sources, None where that mean is 0.
    """

    per_domain: int
    repeats: int
    fused: float
    single_source: Mapping[str, float]
    own_domain: Mapping[str, float]

    @property
    def single_source_mean(self) -> float:
        return sum(self.single_source.values()) / len(self.single_source)

    @property
    def own_domain_mean(self) -> float:
        return sum(self.own_domain.values()) / len(self.own_domain)

    @property
    def ratio(self) -> float | None:
        return self.fused / self.single_source_mean if self.single_source_mean else None

    @property
    def own_domain_ratio(self) -> float | None:
        return self.fused / self.own_domain_mean if self.own_domain_mean else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "per_domain": self.per_domain,
            "repeats": self.repeats,
            "metric": "mrr",
            "fused": self.fused,
            "single_source": dict(self.single_source),
            "single_source_mean": self.single_source_mean,
            "ratio": self.ratio,
            "own_domain": dict(self.own_domain),
            "own_domain_mean": self.own_domain_mean,
            "own_domain_ratio": self.own_domain_ratio,
        }


def balance(
    questions: Sequence[Question],
    fused: Mapping[str, Values],
    sources: Mapping[str, Mapping[str, Values]],
    *,
    repeats: int = 20,
    seed: int = 0,
) -> Balanced | None:
    """Balanced MRR from per-question values (system -> question key -> metric -> value).

    None unless at least two of the sources have questions of their domain.
    """
    groups = {
        name: keys for name in sources if (keys := [q.key for q in questions if name in q.domains])
    }
    if len(groups) < 2:
        return None
    size = min(len(keys) for keys in groups.values())
    rng = np.random.default_rng(seed)
    draws = [
        {
            name: [keys[i] for i in rng.choice(len(keys), size, replace=False)]
            for name, keys in groups.items()
        }
        for _ in range(repeats)
    ]
    everything = [key for draw in draws for keys in draw.values() for key in keys]
    return Balanced(
        per_domain=size,
        repeats=repeats,
        fused=_mrr(fused, everything),
        single_source={name: _mrr(sources[name], everything) for name in groups},
        own_domain={
            name: _mrr(sources[name], [key for draw in draws for key in draw[name]])
            for name in groups
        },
    )


def _mrr(values: Mapping[str, Values], keys: Sequence[str]) -> float:
    return sum(values[key]["mrr"] for key in keys) / len(keys)
