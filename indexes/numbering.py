"""Article numbers in digits, and where in an article a 款 or 项 stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from indexes.references import matching_form
from indexes.schema import Passage
from indexes.tokenizer import numeral

_ITEM = re.compile(r"(?:^|[\s：:；;。，])[（(]([零〇一二三四五六七八九十百0-9]+)[)）]")


def article_key(article: str) -> tuple[int, int]:
    """``120-1`` -> ``(120, 1)``, for sorting. Raises ValueError when it is no article number."""
    number, _, sub = article.partition("-")
    return int(number), int(sub or 0)


def nearest_article(wanted: str, known: Iterable[str]) -> str:
    """The known article closest to ``wanted`` (the lower of two), "" without any."""
    target = article_key(wanted)

    def distance(article: str) -> tuple[int, int, tuple[int, int]]:
        key = article_key(article)
        return abs(key[0] - target[0]), abs(key[1] - target[1]), key

    return min(known, key=distance, default="")


def part_with(passages: Sequence[Passage], paragraph: int, item: int) -> list[Passage]:
    """Passages of one article, the part that holds the 款 and 项 in front; 0 = none named."""
    if not (paragraph or item):
        return list(passages)
    first = [p for p in passages if _holds(p, item)] if item else []
    if not first and paragraph and passages:
        first = _paragraph(passages, paragraph)
    return [*first, *(p for p in passages if p not in first)]


def _holds(passage: Passage, item: int) -> bool:
    return any(numeral(m[1]) == item for m in _ITEM.finditer(matching_form(passage.content)))


def _paragraph(passages: Sequence[Passage], paragraph: int) -> list[Passage]:
    """The part in which the n-th 款 begins: lines that are no （一） items, counted over the parts
    of one version."""
    version = passages[0].metadata.version
    count = 0
    for passage in passages:
        if passage.metadata.version != version:
            break
        lines = [line.strip() for line in passage.content.splitlines() if line.strip()]
        count += sum(1 for line in lines if not re.match(r"[（(]", line))
        if count >= paragraph:
            return [passage]
    return []
