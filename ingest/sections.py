"""Sections of notices: 一、 （一） 1. （1）, on lines of their own or inside one long line."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest

from ingest.numerals import parse_number
from ingest.packing import MAX_CHARS, MIN_CHARS, in_row, table_rows
from ingest.tables import pack_with_tables

_N = "[一二三四五六七八九十]{1,3}"
_MARK = re.compile(
    rf"(?:(?<=[\s。；：:！？”）)])|^)(?:(?P<l0>第{_N}部分(?=[\s　：:])|附\s*件\s*\d{{0,2}}\s*[：:])"
    rf"|(?P<l1>{_N})\s*[、．.]|[（(]\s*(?P<l2>{_N})\s*[)）]、?"
    r"|(?P<l3>\d{1,2})(?:[ ]?[.．](?!\d)|、)|[（(](?P<l4>\d{1,2})[)）]"
    r"|问\s*(?P<l5>\d{0,2})\s*[：:])",
    re.MULTILINE,
)
_TITLE_END = re.compile(r"[\n。；：:！？]|[\s　]")
_TITLE_MAX = 40
_BROKEN_WORD = 2
"""No title ends at a blank behind so few characters: the blank stands inside it."""
_SECTION_COST = {0: -0.6, 1: -0.4, 2: 0.0, 3: 0.4, 4: 0.6, 5: -0.4}


@dataclass(frozen=True, slots=True)
class Section:
    """A passage without an article: span and the titles of the sections that it begins in.

    ``table_header``: as in PassageMetadata.
    """

    start: int
    end: int
    titles: tuple[str, ...]
    table_header: str = ""


@dataclass(frozen=True, slots=True)
class _Mark:
    start: int
    stop: int
    """Where the title ends."""
    level: int
    title: str


def sections(text: str, start: int, end: int, rows_apart: bool = False) -> list[Section]:
    """``text[start:end]`` in passages that respect its sections; 一、 begins a new one.

    ``rows_apart``: as in ``pack_with_tables``.
    """
    marks = _marks(text, start, end)
    places = [mark.start for mark in marks]
    found: list[Section] = []
    for left, right in _stretches(marks, start, end):
        inside = marks[bisect_left(places, left) : bisect_left(places, right)]
        wanted = [(m.start, _SECTION_COST[m.level]) for m in inside]
        found += [
            Section(p.start, p.end, _titles(marks[: bisect_right(places, p.start)]), p.header)
            for p in pack_with_tables(text, left, right, wanted, rows_apart)
        ]
    return found


def _marks(text: str, start: int, end: int) -> list[_Mark]:
    """Section marks whose numbers count up from 1 in their own section (not 二、三月份)."""
    marks: list[_Mark] = []
    counts: dict[int, int] = {}
    rows = table_rows(text, start, end)
    for match in _MARK.finditer(text, start, end):
        if in_row(rows, match.start()):
            continue
        level = int((match.lastgroup or "l0")[1])
        if level in (0, 5):
            counts = {} if level == 0 else counts
        else:
            number = parse_number(match[f"l{level}"]) or 0
            if number not in (1, counts.get(level, 0) + 1) and not _own_line(text, match, end):
                continue
            # （四） may follow （三） of the section before: each level counts by itself.
            counts[level] = number
        title, stop = _title(text, match, end)
        marks.append(_Mark(match.start(), stop, level, title))
    return [
        mark if _has_text(text, mark, following, end) else replace(mark, title="")
        for mark, following in zip_longest(marks, marks[1:])
    ]


def _own_line(text: str, mark: re.Match[str], end: int) -> bool:
    """Whether the mark and a short title fill a line: a heading, even if one before it is lost."""
    stop = text.find("\n", mark.end(), end)
    line = text[mark.end() : stop] if stop >= 0 else ""
    return (
        text[mark.start() - 1 : mark.start()] in ("", "\n")
        and 2 <= len(line.strip()) <= _TITLE_MAX // 2
        and re.search(r"[。；，、：:;]", line) is None
    )


def _has_text(text: str, mark: _Mark, following: _Mark | None, end: int) -> bool:
    """Whether text or a deeper section follows the title; else it is all that the section says."""
    if following is not None and following.level > mark.level:
        return True
    return bool(text[mark.stop : following.start if following else end].strip(" \n\t　。；"))


def _title(text: str, mark: re.Match[str], end: int) -> tuple[str, int]:
    """``一、补贴标准`` and its end when the mark opens with a short title, else ``""``."""
    body = mark.end()
    while body < end and text[body] in " 　\t":
        body += 1
    until = min(end, body + _TITLE_MAX + 1)
    stop = _TITLE_END.search(text, body, until)
    if stop is not None and stop.group() in " 　\t" and stop.start() - body <= _BROKEN_WORD:
        stop = _TITLE_END.search(text, stop.end(), until)  # 2. 保障 合理用药。
    if stop is None or stop.start() == body:
        return "", body
    # 。 closes a title like （一）依法管理。 but a whole sentence is the section's text.
    title = text[mark.start() : stop.start()].strip()
    sentence = stop.group() in "。！？" and (len(title) > 25 or "，" in title)
    if stop.group() in "；：:" or title.endswith(("，", "、")) or sentence:
        return "", stop.start()
    return re.sub(r"\s+", "", title), stop.start()


def _stretches(marks: Sequence[_Mark], start: int, end: int) -> list[tuple[int, int]]:
    """Spans between top marks; neighbours that are short stay together up to MAX_CHARS."""
    top = min((m.level for m in marks if m.level != 5), default=9)
    edges = sorted({start, end, *(m.start for m in marks if m.level in (top, 0, 5))})
    stretches: list[tuple[int, int]] = []
    for left, right in pairwise(edges):
        if stretches:
            begin, until = stretches[-1]
            small = min(until - begin, right - left) < MIN_CHARS
            if small and right - begin <= MAX_CHARS:
                stretches[-1] = (begin, right)
                continue
        stretches.append((left, right))
    return stretches


def _titles(marks: Sequence[_Mark]) -> tuple[str, ...]:
    """Titles of the sections that are open behind the last of ``marks``, widest first."""
    titles: list[str] = []
    level = 4
    for mark in reversed(marks):
        if mark.level < level:
            level = mark.level
            titles.append(mark.title)
        if level == 0:
            break
    return tuple(title for title in reversed(titles) if title)
