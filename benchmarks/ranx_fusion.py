"""The best fusion of ranx, chosen on training questions: method, normalisation, weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.peer_fusers import Lists

METHODS = ("sum", "mnz", "max", "isr", "log_isr", "rrf", "wsum")
NORMS = ("min-max", "zmuv")
STEP = 0.25
"""Of the weights' grid: finer ones take hours with six sources."""
BY_RANK = ("isr", "log_isr", "rrf")


def runs_of(lists: Sequence[Lists]) -> list[Any]:
    """One ranx run a source, over all questions."""
    from ranx import Run

    return [
        Run({f"q{i:05}": dict(one[source]) or {"none": 0.0} for i, one in enumerate(lists)})
        for source in range(len(lists[0]))
    ]


def choose(
    lists: Sequence[Lists], relevant: Sequence[Sequence[str]]
) -> tuple[str, str, dict[str, Any]]:
    """(method, norm, parameters) with the best MRR@10 on these questions."""
    from ranx import Qrels, evaluate, fuse, optimize_fusion

    runs = runs_of(lists)
    qrels = Qrels({f"q{i:05}": dict.fromkeys(ids, 1) for i, ids in enumerate(relevant)})
    best: tuple[float, str, str, dict[str, Any]] = (-1.0, "", "", {})
    for method in METHODS:
        for norm in NORMS[:1] if method in BY_RANK else NORMS:
            if method == "wsum" and norm != "min-max":
                continue  # the grid over six weights is the costly one
            parameters: dict[str, Any] = {}
            if method == "wsum":
                parameters = optimize_fusion(
                    qrels, runs, norm=norm, method=method, metric="mrr@10", step=STEP
                )
            elif method == "rrf":
                parameters = {"k": 60}
            fused = fuse(runs, norm=norm, method=method, params=parameters or None)
            value = float(evaluate(qrels, fused, "mrr@10"))
            if value > best[0]:
                best = (value, method, norm, parameters)
    return best[1:]


def apply(lists: Sequence[Lists], chosen: tuple[str, str, Mapping[str, Any]]) -> list[list[str]]:
    """The fused ids per question, best first."""
    from ranx import fuse

    method, norm, parameters = chosen
    fused = fuse(runs_of(lists), norm=norm, method=method, params=dict(parameters) or None)
    found = fused.to_dict()
    return [
        sorted(found[f"q{i:05}"], key=lambda id_, q=f"q{i:05}": (-found[q][id_], id_))
        for i in range(len(lists))
    ]
