"""Ruled tables of a PDF page: where they are and what their cells say."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ingest.formats.pdf_lines import pieces_of, text_in

_TOLERANCE = 3.0
_MIN_EDGES = 4


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table: its cells (merged ones in every place that they cover) and its place in points."""

    rows: tuple[tuple[str, ...], ...]
    x0: float
    x1: float
    top: float
    bottom: float


def tables_of(page: Any, chars: list[dict[str, Any]]) -> list[TableBlock]:
    """The tables of a pdfplumber page that have two rows or columns at least.

    Cells are found by pdfplumber from the rules; a frame round a text is no table.
    """
    if len(page.edges) < _MIN_EDGES:
        return []
    found = []
    for table in page.find_tables():
        xs = _places(x for cell in table.cells for x in (cell[0], cell[2]))
        ys = _places(y for cell in table.cells for y in (cell[1], cell[3]))
        if len(table.cells) < 2 or len(xs) < 3 or len(ys) < 2:
            continue
        grid = [[""] * (len(xs) - 1) for _ in ys[1:]]
        for cell in table.cells:
            text = text_in(pieces_of(c for c in chars if inside(c, cell)))
            for row in range(_index(ys, cell[1]), _index(ys, cell[3])):
                for column in range(_index(xs, cell[0]), _index(xs, cell[2])):
                    grid[row][column] = text
        if any(text for row in grid for text in row):
            found.append(TableBlock(tuple(map(tuple, grid)), *_box(table.bbox)))
    return found


def inside(char: dict[str, Any], box: tuple[float, float, float, float]) -> bool:
    """Whether the middle of a character lies in ``box`` (x0, top, x1, bottom)."""
    x, y = (char["x0"] + char["x1"]) / 2, (char["top"] + char["bottom"]) / 2
    return bool(box[0] <= x <= box[2] and box[1] <= y <= box[3])


def _box(box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    x0, top, x1, bottom = box
    return x0, x1, top, bottom


def _places(values: Iterable[float]) -> list[float]:
    """Sorted places, those nearer than the tolerance counted once."""
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > _TOLERANCE:
            places.append(value)
    return places


def _index(places: list[float], value: float) -> int:
    return max(0, bisect_right(places, value) - 1)
