"""The common frame of all modes: what each source gives, put together passage by passage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain, count, repeat
from operator import itemgetter
from typing import NamedTuple

from fusion.types import COMBINE, Combine, Contribution, Fused, Ranking


class Column(NamedTuple):
    """What one source gives under one mode, hit by hit.

    ``scores`` are what the mode counts and ``values`` what they become with the weight, each in
    the order of ``ranking.hits``; ``missing_*`` the same for a passage that was not returned.
    """

    ranking: Ranking
    weight: float
    scores: Sequence[float]
    values: Sequence[float]
    missing_score: float = 0.0
    missing_value: float = 0.0


# ``Contribution._make`` and ``Fused._make`` without their Python frame: a fusion makes hundreds.
_contribution: Callable[[Iterable[object]], Contribution] = partial(tuple.__new__, Contribution)
_fused: Callable[[Iterable[object]], Fused] = partial(tuple.__new__, Fused)
_VALUE = itemgetter(Contribution._fields.index("value"))
_SCORE = itemgetter(Fused._fields.index("score"))


def fuse_columns(columns: Sequence[Column], combine: Combine) -> tuple[Fused, ...]:
    """Every passage of any column, with its score; best first, ties by id.

    ``columns`` must stand in the order of their sources' names. Only ids identify passages.
    Raises ValueError for an id twice in one ranking.
    """
    found = [_by_id(column) for column in columns]
    ids = sorted(set(chain.from_iterable(found)))
    beside: list[list[Contribution]] = []
    for column, given in zip(columns, found, strict=True):
        # One object for all passages that the source lacks: on disjoint lists these are the most.
        missing = Contribution(
            column.ranking.source,
            None,
            None,
            column.missing_score,
            column.weight,
            column.missing_value,
        )
        beside.append([given.get(id_, missing) for id_ in ids])
    values = [map(_VALUE, contributions) for contributions in beside]
    scores = map(COMBINE[combine], zip(*values, strict=True))
    # Not strict: the constant that stands for all rows has no end.
    fused = list(map(_fused, zip(ids, scores, zip(*beside, strict=True), repeat(combine))))
    fused.sort(key=_SCORE, reverse=True)  # stable, also in reverse: ties stay by id
    return tuple(fused)


def _by_id(column: Column) -> dict[str, Contribution]:
    source, hits = column.ranking.source, column.ranking.hits
    if not hits:
        return {}
    ids, raw, calibrated = zip(*hits, strict=True)
    rows = zip(
        repeat(source),
        count(1),
        raw,
        column.scores,
        repeat(column.weight),
        column.values,
        calibrated,
    )
    given = dict(zip(ids, map(_contribution, rows), strict=True))
    if len(given) != len(hits):
        raise ValueError(f"ranking {source!r} has an id twice: keep its best hit only")
    return given


def weighted(ranking: Ranking, weight: float, scores: Sequence[float]) -> Column:
    """The column of a mode whose values are weight x score, and 0 for a missing passage."""
    return Column(ranking, weight, scores, [weight * score for score in scores])
