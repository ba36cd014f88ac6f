"""PDF files: paragraphs, tables and pages as a reader of the print sees them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from configs.errors import InputError
from ingest.formats import pdf_ocr
from ingest.formats.grid import RULE, table_lines
from ingest.formats.letterhead import FrontLine, read_letterhead
from ingest.formats.pdf_columns import in_reading_order
from ingest.formats.pdf_furniture import without_furniture
from ingest.formats.pdf_lines import Line
from ingest.formats.pdf_paragraphs import Block, Stretch, blocks_of, page_edges
from ingest.formats.pdf_source import Page, load
from ingest.reading import Reading

_FRONT = 60
_HAN = re.compile("[\u4e00-\u9fff]")
_UNUSABLE_TITLE = re.compile(r"Microsoft|Word|\.(?:docx?|pdf|wps)$|untitled", re.IGNORECASE)


def read(path: Path) -> Reading:
    """The words of a PDF file with the offsets of its pages.

    Heads, feet and page numbers are left out, a paragraph over several pages is one. Pages that
    are pictures are recognised where the extra ``ocr`` is installed. Raises InputError as
    ``pdf_source.load`` does, and for a scan where it is not.
    """
    source = load(path)
    pages, warnings = _with_pictures(path, source.pages)
    if source.lossy:
        warnings.append("parts of the file are damaged: words may be missing; export it again")
    blocks = blocks_of(_stretches(pages))
    if not any(block.text.strip() or block.rows for block in blocks):
        raise InputError(f"{path.name}: holds no text; complete it or remove it")
    text, offsets, head = _assemble(blocks, len(pages))
    title = "" if _UNUSABLE_TITLE.search(source.title) else " ".join(source.title.split())
    return Reading(
        text,
        title=head[0] or (title if _HAN.search(title) else ""),
        given=head[1],
        pages=offsets,
        warnings=tuple(warnings),
    )


def _with_pictures(path: Path, pages: Sequence[Page]) -> tuple[list[Page], list[str]]:
    """The pages with recognised words where they are pictures, and what a clerk must know."""
    pictures = [index for index, page in enumerate(pages) if page.picture]
    if not pictures:
        return list(pages), []
    garbled = any(page.garbled for page in pages)
    if not pdf_ocr.is_installed():
        if len(pictures) == len(pages) or garbled:
            what = "has a text layer without meaning" if garbled else "is a scan without text"
            raise InputError(
                f"{path.name}: {what}; install the extra with pip install 'policy-fusion[ocr]' or"
                " run OCR on it"
            )
        return list(pages), [f"{_named(pictures)} only pictures: words in them are not read"]
    found = dict(pdf_ocr.recognise(path, pictures))
    read_pages = [
        replace(page, pieces=tuple(found[index]), tables=()) if index in found else page
        for index, page in enumerate(pages)
    ]
    return read_pages, [
        f"{_named(pictures)} only pictures: the text is recognised by a program and may be wrong"
    ]


def _named(pages: Sequence[int]) -> str:
    """``pages 2-4 and 7 hold``; pages are counted from 1 here."""
    ranges = []
    for _, group in groupby(enumerate(pages, 1), key=lambda pair: pair[1] - pair[0]):
        run = [page + 1 for _, page in group]
        ranges.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
    words = ", ".join(ranges)
    return f"page {words} holds" if len(pages) == 1 else f"pages {words} hold"


def _stretches(pages: Sequence[Page]) -> list[Stretch]:
    """Columns and tables of all pages in reading order."""
    texts = without_furniture([p.pieces for p in pages], [p.height for p in pages])
    found: list[Stretch] = []
    whole = page_edges(texts)
    for number, (page, pieces) in enumerate(zip(pages, texts, strict=True)):
        rest: list[Line] = list(pieces)
        for table in sorted(page.tables, key=lambda t: t.top):
            above = [x for x in rest if x.middle < table.top]
            rest = [x for x in rest if x.middle >= table.top]
            found += _columns(above, number, whole[number])
            found.append(Stretch(number, table=table))
        found += _columns(rest, number, whole[number])
    return found


def _columns(pieces: Sequence[Line], page: int, whole: tuple[float, float]) -> Iterable[Stretch]:
    for column in in_reading_order(pieces):
        left, right = whole
        if column.narrow:
            left = min(line.x0 for line in column.lines)
            right = max(line.x1 for line in column.lines)
        yield Stretch(page, column.lines, left=left, right=right)


def _assemble(
    blocks: Sequence[Block], count: int
) -> tuple[str, tuple[int, ...], tuple[str, dict[str, str]]]:
    """The text, the offsets at which its ``count`` pages begin, title and given fields."""
    front = blocks[:_FRONT]
    head = read_letterhead(
        [FrontLine(block.text or "|", block.size, block.centred) for block in front]
    )
    text = "".join(f"{line}\n" for line in head.lines())
    starts: dict[int, int] = {0: 0}
    for index, block in enumerate(blocks):
        if index in head.drop:
            continue
        for page, words in _printed(block):
            for begun in range(max(starts) + 1, page + 1):
                starts[begun] = len(text)
            text += words
        text += "\n"
    offsets = tuple(starts.get(page, len(text)) for page in range(count))
    return text, offsets, (head.title, dict(head.given or {}))


def _printed(block: Block) -> Iterable[tuple[int, str]]:
    if not block.rows:
        return block.parts
    pages = [page for page, row in block.rows if any(cell.strip() for cell in row)]
    lines = table_lines([row for _, row in block.rows])
    # The rule below the header is a line of its own on the header's page.
    rule = next((at for at, line in enumerate(lines) if line.startswith(RULE)), 0)
    if rule:
        pages.insert(rule, pages[rule - 1])
    breaks = ["\n"] * (len(lines) - 1) + [""]
    return [(page, line + end) for page, line, end in zip(pages, lines, breaks, strict=True)]
