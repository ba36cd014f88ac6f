"""Direct look-up of the references that a question names: the article itself, or that it is not.

What a question names is not searched for but read: it stands first, whatever the ranking says.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from fusion.nodes import RankedPassage, RetrievalResult
from fusion.question_abroad import land_before
from fusion.question_place import read_question_place
from fusion.resolved import ResolvedReference
from indexes.catalog import PassageCatalog
from indexes.jurisdiction import ancestors, parts, places_in
from indexes.names import NamedDocument, NameTable, Target
from indexes.numbering import nearest_article, part_with
from indexes.references import Mention, matching_form, mentions
from indexes.schema import NATIONAL, Filters, Passage, PassageId, PassageMetadata
from indexes.succession import plain_title

MAX_REFERENCES = 8
MAX_PASSAGES = 12


@dataclass(frozen=True, slots=True)
class _Looked:
    reference: ResolvedReference
    passages: tuple[Passage, ...] = ()


class ReferenceLookup:
    """Looks references up in the catalogs of a store. Thread-safe.

    The table of names is built at first use and again when a domain's store version has moved,
    which is looked at every ``recheck_seconds``.
    """

    def __init__(
        self,
        catalogs: Mapping[str, PassageCatalog],
        aliases: Mapping[str, str],
        recheck_seconds: float = 2.0,
        repealed: Callable[[], Mapping[str, str]] | None = None,
    ) -> None:
        """``repealed``: the titles of rules that others repeal -> the title of the one that does,
        as ``fusion.other_versions`` reads them; the rules themselves may not be there."""
        self._catalogs = dict(catalogs)
        self._aliases = dict(aliases)
        self._repealed = repealed
        self._recheck = recheck_seconds
        self._lock = threading.Lock()
        self._table: NameTable | None = None
        self._ended: Mapping[str, str] = {}
        self._versions: dict[str, int] = {}
        self._next = 0.0

    def add(self, domain: str, catalog: PassageCatalog) -> None:
        """Also look in a domain that was ingested meanwhile."""
        with self._lock:
            self._catalogs = {**self._catalogs, domain: catalog}
            self._next = 0.0

    def warm_up(self) -> None:
        """Build the table of names."""
        self._names()

    def catalog(self, domain: str) -> PassageCatalog | None:
        """The catalog of a domain; None for a domain that is not open."""
        return self._catalogs.get(domain)

    def ending(self, text: str) -> str:
        """The longest known name with which ``text`` ends, "" if none."""
        return self._names().ending(text)

    def versions(self, name: str) -> list[PassageMetadata]:
        """What a name stands for, in all its versions; one entry a document."""
        found: dict[tuple[str, str], PassageMetadata] = {}
        for target in self._names().targets(name):
            for passage in self._catalogs[target.domain].find(target.domain, target.title):
                found.setdefault((target.domain, passage.metadata.file), passage.metadata)
        return list(found.values())

    def passages(
        self, text: str, mention: Mention, filters: Filters, domains: Sequence[str] | None = None
    ) -> tuple[Passage, ...]:
        """What a mention in ``text`` names, as far as ``filters`` and ``domains`` admit it."""
        asked = set(self._catalogs if domains is None else domains)
        looked = self._resolve(text, mention, self._targets(mention), filters, asked)
        return looked.passages if looked else ()

    def apply(
        self, result: RetrievalResult, filters: Filters, domains: Sequence[str] | None = None
    ) -> RetrievalResult:
        """``result`` with the passages that its question names in front, each still once.

        Their score is 1.0 (or the best score, if higher) and their trace says which reference
        named them. ``references`` of the result tells what was named, found or not.
        """
        looked = self._look(result.query, filters, domains)
        if not looked:
            return result
        ranked = {item.passage.id: item for item in result.passages}
        top = max(1.0, *(item.score for item in result.passages)) if ranked else 1.0
        first: dict[str, RankedPassage] = {}
        for item in looked:
            for passage in item.passages[:MAX_PASSAGES]:
                known = ranked.get(passage.id) or RankedPassage(passage, top)
                trace = {**known.trace, "reference": item.reference.text}
                first.setdefault(passage.id, RankedPassage(passage, top, MappingProxyType(trace)))
        rest = (item for key, item in ranked.items() if key not in first)
        references = tuple(item.reference for item in looked)
        return replace(result, passages=(*first.values(), *rest), references=references)

    def _look(
        self, question: str, filters: Filters, domains: Sequence[str] | None
    ) -> list[_Looked]:
        names = self._names()
        found = mentions(question, names.ending, names.unheard)[:MAX_REFERENCES]
        asked = set(self._catalogs if domains is None else domains)
        looked = []
        for mention in found:
            item = self._resolve(question, mention, self._targets(mention), filters, asked)
            if item is not None:
                looked.append(item)
        return looked

    def _targets(self, mention: Mention) -> tuple[Target, ...]:
        names = self._names()
        numbered = names.numbered(mention.name) if mention.is_number else ()
        return numbered or names.targets(mention.name)

    def _resolve(
        self,
        question: str,
        mention: Mention,
        targets: Sequence[Target],
        filters: Filters,
        asked: set[str],
    ) -> _Looked | None:
        text = question[mention.start : mention.end]
        land = "" if mention.is_number else land_before(question[: mention.start])
        title = land + mention.name
        reference = ResolvedReference(text=text, title=title, article=mention.article)
        if land:
            return _Looked(replace(reference, missing="document"))
        likely = () if targets else of_place(question, self._names().candidates(mention.name))
        if len(likely) == 1:
            targets = likely
        if not targets:
            # 第七条 may stand far from a name that it only seems to belong to.
            named = mention.is_number or matching_form(mention.name) in matching_form(text)
            successor = self._successor(mention.name)
            missing = replace(reference, missing="document", successor=successor)
            titles = tuple(sorted({target.title for target in likely}))
            missing = replace(missing, candidates=titles)
            return _Looked(missing) if named else None
        if not mention.article:
            return _Looked(replace(reference, title=targets[0].title, found=True))
        everything = [p for target in targets for p in self._passages(target, mention.article)]
        title = everything[0].metadata.title if everything else targets[0].title
        reference = replace(reference, title=title)
        if not everything:
            nearest = self._nearest(targets, mention.article)
            return _Looked(replace(reference, missing="article", nearest=nearest))
        here = [p for p in everything if p.source in asked and _in_place(p, filters)]
        here = of_named_place(question, here)
        if filters.jurisdictions is None and not mention.is_number:
            here = _admitted(question, here)
        if not here:
            return _Looked(replace(reference, found=True, excluded="place"))
        here = of_edition(here, mention.edition)
        reference = replace(reference, title=here[0].metadata.title)
        valid = [p for p in here if filters.admits(p.metadata)]
        # Asked for by name, a rule that is out of force is told of, apart from the results.
        chosen = valid or _newest(here)
        ordered = part_with(_main_run(chosen), mention.paragraph, mention.item)
        return _Looked(
            replace(
                reference,
                found=True,
                excluded="" if valid else "date",
                ids=tuple(passage.id for passage in ordered),
            ),
            tuple(ordered) if valid else (),
        )

    def _passages(self, target: Target, article: str) -> tuple[Passage, ...]:
        catalog = self._catalogs[target.domain]
        if not target.doc_key:
            return catalog.find(target.domain, target.title, article)
        passages = catalog.document_passages(target.domain, target.doc_key)
        return tuple(p for p in passages if p.metadata.article == article)

    def _nearest(self, targets: Sequence[Target], article: str) -> str:
        known: set[str] = set()
        for target in targets:
            known.update(self._catalogs[target.domain].articles(target.domain, target.title))
        return nearest_article(article, known)

    def _successor(self, name: str) -> str:
        """What repeals a rule that is not there, "" where the store does not tell."""
        return self._ended.get(plain_title(matching_form(name)), "")

    def _names(self) -> NameTable:
        with self._lock:
            if self._table is not None and time.monotonic() < self._next:
                return self._table
            versions = {name: c.store_version(name) for name, c in self._catalogs.items()}
            if self._table is None or versions != self._versions:
                self._ended = self._repealed() if self._repealed is not None else {}
                documents = named_documents(self._catalogs)
                self._table = NameTable(documents, self._aliases, self._ended)
                self._versions = versions
            self._next = time.monotonic() + self._recheck
            return self._table


def named_documents(catalogs: Mapping[str, PassageCatalog]) -> Iterable[NamedDocument]:
    """The documents of every domain with the names by which they are cited."""
    for domain, catalog in catalogs.items():
        for document in catalog.documents(domain):
            extra = document.extra
            yield NamedDocument(
                domain=domain,
                doc_key=document.doc_key,
                title=document.title,
                full_title=str(extra.get("full_title", "")),
                doc_number=str(extra.get("doc_number", "")),
                short_names=tuple((t, s) for t, s in extra.get("short_names", ())),
            )


def _in_place(passage: Passage, filters: Filters) -> bool:
    return replace(filters, as_of=None).admits(passage.metadata)


def of_named_place(question: str, passages: list[Passage]) -> list[Passage]:
    """Of rules of several places that share a name, those of the place that the question names."""
    if len({p.metadata.jurisdiction_code for p in passages}) <= 1:
        return passages
    codes = {code for place in places_in(question) for code in ancestors(place.code)} - {NATIONAL}
    return [p for p in passages if p.metadata.jurisdiction_code in codes] or passages


def of_place(question: str, targets: Sequence[Target]) -> tuple[Target, ...]:
    """Of rules of several places, those of the places that the question names, else all."""
    named = {place.code for place in places_in(question)} - {NATIONAL}
    near = {code for place in named for code in (*ancestors(place), *parts(place))} - {NATIONAL}
    of = [(t, {place.code for place in places_in(t.title)}) for t in targets]
    return tuple(target for target, codes in of if not named or codes & near)


def _admitted(question: str, passages: list[Passage]) -> list[Passage]:
    """Without the rules of other places than the question names: 天津 has none of 上海's."""
    placed = read_question_place(question)
    return [p for p in passages if placed is None or placed.admits(p.metadata)]


def of_edition(passages: list[Passage], year: int) -> list[Passage]:
    """The version of that year where there is one (会计法（2017年）), else all."""

    def years(passage: Passage) -> set[str]:
        meta = passage.metadata
        return {(day or "")[:4] for day in (meta.promulgated, meta.effective, meta.version)}

    return [p for p in passages if str(year) in years(p)] or passages


def _newest(passages: Sequence[Passage]) -> list[Passage]:
    newest = max(p.metadata.effective or "" for p in passages)
    return [p for p in passages if (p.metadata.effective or "") == newest]


def _main_run(passages: Sequence[Passage]) -> list[Passage]:
    """Newest version first; an attached rule's article of the same number does not count."""
    own = [p for p in passages if PassageId.parse(p.id).locator.startswith("a")] or list(passages)
    return sorted(own, key=lambda p: p.metadata.effective or "", reverse=True)
