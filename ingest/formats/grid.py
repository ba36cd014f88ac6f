"""A table as lines of the Reading dialect."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

RULE = "| ---"
"""How the line below the header begins."""

_HEADER_ROWS = 4
_LETTER = re.compile(r"[^\W\d_]")


def table_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """The ``| a | b |`` lines of a grid whose merged cells are already repeated in every place.

    The first row is the header. First rows that are one merged cell are the caption and stand above
    the table as plain lines, last ones are notes below it. Empty rows are left out, short rows
    filled up; a grid of one cell is a frame round a text and comes as plain lines. Empty when no
    cell holds a word.
    """
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    width = max((len(row) for row in filled), default=0)
    if width == 1 and len(filled) == 1:
        return [line for line in filled[0][0].split("\n") if line.strip()]
    first, last = 0, len(filled)
    while first < last and _is_one_cell(filled[first], width):
        first += 1
    while first < last and _is_one_cell(filled[last - 1], width):
        last -= 1
    lines = [_line([*row, *[""] * (width - len(row))]) for row in filled[first:last]]
    if lines:
        lines.insert(1, _line(["---"] * width))
    above, below = filled[:first], filled[last:]
    return [*(_cell(row[0]) for row in above), *lines, *(_cell(row[0]) for row in below)]


def with_one_header(rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The rows with a header of several rows as one: 补贴（元） over 农户 becomes 补贴（元） 农户.

    The header is as deep as a cell of the first row that reaches down, where another one spans
    columns (words, not figures: those may be alike by chance). Captions above it stay.
    """
    grid = [tuple(row) for row in rows]
    top = 0
    while top < len(grid) and _is_one_cell(grid[top], len(grid[top])):
        top += 1
    depth = _header_depth(grid[top:])
    if depth == 1:
        return grid
    columns = zip(*grid[top : top + depth], strict=True)
    header = tuple(" ".join(dict.fromkeys(filter(None, column))) for column in columns)
    return [*grid[:top], header, *grid[top + depth :]]


def _header_depth(rows: Sequence[Sequence[str]]) -> int:
    """1, or the number of rows that the first row's cells reach down."""
    first = rows[0] if rows else ()
    wide = any(a == b and _LETTER.search(a) for a, b in pairwise(first))
    if not wide:
        return 1
    depth = 1
    while depth < len(rows) and len(rows[depth]) == len(first):
        below = rows[depth]
        if not any(a == b and _LETTER.search(a) for a, b in zip(first, below, strict=True)):
            break
        depth += 1
    return depth if depth <= _HEADER_ROWS and depth < len(rows) else 1


def _is_one_cell(row: Sequence[str], width: int) -> bool:
    return width > 1 and len(row) == width and len(set(row)) == 1 and bool(row[0].strip())


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    return re.sub(r"\s*\n\s*", " ", text.strip()).replace("|", "｜")
