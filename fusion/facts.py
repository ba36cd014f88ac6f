"""The checkable facts of a text: numbers with units, dates, articles, 发文字号, contacts.

Written forms of one value are one fact: 十万元 = 10万元 = 100,000元, 百分之三 = 3% = ３％,
2024年1月1日 = 2024-01-01 = 二〇二四年一月一日, 一年 = 12个月, 一周 = 7天. Values are exact
fractions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from fusion.contacts import contact_supports, take_contacts
from indexes.broken_lines import mended
from indexes.references import DOC_NUMBER, matching_form
from indexes.tokenizer import numeral

_CN = "零〇○一二两三四五六七八九十百千万亿"
_ARABIC = r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?"
_NUM = rf"(?:(?:{_ARABIC})[十百千万亿]*|[{_CN}]+(?:点[{_CN}]+)?)"
# Unit as written -> (unit, factor). Units that are not here are not compared.
_UNITS: dict[str, tuple[str, int]] = {
    "元": ("元", 1),
    "块": ("元", 1),
    "年": ("月", 12),
    "周年": ("月", 12),
    "季度": ("月", 3),
    "月": ("月", 1),
    "星期": ("日", 7),
    "周": ("日", 7),
    "日": ("日", 1),
    "天": ("日", 1),
    "工作日": ("工作日", 1),
    "小时": ("分钟", 60),
    "分钟": ("分钟", 1),
    "百分点": ("百分点", 1),
    "倍": ("倍", 1),
    "人": ("人", 1),
    "名": ("人", 1),
    "岁": ("岁", 1),
    "周岁": ("岁", 1),
    "平方米": ("平方米", 1),
    "亩": ("亩", 1),
    "公里": ("米", 1000),
    "米": ("米", 1),
    "吨": ("克", 1_000_000),
    "公斤": ("克", 1000),
    "千克": ("克", 1000),
    "克": ("克", 1),
    "升": ("升", 1),
    "户": ("户", 1),
    "辆": ("辆", 1),
    "台": ("台", 1),
    "次": ("次", 1),
    "级": ("级", 1),
    "层": ("层", 1),
    "届": ("届", 1),
}
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_COUNTED = "(?:[种类点项款条个步章节编]|方面)"  # what a writer counts himself: 以下三种情形
_NUMBER = re.compile(
    rf"(?P<rank>第?)\s*(?P<number>{_NUM})\s*(?:个(?=\s*(?:{_UNIT})))?\s*(?P<unit>{_UNIT})?"
)
_RANGE = re.compile(r"\s*(?:以上|以下|以内)?\s*(?:[-—~～、]|至|到|或者?)\s*")
_TWO = rf"\d{{1,2}}|[{_CN}]{{1,3}}"
_DATE = re.compile(
    r"(?P<year>(?:19|20)\d\d|[零〇○一二三四五六七八九]{4})\s*(?:年|[-/.](?=\d{1,2}(?!\d)))"
    rf"(?:\s*(?P<month>{_TWO})\s*(?:月份?|[-/.](?=\d{{1,2}}(?!\d))|(?![\d.]))"
    rf"(?:\s*(?P<day>{_TWO})\s*(?:[日号]|(?![\d{_CN}])))?)?"
)
_DAY = re.compile(
    rf"(?P<month>\d{{1,2}}|[{_CN}]{{1,3}})\s*月\s*(?P<day>\d{{1,2}}|[{_CN}]{{1,3}})\s*[日号]"
)
_SHARE = re.compile(rf"(?P<base>[百千万])分之(?P<share>{_NUM})|(?P<per>{_ARABIC})\s*(?P<sign>[%‰])")
_FRACTION = re.compile(
    rf"(?P<low>{_NUM})分之(?P<high>{_NUM})"
    r"|(?<![\d/])(?P<over>\d{1,2})\s*/\s*(?P<under>\d{1,3})(?![\d/])"
)
_ARTICLE = re.compile(rf"第\s*(?P<number>[{_CN}\d]+)\s*条(?!例)(?:\s*之\s*(?P<sub>[{_CN}\d]+))?")
_ENUMERATOR = re.compile(
    rf"^[\s>*#-]*(?:\d{{1,2}}[.、)](?!\d)|[（(][{_CN}\d]{{1,3}}[)）]|[{_CN}]{{1,3}}、)",
    re.MULTILINE,
)
# Not (6)个月, which is a number in brackets.
_ITEM = re.compile(
    rf"[（(][{_CN}\d]{{1,3}}[)）](?!年|(?<=\d.)\s*(?:个月|个?工作日|天|万?元|[%％倍]|小时))|[①-⑳]"
)
_BASES = {"百": 100, "千": 1000, "万": 10_000, "%": 100, "‰": 1000}
_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}


@dataclass(frozen=True, slots=True)
class Fact:
    """``kind``: number, ratio, date, article, document, url, email or phone; ``value`` its normal
    form.

    A number's ``unit`` is "" where none is named. Dates are (year, month, day), 0 = not named.
    """

    kind: str
    value: Fraction | str | tuple[int, int, int]
    unit: str = ""


def facts(text: str) -> frozenset[Fact]:
    """The facts of a text without markers ``[n]``; list numbers (1. （一） ①) are none."""
    text, contacts = take_contacts(text)  # first: (010) before a number is no item
    text = _ITEM.sub(lambda m: " " * len(m[0]), _ENUMERATOR.sub(" ", text)).replace("，", "、")
    found = {Fact(kind, value) for kind, value in contacts}
    rest = mended(matching_form(text))
    for pattern, read in _KINDS:
        rest = _take(rest, pattern, read, found)
    found.update(_numbers(rest))
    return frozenset(found)


def missing_facts(claim: Iterable[Fact], known: Iterable[Fact]) -> frozenset[Fact]:
    """The facts of a claim that no known fact supports.

    A known date supports its own month and year; a number without a unit, on either side, is
    compared by its value alone.
    """
    known = tuple(known)
    return frozenset(fact for fact in claim if not any(_supports(k, fact) for k in known))


def _supports(known: Fact, fact: Fact) -> bool:
    if known.kind == "phone" and fact.kind == "number" and not fact.unit:
        return contact_supports(str(known.value), "phone", str(fact.value))
    if known.kind != fact.kind:
        return False
    if fact.kind in ("url", "email", "phone"):
        return contact_supports(str(known.value), fact.kind, str(fact.value))
    if fact.kind == "date":
        pairs = zip(known.value, fact.value, strict=True)  # type: ignore[arg-type]
        return all(mine in (0, theirs) for theirs, mine in pairs)
    if fact.kind == "number":
        same_unit = known.unit == fact.unit or not (known.unit and fact.unit)
        return known.value == fact.value and same_unit
    return known.value == fact.value


def _take(
    text: str,
    pattern: re.Pattern[str],
    read: Callable[[re.Match[str]], Fact | None],
    found: set[Fact],
) -> str:
    """``text`` with the matches that are facts blanked out, so that no part is read twice."""

    def blank(match: re.Match[str]) -> str:
        try:
            fact = read(match)
        except (KeyError, ValueError, ZeroDivisionError):
            return match[0]
        if fact is None:
            return match[0]
        found.add(fact)
        return " " * len(match[0])

    return pattern.sub(blank, text)


def _document(match: re.Match[str]) -> Fact:
    return Fact("document", f"{int(match['year'])}-{int(match['number'])}")


def _date(match: re.Match[str]) -> Fact | None:
    month = numeral(match["month"]) if match["month"] else 0
    day = numeral(match["day"]) if match["day"] else 0
    if month > 12 or day > 31:
        return None
    return Fact("date", (numeral(match["year"]), month, day))


def _day(match: re.Match[str]) -> Fact:
    return Fact("date", (0, numeral(match["month"]), numeral(match["day"])))


def _share(match: re.Match[str]) -> Fact:
    if match["base"]:
        return Fact("ratio", _value(match["share"]) / _BASES[match["base"]])
    return Fact("ratio", _value(match["per"]) / _BASES[match["sign"]])


def _fraction(match: re.Match[str]) -> Fact:
    if match["over"]:
        return Fact("ratio", Fraction(int(match["over"]), int(match["under"])))
    return Fact("ratio", _value(match["high"]) / _value(match["low"]))


def _article(match: re.Match[str]) -> Fact:
    sub = f"-{numeral(match['sub'])}" if match["sub"] else ""
    return Fact("article", f"{numeral(match['number'])}{sub}")


_KINDS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Fact | None]], ...] = (
    (DOC_NUMBER, _document),
    (_DATE, _date),
    (_DAY, _day),
    (_SHARE, _share),
    (_FRACTION, _fraction),
    (_ARTICLE, _article),
)


def _numbers(text: str) -> list[Fact]:
    """Numbers from the last to the first: 三至五年 gives its unit to both."""
    matches = list(_NUMBER.finditer(text))
    found: list[Fact] = []
    after: tuple[int, str] = (-1, "")
    for match in reversed(matches):
        written = match["unit"] or ""
        if not written and after[1]:
            gap = text[match.end("number") : after[0]]
            written = after[1] if _RANGE.fullmatch(gap) else ""
        after = (match.start(), written)
        if not _is_number(match, written, text):
            continue
        try:
            value = _value(match["number"])
        except (KeyError, ValueError):
            continue
        unit, factor = _UNITS.get(written, ("", 1))
        found.append(Fact("number", value * factor, unit))
    return found


def _is_number(match: re.Match[str], unit: str, text: str) -> bool:
    """Whether a match is a number that a source must hold: 一般, 第二款 and 三种 are none."""
    if unit:
        return True
    number = match["number"]
    if match["rank"] or re.match(_COUNTED, text[match.end("number") :].lstrip()):
        return False
    if number[0].isdecimal():
        return True
    # Without a unit: 三十 is a number, 一 (一般), 十 (十分), 千万 and 一一 are words.
    return len(number) > 1 and bool(set(number) & set("十百千万亿")) and number not in _WORDS


_WORDS = frozenset({"千万", "万一", "百万", "万千", "千百", "一百一"})


def _value(text: str) -> Fraction:
    """Value of a numeral: 1.5亿, 三万五千, 三点五. Raises ValueError or KeyError for none."""
    arabic = re.match(_ARABIC, text)
    if arabic:
        value = Fraction(arabic[0].replace(",", ""))
        rest = text[arabic.end() :]
        while rest and rest[0] in _SCALES:
            value *= _SCALES[rest[0]]
            rest = rest[1:]
        return value
    whole, _, decimals = text.partition("点")
    value = Fraction(_chinese(whole))
    if decimals:
        value += Fraction(numeral(decimals), 10 ** len(decimals))
    return value


def _chinese(text: str) -> int:
    high, separator, low = text.rpartition("亿")
    if not separator:
        return numeral(text)
    return _chinese(high or "一") * 100_000_000 + (numeral(low.lstrip("零〇")) if low else 0)
