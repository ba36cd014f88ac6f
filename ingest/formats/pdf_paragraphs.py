"""From printed lines to paragraphs that run over lines, columns and pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from ingest.formats.grid import with_one_header
from ingest.formats.letterhead import body_size, join_lines, names_organ
from ingest.formats.pdf_lines import Line
from ingest.formats.pdf_tables import TableBlock
from ingest.numerals import DIGITS

_BEGINS = re.compile(
    rf"第[{DIGITS}]+[条章节编款](?![规所的中第、和至])|[一二三四五六七八九十]{{1,3}}、|[（(][{DIGITS}]{{1,3}}[)）]"
    r"|\d{1,2}[.．、](?!\d)|附\s*[件录表]|[①-⑳]|注\s*\d*[：:]"
)
_ENDED = re.compile(r"[。！？；：:;!?…][”’』」）)]*$")
_NOTE = re.compile(r"(?:[①-⑳]|[\[〔（(]?\d{1,2}[\]〕）)]?|[*＊]|注\s*\d*\s*[：:])\s*\S")
_NOTE_SIZE = 0.9
_SAME_SIZE = 0.12
_INDENT = 1.0
_ROOM = 2.6
"""A line ends this many characters before the edge at most when it is full: a closing bracket with
its full stop may not begin the next line."""
_RIGHT_PART = 0.4
"""No line of running text begins so far to the right."""

_LEADING = 1.6
_LONG_CELL = 30
"""Characters of a cell that takes several lines: its last sentence has an end."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines of one column of a page (from 0), or a table; ``left`` and ``right``: the column's
    edges in points."""

    page: int
    lines: tuple[Line, ...] = ()
    table: TableBlock | None = None
    left: float = 0.0
    right: float = 0.0


@dataclass(slots=True)
class Block:
    """A paragraph as parts of (page, text), or a table's rows of (page, cells)."""

    parts: list[tuple[int, str]] = field(default_factory=list)
    rows: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    size: float = 0.0
    centred: bool = False
    last_page: int = -1
    """The page on which a table ends (its last row may have begun on an earlier one)."""

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.parts)


def blocks_of(stretches: Sequence[Stretch]) -> list[Block]:
    """The paragraphs and tables of a document; notes at the foot stand behind the paragraph that
    is open where their page ends."""
    body = body_size([(x.size, len(x.text)) for s in stretches for x in s.lines])
    return _Joiner(body).join(stretches)


def page_edges(pages: Sequence[Sequence[Line]]) -> list[tuple[float, float]]:
    """The left and right edge of each page's text.

    A page of few lines is taken to be as wide as the others usually are.
    """
    spans = [
        (min(x.x0 for x in page), max(x.x1 for x in page)) if page else (0.0, 0.0) for page in pages
    ]
    widths = [right - left for left, right in spans if right > left]
    usual = median(widths) if widths else 0.0
    edges = []
    for page, (left, right) in zip(pages, spans, strict=True):
        few = len(page) < 3 and right - left < usual
        edges.append((left, left + usual if few else right))
    return edges


