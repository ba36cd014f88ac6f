"""Articles beside the ranked ones: the rest of the best, those it refers to, next, previous.

A rule is often whole only with the article that it points to (依照本法第八条处罚), one hop deep.
References to its own document were resolved when that was written; those to other documents are
read when the passage is asked for: what a name means changes with each that comes or goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from types import MappingProxyType
from typing import Literal

from fusion.lookup import ReferenceLookup
from fusion.nodes import RankedPassage, RetrievalResult
from indexes.catalog import PassageCatalog
from indexes.named_references import named_references
from indexes.schema import Filters, Passage

_LOOKED_AT = 3  # passages whose references are followed
_PARTS = 2  # passages of one article that is referred to

Why = Literal["part", "reference", "next", "previous"]


@dataclass(frozen=True, slots=True)
class _Neighbour:
    passage: Passage
    of: str
    why: Why
    text: str = ""


class Neighbours:
    """Finds at most ``limit`` of them in the catalogs of a store. Thread-safe."""

    def __init__(self, lookup: ReferenceLookup, limit: int) -> None:
        self._lookup = lookup
        self._limit = limit

    def apply(
        self, result: RetrievalResult, filters: Filters, domains: Sequence[str] | None = None
    ) -> RetrievalResult:
        """``result`` with them ``beside``, the most telling first; some may be ranked as well.

        In order: other parts of the best passage's article, what it refers to, the next and the
        previous article, what the second and third passage refer to. Their score is 0 (they were
        not ranked); the trace says of which passage each is a neighbour, and why.
        """
        found: dict[str, RankedPassage] = {}
        for neighbour in self._all(result, filters, domains):
            if len(found) == self._limit:
                break
            trace = {"of": neighbour.of, "why": neighbour.why, "text": neighbour.text}
            item = RankedPassage(neighbour.passage, 0.0, MappingProxyType({"neighbour": trace}))
            found.setdefault(neighbour.passage.id, item)
        return replace(result, beside=tuple(found.values()))

    def _all(
        self, result: RetrievalResult, filters: Filters, domains: Sequence[str] | None
    ) -> Iterator[_Neighbour]:
        for n, item in enumerate(result.passages[:_LOOKED_AT]):
            passage = item.passage
            catalog = self._lookup.catalog(passage.source)
            if catalog is None:
                continue
            before, after = catalog.adjacent(passage.id) if n == 0 else (None, None)
            article = passage.metadata.article
            sides: list[tuple[Passage, Why]] = []
            if after is not None:
                sides.append((after, "next"))
            if before is not None:
                sides.append((before, "previous"))
            parts = [p for p, _ in sides if article and p.metadata.article == article]
            yield from (_Neighbour(p, passage.id, "part") for p in parts)
            yield from self._referred(passage, catalog, filters, domains)
            for side, why in sides:
                if side not in parts:
                    yield _Neighbour(side, passage.id, why)

    def _referred(
        self,
        passage: Passage,
        catalog: PassageCatalog,
        filters: Filters,
        domains: Sequence[str] | None,
    ) -> Iterator[_Neighbour]:
        of_article = groupby(catalog.referred(passage), lambda pair: pair[0].metadata.article)
        for _, parts in of_article:
            for part, text in islice(parts, _PARTS):
                yield _Neighbour(part, passage.id, "reference", text)
        for line in passage.content.splitlines():
            for mention in named_references(line, self._lookup.ending):
                if mention.article:
                    read = self._lookup.passages(line, mention, filters, domains)
                    text = line[mention.start : mention.end]
                    for other in read[:_PARTS]:
                        if other.id != passage.id:
                            yield _Neighbour(other, passage.id, "reference", text)
