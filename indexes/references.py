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
# 第1,254条 and 第 一 百 条 are numbers behind 第 only: 577,585条 are two.
_ARTICLE = re.compile(
    rf"(?:(?P<mark>第)\s*(?P<marked>[1-9],[0-9]{{3}}|{_NUM}(?:\s{{1,2}}{_NUM})*)|(?P<bare>{_NUM}))"
    rf"\s*条(?!例|款|件)(?:\s*之\s*(?P<sub>{_NUM}))?"
    rf"(?:\s*第?\s*(?P<paragraph>{_NUM})\s*款)?"
    rf"(?:\s*第?\s*[（(]?\s*(?P<item>{_NUM})\s*[)）]?\s*项)?"
)
DOC_NUMBER = re.compile(
    r"(?P<issuer>[\u4e00-\u9fff]{1,16})\s*[〔\[(（【﹝]?\s*(?P<year>(?:19|20)\d\d)\s*[〕\])）】﹞]?\s*第?\s*"
    r"(?P<number>\d{1,5})\s*号"
)
_BRACKETED = re.compile(r"《(?P<title>[^《》]{2,80})》")
# The number of a part belongs to the name: 刑法修正案（十一）第一条.
_PART = r"\s*(?:[一二三四五六七八九十]{1,3}|[0-9]{1,2})\s*[)）]"
# What may stand between a name and its article: 《…》（2018年修正）的第六条, 民法典合同编第五百条.
_BETWEEN = re.compile(
    rf"(?:[的中里内之，,、:：]|规定|[（(](?!{_PART})[^（()）]{{0,20}}[)）]|第{_NUM}[编章节]|总则|分则|附则"
    r"|(?:19|20)\d\d年?(?:修[正订]|通过)?(?:版|版本|文本)"
    r"|(?:总则|物权|合同|人格权|婚姻家庭|继承|侵权责任)编)\Z"
)
_GAPS = 8
_WIDEST_GAP = 24
# A version named by its year: 会计法（2017年修正）, 2017年会计法.
_YEAR = r"((?:19|20)\d\d)"
_EDITION = re.compile(
    rf"[（(][^（()）]{{0,8}}?{_YEAR}(?!\d)[^（()）]{{0,12}}[)）]|{_YEAR}年?(?:修[正订]|通过)?[版文]"
)
_EDITION_BEFORE = re.compile(rf"(?<!\d){_YEAR}年?(?:修[正订]|版|通过|颁布|公布|发布)?的?\Z")
_JOINT = re.compile(r"[\s、，,和及与或至到\-—~～]{1,4}\Z")
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Mention:
    """One reference as written: ``text[start:end]``.

    ``name``: the title or 发文字号 as written, "" in 该法第三条; ``is_number``: whether it is a
    发文字号. ``article`` in digits (``120-1``), "" when a whole document is meant; ``paragraph``
    (款) and ``item`` (项) 0 where none is named. ``edition``: the year by which a version is named,
    会计法（2017年）第四十二条, 0 where none is.
    """

    start: int
    end: int
    name: str
    is_number: bool
    article: str
    paragraph: int = 0
    item: int = 0
    edition: int = 0


def mentions(
    text: str,
    ending_name: Callable[[str], str],
    unheard_name: Callable[[str], str] | None = None,
) -> tuple[Mention, ...]:
    """The references of ``text`` that name an article, or a document by its 发文字号, in order.

    ``ending_name``: the longest known name with which a text ends, "" if none; ``unheard_name``:
    the same of names that only look like those of rules. An article without a name before it takes
    that of the reference before it (第六条、第七条), else of the last 《》.
    """
    plain = matching_form(text)
    numbers = [(m.start(), m.end()) for m in DOC_NUMBER.finditer(plain)]
    found: list[Mention] = []
    for match in _ARTICLE.finditer(plain):
        mention = _article(plain, match, numbers, found, ending_name, unheard_name)
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
    unheard_name: Callable[[str], str] | None,
) -> Mention | None:
    try:
        written = match["marked"] or match["bare"]
        article = str(numeral(re.sub(r"[\s,]", "", written)))
        article += f"-{numeral(match['sub'])}" if match["sub"] else ""
        paragraph = numeral(match["paragraph"]) if match["paragraph"] else 0
        item = numeral(match["item"]) if match["item"] else 0
    except (KeyError, ValueError):
        return None
    for start, end, name, is_number in _names(plain, match, numbers, ending_name, unheard_name):
        year = _EDITION.search(name + plain[end : match.start()])
        year = year or _EDITION_BEFORE.search(plain[max(0, start - _WIDEST_GAP) : start])
        edition = int(next(filter(None, year.groups()))) if year and not is_number else 0
        return Mention(start, match.end(), name, is_number, article, paragraph, item, edition)
    for start, name, is_number in _carried(plain, match, before):
        return Mention(start, match.end(), name, is_number, article, paragraph, item)
    return None


def _names(
    plain: str,
    match: re.Match[str],
    numbers: list[tuple[int, int]],
    ending_name: Callable[[str], str],
    unheard_name: Callable[[str], str] | None,
) -> Iterator[tuple[int, int, str, bool]]:
    """Where a name right before an article begins and ends, the name, whether it is a 发文字号.

    What stands between may belong to the name (…管理规定第十条, …解释（一）第三条): of the readings
    the one counts that reaches furthest back, of equals the longest.
    """
    heads = tuple(_heads(plain[: match.start()]))
    for head in heads:
        for start, end in numbers:
            if end == len(head):
                yield start, end, plain[start:end], True
        if head.endswith("》") and (opening := _opening(head)) >= 0:
            yield opening, len(head), head[opening + 1 : -1], False
    for named in (ending_name, unheard_name):
        found = [(head, named(head[-_LONGEST_NAME:])) for head in heads] if named else []
        begins = [(len(head) - len(name), len(head), name) for head, name in found if name]
        if begins:
            yield *min(begins, key=lambda read: (read[0], -read[1])), False


def _carried(
    plain: str, match: re.Match[str], before: list[Mention]
) -> Iterator[tuple[int, str, bool]]:
    """The name of an article that has none of its own, from the reference before it."""
    joint = plain[before[-1].end : match.start()] if before else ""
    if not match["mark"] and not (before and _JOINT.fullmatch(joint)):
        return  # 三条 alone is a count, not a reference
    if before and (_JOINT.fullmatch(joint) or not _BRACKETED.search(joint)):
        yield match.start(), before[-1].name, before[-1].is_number
        return
    named = list(_BRACKETED.finditer(plain, 0, match.start()))
    if named:
        yield match.start(), named[-1]["title"], False


def _heads(head: str) -> Iterator[str]:
    """The text, then without each thing at its end that may stand before an article's number."""
    head = head.rstrip()
    yield head
    for _ in range(_GAPS):
        gap = _BETWEEN.search(head, max(0, len(head) - _WIDEST_GAP))
        if gap is None:
            return
        head = head[: gap.start()].rstrip()
        yield head


def _opening(head: str) -> int:
    """Where the 《 of the 》 at the end stands, titles inside titles counted; -1 without one."""
    depth = 0
    for at in range(len(head) - 1, -1, -1):
        depth += (head[at] == "》") - (head[at] == "《")
        if depth == 0:
            return at
    return head.rfind("《")