class _Joiner:
    """One pass over the lines with the open paragraph and the notes that wait for its end."""

    def __init__(self, body: float) -> None:
        self._body = body
        self._blocks: list[Block] = []
        self._open: Block | None = None
        self._last: tuple[Line, Stretch] | None = None
        self._notes: list[Block] = []

    def join(self, stretches: Sequence[Stretch]) -> list[Block]:
        for index, stretch in enumerate(stretches):
            if stretch.table is not None:
                self._table(stretch.page, stretch.table)
                continue
            last = index + 1 == len(stretches) or stretches[index + 1].page != stretch.page
            lines, notes = self._split_notes(stretch) if last else (stretch.lines, ())
            for line in lines:
                self._take(line, stretch)
            self._notes += _note_blocks(notes, stretch.page)
        self._close()
        return self._blocks

    def _take(self, line: Line, stretch: Stretch) -> None:
        if self._open is not None and self._last is not None and self._goes_on(line, stretch):
            joined = join_lines((self._open.text, line.text))
            self._open.parts.append((stretch.page, joined[len(self._open.text) :]))
            self._open.centred = self._open.centred or self._centred(line, stretch)
        else:
            self._close()
            self._open = Block(
                [(stretch.page, line.text)],
                size=line.size,
                centred=self._centred(line, stretch),
            )
        self._last = (line, stretch)

    def _goes_on(self, line: Line, stretch: Stretch) -> bool:
        """Whether the line continues the open paragraph."""
        assert self._last is not None
        before, place = self._last
        if abs(before.size - line.size) > _SAME_SIZE * before.size:
            return False
        if place is stretch and line.top - before.bottom > _LEADING * line.size:
            return False
        if line.size > self._body * (1 + _SAME_SIZE):  # a title or a heading on several lines
            if names_organ(before.text) and names_organ(line.text):
                return False  # a 红头 of several organs
            return not _ENDED.search(before.text) and not _BEGINS.match(line.text)
        if self._centred(before, place) and self._centred(line, stretch):
            return False
        if _is_table_row(before) or _is_table_row(line):
            return False
        if place.right - before.x1 > _ROOM * before.size:
            return False
        if before.x0 - place.left > _RIGHT_PART * (place.right - place.left):
            return False  # the lines of a signature end at the edge, but they are full of nothing
        ended = bool(_ENDED.search(before.text))
        if ended and _BEGINS.match(line.text):
            return False
        indented = line.x0 - stretch.left > _INDENT * line.size
        if not indented:
            return True
        hanging = abs((line.x0 - stretch.left) - (before.x0 - place.left)) < 0.5 * line.size
        return not ended and not _BEGINS.match(line.text) and hanging

    def _centred(self, line: Line, stretch: Stretch) -> bool:
        left, right = line.x0 - stretch.left, stretch.right - line.x1
        large = line.size > self._body * (1 + _SAME_SIZE)  # a title may fill its line
        return (large or left > 0.4 * line.size) and abs(left - right) < max(
            line.size, 0.1 * (left + right)
        )

    def _split_notes(self, stretch: Stretch) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
        """The lines, and those of the notes at the foot: smaller type behind a number."""
        lines = stretch.lines
        start = len(lines)
        while start and lines[start - 1].size < _NOTE_SIZE * self._body:
            start -= 1
        while start < len(lines) and not _NOTE.match(lines[start].text):
            start += 1
        return (lines, ()) if start == 0 else (lines[:start], lines[start:])

    def _table(self, page: int, table: TableBlock) -> None:
        before = self._blocks[-1] if self._blocks and self._open is None else None
        if before is None or not _continues(before, page, table):
            self._close()
            rows = [(page, row) for row in with_one_header(table.rows)]
            self._blocks.append(Block(rows=rows, last_page=page))
            return
        before.last_page = page
        header, last = before.rows[0][1], before.rows[-1][1]
        more: Sequence[tuple[str, ...]] = with_one_header(table.rows)
        more = more[1:] if more[0] == header else table.rows
        if more and _is_broken(last, more[0]):
            parts = zip(last, more[0], strict=True)
            last = tuple(join_lines(filter(None, part)) for part in parts)
            before.rows[-1] = (before.rows[-1][0], last)
            more = more[1:]
        before.rows += [(page, row) for row in _filled(more, last)]

    def _close(self) -> None:
        if self._open is not None:
            self._blocks.append(self._open)
        self._blocks += self._notes
        self._open, self._last, self._notes = None, None, []


def _note_blocks(lines: Sequence[Line], page: int) -> Iterator[Block]:
    note: list[str] = []
    for line in lines:
        if _NOTE.match(line.text) and note:
            yield Block([(page, join_lines(note))])
            note = []
        note.append(line.text)
    if note:
        yield Block([(page, join_lines(note))])


def _continues(before: Block, page: int, table: TableBlock) -> bool:
    """Whether the table goes on with the one at the end of the page before."""
    return (
        bool(before.rows)
        and before.last_page == page - 1
        and len(before.rows[0][1]) == len(table.rows[0])
    )


def _is_broken(last: tuple[str, ...], first: tuple[str, ...]) -> bool:
    """Whether the page breaks a row: its number is not repeated, a long cell goes on."""
    return not first[0].strip() and any(
        len(above) >= _LONG_CELL and not _ENDED.search(above) and bool(below.strip())
        for above, below in zip(last, first, strict=True)
    )


def _filled(rows: Sequence[tuple[str, ...]], last: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The rows of a table that goes on, with what a cell that the page breaks says in ``last``:
    its rest at the left of the new page is empty."""
    open_columns = len(last)
    for row in rows:
        empty = next((i for i, cell in enumerate(row) if cell.strip()), len(row))
        open_columns = min(open_columns, empty)
        yield (*last[:open_columns], *row[open_columns:])


def _is_table_row(line: Line) -> bool:
    """Whether the line is a row of a table without rules; a number and its words are none."""
    return line.pieces > 2 or (line.pieces == 2 and not _BEGINS.match(line.text))
