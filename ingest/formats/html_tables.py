"""HTML tables in the dialect of ``Reading``: merged cells repeated where they cover."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lxml import html

from configs.errors import InputError

MAX_CELLS = 500_000
_MAX_SPAN = 1000
"""As browsers limit ``colspan`` (HTML standard, 4.9.11)."""
_LABEL_CHARS = 20
_GROUPS = frozenset(("thead", "tbody", "tfoot"))


def table_lines(
    table: html.HtmlElement, text_of: Callable[[html.HtmlElement], str]
) -> list[str] | None:
    """The lines of a data table; None for a table that only lays out the page.

    ``text_of`` gives the text of a cell on one line. A first row that is one cell is a caption,
    last rows that are one cell are notes: both come as lines of their own around the table. A
    header of several rows becomes one: its labels joined from top to bottom. Raises InputError
    for more than ``MAX_CELLS`` cells after expansion.
    """
    if _holds_layout(table):
        return None
    cells: list[str] = []
    grid, heights = _grid(table, text_of, cells)
    grid = [row for n, row in enumerate(grid) if _says(row, grid[n - 1] if n else [], cells)]
    grid = _without_columns(grid, cells)
    before: list[str] = []
    after: list[str] = []
    while grid and len(grid[0]) > 1 and len(set(grid[0])) == 1:
        before.append(cells[grid.pop(0)[0]])
    while len(grid) > 1 and len(grid[-1]) > 1 and len(set(grid[-1])) == 1:
        after.insert(0, cells[grid.pop()[0]])
    if len(grid) == 1 and len(grid[0]) > 1 and max(len(cells[c]) for c in grid[0]) <= _LABEL_CHARS:
        # The head of a form that is to be filled in.
        return [*before, " ".join(cells[cell] for cell in dict.fromkeys(grid[0])), *after]
    if len(grid) < 2 or len(grid[0]) < 2:
        return None
    depth = _header_depth(grid, heights)
    header = [_label([row[j] for row in grid[:depth]], cells) for j in range(len(grid[0]))]
    rows = [[cells[cell] for cell in row] for row in grid[depth:]]
    lines = [_line(header), _line(["---"] * len(header))]
    lines += [_line(row) for row in rows if row != header]
    return [*before, *lines, *after]


def _holds_layout(table: html.HtmlElement) -> bool:
    """Whether most of its text is in tables inside it."""
    inner = sum(len(nested.text_content()) for nested in table.iterfind(".//table"))
    return inner > 0 and 2 * inner > len(table.text_content())


def _rows(table: html.HtmlElement) -> Iterator[list[html.HtmlElement]]:
    for child in table.iterchildren():
        if child.tag == "tr":
            yield list(child.iterchildren("td", "th"))
        elif child.tag in _GROUPS:
            # Cells right below a group are a row whose ``tr`` was left out.
            loose = list(child.iterchildren("td", "th"))
            if loose:
                yield loose
            yield from (list(row.iterchildren("td", "th")) for row in child.iterchildren("tr"))


def _grid(
    table: html.HtmlElement, text_of: Callable[[html.HtmlElement], str], cells: list[str]
) -> tuple[list[list[int]], list[int]]:
    """Row by row the index of the cell that covers each column, and how high each cell is.

    ``cells`` is filled with the texts; index 0 is the missing cell.
    """
    cells.append("")
    heights = [1]
    rows: list[dict[int, int]] = []
    width = 0
    reaching: dict[int, tuple[int, int]] = {}  # column -> (cell, rows that it still covers)
    for row in _rows(table):
        line = {column: cell for column, (cell, _) in reaching.items()}
        reaching = {c: (cell, left - 1) for c, (cell, left) in reaching.items() if left > 1}
        column = 0
        for element in row:
            while column in line:
                column += 1
            height = _span(element, "rowspan", 65534)
            cells.append(text_of(element))
            heights.append(height)
            for _ in range(_span(element, "colspan", _MAX_SPAN)):
                if column in line:
                    break
                line[column] = len(cells) - 1
                if height > 1:
                    reaching[column] = (len(cells) - 1, height - 1)
                column += 1
        rows.append(line)
        width = max(width, max(line, default=-1) + 1)
        if width * len(rows) > MAX_CELLS:
            raise InputError(f"a table has over {MAX_CELLS:,} cells; split it")
    return [[line.get(column, 0) for column in range(width)] for line in rows], heights


def _span(cell: html.HtmlElement, name: str, most: int) -> int:
    value = (cell.get(name) or "").strip()
    if not value.isascii() or not value.isdigit():
        return 1
    # A rowspan of 0 reaches to the end of the table.
    return min(int(value[:6]) or (most if name == "rowspan" else 1), most)


def _says(row: list[int], above: list[int], cells: list[str]) -> bool:
    """Whether a row has words of its own, not only cells that reach down from the row above."""
    return any(cells[cell] for cell in set(row) - set(above))


def _without_columns(grid: list[list[int]], cells: list[str]) -> list[list[int]]:
    """Without columns that are blank, or in every row part of the same cells as the one before."""
    width = len(grid[0]) if grid else 0
    kept = [
        j
        for j in range(width)
        if any(cells[row[j]] for row in grid)
        and (j == 0 or any(row[j] != row[j - 1] for row in grid))
    ]
    return [[row[j] for j in kept] for row in grid]


def _header_depth(grid: list[list[int]], heights: list[int]) -> int:
    """How many rows the header takes: a cell of the first row spans columns, another the rows."""
    first = grid[0]
    depth = max(heights[cell] for cell in first)
    spans_columns = len(set(first)) < len(first)
    return depth if spans_columns and 1 < depth <= 4 and depth < len(grid) else 1


def _label(column: list[int], cells: list[str]) -> str:
    return " ".join(filter(None, (cells[cell] for cell in dict.fromkeys(column))))


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "｜") for cell in cells) + " |"
