"""What stands on the pages beside the text: running heads and feet, page numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from ingest.formats.letterhead import body_size
from ingest.formats.pdf_lines import Line, merge, rows_of

_NUMBER = r"(?:\d{1,4}|[ivxlIVXL]{1,6}|[一二三四五六七八九十百]{1,4})"
_PAGE_NUMBER = re.compile(
    rf"[-—–－·.•\s　]*(?:(?:第\s*)?{_NUMBER}(?:\s*页)?"
    rf"(?:\s*[/／,，、]?\s*(?:共|总)?\s*{_NUMBER}\s*页?)?)[-—–－·.•\s　]*",
)
_EDGE = 0.14
"""Furniture stands within this share of the page's height from its upper or lower edge."""
_OUTERMOST = 3
_SAME_PLACE = 8.0
_SMALL = 0.9
_HEAD_GAP = 1.5
_SHARE = 0.3
"""Heads may differ between odd and even pages and stop in an annex."""


def without_furniture(
    pages: Sequence[Sequence[Line]], heights: Sequence[float]
) -> list[list[Line]]:
    """The pieces of each page that are text.

    A row at the edge of the page goes when it is a page number, when the same words (numbers
    aside) stand at that place on several pages, or when it is small type high above the text.
    """
    edges = [_edge_rows(page, height) for page, height in zip(pages, heights, strict=True)]
    repeated = _repeated(edges)
    body = body_size([(piece.size, len(piece.text)) for page in pages for piece in page])
    kept = []
    for page, rows in zip(pages, edges, strict=True):
        gone = {
            id(piece)
            for row in rows
            if _is_page_number(row) or _key(row) in repeated or _is_stray(row, page, body)
            for piece in row
        }
        kept.append([piece for piece in page if id(piece) not in gone])
    return kept


def _edge_rows(page: Sequence[Line], height: float) -> list[list[Line]]:
    rows = rows_of(page)
    upper = [row for row in rows[:_OUTERMOST] if row[0].bottom < _EDGE * height]
    lower = [row for row in rows[-_OUTERMOST:] if row[0].top > (1 - _EDGE) * height]
    return [*upper, *lower]


def _repeated(edges: Sequence[Sequence[list[Line]]]) -> set[tuple[str, int]]:
    places: dict[tuple[str, int], set[int]] = defaultdict(set)
    for page, rows in enumerate(edges):
        for row in rows:
            places[_key(row)].add(page)
    needed = max(2, round(_SHARE * len(edges)))
    return {key for key, pages in places.items() if len(pages) >= needed}


def _key(row: list[Line]) -> tuple[str, int]:
    words = re.sub(r"\s", "", merge(row).text)
    return re.sub(r"\d+", "#", words), round(row[0].middle / _SAME_PLACE)


def _is_page_number(row: list[Line]) -> bool:
    return bool(_PAGE_NUMBER.fullmatch(merge(row).text))


def _is_stray(row: list[Line], page: Sequence[Line], body: float) -> bool:
    """Whether the row is small and stands above all else with a wide gap, as a head does."""
    below = [p.top for p in page if p.middle > row[0].bottom]
    return (
        row[0].size < _SMALL * body
        and all(p.middle > row[0].top for p in page)
        and bool(below)
        and min(below) - row[0].bottom > _HEAD_GAP * body
    )
