"""Automatic numbers of a Word file: the 一、, （一） and 第一条 that no paragraph spells out.

Rules of ECMA-376-1 §17.9: a paragraph names a list (``w:numPr`` of its own or of its style); the
list's levels have a number format and a text with %1 … %9 for the counters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import cn2an

from ingest.formats.docx_package import W
from ingest.formats.docx_styles import Styles

_DIGITS = "〇一二三四五六七八九"
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_MAX = 9999
_STEMS = "甲乙丙丁戊己庚辛壬癸"
_BRANCHES = "子丑寅卯辰巳午未申酉戌亥"
_COUNTING = {
    *("chineseCounting", "chineseCountingThousand", "japaneseCounting", "taiwaneseCounting"),
    *("taiwaneseCountingThousand", "koreanCounting"),
}
_DIGITAL = {"ideographDigital", "taiwaneseDigital", "japaneseDigitalTenThousand", "koreanDigital2"}
_FINANCIAL_FORMATS = {"chineseLegalSimplified", "ideographLegalTraditional", "japaneseLegal"}


@dataclass(frozen=True, slots=True)
class _Level:
    start: int = 1
    format: str = "decimal"
    text: str = ""
    suffix: str = "tab"
    restart: int | None = None
    legal: bool = False
    style: str = ""


class Numbering:
    """The lists of a file with their counters; ``number`` is asked once a paragraph, in order."""

    def __init__(self, root: Any, styles: Styles) -> None:
        self._styles = styles
        self._abstract: dict[str, dict[int, _Level]] = {}
        self._lists: dict[str, tuple[str, dict[int, _Level]]] = {}
        self._restarts: dict[str, dict[int, int]] = {}
        self._counters: dict[str, dict[int, int]] = {}
        if root is not None:
            self._load(root)

    def number(self, paragraph: Any) -> str:
        """What Word prints before the paragraph (第一条　, 一、), "" when nothing. Bullets are no
        words and give ""."""
        list_id, level_index = self._place(paragraph)
        if list_id not in self._lists:
            return ""
        abstract, levels = self._lists[list_id]
        level = levels.get(level_index)
        if level is None:
            return ""
        counters = self._counters.setdefault(abstract, {})
        restarts = self._restarts.get(list_id, {})
        for index in [i for i in restarts if i <= level_index]:
            counters[index] = restarts.pop(index) - 1
        counters[level_index] = counters.get(level_index, level.start - 1) + 1
        for deeper, other in levels.items():
            after = deeper if other.restart is None else other.restart
            if deeper > level_index and level_index < after:
                counters.pop(deeper, None)
        for higher in range(level_index):
            if higher in levels:
                counters.setdefault(higher, levels[higher].start)
        return _printed(level, levels, counters)

    def _place(self, paragraph: Any) -> tuple[str, int]:
        """The list and level of a paragraph: its own, else its style's; ("", 0) without."""
        own = paragraph.find(f"{W}pPr/{W}numPr")
        style = paragraph.find(f"{W}pPr/{W}pStyle")
        style_id = style.get(f"{W}val", "") if style is not None else self._styles.default
        list_id, level = _num_pr(own)
        if list_id is None or level is None:
            for inherited_id in self._styles.chain(style_id):
                found_id, found_level = _num_pr(self._styles.num_pr(inherited_id))
                if found_id is not None and list_id is None:
                    list_id = found_id
                    level = self._style_level(found_id, inherited_id) if level is None else level
                    level = found_level if level is None else level
                if list_id is not None:
                    break
        return list_id or "", level or 0

    def _style_level(self, list_id: str, style_id: str) -> int | None:
        """The level that a list links to a style (``w:lvl/w:pStyle``)."""
        _, levels = self._lists.get(list_id, ("", {}))
        return next((index for index, level in levels.items() if level.style == style_id), None)

    def _load(self, root: Any) -> None:
        links: dict[str, str] = {}
        named: dict[str, str] = {}
        for abstract in root.findall(f"{W}abstractNum"):
            key = abstract.get(f"{W}abstractNumId", "")
            self._abstract[key] = {
                _int(lvl.get(f"{W}ilvl")): _level(lvl) for lvl in abstract.findall(f"{W}lvl")
            }
            if link := _value(abstract, "numStyleLink"):
                links[key] = link
            if name := _value(abstract, "styleLink"):
                named[name] = key
        for num in root.findall(f"{W}num"):
            key = _value(num, "abstractNumId")
            key = named.get(links.get(key, ""), key)
            levels, restarts = dict(self._abstract.get(key, {})), dict[int, int]()
            for override in num.findall(f"{W}lvlOverride"):
                index = _int(override.get(f"{W}ilvl"))
                lvl = override.find(f"{W}lvl")
                if lvl is not None:
                    levels[index] = _level(lvl)
                if start := _value(override, "startOverride"):
                    restarts[index] = _int(start, 1)
                    levels[index] = replace(levels.get(index, _Level()), start=_int(start, 1))
            list_id = num.get(f"{W}numId", "")
            self._lists[list_id] = (key, levels)
            self._restarts[list_id] = restarts


