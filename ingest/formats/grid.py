"""A table as lines of the Reading dialect."""

from __future__ import annotations

import re
from collections.abc import Sequence


def table_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """The ``| a | b |`` lines of a grid whose merged cells are already repeated in every place.

    The first row is the header. Empty rows are left out, short rows filled up; a grid of one cell
    is a frame round a text and comes as plain lines. Empty when no cell holds a word.
    """
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    width = max((len(row) for row in filled), default=0)
    if width == 1 and len(filled) == 1:
        return [line for line in filled[0][0].split("\n") if line.strip()]
    lines = [_line([*row, *[""] * (width - len(row))]) for row in filled]
    if lines:
        lines.insert(1, _line(["---"] * width))
    return lines


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    return re.sub(r"\s*\n\s*", " ", text.strip()).replace("|", "｜")
