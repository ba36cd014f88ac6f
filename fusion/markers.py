"""The markers ``[n]`` by which an answer cites, and words of sources that only look like them."""

from __future__ import annotations

import re

# One to three digits, so that the year of 财税[2016]36号 is no marker; several may share a bracket.
_NUMBER = r"\s*\d{1,3}\s*"
_JOINED = rf"{_NUMBER}(?:[,，、;；\-–]{_NUMBER})*"
MARKER = re.compile(rf"\[({_JOINED})\]|【({_JOINED})】|［({_JOINED})］")


def without_markers(text: str) -> str:
    """A source's words with what looks like a marker in 〔〕: only this project's are markers."""
    return MARKER.sub(lambda match: f"〔{next(filter(None, match.groups()))}〕", text)
