"""Cleaning that never changes a word: invisible characters go, the text stays what it says."""

from __future__ import annotations

import re

_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000b\u000e-\u001f\u007f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ufffe]"
)
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_BLANK = re.compile(r"[ \t\u3000\xa0]+$", re.MULTILINE)
_MANY_BREAKS = re.compile(r"\n{3,}")


def clean(text: str) -> str:
    """``\\n`` newlines, no invisible or private-use characters, one blank line at most.

    Full-width forms, odd spellings and punctuation are kept: what is quoted is what the source says.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
    text = text.replace("\u2028", "\n").replace("\u2029", "\n").replace("\u0085", "\n")
    text = _PRIVATE.sub("", _INVISIBLE.sub("", text))
    text = _BLANK.sub("", text)
    return _MANY_BREAKS.sub("\n\n", text).strip("\n")