def _level(lvl: Any) -> _Level:
    restart = _value(lvl, "lvlRestart")
    legal = lvl.find(f"{W}isLgl")
    return _Level(
        start=_int(_value(lvl, "start"), 1),
        format=_format(lvl),
        text=_value(lvl, "lvlText"),
        suffix=_value(lvl, "suff") or "tab",
        restart=_int(restart) if restart else None,
        legal=legal is not None and legal.get(f"{W}val", "1") not in ("0", "false", "off"),
        style=_value(lvl, "pStyle"),
    )


def _format(lvl: Any) -> str:
    # Newer formats stand in an mc:Choice whose fallback is "decimal".
    formats = [f for f in lvl.iter(f"{W}numFmt") if f.get(f"{W}val") != "custom"]
    return formats[0].get(f"{W}val", "decimal") if formats else "decimal"


def _printed(level: _Level, levels: dict[int, _Level], counters: dict[int, int]) -> str:
    if level.format == "bullet":
        return ""
    text = level.text
    for index in range(9):
        mark = f"%{index + 1}"
        if mark in text:
            other = levels.get(index, level)
            form = "decimal" if level.legal else other.format
            text = text.replace(mark, _numeral(counters.get(index, other.start), form))
    if not text.strip():
        return ""
    # A tab behind 一、 or （一） is layout; 第一条 and 1.1 need a gap before the words.
    gap = level.suffix != "nothing" and text[-1] not in "、．，：）)】"
    if not gap:
        return text
    return text + ("　" if "\u4e00" <= text[-1] <= "\u9fff" else " ")


def _numeral(n: int, form: str) -> str:
    """``n`` (0 to 9999) in a number format of ECMA-376-1 §17.18.59; unknown formats in digits."""
    if not 0 <= n <= _MAX:
        return str(n)
    if form in _COUNTING and not (form == "chineseCounting" and n > 99):
        return _counting(n)
    if form in _DIGITAL or form == "chineseCounting":
        return "".join(_DIGITS[int(d)] for d in str(n))
    if form in _FINANCIAL_FORMATS:
        return _counting(n, "up")
    if form in ("upperRoman", "lowerRoman"):
        roman = _roman(n)
        return roman.upper() if form == "upperRoman" else roman
    if form in ("upperLetter", "lowerLetter") and n > 0:
        letter = chr(ord("a") + (n - 1) % 26) * ((n - 1) // 26 + 1)
        return letter.upper() if form == "upperLetter" else letter
    if form.startswith("decimalEnclosedCircle") and 1 <= n <= 20:
        return chr(ord("①") + n - 1)
    if form == "decimalEnclosedParen" and 1 <= n <= 20:
        return chr(ord("⑴") + n - 1)
    if form == "decimalEnclosedFullstop" and 1 <= n <= 20:
        return chr(ord("⒈") + n - 1)
    if form == "ideographEnclosedCircle" and 1 <= n <= 10:
        return chr(ord("㊀") + n - 1)
    if form == "ideographTraditional" and n > 0:
        return _STEMS[(n - 1) % 10]
    if form == "ideographZodiac" and n > 0:
        return _BRANCHES[(n - 1) % 12]
    if form in ("decimalFullWidth", "decimalFullWidth2"):
        return "".join(chr(ord("０") + int(d)) for d in str(n))
    if form == "decimalZero":
        return f"{n:02d}"
    return "" if form == "none" else str(n)


def _counting(n: int, mode: str = "low") -> str:
    """21 -> 二十一, 105 -> 一百零五, 10 -> 十."""
    words = str(cn2an.an2cn(n, mode))
    return words[1:] if words.startswith("一十") else words


def _roman(n: int) -> str:
    words = ""
    for value, letters in _ROMAN:
        words += letters * (n // value)
        n %= value
    return words


def _num_pr(element: Any) -> tuple[str | None, int | None]:
    if element is None:
        return None, None
    list_id, level = _value(element, "numId"), _value(element, "ilvl")
    return list_id or None, _int(level) if level else None


def _int(text: str | None, default: int = 0) -> int:
    """A number of the file, which may hold anything in its place."""
    return int(text) if text is not None and re.fullmatch(r"\d{1,6}", text) else default


def _value(element: Any, name: str) -> str:
    child = element.find(f"{W}{name}")
    return "" if child is None else child.get(f"{W}val", "")
