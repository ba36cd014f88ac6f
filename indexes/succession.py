"""Which document of a store took the place of which, on what day: read from what is ingested.

A later version of the same title and place is the successor, else the document whose text repeals
the title (``《甲办法》同时废止``). The day is the one that ingestion wrote as ``expires``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from indexes.amendments import Amendment
from indexes.schema import NATIONAL, PassageMetadata, Status

_REPEAL = re.compile(
    r"((?:《[^《》]+》[^《》。；;]{0,60})+?)(?:同时|予以|即行|停止执行)?[^《》。；;]{0,8}废止"
)
_NAME = re.compile(r"《([^《》]+)》")


@dataclass(frozen=True, slots=True)
class Version:
    """One version of one document: ``id`` and ``metadata`` are those of its first passage."""

    domain: str
    doc_key: str
    id: str
    metadata: PassageMetadata


@dataclass(frozen=True, slots=True)
class ArticleChange:
    """A change of an article, and the version of the document that makes it."""

    by: Version
    amendment: Amendment

    @property
    def ends_whole(self) -> bool:
        """Whether nothing of the article as it was stays."""
        return self.amendment.kind in ("replace", "delete")


def plain_title(title: str) -> str:
    """The title without 中华人民共和国 in front, title marks and spacing; brackets full-width."""
    plain = re.sub(r"[\s《》]", "", title).replace("(", "（").replace(")", "）")
    return plain.removeprefix("中华人民共和国")


def repealed_titles(content: str) -> frozenset[str]:
    """The plain titles that a passage says are repealed."""
    return frozenset(
        plain_title(name) for match in _REPEAL.finditer(content) for name in _NAME.findall(match[1])
    )


class Succession:
    """The versions of a store and what follows what. Immutable after construction."""

    def __init__(
        self,
        versions: Iterable[Version],
        repeals: Mapping[tuple[str, str], frozenset[str]],
        amends: Mapping[tuple[str, str], Sequence[Amendment]] = MappingProxyType({}),
    ) -> None:
        """``repeals``: (domain, document key) -> plain titles that this document repeals;
        ``amends``: the same key -> what this document changes in others."""
        self._versions = {(v.domain, v.doc_key): v for v in versions}
        self._by_id = {_whole(v.id): v for v in self._versions.values()}
        self._by_title: dict[tuple[str, str], list[Version]] = defaultdict(list)
        for version in self._versions.values():
            self._by_title[_identity(version.metadata)].append(version)
        self._repealing: dict[str, list[Version]] = defaultdict(list)
        for key, titles in repeals.items():
            for title in titles if key in self._versions else ():
                self._repealing[title].append(self._versions[key])
        self.amends = {key: tuple(of) for key, of in amends.items() if key in self._versions}
        self._changes: dict[tuple[str, str], list[ArticleChange]] = defaultdict(list)
        for key in sorted(self.amends, key=lambda k: (_said(self._versions[k].metadata), k)):
            by = self._versions[key]
            for change in self.amends[key]:
                rule = (change.title, by.metadata.jurisdiction_code)
                self._changes[rule].append(ArticleChange(by, change))
        self._before: dict[tuple[str, str], list[Version]] = defaultdict(list)
        for version in self._versions.values():
            after = self.successor(version)
            if after is not None:
                self._before[after.domain, after.doc_key].append(version)

    def of(self, passage_id: str) -> Version | None:
        """The version that a passage belongs to, by its id; None when unknown."""
        return self._by_id.get(_whole(passage_id))

    def versions(self, metadata: PassageMetadata) -> Sequence[Version]:
        """All versions of the same title and place, whatever their day."""
        return self._by_title.get(_identity(metadata), ())

    def successor(self, version: Version) -> Version | None:
        """What took, or will take, this version's place; None where the store does not tell."""
        meta = version.metadata
        if not meta.effective:
            return None
        later = [v for v in self.versions(meta) if (v.metadata.effective or "") > meta.effective]
        if not later and meta.expires:
            title = plain_title(meta.title)
            later = [
                v
                for v in self._repealing.get(title, ())
                if (v.metadata.effective or "") >= meta.expires
                and v.doc_key != version.doc_key
                and v.metadata.jurisdiction_code in (meta.jurisdiction_code, NATIONAL)
            ]
        return min(later, key=lambda v: (v.metadata.effective or "", v.doc_key), default=None)

    def repealed(self) -> Mapping[str, str]:
        """Plain titles that are repealed by name -> the title of the latest document that does."""
        return {
            title: max(by, key=lambda v: v.metadata.effective or "").metadata.title
            for title, by in self._repealing.items()
        }

    def repealed_by(self, title: str, day: date) -> Version | None:
        """The first document in force on ``day`` that repeals a plain title of which no version
        is in force that day; None where none does."""
        own = (v for (name, _), of in self._by_title.items() if name == title for v in of)
        if any(version.metadata.in_force_on(day) for version in own):
            return None
        by = [
            v
            for v in self._repealing.get(title, ())
            if v.metadata.effective and v.metadata.in_force_on(day)
        ]
        return min(by, key=lambda v: (v.metadata.effective or "", v.doc_key), default=None)

    def changes_of(self, metadata: PassageMetadata) -> list[ArticleChange]:
        """What changes an article of a text older than the change, oldest first.

        None after a change that moved the numbers: they are no longer those of this text.
        """
        said = _said(metadata)
        younger = [
            c for c in self._changes.get(_identity(metadata), ()) if _said(c.by.metadata) > said
        ]
        moved = next((c.by for c in younger if c.amendment.kind == "renumber"), None)
        if moved is not None and said:
            last = _said(moved.metadata)
            younger = [c for c in younger if c.by == moved or _said(c.by.metadata) < last]
        kinds = ("replace", "part", "delete")
        return [
            c
            for c in younger
            if said and c.amendment.kind in kinds and c.amendment.article == metadata.article
        ]

    def after_clause(self, passage_id: str) -> list[ArticleChange]:
        """What later amendments do to the articles that this clause of an amendment changes."""
        return [
            later
            for changes in self._changes.values()
            for change in changes
            if change.amendment.passage == passage_id and change.amendment.article
            for later in changes
            if later.amendment.article == change.amendment.article
            and _said(later.by.metadata) > _said(change.by.metadata)
        ]

    def additions(self, title: str, article: str) -> list[ArticleChange]:
        """What adds, or writes anew, an article that a rule of this title does not have itself."""
        name = plain_title(title)
        return [
            change
            for (rule, _), changes in self._changes.items()
            if rule == name
            for change in changes
            if change.amendment.article == article and change.amendment.kind in ("add", "replace")
        ]

    def republished(self, version: Version, day: date | None) -> Version | None:
        """The text, in force on ``day``, of the one rule that this version amends, if it is no
        older than the amendment; None where the store has none."""
        titles = {c.title for c in self.amends.get((version.domain, version.doc_key), ())}
        if len(titles) != 1:
            return None
        said = _said(version.metadata)
        texts = [
            v
            for v in self._by_title.get((titles.pop(), version.metadata.jurisdiction_code), ())
            if _said(v.metadata) >= said and (day is None or v.metadata.in_force_on(day))
        ]
        return max(texts, key=lambda v: _said(v.metadata), default=None)

    def predecessors(self, version: Version) -> Sequence[Version]:
        """The versions whose successor is this one."""
        return self._before.get((version.domain, version.doc_key), ())


def status_on(metadata: PassageMetadata, day: date, successor: Version | None) -> Status:
    """What a rule is on ``day``; ended by a version of its own title it is ``amended``."""
    if metadata.effective and metadata.effective > day.isoformat():
        return "not_yet"
    if metadata.expires and metadata.expires <= day.isoformat():
        same = successor is not None and _identity(successor.metadata) == _identity(metadata)
        return "amended" if same else "repealed"
    return "in_force"


def _said(metadata: PassageMetadata) -> str:
    """The day of the text (ISO, "" unknown): an amended text bears that of its last amendment."""
    return metadata.promulgated or metadata.effective or ""


def _whole(passage_id: str) -> str:
    return passage_id.partition("#")[0]


def _identity(metadata: PassageMetadata) -> tuple[str, str]:
    return plain_title(metadata.title), metadata.jurisdiction_code
