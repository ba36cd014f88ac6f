"""Dates as government texts write them, and the days on which a rule starts and ends."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta

from ingest.numerals import DIGITS, parse_number

_D = f"[{DIGITS}]"
_DATE = rf"(?P<y>{_D}{{4}})\s*年\s*(?P<m>{_D}{{1,3}})\s*月\s*(?P<d>{_D}{{1,3}})\s*日"
DATE = re.compile(_DATE)
_DASHED = re.compile(
    r"(?<![\d-])(?P<y>(?:19|20)\d{2})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?![\d-])"
)
_RULE = (
    r"本(?:法|条例|办法|规定|细则|规则|解释|决定|通知|公告|通告|意见|方案|措施|规程|章程|标准"
    r"|准则|规范|制度|安排|政策|指南|批复|文件|实施(?:细则|办法|意见)|(?:暂行|若干)[^，。自]{1,4})"
)
_IN_FORCE = r"(?:正式)?(?:施行|实施|执行|生效|试行|实行|起效|适用)"
_START = re.compile(
    rf"(?P<own>{_RULE}[^。；\n]{{0,40}}?)?(?:自|从|于)?\s*{_DATE}\s*(?:零时|[0０]时)?\s*"
    rf"(?P<from>起|开始)?\s*[，,]?\s*{_IN_FORCE}(?P<then>.?)"
)
_HEAD_START = re.compile(rf"{_DATE}\s*起?\s*{_IN_FORCE}")
_PUBLISHED = re.compile(
    rf"(?P<own>{_RULE}[^。；\n]{{0,20}}?)?自?\s*"
    r"(?:公布|发布|印发|颁布|通过|发文|下发|签发|刊登|公告)\s*之?日\s*(?:起|后)?\s*(?:满)?"
    rf"(?:(?P<n>{_D}+)\s*个?(?P<unit>工作日|日|天|月|年)|(?P<half>半年)|的?(?P<next>次日)"
    r"|的?次月\s*(?:1|１|一)\s*日(?P<month>))?\s*(?:后|之后|以后)?\s*(?:起|开始)?\s*"
    rf"{_IN_FORCE}"
)
_FORCE_SENTENCE = re.compile(
    rf"施行|实施|执行|生效|试行|印发|发布之日|公布之日|{_RULE}[^。]{{0,6}}有效期"
)
_YEARS = re.compile(
    rf"有效期限?\s*(?:为|是|定为|限为|暂定|暂定为)?\s*[：:]?\s*(?P<n>{_D}+)\s*(?P<unit>年|个月)"
    r"(?P<half>半)?"
)
_YEARS_TRIAL = re.compile(
    rf"试行(?:期|期限)?(?:为)?\s*(?P<n>{_D}+)\s*(?P<unit>年|个月)(?P<half>半)?"
)
_UNTIL = re.compile(
    r"(?:有效期限?\s*(?:截[至止]到?|至|到|自[^至，。]{1,20}至)"
    r"|(?:施行|实施|执行|试行|延长|延续|期限)\s*(?:期限?)?\s*(?:截[至止]到?|至|到)"
    rf"|起\s*(?:施行|实施|执行|生效)?\s*[，,]?\s*至)\s*{_DATE}"
)
_RANGE = re.compile(
    rf"(?:自|从)\s*(?P<first>{_D}{{4}}\s*年\s*{_D}{{1,3}}\s*月\s*{_D}{{1,3}}\s*日)\s*起?\s*[，,]?\s*"
    rf"(?:至|到)\s*{_DATE}"
)
_RANGE_SENTENCE = re.compile(r"施行|执行(?!职务)|实施期|有效期|试行")
_SENTENCE = re.compile(r"[^。\n]+")
_LICENCE = re.compile(
    r"证书?|执照|许可|批准文件|资格|批件|合同|协议|凭证|登记|资质|备案|检疫|签证|票|卡|号牌"
)


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
    """All dates in order: 2023年5月1日, 二○二三年五月一日, 20２3年５月１日, 2023-05-01."""
    found = [(m.start(), to_date(m)) for p in (DATE, _DASHED) for m in p.finditer(text)]
    return [day for _, day in sorted(found, key=lambda f: f[0]) if day is not None]


def effective_in(text: str, published: date | None) -> date | None:
    """The 施行日期 that the text states; 自公布之日起 counts from ``published``.

    A sentence about 本法, 本通知 … wins over others, a later one over an earlier one. Dates of
    other rules (自2004年1月1日起施行的《…》同时废止) do not count. ``自公布之日起三十日后施行`` =
    published + 30 days; months are calendar months, working days are those from Monday to Friday.
    """
    found: list[tuple[bool, int, date]] = []
    for match in _START.finditer(text):
        day = to_date(match)
        attributive = match["then"] in ("的", "《")
        if day is not None and not attributive and (match["from"] or match["own"]):
            found.append((bool(match["own"]), match.start(), day))
    for sentence in _SENTENCE.finditer(text):
        for match in _RANGE.finditer(sentence.group()):
            first = DATE.match(match["first"])
            day = to_date(first) if first else None
            if day is not None and _RANGE_SENTENCE.search(sentence.group()):
                found.append((False, sentence.start(), day))
    if published is not None:
        for match in _PUBLISHED.finditer(text):
            day = _counted(published, match)
            if day is not None:
                found.append((bool(match["own"]), match.start(), day))
    return max(found)[2] if found else None


def effective_in_head(line: str, published: date | None = None) -> date | None:
    """The day in a head line: ``2023年6月1日起施行``, ``2022年4月9日 施行``, ``公布之日施行``."""
    match = _HEAD_START.search(line)
    if match:
        return to_date(match)
    counted = _PUBLISHED.fullmatch(line.strip("（）() 　"))
    return _counted(published, counted) if published and counted else None


def counts_working_days(text: str) -> bool:
    """Whether a rule begins so many 工作日 after its publication: public holidays are not known."""
    return any(match["unit"] == "工作日" for match in _PUBLISHED.finditer(text))


def expires_in(text: str, effective: date | None) -> date | None:
    """First day out of force by 有效期五年, 有效期至2025年12月31日, 执行至…; None when not stated.

    Only sentences about the rule's own force count, not 许可证有效期为5年.
    """
    best: date | None = None
    for sentence in _SENTENCE.findall(text):
        if not _FORCE_SENTENCE.search(sentence):
            continue
        ranges = _RANGE.finditer(sentence) if _RANGE_SENTENCE.search(sentence) else ()
        for until in (*_UNTIL.finditer(sentence), *ranges):
            day = to_date(until)
            if day and not _LICENCE.search(sentence[max(0, until.start() - 15) : until.start()]):
                best = day_after(day)
        years = _YEARS.search(sentence) or _YEARS_TRIAL.search(sentence)
        if years and effective and not _LICENCE.search(sentence[: years.start()][-15:]):
            number = parse_number(years["n"])
            if number and number < 100:
                best = _later(effective, number, years["unit"])
                if best and years["half"]:
                    best = _later(best, 6, "个月") if years["unit"] == "年" else None
    return best


def day_after(day: date) -> date | None:
    """The next day; None after 9999-12-31, the last day there is."""
    return None if day == date.max else day + timedelta(days=1)


def _counted(published: date, match: re.Match[str]) -> date | None:
    """The day that a match of ``_PUBLISHED`` counts from the day of publication."""
    if match["month"] is not None:
        first = _later(published, 1, "月")
        return first and first.replace(day=1)
    if match["half"]:
        return _later(published, 6, "月")
    number = 1 if match["next"] else parse_number(match["n"]) if match["n"] else 0
    return _later(published, number or 0, match["unit"] or "日")


def _later(start: date, number: int, unit: str) -> date | None:
    """``start`` plus days, 工作日, calendar months or years; 31 January + 1 month = 28/29 February.

    None when that is beyond the year 9999.
    """
    try:
        if unit in ("日", "天"):
            return start + timedelta(days=number)
        if unit == "工作日":
            friday = start - timedelta(days=max(0, start.weekday() - 4))
            weeks, days = divmod(friday.weekday() + number, 5)
            return friday + timedelta(days=weeks * 7 + days - friday.weekday())
        months = start.month - 1 + (number * 12 if unit == "年" else number)
        year, month = start.year + months // 12, months % 12 + 1
        return date(year, month, min(start.day, monthrange(year, month)[1]))
    except (OverflowError, ValueError):
        return None
