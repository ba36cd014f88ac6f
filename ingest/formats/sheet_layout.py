"""From the cells of a sheet to lines: what is a title, a note, a header, a table."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Cells = dict[tuple[int, int], str]
Range = tuple[int, int, int, int]
"""First row, first column, last row, last column, from 1, all inclusive."""

MAX_TITLE = 80


@dataclass(frozen=True, slots=True)
class Sheet:
    """``cells``: (row, column) from 1 -> text, filled ones only; ``merged``: merged ranges;
    ``hidden``: rows that were left out."""

    name: str
    cells: Cells
    merged: Sequence[Range]
    hidden: frozenset[int] = frozenset()

    def without(self, rows: set[int], columns: set[int]) -> Sheet:
        """The same sheet with merged cells repeated, then these rows and columns left out."""
        kept = {
            (r, c): text
            for (r, c), text in _repeated(self).items()
            if r not in rows and c not in columns
        }
        return Sheet(self.name, kept, self.merged, frozenset(rows))


def sheet_lines(sheet: Sheet, name: str, *, titled: bool) -> list[str]:
    """The sheet in the dialect of ``Reading``; ``name`` above it unless "".

    Rows in blocks between empty rows. In each block: rows of one text above (title, unit) and
    below (notes) are lines of their own, the rest is a table whose header rows are joined into one.
    ``titled``: the first such text is the document's title.
    """
    lines: list[str] = []
    cells = _repeated(sheet)
    for block in _blocks(cells, sheet.hidden):
        rows = _grid(cells, block)
        top, end = 0, len(rows)
        while top < end and _single(rows[top]):
            top += 1
        while end > top and _single(rows[end - 1]):
            end -= 1
        before = [_single(row) for row in rows[:top]]
        if titled and before and len(before[0]) <= MAX_TITLE:
            lines += [f"# {before.pop(0)}", ""]
        titled = False
        lines += before
        if end > top:
            depth = _header_depth(sheet.merged, block[top:end])
            lines += ["", *_table(rows[top:end], depth), ""]
        lines += [_single(row) for row in rows[end:]]
    if name and name not in lines and f"# {name}" not in lines:
        at = 2 if lines and lines[0].startswith("# ") else 0
        lines[at:at] = [name]
    return lines


def _repeated(sheet: Sheet) -> Cells:
    """Merged cells repeated in every used row and column that they cover."""
    # A merge of whole rows or columns must not be followed into places where nothing stands.
    rows = sorted({r for r, _ in sheet.cells})
    columns = sorted({c for _, c in sheet.cells})
    filled = dict(sheet.cells)
    for top, left, bottom, right in sheet.merged:
        text = sheet.cells.get((top, left))
        if text is not None:
            for r in rows[bisect_left(rows, top) : bisect_right(rows, bottom)]:
                for c in columns[bisect_left(columns, left) : bisect_right(columns, right)]:
                    filled[r, c] = text
    return filled


def _blocks(cells: Cells, hidden: frozenset[int]) -> Iterator[list[int]]:
    """Runs of rows without an empty row between them; hidden rows do not count."""
    block: list[int] = []
    for row in sorted({r for r, _ in cells}):
        if block and not all(between in hidden for between in range(block[-1] + 1, row)):
            yield block
            block = []
        block.append(row)
    if block:
        yield block


def _grid(cells: Cells, block: Sequence[int]) -> list[list[str]]:
    wanted = set(block)
    columns = sorted({c for r, c in cells if r in wanted})
    return [[cells.get((r, c), "") for c in columns] for r in block]


def _single(row: Sequence[str]) -> str:
    """The text of a row that holds one text only, else ""."""
    texts = set(filter(None, row))
    return texts.pop() if len(texts) == 1 else ""


def _header_depth(merged: Sequence[Range], rows: Sequence[int]) -> int:
    """Rows of the header: 1, or as many as its merged cells say."""
    first = rows[0]
    touching = [m for m in merged if m[0] == first]
    deep = max((bottom - first + 1 for _, _, bottom, _ in touching), default=1)
    wide = any(right > left and bottom == first for _, left, bottom, right in touching)
    depth = max(deep, 2 if wide else 1)
    return depth if depth < len(rows) else 1


def _table(rows: Sequence[Sequence[str]], depth: int) -> Iterator[str]:
    header = [
        " ".join(dict.fromkeys(filter(None, parts))) for parts in zip(*rows[:depth], strict=True)
    ]
    for cells in (header, ["---"] * len(header), *rows[depth:]):
        yield f"| {' | '.join(cells)} |"
