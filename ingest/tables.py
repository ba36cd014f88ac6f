"""Markdown tables as passages of their own, cut between rows, every part with its header at hand.

A part is a verbatim slice of the text; the header that it lacks (caption, 单位：万元, first row) is
handed on beside it. Parts are small because one row is mostly the answer: with a few rows of its
like around it, its words still weigh in the part's embedding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from ingest.packing import MAX_CHARS, MIN_CHARS, TARGET_CHARS, cut_hard, pack, trim

_TABLE = re.compile(r"^[ \t　]*\|[^\n]*(?:\n[ \t　]*\|[^\n]*)+", re.MULTILINE)
_SEPARATOR = re.compile(r"[ \t　|:\-－—]+")
_CAPTION_MAX = 40
_CAPTION_LINES = 2
_NO_CAPTION = re.compile(
    r"[。；，、：:]$|^[（(]?[一二三四五六七八九十\d]{1,3}[)）、.．]|^第\S{1,6}[条章节]|^\||^#"
)
_UNIT = re.compile(r"[（(【]?(?:金额|计量|货币)?单位\s*[：:]")
_ROW_CHARS = 200
"""Room for rows even below a header that takes up all of a passage."""


@dataclass(frozen=True, slots=True)
class Piece:
    """``text[start:end]``; ``header``: caption, unit and header row of the table it continues."""

    start: int
    end: int
    header: str = ""


@dataclass(frozen=True, slots=True)
class _Table:
    """``top``: where its caption begins; ``start``: its header row; ``rows``: from the first row
    below the header; each row ends where the next begins, the last at ``end``."""

    top: int
    start: int
    rows: tuple[int, ...]
    end: int


def pack_with_tables(
    text: str,
    start: int,
    end: int,
    preferred: Iterable[tuple[int, float]] = (),
    rows_apart: bool = False,
) -> list[Piece]:
    """``pack`` where tables keep to themselves; ``preferred`` as there. ``rows_apart``: one row a
    piece.

    Short text before a table (what it is about) and behind it (a remark) stays with it.
    """
    start, end = trim(text, start, end)
    wanted = list(preferred)
    found = _tables(text, start, end) if text.find("|", start, end) >= 0 else []
    if not found:
        return [Piece(*span) for span in pack(text, start, end, wanted)]
    pieces: list[Piece] = []
    at = start
    for table in found:
        top = table.top
        if top - at < MIN_CHARS:
            top = at  # its lead-in
        else:
            pieces += [Piece(*span) for span in pack(text, at, top, wanted)]
        pieces += _parts(text, table, top, rows_apart)
        at = table.end
    left, right = trim(text, at, end)
    if 0 < right - left < MIN_CHARS:
        last = pieces.pop()
        pieces.append(Piece(last.start, right, last.header))
    else:
        pieces += [Piece(*span) for span in pack(text, left, right, wanted)]
    return pieces


def _tables(text: str, start: int, end: int) -> list[_Table]:
    found: list[_Table] = []
    for match in _TABLE.finditer(text, start, end):
        lines = [match.start()]
        lines += [m.end() for m in re.compile(r"\n").finditer(text, match.start(), match.end())]
        second = text[lines[1] : lines[2] if len(lines) > 2 else match.end()].strip()
        body = 2 if _SEPARATOR.fullmatch(second) else 1
        before = found[-1].end if found else start
        top = _caption(text, before, match.start())
        found.append(_Table(top, match.start(), tuple(lines[body:]), match.end()))
    return found


def _caption(text: str, start: int, table: int) -> int:
    """Where the caption and the 单位：… line right above a table begin; ``table`` without one."""
    top = table
    for _ in range(_CAPTION_LINES + 1):
        above = text[start:top].rstrip()
        left = max(start, start + above.rfind("\n") + 1)
        line = text[left : start + len(above)].strip()
        unit = _UNIT.match(line) is not None
        if not line or len(line) > _CAPTION_MAX or (_NO_CAPTION.search(line) and not unit):
            break
        top = left
    return top


def _parts(text: str, table: _Table, top: int, rows_apart: bool) -> list[Piece]:
    """The table in one part, or in several of like size that end with a row, or row by row."""
    if not table.rows or (table.end - top <= MAX_CHARS and not rows_apart):
        return [Piece(*trim(text, top, table.end))]
    header = text[table.top : table.rows[0]].strip()
    header = re.sub(r"[ \t　]*\n\s*", "\n", header)
    sizes = [right - left for left, right in pairwise((*table.rows, table.end))]
    room = max(_ROW_CHARS, min(TARGET_CHARS, MAX_CHARS - len(header)))
    share = sum(sizes) / -(-sum(sizes) // room)
    parts: list[Piece] = []
    left, filled = top, 0
    for row, size in zip(table.rows, sizes, strict=True):
        # A row goes where most of it lies below the part's share.
        if filled and (rows_apart or filled + size / 2 > share):
            parts += _piece(text, left, row, header if parts else "")
            left, filled = row, 0
        filled += size
    return [*parts, *_piece(text, left, table.end, header if parts else "")]


def _piece(text: str, start: int, end: int, header: str) -> list[Piece]:
    return [Piece(a, b, header) for a, b in cut_hard(text, *trim(text, start, end))]
