"""From a cleaned document to spans that tile it: articles, parts of long articles, sections.

Every character of the body lies in exactly one span, but for headings, comments and white space.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ingest.numerals import article_label
from ingest.sections import sections
from ingest.structure import Block, blocks
from ingest.tables import pack_with_tables


@dataclass(frozen=True, slots=True)
class Span:
    """``[start, end)`` of the document text.

    ``article``, ``part`` and ``table_header`` as in PassageMetadata.
    """

    start: int
    end: int
    locator: str
    heading_path: tuple[str, ...]
    article: str = ""
    part: int = 0
    table_header: str = ""


def split(
    text: str, body_start: int = 0, titles: Iterable[str] = (), rows_apart: bool = False
) -> tuple[Span, ...]:
    """The spans of ``text[body_start:]`` in order.

    Locators: ``a54`` an article, ``a54p2`` its second part, ``x2-a1`` an article of the second
    numbering in the document; ``s1`` text outside of articles, ``s0`` when it comes before them.
    ``titles``: lines (without white space) that repeat the document's title, kept as headings.
    ``rows_apart``: every row of a table outside of articles is a span.
    """
    found = blocks(text, body_start, frozenset(titles))
    spans: list[Span] = []
    number = 0 if found and found[0].number is None and any(b.number for b in found) else 1
    for block in found:
        if block.number is not None:
            spans += _article(text, block)
            continue
        for section in sections(text, block.start, block.end, rows_apart):
            path = (*block.heading_path, *section.titles)
            header = section.table_header
            spans.append(Span(section.start, section.end, f"s{number}", path, table_header=header))
            number += 1
    return tuple(spans)


def _article(text: str, block: Block) -> list[Span]:
    label = article_label(block.number) if block.number else ""
    locator = f"a{label}" if block.run == 1 else f"x{block.run}-a{label}"
    parts = pack_with_tables(text, block.start, block.end)
    if len(parts) == 1:
        return [Span(parts[0].start, parts[0].end, locator, block.heading_path, label)]
    return [
        Span(p.start, p.end, f"{locator}p{n}", block.heading_path, label, n, p.header)
        for n, p in enumerate(parts, 1)
    ]
