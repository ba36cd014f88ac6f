"""Articles of its own document to which an article points: 本法第八条, 依照第三条至第五条, 前条.

Pure grammar; one hop, and never the article itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from indexes.numbering import article_key
from indexes.references import matching_form
from indexes.tokenizer import article_token, numeral

_NUM = "[零〇○一二三四五六七八九十百千0-9]+"
_ARTICLE = re.compile(
    rf"第(?P<number>{_NUM})条(?!例)(?:之(?P<sub>{_NUM}))?(?:第(?P<paragraph>{_NUM})款)?"
)
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
    known: Iterable[str],
    elsewhere: Sequence[tuple[int, int]] = (),
) -> tuple[OwnReference, ...]:
    """The other articles of its document that ``content`` names, in order, each once.

    ``article``: the article that it is itself, in digits ("" if none); ``known``: the articles of
    the document; ``elsewhere``: spans (start, end) that name articles of other documents.
    """
    plain = matching_form(content)
    ordered = sorted((a for a in known if a), key=article_key)
    found: list[tuple[int, OwnReference]] = []
    last: tuple[int, str] = (-1, "")
    for match in _ARTICLE.finditer(plain):
        if any(start < match.end() and match.start() < end for start, end in elsewhere):
            continue
        try:
            number = article_token(match["number"], match["sub"]).removeprefix("art:")
            paragraph = numeral(match["paragraph"]) if match["paragraph"] else 0
        except (KeyError, ValueError):
            continue
        if last[1] and _RANGE.fullmatch(plain[last[0] : match.start()]):
            low, high = article_key(last[1]), article_key(number)
            between = [a for a in ordered if low < article_key(a) < high]
            if len(between) <= _WIDEST:
                found += [(match.start(), OwnReference(match[0], a)) for a in between]
        found.append((match.start(), OwnReference(match[0], number, paragraph)))
        last = (match.end(), number)
    if article:
        lower = [a for a in ordered if article_key(a) < article_key(article)]
        for match in _BEFORE.finditer(plain):
            count = _COUNTS.get(match["count"] or "", 1)
            found += [(match.start(), OwnReference(match[0], a)) for a in lower[-count:]]
    present = set(ordered)
    unique: dict[str, OwnReference] = {}
    for _, reference in sorted(found, key=lambda pair: pair[0]):
        if reference.article != article and reference.article in present:
            unique.setdefault(reference.article, reference)
    return tuple(unique.values())
