"""Articles of its own document to which an article points: 本法第八条, 依照第三条至第五条, 前条.

Pure grammar; one hop, and never the article itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from indexes.numbering import article_key
from indexes.references import matching_form
from indexes.tokenizer import article_token, numeral

_NUM = "[零〇○一二三四五六七八九十百千0-9]+"
_ARTICLE = re.compile(
    rf"第(?P<number>{_NUM})条(?!例)(?:之(?P<sub>{_NUM}))?(?:第(?P<paragraph>{_NUM})款)?"
)
# A name that the store does not know: the article is one of that document, not of this one.
_NAME = (
    "(?:法|法典|条例|规定|办法|细则|解释|决定|规则|准则|通则|章程|公约|条约|协定|议定书)"
    r"(?:》|的|中)?\Z"
)
_OTHER, _OWN = re.compile(_NAME), re.compile(f"本(?:实施|管理)?{_NAME}")
_RANGE = re.compile(r"[至到\-—~～]\Z")
_BEFORE = re.compile(r"(?:前|上)(?P<count>[一二两三四五])?条(?!件)")
_COUNTS = {"二": 2, "两": 2, "三": 3, "四": 4, "五": 5}
_WIDEST = 5  # articles of a range; a wider one names a chapter, not a rule


@dataclass(frozen=True, slots=True)
class OwnReference:
    """``text`` as written; ``article`` in digits; ``paragraph`` (款), 0 where none is named."""

    text: str
    article: str
    paragraph: int = 0


def own_references(
    content: str,
    article: str,
    known: Callable[[], Collection[str]],
    elsewhere: Sequence[tuple[int, int]] = (),
) -> tuple[OwnReference, ...]:
    """The other articles of its document that ``content`` names, in order, each once.

    ``article``: the article that it is itself, in digits ("" if none); ``known``: gives the
    articles of the document, asked only where there is a reference; ``elsewhere``: spans
    (start, end) that name articles of other documents.
    """
    plain = matching_form(content)
    named = [
        (match.start(), match.end(), reference)
        for match in _ARTICLE.finditer(plain)
        if not any(start < match.end() and match.start() < end for start, end in elsewhere)
        and (not _OTHER.search(plain, 0, match.start()) or _OWN.search(plain, 0, match.start()))
        and (reference := _read(match)) is not None
        and reference.article != article
    ]
    before = list(_BEFORE.finditer(plain)) if article else []
    if not (named or before):
        return ()
    present = set(known())
    ordered = sorted((a for a in present if a), key=article_key)
    found = [(start, reference) for start, _, reference in named]
    for (_, end, one), (start, _, other) in pairwise(named):
        if _RANGE.fullmatch(plain[end:start]):
            low, high = article_key(one.article), article_key(other.article)
            between = [a for a in ordered if low < article_key(a) < high]
            if len(between) <= _WIDEST:
                text = f"{one.text}{plain[end:start]}{other.text}"
                found += [(start - 1, OwnReference(text, a)) for a in between]
    for match in before:
        count = _COUNTS.get(match["count"] or "", 1)
        lower = [a for a in ordered if article_key(a) < article_key(article)]
        found += [(match.start(), OwnReference(match[0], a)) for a in lower[-count:]]
    unique: dict[str, OwnReference] = {}
    for _, reference in sorted(found, key=lambda pair: pair[0]):
        if reference.article != article and reference.article in present:
            unique.setdefault(reference.article, reference)
    return tuple(unique.values())


def name_like(text: str) -> str:
    """The end of ``text`` where it looks like another document's name, known or not; else ""."""
    name = _OTHER.search(text)
    return name[0] if name and not _OWN.search(text) else ""


def _read(match: re.Match[str]) -> OwnReference | None:
    try:
        article = article_token(match["number"], match["sub"]).removeprefix("art:")
        paragraph = numeral(match["paragraph"]) if match["paragraph"] else 0
    except (KeyError, ValueError):
        return None
    return OwnReference(match[0], article, paragraph)
