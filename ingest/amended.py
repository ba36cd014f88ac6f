"""Which articles of which documents other documents have changed, and from what day on.

Only what is sure ends: an article that is replaced as a whole or cut, in a text older than the
change. Once a change has moved the numbers, later changes no longer fit the older text and end
nothing. A clause of an amendment ends when a later one replaces the same article.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from indexes.amendments import Amendment
from indexes.schema import Status
from ingest.rule_names import normal_title, wrapped_rule
from ingest.validity import ArticleEnd, DocumentFacts, Validity

_Rule = tuple[str, str]  # normal title, place
_Act = tuple[DocumentFacts, tuple[Amendment, ...]]


def amended_articles(
    documents: Sequence[DocumentFacts], closed: Mapping[str, Validity], today: date
) -> dict[str, tuple[ArticleEnd, ...]]:
    """Document key -> its articles or passages that end by themselves, by day.

    ``closed``: the validity of documents as a whole; what ends with its document is left out.
    """
    acts = _acts(documents)
    found: dict[str, list[ArticleEnd]] = defaultdict(list)
    for document in documents if acts else ():
        names = {normal_title(document.title), wrapped_rule(document.title)}
        for name in names:
            ends = _of_rule(document, acts.get((name, document.jurisdiction_code), ()), today)
            found[document.key] += ends
    for known in acts.values():
        for key, end in _of_acts(known, today):
            found[key].append(end)
    return {
        key: tuple(sorted(left, key=lambda e: (e.day, e.article, e.passage)))
        for key, ends in found.items()
        if (left := [end for end in ends if not _over(closed.get(key), end)])
    }


def _acts(documents: Sequence[DocumentFacts]) -> dict[_Rule, list[_Act]]:
    """Amended rule -> the documents that change it, oldest first, with their changes of it."""
    acts: dict[_Rule, list[_Act]] = defaultdict(list)
    for document in sorted(documents, key=lambda d: (_said(d) or "", d.key)):
        by_title: dict[str, list[Amendment]] = defaultdict(list)
        for change in document.amends if document.effective else ():
            by_title[normal_title(change.title)].append(change)
        for title, changes in by_title.items():
            acts[title, document.jurisdiction_code].append((document, tuple(changes)))
    return acts


def _of_rule(document: DocumentFacts, acts: Sequence[_Act], today: date) -> Iterator[ArticleEnd]:
    said = _said(document)
    later = [a for a in acts if said and a[0].key != document.key and (_said(a[0]) or "") > said]
    moved = next((n for n, (_, changes) in enumerate(later) if _renumbers(changes)), len(later))
    whole: dict[str, tuple[DocumentFacts, Amendment]] = {}
    new: dict[str, list[str]] = defaultdict(list)
    for act, changes in later[: moved + 1]:
        for change in changes:
            if change.kind in ("replace", "delete"):
                whole.setdefault(change.article, (act, change))
            if change.new:
                new[change.article].append(change.new)
    for article, (act, change) in whole.items():
        yield _end(act, change, today, article=article, new=tuple(new[article]))


def _of_acts(acts: Sequence[_Act], today: date) -> Iterator[tuple[str, ArticleEnd]]:
    for n, (act, changes) in enumerate(acts):
        clauses = Counter(change.passage for change in changes)
        if _renumbers(changes):
            continue
        for change in changes:
            if change.kind not in ("replace", "add") or clauses[change.passage] > 1:
                continue
            later = _replacing(change, acts[n + 1 :])
            if later is not None and (_said(later[0]) or "") > (_said(act) or ""):
                yield act.key, _end(later[0], later[1], today, passage=change.passage)


def _replacing(change: Amendment, acts: Sequence[_Act]) -> tuple[DocumentFacts, Amendment] | None:
    for act, changes in acts:
        for later in changes:
            if later.article == change.article and later.kind in ("replace", "delete"):
                return act, later
        if _renumbers(changes):
            return None
    return None


def _end(
    act: DocumentFacts,
    change: Amendment,
    today: date,
    *,
    article: str = "",
    passage: str = "",
    new: tuple[str, ...] = (),
) -> ArticleEnd:
    day = act.effective or ""
    ended: Status = "repealed" if change.kind == "delete" else "amended"
    return ArticleEnd(day, ended if day <= today.isoformat() else None, article, passage, new)


def _renumbers(changes: Sequence[Amendment]) -> bool:
    return any(change.kind == "renumber" for change in changes)


def _said(document: DocumentFacts) -> str | None:
    """The day of the text: an amended text bears that of its last amendment."""
    return document.promulgated or document.effective


def _over(whole: Validity | None, end: ArticleEnd) -> bool:
    return whole is not None and whole.expires is not None and whole.expires <= end.day
