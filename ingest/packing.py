"""Cutting a long stretch of text into passages of good size, at the best of its possible cuts.

The parts are chosen together (dynamic programming over the possible cuts), so that no short rest is
left over and a cut between paragraphs is preferred to one between sentences.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

MAX_CHARS = 500
"""Longest passage in characters, unless a single sentence is longer."""
TARGET_CHARS = 350
MIN_CHARS = 120
HARD_MAX_CHARS = 2000
"""Text without any sentence end is cut here all the same: no model reads that far."""

PARAGRAPH, ITEM, SENTENCE, CLAUSE, BROKEN_LINE = 0.0, 0.6, 1.0, 3.0, 6.0
"""What a cut costs at the end of a paragraph (款), before an item （一）, behind 。, behind ；, and
at the end of a line that breaks a sentence."""

_SENTENCE_END = re.compile(r"(?:[。！？!?]|……|；|;)[”’』」）)]*")
_LINE_END = re.compile(r"[ \t　]*\n\s*")
_ITEM = re.compile(
    r"(?<=[\s。；：:，）)])(?:[一二三四五六七八九十]{1,3}、|[（(][一二三四五六七八九十\d]{1,3}[)）]|\d{1,2}(?:[.．](?!\d)|、))"
)
_ROW = re.compile(r"^[ \t]*\|[^\n]*$|<tr\b.*?</tr>", re.MULTILINE | re.DOTALL | re.IGNORECASE)
_COMMA = re.compile(r"[，、,\s]")


def pack(
    text: str, start: int, end: int, preferred: Iterable[tuple[int, float]] = ()
) -> list[tuple[int, int]]:
    """``text[start:end]`` as one span or several, in order, trimmed of white space.

    ``preferred``: further cuts (position, cost), e.g. the beginnings of sections.
    """
    start, end = trim(text, start, end)
    if end - start <= MAX_CHARS:
        return [(start, end)] if start < end else []
    cuts = dict(possible_cuts(text, start, end))
    for place, cost in preferred:
        if start < place < end:
            cuts[place] = min(cost, cuts.get(place, cost))
    places = sorted(cuts)
    return [
        piece
        for left, right in _best(start, end, places, cuts)
        for piece in cut_hard(text, *trim(text, left, right))
    ]


def possible_cuts(text: str, start: int, end: int) -> dict[int, float]:
    """Where ``text[start:end]`` may be cut, with costs: never inside a sentence or a table row."""
    cuts: dict[int, float] = {}
    rows = table_rows(text, start, end)

    def offer(place: int, cost: float) -> None:
        if start < place < end and not in_row(rows, place):
            cuts[place] = min(cost, cuts.get(place, cost))

    for match in _SENTENCE_END.finditer(text, start, end):
        if not _in_brackets(text, start, match.start()):
            offer(match.end(), CLAUSE if match.group()[0] in "；;" else SENTENCE)
    for match in _ITEM.finditer(text, start, end):
        before = text[start : match.start()].rstrip()[-1:]
        if before and before in "。；！？”）;":
            offer(match.start(), ITEM)
        elif before in ("：", ":"):
            offer(match.start(), CLAUSE)
    for match in _LINE_END.finditer(text, start, end):
        offer(match.end(), _line_cost(text, match))
    return cuts


def table_rows(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Spans of the rows of Markdown and HTML tables, which are never cut."""
    return [match.span() for match in _ROW.finditer(text, start, end)]


def in_row(rows: list[tuple[int, int]], place: int) -> bool:
    """Whether ``place`` lies inside one of the ``rows`` (ordered spans), not at its edge."""
    index = bisect_left(rows, (place, place)) - 1
    return index >= 0 and rows[index][0] < place < rows[index][1]


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space at its ends."""
    piece = text[start:end]
    left = start + len(piece) - len(piece.lstrip())
    return left, max(left, end - (len(piece) - len(piece.rstrip())))


def _line_cost(text: str, match: re.Match[str]) -> float:
    last, following = text[match.start() - 1], text[match.end() : match.end() + 1]
    if last in "。！？”）)" or following == "|" or last in "|>":
        return PARAGRAPH
    if last in "；;":
        return ITEM
    if last in "：:":
        return CLAUSE
    # A blank line ends a paragraph even without a full stop; a bare newline may only wrap it.
    return SENTENCE if "\n\n" in match.group() else BROKEN_LINE


def _in_brackets(text: str, start: int, place: int) -> bool:
    line = text.rfind("\n", start, place) + 1
    begin = max(line, start, place - 300)
    return (
        text.rfind("（", begin, place) > text.rfind("）", begin, place) >= -1
        and "（" in (text[begin:place])
    )


def _best(start: int, end: int, places: list[int], cuts: dict[int, float]) -> list[tuple[int, int]]:
    edges = [start, *places, end]
    cost = [0.0] + [float("inf")] * (len(edges) - 1)
    back = [0] * len(edges)
    for right in range(1, len(edges)):
        here = 0.0 if edges[right] == end else cuts[edges[right]]
        for left in range(right - 1, -1, -1):
            size = edges[right] - edges[left]
            if size > MAX_CHARS and left < right - 1:
                break
            total = cost[left] + here + _size_cost(size)
            if total < cost[right]:
                cost[right], back[right] = total, left
    spans = []
    right = len(edges) - 1
    while right:
        spans.append((edges[back[right]], edges[right]))
        right = back[right]
    return spans[::-1]


def _size_cost(size: int) -> float:
    """0.5 a part, more away from the target, much more for a scrap or an overlong one."""
    scrap = 2.0 if size < MIN_CHARS else 0.0
    over = 4.0 if size > MAX_CHARS else 0.0
    return 0.5 + ((size - TARGET_CHARS) / TARGET_CHARS) ** 2 + scrap + over


def cut_hard(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The span, at commas or anywhere in pieces of at most HARD_MAX_CHARS."""
    pieces = []
    while end - start > HARD_MAX_CHARS:
        commas = [m.end() for m in _COMMA.finditer(text, start, start + HARD_MAX_CHARS)]
        cut = commas[-1] if commas else start + HARD_MAX_CHARS
        pieces.append(trim(text, start, cut))
        start, end = trim(text, cut, end)
    return [*pieces, (start, end)] if start < end else pieces
