"""Numbers, dates and article numbers that a line break cuts: 12 0⏎00元, 2024年3⏎月, 第十⏎条.

For matching only; the quoted text stays as its source has it.
"""

from __future__ import annotations

import re

_NUMERAL = "0-9零〇○一二两三四五六七八九十百千"
_UNIT = "年月日元万亿号条款项%"
# 第十⏎条, 3⏎月1日: the break stands before the unit.
_BEFORE_UNIT = re.compile(rf"(?<=[{_NUMERAL}])[ \t]*\n[ \t]*(?=[年月日元万亿%])")
_ARTICLE = re.compile(rf"第[ \t]*\n?[ \t]*(?:[{_NUMERAL}][ \t]*\n?[ \t]*){{1,7}}条")
# 12 0⏎00元, 20⏎24年: digits with a break among them, and a unit behind.
_DIGITS = re.compile(
    rf"(?<![0-9.,])[0-9]{{1,4}}(?:,?[ \t]*\n?[ \t]*[0-9]{{1,4}}){{1,4}}[ \t]*\n?[ \t]*(?=[{_UNIT}])"
)
# 5 000元: groups of three.
_GROUPS = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?: [0-9]{3})+(?=元|万|亿)")


def mended(text: str) -> str:
    """``text`` (in normal form, half-width) with such breaks taken out."""
    if "\n" in text:
        text = _ARTICLE.sub(_joined, text)
        text = _DIGITS.sub(lambda m: _joined(m) if "\n" in m[0].strip() else m[0], text)
        text = _BEFORE_UNIT.sub("", text)
    return _GROUPS.sub(_joined, text)


def _joined(match: re.Match[str]) -> str:
    return re.sub(r"[\s,]", "", match[0])
