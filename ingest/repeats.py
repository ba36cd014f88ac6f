"""A text that stands twice in one file, as pages scraped for screen and for print hold it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

MIN_CHARS = 200
"""Shorter repeats may be meant: a form with its counterfoil."""

_ANCHOR = 40
"""Characters by which the beginning of the second copy is looked for."""

_AROUND = 300
"""Characters that may stand above the first copy (title, date) and below the second (a foot)."""

_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}


def second_copy(text: str) -> tuple[int, int] | None:
    """Start and end of the second copy when the text, but for a short head and foot, is one
    passage twice in a row; None otherwise.

    Both copies must be equal character by character, white space and full-width forms aside, and
    have ``MIN_CHARS`` or more without white space.
    """
    plain = _squeezed(text)
    for first in _line_starts(text):
        anchor = plain[first : first + _ANCHOR]
        # A second copy that ends where the text does, or a foot before.
        latest = (first + len(plain)) // 2
        second = max(first + MIN_CHARS, latest - _AROUND // 2) - 1
        while (second := plain.find(anchor, second + 1, latest + _ANCHOR)) >= 0:
            end = 2 * second - first
            if plain[first:second] == plain[second:end]:
                return _place(text, second), _place(text, end - 1) + 1
    return None


def said_once(text: str) -> tuple[str, int | None]:
    """The text without its second copy and where that stood; the same text and None without."""
    found = second_copy(text)
    if found is None:
        return text, None
    start, end = found
    return (text[:start].rstrip() + text[end:]).rstrip(), start


def _squeezed(text: str) -> str:
    return "".join(text.split()).translate(_NARROW)


def _line_starts(text: str) -> Iterator[int]:
    """Where the first lines begin in the squeezed text."""
    at = line = 0
    while at <= _AROUND and line < len(text):
        end = text.find("\n", line) + 1 or len(text)
        words = "".join(text[line:end].split())
        if words:
            yield at
        at += len(words)
        line = end


def _place(text: str, index: int) -> int:
    """Where the character ``index`` of the squeezed text stands in the text."""
    said = (place for place, char in enumerate(text) if not char.isspace())
    return next(islice(said, index, None))
