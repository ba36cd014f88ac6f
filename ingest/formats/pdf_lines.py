"""From the characters of a PDF page to its printed lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from ingest.formats.letterhead import join_lines

_SPACE = re.compile(r"[ \u3000\xa0\t]+")
_WIDE_GAP = 1.2
"""A blank of this many character sizes parts two pieces of a row."""
_GAP = 0.6
_LATIN_GAP = 0.2
_SAME_BASELINE = 0.25
_MARK = re.compile(r"[\d①-⑳\[\]〔〕*＊]+")
_RAISED = 0.75
"""Type smaller than this share of its line's is a mark of a note."""


@dataclass(frozen=True, slots=True)
class Line:
    """One printed line or a piece of it; positions in points from the page's upper left corner,
    ``size`` of its type in points, ``pieces`` that wide blanks part it into."""

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    size: float
    pieces: int = 1

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


def pieces_of(chars: Iterable[dict[str, Any]]) -> list[Line]:
    """The rows of upright characters, parted where a wide blank is, in order of row and place.

    ``chars`` as pdfplumber gives them (``text``, ``x0``, ``x1``, ``top``, ``bottom``, ``size``).
    Characters printed twice (a poor man's bold) count once.
    """
    upright = [c for c in chars if c.get("upright", True) and c["text"]]
    pieces: list[Line] = []
    for row in _rows(upright):
        row.sort(key=lambda c: c["x0"])
        start = 0
        for index in range(1, len(row) + 1):
            if index == len(row) or _parted(row[index - 1], row[index]):
                piece = _piece(row[start:index])
                if piece is not None:
                    pieces.append(piece)
                start = index
    return pieces


def merge(pieces: Sequence[Line]) -> Line:
    """The pieces of one row as one line, a full-width blank between them."""
    return Line(
        "　".join(p.text for p in pieces),
        min(p.x0 for p in pieces),
        max(p.x1 for p in pieces),
        min(p.top for p in pieces),
        max(p.bottom for p in pieces),
        max(pieces, key=lambda p: len(p.text)).size,
        len(pieces),
    )


def rows_of(pieces: Sequence[Line]) -> list[list[Line]]:
    """The pieces that stand at one height, from the top; each row from the left."""
    rows: list[list[Line]] = []
    for piece in sorted(pieces, key=lambda p: p.middle):
        if rows and abs(piece.middle - rows[-1][0].middle) < 0.5 * min(
            piece.size, rows[-1][0].size
        ):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    for row in rows:
        row.sort(key=lambda p: p.x0)
    return rows


def text_in(pieces: Sequence[Line]) -> str:
    """The words of a table cell: printed lines joined without blanks between Chinese words."""
    return join_lines(merge(row).text for row in rows_of(pieces))


def _rows(chars: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The characters that share a baseline; raised marks of notes in the row that they mark."""
    rows: list[list[dict[str, Any]]] = []
    for char in sorted(chars, key=_baseline):
        first = rows[-1][0] if rows else None
        near = _SAME_BASELINE * float(char["size"])
        if first is not None and _baseline(char) - _baseline(first) < near:
            rows[-1].append(char)
        else:
            rows.append([char])
    texts = [row for row in rows if not all(_MARK.fullmatch(c["text"]) for c in row)]
    for row in rows:
        if row in texts:
            continue
        marked = next((text for text in texts if _marks(row, text)), None)
        if marked is None:
            texts.append(row)
        else:
            marked += row
    return texts


def _marks(row: list[dict[str, Any]], text: list[dict[str, Any]]) -> bool:
    """Whether small raised characters stand right behind a character of ``text``."""
    mark = row[0]
    return any(
        mark["size"] < _RAISED * c["size"]
        and -0.3 * c["size"] < mark["x0"] - c["x1"] < 0.5 * c["size"]
        and c["top"] - 0.5 * c["size"] < _middle(mark) < c["bottom"]
        for c in text
    )


def _baseline(char: dict[str, Any]) -> float:
    """The height of the baseline in points, growing downwards: fonts differ in their boxes."""
    matrix = char.get("matrix")
    return -float(matrix[5]) if matrix else float(char["bottom"])


def _middle(char: dict[str, Any]) -> float:
    return float(char["top"] + char["bottom"]) / 2


def _parted(left: dict[str, Any], right: dict[str, Any]) -> bool:
    return bool(right["x0"] - left["x1"] > _WIDE_GAP * max(left["size"], right["size"]))


def _piece(row: list[dict[str, Any]]) -> Line | None:
    words = [c for c in row if c["text"].strip()]
    if not words:
        return None
    size = float(median(c["size"] for c in words))
    largest = max(float(c["size"]) for c in words)
    kept: list[dict[str, Any]] = []
    for char in row:
        if not _is_mark(char, largest, words) and not (kept and _same(kept[-1], char)):
            kept.append(char)
    text = kept[0]["text"] if kept else ""
    for left, right in pairwise(kept):
        text += _blank(left, right, size) + right["text"]
    text = _SPACE.sub(_one_blank, text).strip()
    if not text:
        return None
    shown = [c for c in kept if c["text"].strip()]
    return Line(
        text,
        min(c["x0"] for c in shown),
        max(c["x1"] for c in shown),
        min(c["top"] for c in shown),
        max(c["bottom"] for c in shown),
        size,
    )


def _is_mark(char: dict[str, Any], largest: float, words: list[dict[str, Any]]) -> bool:
    """Whether the character is the raised number of a note behind a word."""
    return (
        float(char["size"]) < _RAISED * largest
        and _MARK.fullmatch(char["text"]) is not None
        and char["bottom"] < max(c["bottom"] for c in words) - 0.15 * largest
    )


def _same(left: dict[str, Any], right: dict[str, Any]) -> bool:
    return bool(
        left["text"] == right["text"]
        and abs(left["x0"] - right["x0"]) < 0.3 * left["size"]
        and abs(left["top"] - right["top"]) < 0.3 * left["size"]
        and (right["x1"] - right["x0"]) > 0
    )


def _blank(left: dict[str, Any], right: dict[str, Any], size: float) -> str:
    gap = right["x0"] - left["x1"]
    if left["text"].isspace() or right["text"].isspace():
        return ""
    if gap > _GAP * size:
        return "　"
    latin = left["text"][-1].isascii() and right["text"][0].isascii()
    return " " if latin and gap > _LATIN_GAP * size else ""


def _one_blank(match: re.Match[str]) -> str:
    blank = match.group()
    return blank if len(blank) == 1 else "　"
