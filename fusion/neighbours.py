"""Articles beside the ranked ones: the rest of the best, those it refers to, next, previous.

A rule is often whole only with the article that it points to (依照本法第八条处罚). References are
read from the passage when it is asked for, one hop deep: the stored rule of today is what counts,
and a store of any age serves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Literal

from fusion.lookup import ReferenceLookup
from fusion.nodes import RankedPassage, RetrievalResult
from fusion.reference_check import references
from indexes.catalog import PassageCatalog
from indexes.numbering import part_with
from indexes.own_references import own_references
from indexes.schema import Filters, Passage, PassageId

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
        meta, content, at = passage.metadata, passage.content, 0
        elsewhere: list[tuple[int, int]] = []
        named: list[_Neighbour] = []
        for line in content.splitlines(keepends=True):
            for mention in references(line, self._lookup.ending):
                elsewhere.append((at + mention.start, at + mention.end))
                if mention.article:
                    read = self._lookup.passages(line, mention, filters, domains)
                    text = line[mention.start : mention.end]
                    named += [
                        _Neighbour(p, passage.id, "reference", text)
                        for p in read[:_PARTS]
                        if p.id != passage.id
                    ]
            at += len(line)
        known = partial(catalog.articles, passage.source, meta.title)
        for own in own_references(content, meta.article, known, elsewhere):
            same = [
                p
                for p in catalog.find(passage.source, meta.title, own.article)
                if _document(p) == _document(passage)
            ]
            for part in part_with(same, own.paragraph, 0)[:_PARTS]:
                yield _Neighbour(part, passage.id, "reference", own.text)
        yield from named


def _document(passage: Passage) -> tuple[str, str]:
    parsed = PassageId.parse(passage.id)
    return parsed.document, parsed.version
