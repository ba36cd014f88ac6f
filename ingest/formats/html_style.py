"""Which elements of a page a reader does not see: CSS in ``style`` attributes and sheets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import html

_NONE = re.compile(r"display\s*:\s*none|mso-hide\s*:\s*all", re.IGNORECASE)
_CLEAR = re.compile(r"opacity\s*:\s*0?\.?0+\s*(?:[;!]|$)", re.IGNORECASE)
_INVISIBLE = re.compile(r"visibility\s*:\s*(hidden|collapse|visible)", re.I)
_SIZE = re.compile(r"font-size\s*:\s*([\d.]+)\s*(?:px|pt|em|rem|%)?\s*(?:[;!]|$)", re.I)
_SIMPLE = re.compile(r"(?:[a-z]+\d?)?([.#][\w-]+)", re.I)
_STRUCK = frozenset(("del", "s", "strike"))


@dataclass(frozen=True, slots=True)
class Look:
    """``gone``: the element and all in it is not shown; ``visible``, ``sized``: what its text
    inherits, so that a descendant may bring it back."""

    gone: bool = False
    visible: bool = True
    sized: bool = True

    @property
    def shown(self) -> bool:
        return self.visible and self.sized and not self.gone


def hidden_names(root: html.HtmlElement) -> frozenset[str]:
    """``.class`` and ``#id`` that a style sheet inside the page hides outright.

    Rules for other media (print, narrow screens) and for longer selectors do not count.
    """
    names: set[str] = set()
    for sheet in root.iter("style"):
        for selectors, declarations in _rules(sheet.text or ""):
            if not look(declarations).shown:
                simple = (_SIMPLE.fullmatch(s.strip()) for s in selectors.split(","))
                names.update(match[1] for match in simple if match)
    return frozenset(names)


def look(style: str, inherited: Look = Look()) -> Look:
    """How an element with these declarations looks inside one that looks like ``inherited``."""
    visible, sized = inherited.visible, inherited.sized
    for match in _INVISIBLE.finditer(style):
        visible = match[1].lower() == "visible"
    if _CLEAR.search(style):
        visible = False
    for match in _SIZE.finditer(style):
        sized = float(match[1].strip(".") or 0) > 0
    return Look(inherited.gone or bool(_NONE.search(style)), visible, sized)


def look_of(element: html.HtmlElement, inherited: Look, names: frozenset[str]) -> Look:
    """How an element looks; ``names`` as from ``hidden_names``."""
    if element.get("hidden") is not None or element.tag in _STRUCK:
        return Look(gone=True)
    if names:
        own = {f".{name}" for name in (element.get("class") or "").split()}
        if not names.isdisjoint({*own, f"#{element.get('id')}"}):
            return Look(gone=True)
    style = element.get("style")
    return look(style, inherited) if style else inherited


def _rules(css: str) -> Iterator[tuple[str, str]]:
    """Selectors and declarations of the rules outside ``@media`` and other blocks.

    By splitting, not by patterns: a damaged sheet must not take quadratic time.
    """
    first, *rest = css.split("/*")
    depth = 0
    for block in "".join([first, *(part.partition("*/")[2] for part in rest)]).split("}"):
        opened = block.count("{")
        if depth == 0 and opened == 1 and not block.lstrip().startswith("@"):
            selectors, _, declarations = block.partition("{")
            yield selectors.rpartition(";")[2], declarations
        depth = max(0, depth + opened - 1)
