"""Check every statute reference of a document: does it exist, is it in force, is it quoted right.

The grammar is that of ``indexes.references``; names, articles and words are those of the store.
Articles without a name (the checked text's own numbering, 本法第三条) are no references to check.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby
from typing import Literal

from fusion.lookup import of_edition, of_named_place
from fusion.overlap import containment, grams
from fusion.quotation import QuoteMatch, compare_quotation, is_verbatim
from fusion.statute_book import StatuteBook
from indexes.named_references import named_references
from indexes.names import Target
from indexes.numbering import nearest_article
from indexes.references import Mention
from indexes.schema import Passage

_KIND = re.compile(
    r"(?:法|法典|条例|规定|办法|细则|规则|准则|通则|解释|决定)(?:[（(][^（()）]{1,12}[)）])?$"
)
_DRAFT = re.compile(r"草案|征求意见稿|送审稿")
_REPEALING = re.compile(r"[^。；;]*?(?:同时|予以|即行|相应|现行)?(?:废止|失效)")
_LEAD = r"[\s，,]*(?:的|中|内|之)?(?:明确)?(?:规定|指出|写明|载明|要求)?(?:的是)?[\s：:，,]*"
_QUOTED = re.compile(
    rf"{_LEAD}(?:“(?P<a>[^“”]{{4,2000}})”|「(?P<b>[^「」]{{4,2000}})」|\"(?P<c>[^\"\n]{{4,2000}})\")"
)
_STATED = re.compile(r"[\s，,]*(?:明确)?规定[：:]\s*(?P<words>[^\n“「\"]{8,2000}?(?:。|$))")

_LETTERHEAD = 10  # lines at the top in which a text gives its own 发文字号

Problem = Literal["no_document", "no_article", "not_in_force", "misquoted", "nearly_quoted"]


@dataclass(frozen=True, slots=True)
class CheckedReference:
    """One reference of the text, ``text[start:end]`` (``line`` from 1), and what was found.

    ``title`` and ``article`` (digits) as stored; ``nearest``: the closest article, or the title of
    the nearest spelling, where it does not exist. ``effective``/``expires``: ISO dates of the
    version that was read; ``successor``: what took its place where it is out of force. ``quoted``:
    the words that follow, and ``quote`` how they compare with the article (None without words);
    ``quoted_from``: where they stand instead (第9条, 2019-03-01起施行的文本). ``problems`` is empty
    where all is well.
    """

    text: str
    line: int
    start: int
    end: int
    title: str
    article: str
    problems: tuple[Problem, ...] = ()
    nearest: str = ""
    effective: str | None = None
    expires: str | None = None
    successor: str = ""
    quoted: str = ""
    quote: QuoteMatch | None = None
    quoted_from: str = ""


def check_references(
    text: str, book: StatuteBook, as_of: date | None
) -> tuple[CheckedReference, ...]:
    """The references of ``text`` in order; with ``as_of`` None, rules of any day will do."""
    checked: list[CheckedReference] = []
    at = 0
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        found = named_references(line, book.ending)
        together = frozenset(mention.article for mention in found)
        for mention in found:
            reference = CheckedReference(
                text=line[mention.start : mention.end],
                line=number,
                start=at + mention.start,
                end=at + mention.end,
                title=mention.name,
                article=mention.article,
            )
            targets = book.targets(mention)
            if targets:
                checked.append(_check(reference, line, mention, book, targets, as_of, together))
            elif mention.article or _is_statute(mention, number):
                checked.append(_unknown(reference, mention, book, as_of))
        at += len(line)
    return tuple(checked)


def _is_statute(mention: Mention, line: int) -> bool:
    """Whether an unknown name is one of a rule at all: not a draft, nor the text's own number."""
    if mention.is_number:
        return line > _LETTERHEAD
    return bool(_KIND.search(mention.name)) and not _DRAFT.search(mention.name)


def _unknown(
    reference: CheckedReference, mention: Mention, book: StatuteBook, as_of: date | None
) -> CheckedReference:
    """The store lacks the document; it may still tell what repealed it, or how it is spelt."""
    if mention.is_number:
        return replace(reference, problems=("no_document",))
    if successor := book.successor(mention.name, by=as_of):
        return replace(reference, problems=("not_in_force",), successor=successor)
    return replace(reference, problems=("no_document",), nearest=book.similar(mention.name))


