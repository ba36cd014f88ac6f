"""The day whose law a question asks about, read from its words (2023年时的税率, 按2020年的规定).

Two readings are told apart. A question asks for the law of a day when the date stands beside the
law (``的规定``, ``施行的``), beside 当时 in a clause that asks, or frames a question about a rule
without a story. A date of an event (我2018年入职) only fixes facts: today's law answers.
Pure; ``today`` is given. The rules are hand-written: no labelled set of such questions is public.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from fusion.short_years import SHORT_YEAR, short_year
from indexes.references import DOC_NUMBER, matching_form

_CHINESE = {digit: str(value) for value, digit in enumerate("零一二三四五六七八九")} | {
    "〇": "0",
    "○": "0",
}
_DIGITS = "".join(_CHINESE)
_MONTH = (
    r"\s*(?:[-/.]?(?P<month>1[0-2]|0?[1-9]|[一二三四五六七八九]|十[一二]?)"
    r"(?:月份?|[-/.](?=\d))(?:\s*(?P<day>[12]\d|3[01]|0?[1-9])[日号]?)?)?"
)
_BOUND = r"(?P<bound>(?:修[订正改]|施行|实施|生效)?(?:以前|之前|前))?"
_DATE = re.compile(
    rf"(?<![0-9{_DIGITS}])(?P<year>(?:19|20)\d\d|[一二][{_DIGITS}]{{3}})"
    rf"(?:\s*(?:年(?!度|代|级|期)|(?=[-/.]\d)){_MONTH}){_BOUND}"
)
_SHORT_DATE = re.compile(
    rf"(?<![0-9{_DIGITS}十百千万.%])(?P<year>{SHORT_YEAR})(?P<mark>年(?!度|代|级|期)){_MONTH}{_BOUND}"
)
_RELATIVE = re.compile(r"(?P<word>前年|去年|上一年|明年)(?!度|底|初)")
_YEARS = {"前年": -2, "去年": -1, "上一年": -1, "明年": 1}

_RULE = (
    r"(?:法律|法规|规定|规矩|规则|条例|办法|政策|标准|法条|条文|税法|税率|税额|征收率|起征点|免征额"
    r"|费率|比例|基数|版本)"
)
_THEN = r"(?:当时|那时|当年|那会儿?|彼时|那一?年)"
# What asks: a clause with one of these is a question, one without tells a fact.
_ASKS = re.compile(
    r"多少|多久|多长|多高|几|怎么|怎样|如何|什么|啥|哪|能否|可否|是否|[能可要得会][^，。]{0,12}(?:吗|么|不)|吗"
)
# 2023年时的税率, 按2020年的规定, 2019年施行的…, 2020年有效的…, 截至2021年3月的规定
_LAW_BEHIND = re.compile(
    rf"^\s*(?:时|的时候|{_THEN}|那个?时候|期间|底|末|初)?\s*(?:(?:的|施行的?|实施的?|实行的?|有效的?|执行的?|适用的?|现行的?)"
    rf"[^,，。？?；;、我]{{0,16}}?{_RULE}|[^,，。？?；;、我]{{0,4}}{_RULE}|版)"
)
_LAW_BEFORE = re.compile(
    r"(?:(?:按照?|依据?|依照|根据|适用|参照)(?:在|了|着)?|截[至止]到?|有效(?:于|期在))\s*$"
)
_FACT_THEN = re.compile(
    rf"{_THEN}[^，。]{{0,6}}?(?:没|未|已|不知|约定|说|口头|签|给|让|因|写|承诺|答应)"
)
_NOW = re.compile(
    r"现在|如今|目前|现行|今年|最新|今后|以后怎么|还能不能|至今|到今天|新规|新法|新的?规定"
)
_STORY = re.compile(
    r"我(?!国|市|省|区|县)|咱|本人|家里|老公|老婆|丈夫|妻子|父亲|母亲|爸|妈|朋友|同事|亲戚|邻居|老板|房东|对方|被告|原告"
    r"|入职|离职|辞职|结婚|离婚|去世|死亡|受伤|签订|签的|签了|购买|买的|买了|卖了|借的?钱|借给|欠|判决|起诉"
)
# Questions about documents and events, not about a rule.
_REPORT = re.compile(r"发布|印发|出台|公布|举办|召开|推出|名单|指标|通知|公告|意见|方案|活动")
_SUBJECT = re.compile(
    r"税|费|起征点|抵扣|扣除|减免|免征|补贴|补助|补偿|赔偿|津贴|罚|处罚|标准|比例|限额|额度|基数|期限"
    r"|申报|申请|缴|报销|工资|产假|[几多][少天日月]|资格|条件"
)
_EARLIER = re.compile(
    r"旧(?=[\u4e00-\u9fff]{1,12}?(?:法|条例|办法|规定))|(?:原来|以前|过去|老)的?[\u4e00-\u9fff]{1,8}(?:法|条例|办法|规定)"
    r"|修[订正改]之?前|(?:施行|实施|生效)之?前的|[没未](?:有)?(?:施行|实施|生效)|(?:19|20)\d\d年?版"
)
_COMPARED = re.compile(r"相比|比较|区别|对比|变化|改了|调整了|变了|不同")


@dataclass(frozen=True, slots=True)
class QuestionDate:
    """A date as the question writes it (``text``) and its day: the last one of a year or month.

    ``certain``: the question asks for the law of that day; otherwise the date may be an event's,
    and today's law is asked for.
    """

    day: date
    text: str
    certain: bool
    version: str = ""


def read_question_date(question: str, today: date) -> QuestionDate | None:
    """The date that tells which law a question asks about; None where it names none, or today's.

    Dates in titles (《…2020年…》), in 发文字号 and in spans (2018年至2020年) tell nothing.
    Of several different dates none is certain.
    """
    plain = _without_names(matching_form(question))
    found = list(_dates(plain, today))
    if not found:
        return None
    certain = [item for item in found if _asks_for_law(plain, *item[:2])]
    days = {day for _, _, day in found}
    if certain and len(days) == 1 and not compares(plain):
        start, end, day = certain[0]
    else:
        start, end, day = found[0]
        certain = []
    if day == today:
        return None
    return QuestionDate(day, question[start:end].strip(), bool(certain))


def compares(plain: str) -> bool:
    """Whether a question (in matching form) sets two times against each other, or asks of now."""
    return bool(_COMPARED.search(plain) or _NOW.search(plain))


def asks_for_earlier(question: str) -> bool:
    """Whether a question names an earlier version without its day: 旧公司法, 修订前的会计法."""
    return bool(_EARLIER.search(matching_form(question)))


def _without_names(plain: str) -> str:
    """The text with titles, 发文字号 and spans of years blanked, of the same length."""
    span = rf"[0-9{_DIGITS}]{{4}}年?[0-9月日]*\s*(?:至|到|-|—|~|－)\s*[0-9{_DIGITS}]{{4}}年"
    for pattern in (
        r"《[^《》]*》",
        DOC_NUMBER.pattern,
        r"(?:公告|令)\s*(?:19|20)\d\d年第?",
        r"[\[(〔【](?:19|20)\d\d年?(?:\d+月\d+日)?(?:修[正订]|第)?",
        r"(?:19|20)\d\d年?(?:以来|起|开始|之后|以后)",
        span,
        r"(?<!\d)\d\d年?[0-9月日]*\s*(?:至|到|-|—|~|－)\s*\d\d年",
    ):
        plain = re.sub(pattern, lambda match: " " * len(match[0]), plain)
    return plain


def _dates(plain: str, today: date) -> Iterator[tuple[int, int, date]]:
    """(start, end, day) of every date, in order."""
    found = []
    years = [
        (match, int("".join(_CHINESE.get(c, c) for c in match["year"])))
        for match in _DATE.finditer(plain)
    ]
    for match in _SHORT_DATE.finditer(plain):
        behind = plain[match.end("mark") :]
        dated = match["month"] is not None
        year = short_year(plain[: match.start()], match["year"], behind, dated, today)
        # What may be a span of time counts only where it names the law's day for certain.
        if year is not None and _asks_for_law(plain, *match.span()):
            years.append((match, year))
    for match, year in years:
        month = _month(match["month"])
        try:
            day = _last_day(year, month, int(match["day"]) if match["day"] else 0)
            if match["bound"]:
                day = date(year, month or 1, int(match["day"] or 1)) - timedelta(days=1)
        except ValueError:
            continue  # 2月30日 is no day
        if year >= 1949:
            found.append((match.start(), match.end(), _not_beyond(day, year, today)))
    for match in _RELATIVE.finditer(plain):
        year = today.year + _YEARS[match["word"]]
        found.append((match.start(), match.end(), date(year, 12, 31)))
    return iter(sorted(found))


def _not_beyond(day: date, year: int, today: date) -> date:
    """Of the running year the past part counts; a whole day or month to come stays as it is."""
    return today if year == today.year and day == date(year, 12, 31) else day


def _month(text: str | None) -> int:
    if not text:
        return 0
    if text.isdecimal():
        return int(text)
    return {"十": 10, "十一": 11, "十二": 12}.get(text) or int(_CHINESE[text])


def _last_day(year: int, month: int, day: int) -> date:
    month = month or 12
    return date(year, month, day or calendar.monthrange(year, month)[1])


def _asks_for_law(plain: str, start: int, end: int) -> bool:
    before, behind = plain[:start], plain[end:]
    if _LAW_BEFORE.search(before) and re.search(_RULE, behind):
        return True
    if _LAW_BEHIND.match(behind):
        return True
    if plain[start:end] in _YEARS:
        return False  # 去年 in front of anything else begins a story
    if _then_asked(plain):
        return True
    return _frames(plain, before, behind)


def _then_asked(plain: str) -> bool:
    """Whether 当时 stands in a clause that asks, or beside the law: 按当时规定, 当时能…吗."""
    for clause in re.split(r"[，,。？?；;\n]", plain):
        if re.search(rf"{_THEN}(?:的|有效的?)?{_RULE}", clause):
            return True
        told = _FACT_THEN.search(clause)
        if re.search(_THEN, clause) and not told and _ASKS.search(clause):
            return True
    return False


def _frames(plain: str, before: str, behind: str) -> bool:
    """Whether the date opens a plain question about a rule: 2018年小规模纳税人…多少以下免增值税."""
    if before.strip(" 请问在于查询一下想知道了解，,:：") or _STORY.search(plain):
        return False
    return bool(_SUBJECT.search(behind) and _ASKS.search(behind) and not _REPORT.search(behind))
