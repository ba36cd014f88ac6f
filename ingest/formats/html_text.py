"""The visible text of a part of a page, one paragraph a line, in the dialect of ``Reading``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml import etree, html

from ingest.formats.html_style import Look, look_of
from ingest.formats.html_tables import table_lines

_SKIPPED = (
    "script style noscript template iframe object embed applet svg math canvas audio video select "
    "button textarea input option datalist head title rt rp map area frame frameset"
)
SKIPPED = frozenset(_SKIPPED.split())
"""Elements whose text is no text of the document."""
_BLOCK = (
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr legend li main nav ol p pre section "
    "summary table tbody td tfoot th thead tr ul"
)
_BLOCKS = frozenset(_BLOCK.split())
_WIDE = "\u4e00-\u9fff\u3001-\u303f\uff00-\uffef\u2018-\u201d"
# CSS Text 3, 4.1.3: a line break in the source between two wide characters shows nothing.
_SOURCE_BREAK = re.compile(rf"(?<=[{_WIDE}])[ \t]*[\r\n][ \t\r\n]*(?=[{_WIDE}])")
_BLANKS = re.compile(r"[ \t\r\n\f\xa0]+")
_ARTICLE = re.compile(r"第[一二三四五六七八九十百千零〇\d]{1,9}条(?:之[一二三四五六七八九十]+)?")
_FILES = re.compile(r"\.(?:docx?|xlsx?|pptx?|pdf|wps|et|ofd|rtf|zip|rar|7z)(?:[?#].*)?$", re.I)
_NUMBERED = re.compile(r"[\d（(第一二三四五六七八九十①-⑳]")


@dataclass(slots=True)
class Flow:
    """What a part of a page shows.

    ``lines``: the paragraphs and table rows; ``hidden``: characters left out because the page does
    not show them; ``pictures``: how many it shows; ``attachments``: names of linked files.
    """

    lines: list[str] = field(default_factory=list)
    hidden: int = 0
    pictures: int = 0
    tables: int = 0
    attachments: list[str] = field(default_factory=list)


def flow_of(root: html.HtmlElement, names: frozenset[str], *, tables: bool = True) -> Flow:
    """The visible text below ``root`` (its own hiding does not count).

    ``names`` as from ``html_style.hidden_names``; ``tables=False`` takes table cells as
    paragraphs. Raises InputError for a table that is too large.
    """
    writer = _Writer(names, tables)
    skipped: html.HtmlElement | None = None
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            if writer.start(element, root):
                walk.skip_subtree()
                skipped = element
        else:
            writer.end(element, root, whole=element is not skipped)
            skipped = None
    writer.flush()
    return writer.flow


class _Writer:
    def __init__(self, names: frozenset[str], tables: bool) -> None:
        self.flow = Flow()
        self._names = names
        self._tables = tables
        self._looks = [Look()]
        self._parts: list[str] = []
        self._pre = 0
        self._mark = ""
        self._counts: dict[html.HtmlElement, int] = {}

    def start(self, element: html.HtmlElement, root: html.HtmlElement) -> bool:
        """Take the text before the first child; True when the children are not to be read."""
        tag = element.tag
        look = self._looks[-1]
        if element is not root:
            look = look_of(element, look, self._names)
        self._looks.append(look)
        if tag in SKIPPED:
            return True
        if look.gone:
            self.flow.hidden += len("".join(element.text_content().split()))
            return True
        if tag in _BLOCKS or tag == "br":
            self.flush()
        self._pre += tag == "pre"
        if tag == "table" and self._tables and look.shown:
            lines = table_lines(element, self._cell)
            if lines is not None:
                self.flow.lines += lines
                self.flow.tables += 1
                return True
        if tag == "li":
            self._mark = self._ordinal(element)
        elif tag == "img":
            self.flow.pictures += 1
        elif tag == "a" and _FILES.search(element.get("href") or ""):
            name = " ".join(element.text_content().split())
            self.flow.attachments.append(name or element.get("href").rsplit("/", 1)[-1])
        self._take(element.text)
        return False

    def end(self, element: html.HtmlElement, root: html.HtmlElement, *, whole: bool) -> None:
        """Close the element (``whole``: its children were read) and take the text behind it."""
        self._looks.pop()
        if whole:
            self._pre -= element.tag == "pre"
            if element.tag in _BLOCKS:
                self.flush()
            elif element.tag in ("b", "strong"):
                self._set_off()
        if element is not root:
            self._take(element.tail)

    def flush(self) -> None:
        """End the paragraph."""
        text = _SOURCE_BREAK.sub("", "".join(self._parts))
        self._parts.clear()
        text = _BLANKS.sub(" ", text).strip(" \u3000")
        if text:
            # The marks of the dialect are no words of a page.
            plain = re.sub(r"^[#|]", lambda m: "＃" if m[0] == "#" else "｜", text)
            self.flow.lines.append(self._mark + plain)
            self._mark = ""

    def _take(self, text: str | None) -> None:
        if not text:
            return
        if not self._looks[-1].shown:
            self.flow.hidden += len("".join(text.split()))
        elif self._pre:
            for number, line in enumerate(text.splitlines()):
                if number:
                    self.flush()
                self._parts.append(line)
        else:
            self._parts.append(text)

    def _set_off(self) -> None:
        """A bold 第X条 at the start of a paragraph is set off from the text by its type alone."""
        if _ARTICLE.fullmatch("".join(self._parts).strip(" \xa0\u3000\t\r\n")):
            self._parts.append("\u3000")

    def _cell(self, cell: html.HtmlElement) -> str:
        inner = flow_of(cell, self._names, tables=False)
        self.flow.hidden += inner.hidden
        self.flow.pictures += inner.pictures
        self.flow.attachments += inner.attachments
        return join_lines(inner.lines)

    def _ordinal(self, item: html.HtmlElement) -> str:
        """The number that a browser writes before an item of an ``ol``; "" if the text has one."""
        parent = item.getparent()
        if parent is None or parent.tag != "ol" or "none" in (parent.get("style") or ""):
            return ""
        start = parent.get("start") or "1"
        first = int(start) if start.isascii() and start.isdigit() else 1
        number = self._counts[parent] = self._counts.get(parent, first - 1) + 1
        text = item.text_content().strip()
        return "" if not text or _NUMBERED.match(text) else f"{number}. "


def join_lines(lines: list[str]) -> str:
    """The paragraphs of a cell on one line; one that is only the end of a word joins it."""
    joined = ""
    for line in lines:
        short = len(line) <= 2 or len(joined.rsplit(" ", 1)[-1]) == 1
        wide = re.match(r"[\u4e00-\u9fff]", line) and re.search(r"[\u4e00-\u9fff]$", joined)
        joined += line if not joined or (short and wide) else f" {line}"
    return joined
