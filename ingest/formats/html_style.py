"""Which elements of a page a reader does not see: CSS in ``style`` attributes and sheets."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import html

_NONE = re.compile(
    r"display\s*:\s*none|mso-hide\s*:\s*all|opacity\s*:\s*0?\.?0+\s*(?:[;!]|$)", re.I
)
_INVISIBLE = re.compile(r"visibility\s*:\s*(hidden|collapse|visible)", re.I)
_SIZE = re.compile(r"font-size\s*:\s*([\d.]+)\s*(?:px|pt|em|rem|%)?\s*(?:[;!]|$)", re.I)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
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
        css = _without_media(_COMMENT.sub("", sheet.text or ""))
        for selectors, declarations in _RULE.findall(css):
            if not look(declarations).shown:
                simple = (_SIMPLE.fullmatch(s.strip()) for s in selectors.split(","))
                names.update(match[1] for match in simple if match)
    return frozenset(names)


def look(style: str, inherited: Look = Look()) -> Look:
    """How an element with these declarations looks inside one that looks like ``inherited``."""
    visible, sized = inherited.visible, inherited.sized
    for match in _INVISIBLE.finditer(style):
        visible = match[1].lower() == "visible"
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


def _without_media(css: str) -> str:
    """The sheet without its ``@media {…}`` blocks (braces nest once in them)."""
    return re.sub(r"@[\w-]+[^{};]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", css)
