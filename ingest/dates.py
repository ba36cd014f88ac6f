"""Dates as government texts write them, and the days on which a rule starts and ends."""

from __future__ import annotations

import re
from datetime import date, timedelta

from ingest.numerals import DIGITS, parse_number

_D = f"[{DIGITS}]"
_DATE = rf"(?P<y>{_D}{{4}})\s*年\s*(?P<m>{_D}{{1,3}})\s*月\s*(?P<d>{_D}{{1,3}})\s*日"
DATE = re.compile(_DATE)
_DASHED = re.compile(r"(?<!\d)(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)")
_START = re.compile(rf"自\s*{_DATE}\s*(?:零时\s*)?起\s*(?:正式)?(?:施行|实施|执行|生效|试行)")
_START_HEAD = re.compile(rf"{_DATE}\s*起?\s*(?:施行|实施|生效)")
_PUBLISHED = re.compile(
    rf"自?\s*(?:公布|发布|印发|颁布|通过)\s*之日(?:起|后)?\s*(?:满)?(?P<n>{_D}+)?\s*(?P<unit>日|天|个月)?"
    r"(?:后|之后)?\s*起?\s*(?:施行|实施|执行|生效)"
)
_VALID_YEARS = re.compile(rf"有效期(?:为|至|限为)?\s*(?P<n>{_D}+)\s*年")
_VALID_UNTIL = re.compile(rf"有效期(?:限)?(?:至|到|截至)\s*{_DATE}")


def to_date(match: re.Match[str]) -> date | None:
    """The day a match with groups y, m, d means; None for an impossible one."""
    y, m, d = (parse_number(match[g]) for g in "ymd")
    if y is None or m is None or d is None:
        return None
    try:
        return date(y, m, d)
    except ValueError:
        return None


def dates_in(text: str) -> list[date]:
    """All dates in order: 2023年5月1日, 二〇二三年五月一日, ２０２３年５月１日, 2023-05-01."""
    found = [(m.start(), to_date(m)) for p in (DATE, _DASHED) for m in p.finditer(text)]
    return [day for _, day in sorted(found, key=lambda f: f[0]) if day is not None]


def effective_in(text: str, published: date | None) -> date | None:
    """The 施行日期 that the text states; 自公布之日起 counts from ``published``. The last one wins.

    ``自公布之日起三十日后施行`` = published + 30 days; months are calendar months.
    """
    best: tuple[int, date] | None = None
    for match in _START.finditer(text):
        day = to_date(match)
        if day is not None and (best is None or match.start() >= best[0]):
            best = (match.start(), day)
    if best is None and published is not None:
        for match in _PUBLISHED.finditer(text):
            number = parse_number(match["n"]) if match["n"] else 0
            day = _later(published, number or 0, match["unit"] or "日")
            best = (match.start(), day)
    return best[1] if best else None


def effective_in_head(line: str) -> date | None:
    """The day in a head line such as ``2023年6月1日起施行`` or ``2022年4月9日 施行``."""
    match = _START_HEAD.search(line)
    return to_date(match) if match else None


def expires_in(text: str, effective: date | None) -> date | None:
    """First day out of force by 有效期五年 or 有效期至2025年12月31日; None when not stated."""
    match = _VALID_YEARS.search(text)
    if match and effective is not None:
        years = parse_number(match["n"])
        if years and years < 100:
            return _later(effective, years * 12, "个月")
    until = _VALID_UNTIL.search(text)
    day = to_date(until) if until else None
    return day + timedelta(days=1) if day else None


def _later(start: date, number: int, unit: str) -> date:
    if unit != "个月":
        return start + timedelta(days=number)
    month = start.month - 1 + number
    year, month = start.year + month // 12, month % 12 + 1
    for day in range(start.day, 27, -1):
        try:
            return date(year, month, day)
        except ValueError:
            continue
    return date(year, month, min(start.day, 28))
