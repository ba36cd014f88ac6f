"""The reading order of a page's lines: one column, or two read one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from ingest.formats.pdf_lines import Line, merge, rows_of

_MIN_ROWS = 3
_FILLED = 0.7
"""How far the lines of a column fill it at least, as a median; cells of a table don't."""
_ZONE = (0.3, 0.7)


@dataclass(frozen=True, slots=True)
class Column:
    """Lines that are read one after the other; ``narrow``: one of two columns side by side."""

    lines: tuple[Line, ...]
    narrow: bool = False


def in_reading_order(pieces: Sequence[Line]) -> list[Column]:
    """The lines of a page in stretches, each of one column, in the order in which they are read.

    Two columns are rows of two pieces with one gutter between them, both filled as running text
    is; lines across the gutter (a title) end the stretch above them.
    """
    rows = rows_of(pieces)
    gutter = _gutter(rows)
    if gutter is None:
        return [Column(tuple(merge(row) for row in rows))] if rows else []
    found: list[Column] = []
    for crossing, band in _bands(rows, gutter):
        both = sum(1 for row in band if _splits(row, gutter))
        if crossing or both < _MIN_ROWS:
            found.append(Column(tuple(merge(row) for row in band)))
            continue
        for side in (0, 1):
            parts = [_side(row, gutter, side) for row in band]
            found.append(Column(tuple(merge(part) for part in parts if part), narrow=True))
    return found


def _gutter(rows: Sequence[Sequence[Line]]) -> float | None:
    """The place between two columns in points, None on a page of one column."""
    pairs = [pair for row in rows if len(row) == 2 for pair in pairwise(row)]
    if len(pairs) < _MIN_ROWS:
        return None
    x0 = min(line.x0 for row in rows for line in row)
    x1 = max(line.x1 for row in rows for line in row)
    gutter = median((left.x1 + right.x0) / 2 for left, right in pairs)
    if not x0 + _ZONE[0] * (x1 - x0) < gutter < x0 + _ZONE[1] * (x1 - x0):
        return None
    split = [pair for pair in pairs if pair[0].x1 <= gutter <= pair[1].x0]
    if len(split) < _MIN_ROWS:
        return None
    left_edge, right_start = min(p[0].x0 for p in split), min(p[1].x0 for p in split)
    left_end, right_end = max(p[0].x1 for p in split), max(p[1].x1 for p in split)
    left = median((p[0].x1 - p[0].x0) / (left_end - left_edge) for p in split)
    right = median((p[1].x1 - p[1].x0) / (right_end - right_start) for p in split)
    return gutter if left >= _FILLED and right >= _FILLED else None


def _bands(rows: Sequence[list[Line]], gutter: float) -> Iterator[tuple[bool, list[list[Line]]]]:
    """Stretches of rows that all cross the gutter, or none of which does."""
    band: list[list[Line]] = []
    state = False
    for row in rows:
        crossing = any(line.x0 < gutter < line.x1 for line in row)
        if band and crossing != state:
            yield state, band
            band = []
        state = crossing
        band.append(row)
    if band:
        yield state, band


def _splits(row: Sequence[Line], gutter: float) -> bool:
    return row[0].x1 <= gutter <= row[-1].x0


def _side(row: Sequence[Line], gutter: float, side: int) -> list[Line]:
    return [line for line in row if (line.x0 >= gutter) == bool(side)]
