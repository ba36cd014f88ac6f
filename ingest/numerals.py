"""Chinese and Arabic numerals of statutes, and article numbers (第一百二十条之一 -> ``120-1``)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import cn2an

DIGITS = "零〇○Ｏ一二三四五六七八九十百千万两0-9０-９"
"""Characters of a numeral, for use inside a regular expression's brackets."""

ARTICLE = re.compile(
    rf"第[ \t　]*(?P<number>[{DIGITS}]+)[ \t　]*条(?:[ \t　]*之[ \t　]*(?P<sub>[{DIGITS}]+))?"
)
_NUMERAL = re.compile(f"[{DIGITS}]+")
_POSITIONAL = dict(zip("零〇一二三四五六七八九", "00123456789", strict=True))


@lru_cache(maxsize=4096)
def parse_number(text: str) -> int | None:
    """``一千二百六十``, ``１２``, ``二○二四``, ``12`` -> int; None when it is no numeral."""
    plain = unicodedata.normalize("NFKC", text).replace("○", "〇").replace("O", "〇")
    plain = plain.replace("两", "二")
    if not _NUMERAL.fullmatch(plain):
        return None
    if plain.isascii() and plain.isdigit():
        return int(plain)
    if all(c in _POSITIONAL for c in plain):
        return int("".join(_POSITIONAL[c] for c in plain))
    try:
        return int(cn2an.cn2an(plain.replace("〇", "零"), "smart"))
    except ValueError:
        return None


def article_number(match: re.Match[str]) -> tuple[int, int] | None:
    """(number, 之-number or 0) of a match of ARTICLE; None when a numeral is malformed."""
    number = parse_number(match["number"])
    sub = parse_number(match["sub"]) if match["sub"] else 0
    return None if number is None or sub is None else (number, sub)


def article_label(number: tuple[int, int]) -> str:
    """``(120, 1)`` -> ``120-1``; ``(54, 0)`` -> ``54``."""
    return f"{number[0]}-{number[1]}" if number[1] else str(number[0])
