"""Years in two digits (23年的个税起征点, 98年的规定, 16年版), told from spans of time (20年工龄).

A span is far more often meant: a year is read only where what stands before and behind allows no
span. Pure; the hand-written words err on the side of reading nothing.
"""

from __future__ import annotations

import re
from datetime import date

from indexes.jurisdiction import place_ending

# 二三年 and 七八年 are two or three years, and seven or eight: such pairs are not read.
SHORT_YEAR = (
    r"(?:\d\d|[零〇○][一二三四五六七八九]|九[零〇○一二三四五六七八九]"
    r"|一[零〇○三四五六七八九]|二[零〇○一四五六])"
)
_PAIR = {digit: str(value) for value, digit in enumerate("零一二三四五六七八九")}
_ROUND = 5  # 10年, 15年, 20年, 50年, 70年 are what rules count in
_OLD = 71  # from here on hardly anything lasts so many years
_OLDEST = 49

_SPAN_BEHIND = re.compile(
    r"\s*(?:以上|以下|以[内来后]|之[内后久]|内|后|起|开始|多|来|余|半|左右|才|就|[不没未满了过]|[-~～至到、或])"
)
_AGO = re.compile(r"\s*(?:以前|之前|前)")
_SPAN_OF = re.compile(
    r"工龄|司龄|年限|年资|徒刑|刑期|驾龄|车龄|房龄|学龄|龄|老[职员]|员工|经验|婚姻|租期|保修|质保|累计|连续|^\s*的[车房](?![船辆产])"
)
_SPAN_OF_ROUND = re.compile(
    r"时效|追诉|期|产权|使用权|土地|贷|按揭|折旧|摊销|寿命|缴费|社保|保险|养老|医保|退休|补偿|赔偿|劳动|合同"
    r"|租|刑|判|职工|算|总|老|人"
)
_SPAN_BEFORE = re.compile(
    r"(?:[第满近约了过足达共期长需要干缴交至到以判处前后每隔逾、或]|工作|连续|累计|最[多少]|至少|不足|大概)\s*$"
)
_OPENING = re.compile(
    r"(?:^|[，。？?！!；;：:,\s]|税|在|请问|想?问一?下?|查一?下|查询|了解一?下|知道|告诉我"
    r"|[我他她俺咱爸妈]们?|公司|单位|老板"
    r"|按照?|依据?|依照|根据|适用|参照|截[至止]到?)\s*$"
)


def short_year(before: str, written: str, behind: str, dated: bool, today: date) -> int | None:
    """The year that ``written`` (two digits in front of 年) names; None where it may be a span.

    ``before`` and ``behind``: the text up to the digits and after 年; ``dated``: a month follows.
    """
    digits = "".join(_PAIR.get(c, "0" if c in "〇○" else c) for c in written)
    value = int(digits)
    if value <= (today.year + 1) % 100:
        year = today.year // 100 * 100 + value
    elif value >= _OLDEST:
        year = today.year // 100 * 100 - 100 + value
    else:
        return None
    sure = dated or digits[0] == "0" or value >= _OLD
    clause = re.split(r"[,，。？?；;！!]", behind)[0]
    if _SPAN_BEFORE.search(before) or _SPAN_BEHIND.match(behind) or _SPAN_OF.search(clause):
        return None
    if sure:
        return year
    if _AGO.match(behind) or (value % _ROUND == 0 and _SPAN_OF_ROUND.search(clause)):
        return None
    opens = _OPENING.search(before) or place_ending(before)[0] is not None
    return year if opens else None
