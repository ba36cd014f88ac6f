"""A reference of a question and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ResolvedReference:
    """``text`` as the question writes it; ``title`` and ``article`` (digits) as they are stored.

    ``found``: the article (or document) exists, ``ids`` are its passages. ``missing``: what does
    not exist, the whole document or the article; ``nearest`` is then the closest article there is
    (digits, "" if none). ``excluded``: it exists, but not for the place or on the day asked for.
    ``successor``: the title that repeals a missing document, "" where nothing tells.
    ``candidates``: titles of other places that a missing document's name may stand for.
    """

    text: str
    title: str
    article: str
    found: bool = False
    ids: tuple[str, ...] = ()
    missing: Literal["", "document", "article"] = ""
    nearest: str = ""
    excluded: Literal["", "place", "date"] = ""
    successor: str = ""
    candidates: tuple[str, ...] = ()
