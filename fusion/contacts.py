"""Where a text sends its reader: web addresses, e-mail addresses, telephone numbers.

Each in one written form: without scheme and closing slash, in lower case; of a telephone number
the digits. Short numbers (12345) stay numbers.
"""

from __future__ import annotations

import re
from typing import Literal

from indexes.references import matching_form

ContactKind = Literal["url", "email", "phone"]

_URL_PATH = r"(?:&amp;|[a-z0-9\-._~:/?#@$&+=%])"
_PATTERNS: tuple[tuple[ContactKind, re.Pattern[str]], ...] = (
    ("email", re.compile(r"(?<![a-z0-9._%+-])[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+")),
    ("url", re.compile(rf"(?:(?:https?|ftp)://|(?<![a-z0-9.@-])www\.){_URL_PATH}+")),
    (
        "url",
        re.compile(
            r"(?<![a-z0-9.@/-])(?:[a-z0-9-]+\.)+(?:cn|com|org|net|gov|edu|top|info)(?![a-z0-9.-])"
            rf"(?:/{_URL_PATH}*)?"
        ),
    ),
    (
        "phone",
        re.compile(
            r"(?<![\d.(-])(?:\(0\d{2,3}\)\s*|0\d{2,3}[-—–\s]?)\d{7,8}(?!\d)"
            r"|(?<![\d.-])[48]00[-—–]\d{3,4}[-—–]?\d{3,4}(?![\d-])"
            r"|(?<![\d.-])1[3-9]\d[-—–\s]?\d{4}[-—–\s]?\d{4}(?![\d.]|\s*[万亿]?元)"
        ),
    ),
)


def take_contacts(text: str) -> tuple[str, frozenset[tuple[ContactKind, str]]]:
    """``text`` with its contacts blanked out, of the same length, and what they are."""
    plain = matching_form(text)
    found: set[tuple[ContactKind, str]] = set()
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(plain):
            found.add((kind, _form(kind, match[0])))
            start, end = match.span()
            text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
        plain = pattern.sub(lambda match: " " * len(match[0]), plain)
    return text, frozenset(found)


def contact_supports(known: str, kind: str, claim: str) -> bool:
    """Whether a contact that a source names bears out another: the site of a page, a telephone
    number without its area code; never a longer one."""
    if known == claim:
        return True
    if kind == "url":
        return any(known.startswith(claim + mark) for mark in "/?#")
    return kind == "phone" and len(claim) >= 7 and known.endswith(claim)


def _form(kind: ContactKind, written: str) -> str:
    if kind == "phone":
        return re.sub(r"\D", "", written)
    plain = written.replace("&amp;", "&").rstrip(".:?#-")
    return re.sub(r"^(?:https?|ftp)://", "", plain).removeprefix("www.").rstrip("/")
