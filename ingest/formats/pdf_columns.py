"""The reading order of a page's lines: one column, or two read one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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

    Two columns are pieces side by side with one gutter between them, both filled as running text
    is; lines across the gutter (a title) end the stretch above them.
    """
    rows = rows_of(pieces)
    gutter = _gutter(pieces)
    if gutter is None:
        return [Column(tuple(merge(row) for row in rows))] if rows else []
    found: list[Column] = []
    for crossing, band in _bands(rows, gutter):
        sides = {line.x0 >= gutter for row in band for line in row}
        if crossing or len(sides) < 2:
            found.append(Column(tuple(merge(row) for row in band)))
            continue
        for side in (0, 1):
            parts = [_side(row, gutter, side) for row in band]
            found.append(Column(tuple(merge(part) for part in parts if part), narrow=True))
    return found


def _gutter(pieces: Sequence[Line]) -> float | None:
    """The left edge of the right one of two columns in points, None on a page of one column."""
    if not pieces:
        return None
    x0, x1 = min(p.x0 for p in pieces), max(p.x1 for p in pieces)
    low, high = (x0 + share * (x1 - x0) for share in _ZONE)
    starts = Counter(round(p.x0) for p in pieces if low < p.x0 < high)
    if not starts:
        return None
    gutter = starts.most_common(1)[0][0] - 1.0
    # Lines side by side need not stand at one height, but those of one column are further apart.
    pairs = [
        (left, right)
        for right in pieces
        if right.x0 >= gutter
        for left in pieces
        if left.x1 <= gutter and abs(left.middle - right.middle) < 0.9 * right.size
    ]
    if len(pairs) < _MIN_ROWS:
        return None
    left_end, right_end = max(p[0].x1 for p in pairs), max(p[1].x1 for p in pairs)
    left_start, right_start = min(p[0].x0 for p in pairs), min(p[1].x0 for p in pairs)
    left = median((p[0].x1 - p[0].x0) / max(left_end - left_start, 1.0) for p in pairs)
    right = median((p[1].x1 - p[1].x0) / max(right_end - right_start, 1.0) for p in pairs)
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


def _side(row: Sequence[Line], gutter: float, side: int) -> list[Line]:
    return [line for line in row if (line.x0 >= gutter) == bool(side)]
