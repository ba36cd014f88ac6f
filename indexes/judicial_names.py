"""What interpretations of the highest courts are called: 民间借贷司法解释 and the like."""

from __future__ import annotations

import re

from indexes.tokenizer import numeral

_OF_LAW = re.compile(
    r"最高人民(?:法院|检察院)(?:、最高人民(?:法院|检察院))?关于适用(?P<subject>.{2,30}?)"
    r"(?:若干问题|问题)?的(?:解释|规定)(?P<part>\([一二三四五六七八九十]+\))?"
)
_OF_CASES = re.compile(
    r"最高人民(?:法院|检察院)(?:、最高人民(?:法院|检察院))?关于(?:审理|办理)(?P<subject>.{2,20}?)"
    r"(?:纠纷)?(?:刑事|民事|行政)?案件(?:具体)?(?:适用|应用)法律(?:若干|有关)?(?:问题)?(?:若干问题)?"
    r"的(?:解释|规定)(?P<part>\([一二三四五六七八九十]+\))?"
)

PART = re.compile(r"\((?P<number>[一二三四五六七八九十]{1,3}|[0-9]{1,2})\)\Z")
"""The number at the end of a title of several parts: …的解释(一), …修正案(十一)."""


def judicial_names(title: str) -> frozenset[str]:
    """Short names of an interpretation by its title, in matching form and without title marks.

    关于适用民法典婚姻家庭编的解释(一): 民法典婚姻家庭编解释(一), …司法解释(一), …解释一, …解释.
    """
    match = _OF_LAW.fullmatch(title) or _OF_CASES.fullmatch(title)
    if match is None:
        return frozenset()
    return frozenset(
        match["subject"] + kind + number
        for kind in ("解释", "司法解释")
        for number in (*part_forms(match["part"] or ""), "")
    )


def part_forms(name: str) -> frozenset[str]:
    """A name that ends in its number, in matching form, in every way that number is written.

    刑法修正案(十一): also …十一, …(11), …11. Empty for a name without a number.
    """
    match = PART.search(name)
    if match is None:
        return frozenset()
    head = name[: match.start()]
    numbers = (match["number"], str(numeral(match["number"])))
    return frozenset(head + form for n in numbers for form in (n, f"({n})"))
