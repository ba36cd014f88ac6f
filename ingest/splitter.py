"""From a cleaned document to the spans that tile it: articles, their parts, sections.

Every character of the body lies in exactly one span, but for headings (编/章/节, Markdown ``#``) and
white space. Boundaries are article heads, 款 and 项 lines, and sentence ends; never inside one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingest.numerals import ARTICLE, DIGITS, article_label, article_number

MAX_CHARS = 500
"""Longest part of an article or section, unless one sentence is longer."""
_SLACK = 120

_MARKDOWN = re.compile(r"(#{1,6})\s+(.*)")
_DIVISION = re.compile(rf"第\s*[{DIGITS}]+\s*(?P<unit>分编|编|章|节)(?:[\s　]+|$)(?P<rest>.*)")
_DIVISION_RANK = {"编": 1, "分编": 2, "章": 3, "节": 4}
_CONTENTS = re.compile(r"目\s*录$|目\s*次$")
_SENTENCE = re.compile(r"[。！？；!?;]+[”’』」）)]*|\n+")
_SECTION = re.compile(
    r"(?:(?<=[\s。；：:）)])|^)(?:(?P<one>[一二三四五六七八九十]{1,3}、)|(?P<two>[（(][一二三四五六七八九十]{1,3}[）)])"
    r"|(?P<three>\d{1,2}[.．、](?!\d)))",
    re.MULTILINE,
)
# What follows the number where a sentence only cites an article (第二十一条规定的情形).
_CITED_AFTER_SPACE = re.compile(r"(?:第[^条]{1,6}[款项目]|规定|所[列称规述])")
_CITED = re.compile(
    r"(?:第[^条]{1,6}[款项目]|[之的、，,和与及至或到款项目中]|规定|所[列称规述]|[（(]?以下|修改|修正|删去|增加)"
)


@dataclass(frozen=True, slots=True)
class Span:
    """``[start, end)`` of the text. ``article`` and ``part`` as in PassageMetadata."""

    start: int
    end: int
    locator: str
    heading_path: tuple[str, ...]
    article: str = ""
    part: int = 0


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    heading_path: tuple[str, ...]
    number: tuple[int, int] | None
    run: int


def split(text: str, body_start: int = 0, titles: Sequence[str] = ()) -> tuple[Span, ...]:
    """The spans of ``text[body_start:]`` in order.

    ``titles``: lines (without white space) that repeat the document's title, kept as headings.
    """
    spans: list[Span] = []
    sections = 0
    for block in _blocks(text, body_start, frozenset(titles)):
        if block.number is None:
            for start, end, path in _sections(text, block):
                sections += 1
                spans.append(Span(start, end, f"s{sections}", path))
            continue
        label = article_label(block.number)
        base = f"a{label}" if block.run == 1 else f"x{block.run}-a{label}"
        parts = _parts(text, block.start, block.end)
        if len(parts) == 1:
            spans.append(Span(*parts[0], base, block.heading_path, label))
        else:
            spans += [
                Span(start, end, f"{base}p{n}", block.heading_path, label, n)
                for n, (start, end) in enumerate(parts, 1)
            ]
    return tuple(spans)


def lines_of(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Non-blank lines as (start, end) without the white space around them."""
    for match in re.finditer(r"[^\n]+", text[start:] if start else text):
        line = match.group()
        left = match.start() + start + len(line) - len(line.lstrip())
        right = match.end() + start - (len(line) - len(line.rstrip()))
        if left < right:
            yield left, right


def _blocks(text: str, body_start: int, titles: frozenset[str]) -> Iterator[_Block]:
    path: list[tuple[int, str]] = []
    last: tuple[int, int] | None = None
    number: tuple[int, int] | None = None
    run = 1
    open_from: int | None = None
    open_to = body_start

    def close() -> Iterator[_Block]:
        if open_from is not None:
            yield _Block(open_from, open_to, tuple(name for _, name in path), number, run)

    for start, end in lines_of(text, body_start):
        line = text[start:end]
        heading = _heading(line, titles)
        if heading is not None:
            yield from close()
            open_from, number = None, None
            rank, name = heading
            if name:
                path = [p for p in path if p[0] < rank] + [(rank, name)]
            continue
        found = _article_head(line, last)
        if found is not None:
            yield from close()
            if last is not None and found <= last:
                run += 1
            last = number = found
            open_from = start
        elif open_from is None:
            open_from = start
        open_to = end
    yield from close()