def _check(
    reference: CheckedReference,
    line: str,
    mention: Mention,
    book: StatuteBook,
    targets: Sequence[Target],
    as_of: date | None,
    together: frozenset[str],
) -> CheckedReference:
    everything = [p for target in targets for p in book.passages(target)]
    everything = of_named_place(line[: mention.end], everything)
    title = everything[0].metadata.title if everything else targets[0].title
    reference = replace(reference, title=title)
    article = mention.article
    named = [p for p in everything if p.metadata.article == article] if article else everything
    if not named:
        known = {p.metadata.article for p in everything if p.metadata.article}
        nearest = nearest_article(article, known)
        return replace(reference, problems=("no_article",), nearest=nearest)
    named = of_edition(named, mention.edition)
    valid = [p for p in named if as_of is None or p.metadata.in_force_on(as_of)]
    read = valid or named
    newest = max(read, key=lambda p: p.metadata.effective or "").metadata
    reference = replace(reference, effective=newest.effective, expires=newest.expires)
    if not valid:
        later = _later_version(everything, newest.expires)
        if not later and newest.expires:
            later = book.successor(newest.title, on=newest.expires)
        if not _REPEALING.match(line, mention.end):
            reference = replace(reference, problems=("not_in_force",))
        reference = replace(reference, successor=later)
    return _compared(reference, line[mention.end :], read, everything, together)


def _later_version(passages: Sequence[Passage], end: str | None) -> str:
    starts = sorted({p.metadata.effective for p in passages if p.metadata.effective})
    later = [start for start in starts if end and start >= end]
    return f"{later[0]}起施行的文本" if later else ""


def _compared(
    reference: CheckedReference,
    rest: str,
    read: Sequence[Passage],
    everything: Sequence[Passage],
    together: frozenset[str],
) -> CheckedReference:
    """With the words that follow the reference held against what it names."""
    marked = _QUOTED.match(rest)
    stated = None if marked else _STATED.match(rest)
    quoted = next(filter(None, marked.groups())) if marked else stated["words"] if stated else ""
    if not quoted:
        return reference
    match = _best(quoted, read, whole=not reference.article)
    if stated and match.status == "not_found":
        return reference  # in the writer's own words
    elsewhere = "" if match.status == "verbatim" else _elsewhere(quoted, read, everything, together)
    if elsewhere is None:
        return replace(reference, quoted=quoted, quote=QuoteMatch("verbatim", 1.0))
    problems = reference.problems
    if marked and match.status != "verbatim":
        wrong: Problem = "nearly_quoted" if match.status == "nearly" else "misquoted"
        problems = (*problems, wrong)
    return replace(reference, problems=problems, quoted=quoted, quote=match, quoted_from=elsewhere)


def _articles(passages: Sequence[Passage]) -> dict[tuple[str, str, str], str]:
    """The text of each article (or other passage) of each version, its parts together."""

    def key(passage: Passage) -> tuple[str, str, str]:
        meta = passage.metadata
        return meta.title, meta.version, meta.article or passage.id

    ordered = sorted(passages, key=lambda p: (key(p), p.metadata.part))
    return {k: "\n".join(p.content for p in group) for k, group in groupby(ordered, key)}


def _best(quoted: str, passages: Sequence[Passage], *, whole: bool) -> QuoteMatch:
    texts = list(_articles(passages).values())
    if whole:  # of a whole document, only the nearest articles are compared in detail
        wanted = grams(quoted)
        texts = sorted(texts, key=lambda t: -containment(wanted, grams(t)))[:3]
    order = {"verbatim": 2, "nearly": 1, "not_found": 0}
    found = (compare_quotation(quoted, text) for text in texts)
    return max(found, key=lambda match: (order[match.status], match.share))


def _elsewhere(
    quoted: str,
    read: Sequence[Passage],
    everything: Sequence[Passage],
    together: frozenset[str],
) -> str | None:
    """Where in the document's versions the words stand verbatim, "" nowhere; None in an article
    that the same line names as well (第六条、第七条规定：…)."""
    own = {(p.metadata.title, p.metadata.version) for p in read}
    articles = {p.metadata.article for p in read}
    starts = {p.metadata.version: p.metadata.effective or p.metadata.version for p in everything}
    for (title, version, article), text in _articles(everything).items():
        if is_verbatim(quoted, text):
            if (title, version) not in own:
                if article in articles:
                    return f"{starts[version]}起施行的文本"
                continue
            if article in together:
                return None
            return f"第{article}条" if ":" not in article else "无条号的段落"
    return ""
