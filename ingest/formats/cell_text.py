"""A cell's value as its spreadsheet program shows it.

The number formats that tables of rates and subsidies use: decimals, thousands, percent, literal
text, dates. Others (fractions, exponents, colours by condition) show the plain value. The ``ssf``
package covers all of them, at the price of six more packages; it is not maintained.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from typing import Any

_DIGITS = re.compile(r"[#0?][#0?,]*(?:\.[#0?]+)?")
_QUOTED = re.compile(r'"([^"]*)"|\\(.)')
_UNSHOWN = re.compile(r"\[(?:\$([^\]-]*)[^\]]*|[^\]]*)\]|[_*].")
_EXOTIC = re.compile(r"[E/@]|General|通用", re.IGNORECASE)


def shown(value: Any, number_format: str) -> str:
    """One line of text; "" for an empty cell, ``|`` as ``｜``."""
    if value is None:
        return ""
    if isinstance(value, bool):
        text = str(value).upper()
    elif isinstance(value, int | float):
        text = _number(value, number_format)
    elif isinstance(value, datetime | date):
        text = _date(value, number_format)
    elif isinstance(value, time):
        text = value.isoformat("seconds" if value.second else "minutes")
    elif isinstance(value, timedelta):
        text = str(value)
    else:
        text = str(value)
    return " ".join(text.replace("|", "｜").split())


def _number(value: float, number_format: str) -> str:
    sections = number_format.split(";")
    negative = value < 0 and len(sections) > 1 and bool(sections[1])
    section = sections[1] if negative else sections[0]
    literals: list[str] = []

    def keep(match: re.Match[str]) -> str:
        literals.append(match[1] if match[1] is not None else match[2])
        return "\x00"

    pattern = _QUOTED.sub(keep, section)
    pattern = _UNSHOWN.sub(lambda match: match[1] or "", pattern)
    digits = _DIGITS.search(pattern)
    if digits is None or _EXOTIC.search(pattern):
        return _plain(value)
    whole, _, decimals = digits[0].partition(".")
    number = abs(value) if negative else value
    number *= 100.0 if "%" in pattern else 1.0
    number /= 1000.0 ** (len(whole) - len(whole.rstrip(",")))
    comma = "," if "," in whole.rstrip(",") else ""
    text = f"{number:{comma}.{len(decimals)}f}"
    optional = len(decimals) - len(decimals.rstrip("#?"))
    if optional:
        kept = len(text) - optional
        text = (text[:kept] + text[kept:].rstrip("0")).rstrip(".")
    if text.lstrip("-").strip("0,.") == "" and text.startswith("-"):
        text = text[1:]
    width = whole.count("0")
    if not comma and width > 1:  # codes such as 000123
        text = text.zfill(width + (len(decimals) + 1 if decimals else 0) + text.startswith("-"))
    filled = pattern[: digits.start()] + text + pattern[digits.end() :]
    for literal in literals:
        filled = filled.replace("\x00", literal, 1)
    return filled.strip()


def _plain(value: float) -> str:
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        return str(int(value))
    text = f"{value:.15g}"
    return f"{value:.15f}".rstrip("0").rstrip(".") if "e-" in text else text


def _date(value: date, number_format: str) -> str:
    pattern = _UNSHOWN.sub("", number_format).lower()
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    if "年" in pattern or "月" in pattern:
        parts = [f"{moment.year}年" if "y" in pattern else "", f"{moment.month}月"]
        parts.append(f"{moment.day}日" if "d" in pattern else "")
        text = "".join(parts)
    elif "d" in pattern:
        text = moment.date().isoformat()
    else:
        text = f"{moment.year}-{moment.month:02}" if "y" in pattern else ""
    clock = "h" in pattern and (moment.hour or moment.minute or moment.second or not text)
    if clock:
        text = f"{text} {moment:%H:%M}" + (f":{moment:%S}" if moment.second else "")
    return text.strip()