def _heading(line: str, titles: frozenset[str]) -> tuple[int, str] | None:
    markdown = _MARKDOWN.fullmatch(line)
    content = markdown[2].strip() if markdown else line
    plain = re.sub(r"\s", "", content)
    if plain in titles or (len(plain) <= 4 and _CONTENTS.fullmatch(content)):
        return 0, ""
    division = _DIVISION.match(content)
    if division and len(content) <= 60 and not content.endswith(("。", "；", "，")):
        return _DIVISION_RANK[division["unit"]], re.sub(r"\s+", " ", content)
    if markdown and not ARTICLE.match(content):
        return len(markdown[1]), re.sub(r"\s+", " ", content)
    return None


def _article_head(line: str, last: tuple[int, int] | None) -> tuple[int, int] | None:
    bare = line.lstrip("#*　 ")
    match = ARTICLE.match(bare)
    if match is None:
        return None
    number = article_number(match)
    if number is None:
        return None
    rest = bare[match.end() :]
    spaced = not rest or rest[0] in " 　\t【*:："
    restart = number == (1, 0)
    if last is None:
        return number if spaced or restart else None
    follows = number in ((last[0] + 1, 0), (last[0], last[1] + 1))
    if spaced and (number > last or restart) and not _CITED_AFTER_SPACE.match(rest.strip()):
        return number
    if (follows or restart) and not _CITED.match(rest.strip()):
        return number
    return None


def _sections(text: str, block: _Block) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Sections of text without articles, packed to at most MAX_CHARS, with their 一、 titles."""
    cuts = [m.start() for m in _SECTION.finditer(text, block.start, block.end)]
    tops = {m.start() for m in _SECTION.finditer(text, block.start, block.end) if m["one"]}
    edges = sorted({block.start, *cuts, block.end})
    title = ""
    start = block.start
    for left, right in pairwise(edges):
        new_top = left in tops
        if left > start and (
            right - start > MAX_CHARS or (new_top and left - start > MAX_CHARS // 3)
        ):
            yield from _section_parts(text, start, left, (*block.heading_path, title))
            start = left
        if new_top and (left == start or not title):
            title = _section_title(text[left:right])
    yield from _section_parts(text, start, block.end, (*block.heading_path, title))


def _section_title(segment: str) -> str:
    """``一、补贴标准`` when the section opens with a short title, else nothing."""
    first = re.split(r"[\n。；：]|\s(?=[（(\d])|\s{2,}", segment.strip(), maxsplit=1)[0].strip()
    first = first.split(" ")[0]
    return first if len(first) <= 30 and len(segment.strip()) > len(first) else ""


def _section_parts(
    text: str, start: int, end: int, path: tuple[str, ...]
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    for left, right in _parts(text, start, end):
        yield left, right, tuple(p for p in path if p)


def _parts(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The span whole, or cut at line and sentence ends into parts of at most about MAX_CHARS."""
    start, end = _trim(text, start, end)
    if start >= end:
        return []
    if end - start <= MAX_CHARS + _SLACK:
        return [(start, end)]
    cuts = [m.end() for m in _SENTENCE.finditer(text, start, end) if m.end() < end]
    parts: list[tuple[int, int]] = []
    begin, previous = start, start
    for cut in [*cuts, end]:
        if cut - begin > MAX_CHARS and previous > begin:
            parts.append((begin, previous))
            begin = previous
        previous = cut
    if parts and end - begin < _SLACK and end - parts[-1][0] <= MAX_CHARS + _SLACK:
        begin = parts.pop()[0]
    parts.append((begin, end))
    return [trimmed for p in parts if (trimmed := _trim(text, *p))[0] < trimmed[1]]


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - (len(piece) - len(piece.rstrip()))
