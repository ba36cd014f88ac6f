"""Which of the ranked passages a model reads, and in which order.

Maximal marginal relevance (Carbonell & Goldstein 1998, "The use of MMR, diversity-based reranking
for reordering documents and producing summaries") with the Jaccard similarity of character bigrams;
then the best first and last (Liu et al. 2023, "Lost in the middle").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import TypeVar

from fusion.facts import Fact, facts
from fusion.nodes import RankedPassage
from fusion.overlap import grams

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ContextChoice:
    """``chosen``: positions in the ranking, ascending. ``collapsed``: id of a passage that says the
    same -> id of the one that stands for it."""

    chosen: tuple[int, ...]
    collapsed: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def choose_context(
    items: Sequence[RankedPassage], limit: int, *, trade_off: float, same: float
) -> ContextChoice:
    """At most ``limit`` of the passages (best first), no two of which say the same.

    Two say the same when their bigrams agree by ``same`` (Jaccard, 0–1) or more, with the same
    numbers, dates and articles, for the same place: a rule that differs in one figure is another
    rule. Of several, the named one stands for all, else that in force, else the newest.
    ``trade_off``: lambda in [0, 1]; relevance is the score as a share of the best.
    """
    words = [grams(item.passage.content) for item in items]
    stated = cache(lambda n: _stated(items[n]))  # slow, and needed only of what is alike
    groups: list[list[int]] = []
    for n, item in enumerate(items):
        place = item.passage.metadata.jurisdiction_code
        for group in groups:
            first = group[0]
            if (
                items[first].passage.metadata.jurisdiction_code == place
                and similarity(words[first], words[n]) >= same
                and stated(first) == stated(n)
            ):
                group.append(n)
                break
        else:
            groups.append([n])
    relevance: dict[int, float] = {}
    collapsed: dict[str, str] = {}
    for group in groups:
        kept = _spokesman(items, group)
        relevance[kept] = _relevance(items, group[0])
        for n in group:
            if n != kept:
                collapsed[items[n].passage.id] = items[kept].passage.id
    chosen: list[int] = []
    left = list(relevance)
    while left and len(chosen) < limit:

        def value(n: int) -> float:
            nearest = max((similarity(words[n], words[c]) for c in chosen), default=0.0)
            return trade_off * relevance[n] - (1 - trade_off) * nearest

        best = max(left, key=value)  # of equals the better ranked
        chosen.append(best)
        left.remove(best)
    return ContextChoice(tuple(sorted(chosen)), MappingProxyType(collapsed))


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard similarity, 0–1; 0 of two empty sets."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def best_first_and_last(ordered: Sequence[T]) -> tuple[T, ...]:
    """The first in front, the second at the end, and so on inwards: the last in the middle.

    As LlamaIndex's LongContextReorder with an odd number of nodes. That one sorts by score (which
    ties what a question names) and, with an even number, puts the best last.
    """
    return (*ordered[0::2], *reversed(ordered[1::2]))


def _relevance(items: Sequence[RankedPassage], n: int) -> float:
    best = items[0].score
    return min(1.0, max(0.0, items[n].score / best)) if best > 0 else 1.0 / (1 + n)


def _spokesman(items: Sequence[RankedPassage], group: Sequence[int]) -> int:
    def key(n: int) -> tuple[bool, bool, str, int]:
        meta = items[n].passage.metadata
        named = "reference" in items[n].trace
        return named, meta.status == "in_force", meta.effective or "", -n

    return max(group, key=key)


def _stated(item: RankedPassage) -> frozenset[Fact]:
    """The facts of a passage but for the number that it has as an article."""
    return facts(item.passage.content) - {Fact("article", item.passage.metadata.article)}
