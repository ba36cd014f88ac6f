"""The words of one Word paragraph: insertions kept, deletions, hidden text and field codes not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ingest.formats.docx_package import W
from ingest.formats.docx_styles import Styles, is_on
from ingest.formats.letterhead import body_size

_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_WRAPPERS = {
    *(f"{W}{name}" for name in ("ins", "moveTo", "hyperlink", "smartTag", "sdt", "sdtContent")),
    *(f"{W}{name}" for name in ("fldSimple", "customXml", "dir", "bdo", "pict", "object")),
}
_MARKS = {
    f"{W}tab": "\t",
    f"{W}br": "\n",
    f"{W}cr": "\n",
    f"{W}noBreakHyphen": "-",
    f"{W}ptab": "\t",
}


@dataclass(slots=True)
class Losses:
    """What was left out of a file, counted as the walk goes."""

    seen: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Words:
    """What a paragraph holds: its text (``\\n`` = soft line break), ids of its notes in order, the
    text boxes anchored in it and the size of its type in points (0 without text)."""

    text: str = ""
    notes: list[tuple[str, str]] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)
    size: float = 0.0


def words_of(paragraph: Any, styles: Styles, losses: Losses) -> Words:
    """The words of a ``w:p``."""
    return _Reader(paragraph, styles, losses).read()


def is_deleted(paragraph: Any) -> bool:
    """Whether the paragraph's mark is deleted: its text goes on in the next paragraph."""
    mark = paragraph.find(f"{W}pPr/{W}rPr")
    return mark is not None and (
        mark.find(f"{W}del") is not None or mark.find(f"{W}moveFrom") is not None
    )


class _Reader:
    def __init__(self, paragraph: Any, styles: Styles, losses: Losses) -> None:
        self._paragraph, self._styles, self._seen = paragraph, styles, losses.seen
        self._words = Words()
        self._sizes: list[tuple[float, int]] = []
        self._code = 0
        """How many fields are open whose code (not yet its result) is being read."""

    def read(self) -> Words:
        text = "".join(self._walk(self._paragraph))
        self._words.text = text
        self._words.size = body_size(self._sizes)
        return self._words

    def _walk(self, element: Any) -> Iterator[str]:
        for child in element:
            tag = child.tag
            if tag == f"{W}r":
                yield self._run(child)
            elif tag in (f"{W}del", f"{W}moveFrom"):
                if next(child.iter(f"{W}delText", f"{W}t"), None) is not None:
                    self._seen["deleted"] += 1
            elif tag in (f"{W}ins", f"{W}moveTo"):
                self._seen["inserted"] += 1
                yield from self._walk(child)
            elif tag in _WRAPPERS:
                yield from self._walk(child)
            elif tag == f"{_MC}AlternateContent":
                yield from self._walk(_chosen(child))
            elif isinstance(tag, str) and tag.startswith(_MATH_TEXT[:-1]):
                yield "".join(t.text or "" for t in child.iter(_MATH_TEXT))

    def _run(self, run: Any) -> str:
        hidden = self._styles.hidden(run, self._paragraph)
        text = "".join(self._inner(run))
        if hidden and text.strip():
            self._seen["hidden"] += 1
        if hidden or not text:
            return ""
        self._sizes.append((self._styles.size(run, self._paragraph), len(text.strip())))
        return text

    def _inner(self, run: Any) -> Iterator[str]:
        for child in run:
            tag = child.tag
            if tag == f"{W}fldChar":
                kind = child.get(f"{W}fldCharType")
                # Codes (PAGE, HYPERLINK …) stand between begin and separate; results behind it.
                if kind == "begin":
                    self._code += 1
                elif kind in ("separate", "end"):
                    self._code = max(0, self._code - 1) if kind == "separate" else 0
            elif self._code:
                continue
            elif tag == f"{W}t":
                yield child.text or ""
            elif tag == f"{W}br" and child.get(f"{W}type") in ("page", "column"):
                yield "\n"
            elif tag in _MARKS:
                yield _MARKS[tag]
            elif tag == f"{W}sym":
                yield _symbol(child)
            elif tag == f"{W}ruby":
                yield "".join(t.text or "" for t in child.iterfind(f"{W}rubyBase//{W}t"))
            elif tag in (f"{W}footnoteReference", f"{W}endnoteReference"):
                kind = "footnotes" if tag.endswith("footnoteReference") else "endnotes"
                self._words.notes.append((kind, child.get(f"{W}id", "")))
            elif tag in (f"{W}drawing", f"{W}pict", f"{W}object", f"{_MC}AlternateContent"):
                self._drawing(child)

    def _drawing(self, element: Any) -> None:
        if element.tag == f"{_MC}AlternateContent":
            element = _chosen(element)
        boxes = list(_outermost(element, f"{W}txbxContent"))
        self._words.boxes += boxes
        if not boxes and any(
            isinstance(e.tag, str) and e.tag.endswith(("}blip", "}imagedata"))
            for e in element.iter()
        ):
            self._seen["pictures"] += 1


def _outermost(element: Any, tag: str) -> Iterator[Any]:
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag == f"{_MC}AlternateContent":
            yield from _outermost(_chosen(child), tag)
        else:
            yield from _outermost(child, tag)


def _chosen(alternate: Any) -> Any:
    """The one branch of an ``mc:AlternateContent``: reading both would double the text."""
    choice = alternate.find(f"{_MC}Choice")
    fallback = alternate.find(f"{_MC}Fallback")
    chosen = choice if choice is not None else fallback
    return alternate if chosen is None else chosen


def _symbol(element: Any) -> str:
    """A character of a symbol font; those of private use have no Unicode meaning."""
    try:
        code = int(element.get(f"{W}char", ""), 16)
    except ValueError:
        return ""
    return "" if 0xE000 <= code <= 0xF8FF else chr(code)


def is_hidden_row(row: Any) -> bool:
    """Whether a table row is deleted or hidden."""
    properties = row.find(f"{W}trPr")
    return properties is not None and (
        properties.find(f"{W}del") is not None or is_on(properties.find(f"{W}hidden"))
    )
