"""What the styles of a Word file say of a paragraph or a run: size, centring, hidden, list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ingest.formats.docx_package import W

_TITLE_NAMES = ("title", "标题", "公文标题", "文件标题")


class Styles:
    """The styles of a file; a style inherits from the one that it is based on."""

    def __init__(self, root: Any) -> None:
        found = [] if root is None else root.findall(f"{W}style")
        self._styles = {style.get(f"{W}styleId", ""): style for style in found}
        self.default = next(
            (
                key
                for key, style in self._styles.items()
                if style.get(f"{W}type") == "paragraph"
                and style.get(f"{W}default") in ("1", "true")
            ),
            "",
        )
        base = None if root is None else root.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr/{W}sz")
        self._size = _half_points(base) or 10.0

    def chain(self, style_id: str) -> Iterator[str]:
        """The style and those that it is based on, nearest first (a loop of styles ends)."""
        seen: set[str] = set()
        while style_id and style_id not in seen and style_id in self._styles:
            seen.add(style_id)
            yield style_id
            based = self._styles[style_id].find(f"{W}basedOn")
            style_id = "" if based is None else based.get(f"{W}val", "")

    def num_pr(self, style_id: str) -> Any:
        """The ``w:numPr`` of a style itself, None without one."""
        return self._styles[style_id].find(f"{W}pPr/{W}numPr")

    def is_title(self, paragraph: Any) -> bool:
        return self._name(style_of(paragraph)).lower() in _TITLE_NAMES

    def is_contents(self, paragraph: Any) -> bool:
        """Whether the paragraph is a line (or the heading) of a table of contents."""
        name = self._name(style_of(paragraph)).lower()
        return name.startswith("toc ") or name in ("toc heading", "table of figures")

    def centred(self, paragraph: Any) -> bool:
        alignment = paragraph.find(f"{W}pPr/{W}jc")
        for style_id in self.chain(style_of(paragraph) or self.default):
            if alignment is not None:
                break
            alignment = self._styles[style_id].find(f"{W}pPr/{W}jc")
        return alignment is not None and alignment.get(f"{W}val") == "center"

    def size(self, run: Any, paragraph: Any) -> float:
        """The size of a run's type in points."""
        size = _half_points(run.find(f"{W}rPr/{W}sz"))
        paragraph_style = style_of(paragraph) or self.default
        for style_id in (*self.chain(_run_style(run)), *self.chain(paragraph_style)):
            size = size or _half_points(self._styles[style_id].find(f"{W}rPr/{W}sz"))
        return size or self._size

    def hidden(self, run: Any, paragraph: Any) -> bool:
        """Whether the run is hidden text (``w:vanish``)."""
        own = run.find(f"{W}rPr/{W}vanish")
        if own is not None:
            return is_on(own)
        for style_id in (*self.chain(_run_style(run)), *self.chain(style_of(paragraph))):
            mark = self._styles[style_id].find(f"{W}rPr/{W}vanish")
            if mark is not None:
                return is_on(mark)
        return False

    def _name(self, style_id: str) -> str:
        style = self._styles.get(style_id)
        name = None if style is None else style.find(f"{W}name")
        return "" if name is None else name.get(f"{W}val", "")


def style_of(paragraph: Any) -> str:
    """The id of the paragraph's style, "" for the default."""
    style = paragraph.find(f"{W}pPr/{W}pStyle")
    return "" if style is None else style.get(f"{W}val", "")


def is_on(mark: Any) -> bool:
    """Whether a switch of Word's (``<w:vanish/>``, ``w:val="0"``) is on."""
    return mark is not None and mark.get(f"{W}val", "1") not in ("0", "false", "off")


def _run_style(run: Any) -> str:
    style = run.find(f"{W}rPr/{W}rStyle")
    return "" if style is None else style.get(f"{W}val", "")


def _half_points(element: Any) -> float:
    value = "" if element is None else element.get(f"{W}val", "")
    return int(value) / 2 if value.isdigit() else 0.0
