"""Statute references in running text: 《个人所得税法》第六条, 刑法120条之一, 示府规〔2024〕3号.

Pure grammar over a table of names; what a reference stands for is looked up elsewhere. Offsets are
those of the text as given: matching forms are made character by character.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from indexes.tokenizer import normalise, numeral

_NUM = "[零〇○一二两三四五六七八九十百千万0-9]+"
_ARTICLE = re.compile(
    rf"(?P<mark>第?)\s*(?P<number>{_NUM})\s*条(?!例|款|件)(?:\s*之\s*(?P<sub>{_NUM}))?"
    rf"(?:\s*第?\s*(?P<paragraph>{_NUM})\s*款)?"
    rf"(?:\s*第?\s*[（(]?\s*(?P<item>{_NUM})\s*[)）]?\s*项)?"
)
DOC_NUMBER = re.compile(
    r"(?P<issuer>[\u4e00-\u9fff]{1,16})\s*[〔\[(（【﹝]?\s*(?P<year>(?:19|20)\d\d)\s*[〕\])）】﹞]?\s*第?\s*"
    r"(?P<number>\d{1,5})\s*号"
)
_BRACKETED = re.compile(r"《(?P<title>[^《》]{2,80})》")
# What may stand between a name and its article: 《…》（2018年修正）的第六条, 民法典中，第六条.
_BETWEEN = re.compile(r"(?:\s|[的中里内之，,、:：]|规定|[（(][^（()）]{0,20}[)）])*\Z")
_JOINT = re.compile(r"[\s、，,和及与或至到\-—~～]{1,4}\Z")
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Mention:
    """One reference as written: ``text[start:end]``.

    ``name``: the title or 发文字号 as written, "" in 该法第三条; ``is_number``: whether it is a
    发文字号. ``article`` in digits (``120-1``), "" when a whole document is meant; ``paragraph``
    (款) and ``item`` (项) 0 where none is named.
    """

    start: int
    end: int
    name: str
    is_number: bool
    article: str
    paragraph: int = 0
    item: int = 0


def mentions(text: str, ending_name: Callable[[str], str]) -> tuple[Mention, ...]:
    """The references of ``text`` that name an article, or a document by its 发文字号, in order.

    ``ending_name``: the longest known name with which a text ends, "" if none. An article without
    a name before it takes that of the reference before it (第六条、第七条), else of the last 《》.
    """
    plain = matching_form(text)
    numbers = [(m.start(), m.end()) for m in DOC_NUMBER.finditer(plain)]
    found: list[Mention] = []
    for match in _ARTICLE.finditer(plain):
        mention = _article(plain, match, numbers, found, ending_name)
        if mention is not None:
            found.append(mention)
    covered = [(m.start, m.end) for m in found]
    for start, end in numbers:
        if not any(a <= start < b for a, b in covered):
            found.append(Mention(start, end, plain[start:end], True, ""))
    return tuple(sorted(found, key=lambda m: m.start))


def matching_form(text: str) -> str:
    """``text`` in half-width, lower-case, simplified characters, of the same length."""
    return "".join(map(_plain_character, text))


@lru_cache(maxsize=65536)
def _plain_character(character: str) -> str:
    plain = normalise(character)
    return plain if len(plain) == 1 else character


def _article(
    plain: str,
    match: re.Match[str],
    numbers: list[tuple[int, int]],
    before: list[Mention],
    ending_name: Callable[[str], str],
) -> Mention | None:
    try:
        article = str(numeral(match["number"]))
        article += f"-{numeral(match['sub'])}" if match["sub"] else ""
        paragraph = numeral(match["paragraph"]) if match["paragraph"] else 0
        item = numeral(match["item"]) if match["item"] else 0
    except (KeyError, ValueError):
        return None
    for start, name, is_number in _names(plain, match, numbers, before, ending_name):
        return Mention(start, match.end(), name, is_number, article, paragraph, item)
    return None


def _names(
    plain: str,
    match: re.Match[str],
    numbers: list[tuple[int, int]],
    before: list[Mention],
    ending_name: Callable[[str], str],
) -> Iterator[tuple[int, str, bool]]:
    """Where the reference begins, the name it uses and whether that is a 发文字号; best first."""
    head = plain[: match.start()]
    gap = _BETWEEN.search(head)
    head = head[: gap.start()] if gap else head
    for start, end in numbers:
        if end == len(head):
            yield start, plain[start:end], True
    if head.endswith("》"):
        opening = head.rfind("《")
        if opening >= 0:
            yield opening, head[opening + 1 : -1], False
    name = ending_name(head[-_LONGEST_NAME:])
    if name:
        yield len(head) - len(name), name, False
    if not match["mark"]:
        return  # 三条 alone is a count, not a reference
    if before:
        last = before[-1]
        joint = plain[last.end : match.start()]
        if _JOINT.fullmatch(joint) or not _BRACKETED.search(joint):
            yield match.start(), last.name, last.is_number
            return
    named = list(_BRACKETED.finditer(plain, 0, match.start()))
    if named:
        yield match.start(), named[-1]["title"], False
