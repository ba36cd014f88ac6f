"""Word files (.docx, .docm): paragraphs and tables in the order of the page.

Read over the XML itself: python-docx, mammoth and markitdown lose automatic numbers, and each of
them insertions, text boxes or merged cells as well (figures in docs/formats.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from configs.errors import InputError
from ingest.formats.docx_numbering import Numbering
from ingest.formats.docx_package import Package, W, open_package
from ingest.formats.docx_styles import Styles
from ingest.formats.docx_text import Losses, is_deleted, is_hidden_row, words_of
from ingest.formats.grid import table_lines, with_one_header
from ingest.formats.letterhead import FrontLine, read_letterhead
from ingest.reading import Reading

_CONTAINERS = {f"{W}{name}" for name in ("sdt", "sdtContent", "ins", "customXml", "moveTo")}
_MC_ALTERNATE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_FRONT = 60
_MAX_COLUMNS = 200
_WARNINGS = {
    "deleted": "holds tracked changes: insertions are kept, deletions left out; check that they"
    " were accepted",
    "inserted": "holds tracked changes: insertions are kept, deletions left out; check that they"
    " were accepted",
    "hidden": "holds hidden text, which is left out",
    "pictures": "holds pictures; words in them are not read",
    "embedded": "holds an embedded file, which is left out",
}


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    size: float = 0.0
    centred: bool = False
    marked: bool = False


@dataclass(slots=True)
class _Walk:
    """The state of one pass: counters of the lists, what was lost, numbers of the notes."""

    styles: Styles
    numbering: Numbering
    notes: dict[tuple[str, str], Any]
    losses: Losses = field(default_factory=Losses)
    noted: int = 0
    pending: str = ""
    """Text of paragraphs whose mark is deleted: it goes on in the next one."""


def read(path: Path) -> Reading:
    """The words of a Word file as printed, without headers, footers and comments.

    Numbers that Word counts itself stand in the text; a note stands behind its paragraph as
    ``注1：…``; the title is marked and 发文字号 and issuer of the 红头 are given. Raises InputError
    for a file that is encrypted, damaged, too large, no Word file, or without text.
    """
    package = open_package(path)
    body = package.document.find(f"{W}body")
    walk = _walk(package)
    lines = [] if body is None else list(_blocks(body, walk))
    if not any(line.text.strip() for line in lines):
        raise InputError(_empty(path, walk))
    front = [line for line in lines if line.text.strip()][:_FRONT]
    head = read_letterhead([FrontLine(x.text, x.size, x.centred, x.marked) for x in front])
    dropped = {id(front[index]) for index in head.drop}
    texts = [*head.lines(), *(line.text for line in lines if id(line) not in dropped)]
    return Reading(
        "\n".join(texts),
        title=head.title or package.title,
        given=head.given or {},
        warnings=tuple(dict.fromkeys(_WARNINGS[kind] for kind in walk.losses.seen)),
    )


def _walk(package: Package) -> _Walk:
    styles = Styles(package.parts.get("styles"))
    notes = {
        (kind, note.get(f"{W}id", "")): note
        for kind in ("footnotes", "endnotes")
        if kind in package.parts
        for note in package.parts[kind]
        if isinstance(note.tag, str)
    }
    return _Walk(styles, Numbering(package.parts.get("numbering"), styles), notes)


def _empty(path: Path, walk: _Walk) -> str:
    if walk.losses.seen["pictures"]:
        return f"{path.name}: holds only pictures (a scan); print it as PDF, then run OCR on that"
    return f"{path.name}: holds no text; complete it or remove it"


def _blocks(container: Any, walk: _Walk) -> Iterator[_Line]:
    for element in container:
        if element.tag == f"{W}p":
            yield from _paragraph(element, walk)
        elif element.tag == f"{W}tbl":
            for text in table_lines(with_one_header(_grid(element, walk))):
                yield _Line(text)
        elif element.tag in _CONTAINERS:
            yield from _blocks(element, walk)
        elif element.tag == _MC_ALTERNATE:
            yield from _blocks(element[0], walk)
        elif element.tag == f"{W}altChunk":
            walk.losses.seen["embedded"] += 1


def _paragraph(paragraph: Any, walk: _Walk) -> Iterator[_Line]:
    if walk.styles.is_contents(paragraph):
        return
    words = words_of(paragraph, walk.styles, walk.losses)
    for box in words.boxes:
        yield from _blocks(box, walk)
    text = walk.pending + words.text
    if is_deleted(paragraph):
        walk.pending = text
        return
    walk.pending = ""
    # Word counts an empty numbered paragraph only when it is printed as one.
    number = walk.numbering.number(paragraph) if text.strip() else ""
    centred = walk.styles.centred(paragraph)
    marked = walk.styles.is_title(paragraph)
    for index, line in enumerate(text.split("\n")):
        printed = (number if index == 0 else "") + line.strip()
        yield _Line(printed, words.size, centred, marked)
    for key in words.notes:
        yield from _note(key, walk)


def _note(key: tuple[str, str], walk: _Walk) -> Iterator[_Line]:
    note = walk.notes.pop(key, None)  # popped: a note that cites itself must end
    if note is None:
        return
    walk.noted += 1
    number = walk.noted
    text = " ".join(line.text for line in _blocks(note, walk) if line.text.strip())
    if text:
        yield _Line(f"注{number}：{text.strip()}")


def _grid(table: Any, walk: _Walk) -> list[list[str]]:
    """The cells of a table, merged ones in every row and column that they cover."""
    rows: list[list[str]] = []
    for row in _children(table, "tr"):
        if is_hidden_row(row):
            walk.losses.seen["deleted"] += 1
            continue
        before = row.find(f"{W}trPr/{W}gridBefore")
        cells = [""] * _count(before)
        for cell in _children(row, "tc"):
            properties = cell.find(f"{W}tcPr")
            span = _count(None if properties is None else properties.find(f"{W}gridSpan"), 1)
            merge = None if properties is None else properties.find(f"{W}vMerge")
            goes_on = merge is not None and merge.get(f"{W}val") != "restart"
            if goes_on and rows and len(cells) < len(rows[-1]):
                text = rows[-1][len(cells)]
            else:
                lines = (line.text for line in _blocks(cell, walk))
                text = "\n".join(line for line in lines if line.strip())
            cells += [text] * span
            if len(cells) > _MAX_COLUMNS:
                break
        rows.append(cells[:_MAX_COLUMNS])
    return rows


def _children(element: Any, name: str) -> Iterator[Any]:
    """The rows or cells of a table, content controls and insertions around them aside."""
    for child in element:
        if child.tag == f"{W}{name}":
            yield child
        elif child.tag in _CONTAINERS:
            yield from _children(child, name)


def _count(element: Any, default: int = 0) -> int:
    value = "" if element is None else element.get(f"{W}val", "")
    return min(int(value), _MAX_COLUMNS) if value.isdigit() else default
