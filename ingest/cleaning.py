"""Cleaning that never changes a word: invisible characters go, the text stays what it says."""

from __future__ import annotations

import re
from itertools import pairwise

_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u061c\u180e"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\uffff]"
)
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
_BREAKS = re.compile("\r\n?|[\v\f\u0085\u2028\u2029]")
_LINE_END_BLANKS = re.compile(r"[^\S\n]+$", re.MULTILINE)
_MANY_BREAKS = re.compile(r"\n{3,}")
_BOLD = re.compile(r"(\*\*|__)(?=\S)([^*_\n]+?)(?<=\S)\1")


def clean(text: str, *, markdown: bool = False) -> str:
    """``\\n`` newlines, no invisible or private-use characters, one blank line at most.

    Full-width forms, odd spellings and punctuation are kept: a quotation says what the source says.
    ``markdown``: the marks of bold type go as well, they are no words.
    """
    text = _BREAKS.sub("\n", text)
    text = _PRIVATE.sub("", _INVISIBLE.sub("", text))
    if markdown:
        text = _BOLD.sub(r"\2", text)
    text = _LINE_END_BLANKS.sub("", text)
    return _MANY_BREAKS.sub("\n\n", text).strip("\n")


def clean_pages(text: str, pages: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """``clean`` of a text whose pages begin at the offsets ``pages``, and where they begin then.

    A page that is empty after cleaning begins where the next one does.
    """
    whole = clean(text)
    starts, at = [], 0
    for start, end in pairwise((*pages, len(text))):
        at = _skip_blanks(whole, at)
        starts.append(at)
        for _ in re.sub(r"\s", "", clean(text[start:end])):
            at = _skip_blanks(whole, at) + 1
    return whole, tuple(starts)


def _skip_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
