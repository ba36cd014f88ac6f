"""Articles that an amendment has changed, where the store has the rule only as it was before.

Named by a question, such an article is answered by the clause that changes or adds it; cited in
part as it was, the answer says what has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from fusion.markers import without_markers
from fusion.nodes import RankedPassage, RetrievalResult
from fusion.resolved import ResolvedReference
from fusion.version_notes import Successor
from fusion.wording import article_name
from indexes.amendments import bare_words
from indexes.schema import Filters, Passage, PassageMetadata
from indexes.succession import ArticleChange, Succession, Version


@dataclass(frozen=True, slots=True)
class AmendedRules:
    """Reads a store: ``known`` its versions and changes, ``read`` passages by id, ``text_of`` the
    whole text of a document ("" unknown)."""

    known: Succession
    read: Callable[[Iterable[str]], Mapping[str, Passage]]
    text_of: Callable[[Version], str]

    def apply(self, result: RetrievalResult, filters: Filters) -> RetrievalResult:
        """``result`` with the clauses that change the articles named, and notes on what it has."""
        if not self.known.amends:
            return result
        references, first = [], dict[str, RankedPassage]()
        top = max((item.score for item in result.passages), default=1.0)
        for reference in result.references:
            named, clauses = self._reference(reference, filters)
            references.append(named)
            for passage in clauses:
                trace = MappingProxyType({"reference": reference.text, "amends": reference.title})
                first.setdefault(passage.id, RankedPassage(passage, top, trace))
        result = replace(result, references=tuple(references), passages=_placed(result, first))
        notes = {
            item.passage.id: note
            for item in result.passages
            if (note := self._note(item.passage, filters))
        }
        return replace(result, amendment_notes=MappingProxyType(notes))

    def successor(self, passage: Passage) -> Successor | None:
        """The amendment by which an article, or a clause of one, ended before its document."""
        changes = self.known.changes_of(passage.metadata)
        for change in (*changes, *self.known.after_clause(passage.id)):
            meta = change.by.metadata
            if meta.effective == passage.metadata.expires and change.ends_whole:
                return Successor(
                    change.by.domain, change.by.doc_key, meta.title, meta.effective, False
                )
        return None

    def _reference(
        self, reference: ResolvedReference, filters: Filters
    ) -> tuple[ResolvedReference, tuple[Passage, ...]]:
        if not reference.article or reference.missing == "document":
            return reference, ()
        if reference.missing:
            clauses = self._clauses(
                self.known.additions(reference.title, reference.article), filters
            )
            if not clauses:
                return reference, ()
            ids = tuple(p.id for p in clauses)
            return replace(reference, found=True, missing="", nearest="", ids=ids), clauses
        old = next(iter(self.read(reference.ids).values()), None)
        if old is None:
            return reference, ()
        changes = self._open(old, filters)
        return reference, self._clauses(changes, filters)

    def _open(self, passage: Passage, filters: Filters) -> list[ArticleChange]:
        """The changes in force of a passage's article that its own document does not have yet."""
        changes = [c for c in self.known.changes_of(passage.metadata) if self._valid(c, filters)]
        version = self.known.of(passage.id) if changes else None
        text = bare_words(self.text_of(version)) if version else ""
        return [change for change in changes if not change.amendment.is_in(text)]

    def _clauses(self, changes: Sequence[ArticleChange], filters: Filters) -> tuple[Passage, ...]:
        """The clauses, the latest first."""
        ids = [c.amendment.passage for c in reversed(changes) if self._valid(c, filters)]
        read = self.read(ids)
        clauses = (read[id] for id in dict.fromkeys(ids) if id in read)
        return tuple(clause for clause in clauses if filters.admits(clause.metadata))

    def _valid(self, change: ArticleChange, filters: Filters) -> bool:
        meta = change.by.metadata
        return filters.as_of is None or bool(meta.effective and meta.in_force_on(filters.as_of))

    def _note(self, passage: Passage, filters: Filters) -> str:
        meta = passage.metadata
        changes = self._open(passage, filters) if meta.article else []
        if not changes:
            return self._republished(passage, filters)
        acts = dict.fromkeys((c.by.metadata.title, c.by.metadata.effective) for c in changes)
        by = "、".join(f"《{title}》（{day}起）" for title, day in acts)
        return without_markers(
            f"注意：《{meta.title}》{article_name(meta.article)}已由{by}修改，"
            "所引为修改前的文本，请对照修改内容。"
        )

    def _republished(self, passage: Passage, filters: Filters) -> str:
        """An amendment that the rule itself holds by now is not the text to quote."""
        version = self.known.of(passage.id)
        after = self.known.republished(version, filters.as_of) if version else None
        if version is None or after is None:
            return ""
        return without_markers(
            f"注意：《{version.metadata.title}》的修改已并入《{after.metadata.title}》"
            f"（{_day(after.metadata)}文本），条文以后者为准。"
        )


def _placed(
    result: RetrievalResult, first: Mapping[str, RankedPassage]
) -> tuple[RankedPassage, ...]:
    """The clauses behind the articles that were named themselves, before all others."""
    if not first:
        return result.passages
    rest = [item for item in result.passages if item.passage.id not in first]
    named = [item for item in rest if "reference" in item.trace]
    return (*named, *first.values(), *(item for item in rest if item not in named))


def _day(meta: PassageMetadata) -> str:
    return meta.promulgated or meta.effective or ""
