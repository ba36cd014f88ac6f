"""What matches a question but does not apply on its day: repealed, amended, or not yet in force.

Kept apart from the results. Found in three ways: an article that the question names; the versions,
predecessors and coming successors of the documents found, at the same article; and what the words
alone find when no day is asked. Each with the document that took its place.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache

from fusion.amended_rules import AmendedRules
from fusion.gather import Call, Gatherer, Outcome
from fusion.nodes import RetrievalResult
from fusion.overlap import containment, grams
from fusion.question_place import QuestionPlace
from fusion.repealed_basis import basis_notes
from fusion.sources import SearchSource
from fusion.version_notes import OtherVersion, Successor
from indexes.amendments import amendments_of
from indexes.catalog import PassageCatalog
from indexes.schema import Filters, Passage
from indexes.succession import Succession, Version, repealed_titles, status_on

WordSearch = Callable[[], list[Outcome]]
"""A search under way; calling it waits for what it found."""

LIMIT = 5
"""Versions shown with one answer."""

_LOOKED_AT = 5  # results whose documents are followed to their other versions
_WORDS_DEPTH = 5  # hits by words alone that count, a domain
_WORDS_SHARE = 0.35  # of the question's bigrams, that such a hit must have
_LIKE = 0.3  # share of a result's bigrams by which another version's passage is the same point
_SEARCH_S = 0.4


class OtherVersions:
    """Finds them in the catalogs of a store. Thread-safe.

    What follows what is read at first use, and again when a store version has moved, which is
    looked at every ``recheck_seconds``.
    """

    def __init__(
        self,
        sources: Mapping[str, SearchSource],
        catalogs: Mapping[str, PassageCatalog],
        recheck_seconds: float = 2.0,
    ) -> None:
        self._sources = dict(sources)
        self._catalogs = dict(catalogs)
        self._recheck = recheck_seconds
        self._gatherer = Gatherer()
        self._lock = threading.Lock()
        # The same documents are compared again and again, and cutting them into bigrams is slow.
        self._read = lru_cache(maxsize=64)(self._read_document)
        self._known: Succession | None = None
        self._versions: dict[str, int] = {}
        self._next = 0.0

    def add(self, source: SearchSource, catalog: PassageCatalog) -> None:
        """Also look in a domain that was ingested meanwhile."""
        with self._lock:
            self._sources = {**self._sources, source.name: source}
            self._catalogs = {**self._catalogs, source.name: catalog}
            self._next = 0.0

    def warm_up(self) -> None:
        """Read what follows what."""
        self._succession()

    def close(self) -> None:
        """End the search threads."""
        self._gatherer.close()

    def begin(
        self, query: str, filters: Filters, domains: Sequence[str] | None = None
    ) -> WordSearch | None:
        """Start looking for what the words alone find, for ``apply``; None without a day."""
        if filters.as_of is None:
            return None
        asked = set(self._catalogs if domains is None else domains)
        undated = replace(filters, as_of=None)
        deadline = time.monotonic() + _SEARCH_S
        calls = []
        for name, source in self._sources.items():
            if name not in asked or "keyword" not in source.signals:
                continue

            def run(source: SearchSource = source) -> Iterable[Passage]:
                hits = source.search("keyword", query, _WORDS_DEPTH, undated)
                read = source.passages([hit.id for hit in hits])
                return [read[hit.id] for hit in hits if hit.id in read]

            calls.append(Call(name, "keyword", run, deadline))
        return self._gatherer.begin(calls)

    def apply(
        self,
        result: RetrievalResult,
        filters: Filters,
        domains: Sequence[str] | None = None,
        placed: QuestionPlace | None = None,
        begun: WordSearch | None = None,
    ) -> RetrievalResult:
        """``result`` with its ``other_versions``, the most telling first, one a document.

        Rules of other places than ``placed`` are left out, unless the question names them. None
        without a day in ``filters``: then every version may rank. ``begun``: what ``begin`` gave
        for the same question, started earlier so that nobody waits for it here.
        """
        search = begun or self.begin(result.query, filters, domains)
        if filters.as_of is None or search is None:
            return result
        known = self._succession()
        amended = AmendedRules(known, self._read_passages, self._text_of)
        result = amended.apply(result, filters)
        asked = set(self._catalogs if domains is None else domains)
        found: dict[Version, OtherVersion] = {}
        shown = {item.passage.id for item in result.passages}
        passages = (
            *self._named(result),
            *self._related(result, known, filters, asked),
            *(
                passage
                for passage in _by_words(search, result.query, filters.as_of)
                if placed is None or placed.admits(passage.metadata)
            ),
        )
        for passage in passages:
            version = known.of(passage.id)
            if version is None or version in found or passage.id in shown:
                continue
            if filters.as_of and not passage.metadata.in_force_on(filters.as_of):
                found[version] = _other(known, amended, version, passage, filters.as_of)
        rules = (item.passage.metadata for item in result.passages)
        return replace(
            result,
            other_versions=tuple(found.values())[:LIMIT],
            basis_notes=basis_notes(known, rules, filters.as_of),
        )

    def repealed(self) -> Mapping[str, str]:
        """Plain titles that documents repeal -> the title of the latest one that does."""
        return self._succession().repealed()

    def _named(self, result: RetrievalResult) -> Iterator[Passage]:
        """The articles that the question names and that do not apply on its day."""
        ids = [id for ref in result.references if ref.excluded == "date" for id in ref.ids]
        read = self._read_passages(ids)
        yield from (read[id] for id in ids if id in read)

    def _read_passages(self, ids: Iterable[str]) -> dict[str, Passage]:
        wanted, read = list(ids), dict[str, Passage]()
        for name, catalog in self._catalogs.items():
            read |= catalog.get([id for id in wanted if id.startswith(f"{name}:")])
        return read

    def _text_of(self, version: Version) -> str:
        catalog = self._catalogs[version.domain]
        return catalog.document_text(version.domain, version.doc_key) or ""

    def _related(
        self, result: RetrievalResult, known: Succession, filters: Filters, asked: set[str]
    ) -> Iterator[Passage]:
        question = grams(result.query)
        for item in result.passages[:_LOOKED_AT]:
            passage = item.passage
            version = known.of(passage.id)
            if version is None:
                continue
            after = known.successor(version)
            near = (*known.versions(version.metadata), *known.predecessors(version))
            for other in (*near, *([after] if after else ())):
                closed = not other.metadata.in_force_on(filters.as_of or date.min)
                if closed and other != version and other.domain in asked:
                    yield from self._same_point(passage, other, question)

    def _same_point(
        self, passage: Passage, other: Version, question: frozenset[str]
    ) -> Iterator[Passage]:
        """The passage of another version that says what ``passage`` says, if there is one."""
        wanted = grams(passage.content)
        best, most = None, 0.0
        moved = self._versions.get(other.domain, 0)
        for candidate, words in self._read(other.domain, other.doc_key, moved):
            like = containment(wanted, words)
            value = like + containment(question, words)
            if like >= _LIKE and value > most:
                best, most = candidate, value
        if best is not None:
            yield best

    def _read_document(
        self, domain: str, doc_key: str, store_version: int
    ) -> tuple[tuple[Passage, frozenset[str]], ...]:
        """The passages of a document with their bigrams, as of a store version."""
        passages = self._catalogs[domain].document_passages(domain, doc_key)
        return tuple((passage, grams(passage.content)) for passage in passages)

    def _succession(self) -> Succession:
        with self._lock:
            if self._known is not None and time.monotonic() < self._next:
                return self._known
            versions = {name: c.store_version(name) for name, c in self._catalogs.items()}
            if self._known is None or versions != self._versions:
                self._known = read_succession(self._catalogs)
                self._versions = versions
            self._next = time.monotonic() + self._recheck
            return self._known


def read_succession(catalogs: Mapping[str, PassageCatalog]) -> Succession:
    """What follows what in these catalogs (domain -> catalog); reads every document once."""
    versions = []
    amends = {}
    repeals: dict[tuple[str, str], frozenset[str]] = defaultdict(frozenset)
    for domain, catalog in catalogs.items():
        for key, first in catalog.first_passages(domain):
            versions.append(Version(domain, key, first.id, first.metadata))
        for key, content in catalog.contents_with(domain, "废止"):
            repeals[domain, key] |= repealed_titles(content)
        for document in catalog.documents(domain):
            if changes := amendments_of(document.extra):
                amends[domain, document.doc_key] = changes
    return Succession(versions, repeals, amends)


def _by_words(search: WordSearch, query: str, day: date) -> Iterator[Passage]:
    """What the words find whatever the day, where it has much of the question."""
    question = grams(query)
    likely = []
    for outcome in search():
        # A domain that does not answer here was, or will be, reported by its own search.
        for passage in outcome.value if outcome.status == "ok" else ():
            if passage.metadata.in_force_on(day):
                continue
            share = containment(question, grams(f"{passage.metadata.title}\n{passage.content}"))
            if share >= _WORDS_SHARE:
                likely.append((share, passage))
    yield from (passage for _, passage in sorted(likely, key=lambda pair: -pair[0]))


def _other(
    known: Succession, amended: AmendedRules, version: Version, passage: Passage, day: date
) -> OtherVersion:
    after = known.successor(version)
    meta = version.metadata
    if meta.in_force_on(day):  # the document stands, this article of it has ended
        own = passage.metadata.status
        return OtherVersion(
            passage, "repealed" if own == "repealed" else "amended", amended.successor(passage)
        )
    status = status_on(meta, day, after)
    replaces = ""
    if status == "not_yet":
        earlier = (*known.versions(meta), *known.predecessors(version))
        before = (v for v in earlier if v.metadata.in_force_on(day) and v != version)
        replaces = next((v.metadata.title for v in before), "")
    named = None
    if after is not None:
        named = Successor(
            domain=after.domain,
            doc_key=after.doc_key,
            title=after.metadata.title,
            effective=after.metadata.effective,
            same_title=after.metadata.title == meta.title,
        )
    return OtherVersion(passage, status, named, replaces)
