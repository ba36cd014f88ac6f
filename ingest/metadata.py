"""What a document says of itself: 发文字号, issuer, level, place, dates, status.

Everything comes from the file's name, its front matter or head, and the text; what is not stated
stays unknown, but for two fallbacks that are stated here: a rule without a 施行日期 counts from its
promulgation, and statutes of the national domains apply to the whole country.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from indexes.jurisdiction import COUNTRY, Place, ancestors, places_in, resolve
from indexes.schema import Status
from ingest.dates import dates_in, effective_in, effective_in_head, expires_in

LEVELS = (
    "宪法",
    "法律",
    "监察法规",
    "行政法规",
    "司法解释",
    "地方性法规",
    "部门规章",
    "地方政府规章",
    "规范性文件",
)
_NAME_DATE = re.compile(r"[(（](\d{4}-\d{2}-\d{2})[)）]$")
_DOC_NUMBER = re.compile(
    r"(?P<word>[\u4e00-\u9fff]{1,14}?)\s*[〔\[［(（【﹝]\s*(?P<year>\d{4})\s*[〕\]］)）】﹞]\s*(?:第\s*)?"
    r"(?P<n>\d{1,4})\s*号"
)
_ORDER = re.compile(
    r"(?:国务院|主席|[\u4e00-\u9fff]{2,16}?(?:部|委员会|总局|局|署|人民政府|省政府|市政府))令\s*"
    r"(?:\d{4}\s*年\s*)?第?\s*[\d零〇一二三四五六七八九十百]+\s*号"
)
_NOTICE = re.compile(
    r"[\u4e00-\u9fff][\u4e00-\u9fff ]{0,40}公告\s*[〔(（]?\d{4}[〕)）]?\s*年?\s*第?\s*\d+\s*号"
)
_COURT = re.compile(r"最高人民(?:法院|检察院)")
_CONGRESS = re.compile(
    r"[\u4e00-\u9fff]{2,12}?(?:省|市|自治区|自治州|自治县|县|区)"
    r"(?=第?[^，。]{0,8}届?人民代表大会)"
)
_ISSUER_LINE = re.compile(
    r"^[\u4e00-\u9fff、 　]{3,40}?(?:人民政府|办公厅|办公室|委员会|总局|税务局|财政局|管理局|管理中心|局|部|厅|委|院)$"
)
_REPEALED = re.compile(
    r"[（(](?:已废止|已失效|失效|废止)[）)]|^(?:已废止|已失效|全文废止|全文失效)", re.MULTILINE
)
_PREFIXES = {
    "京": "110000", "津": "120000", "冀": "130000", "晋": "140000", "蒙": "150000", "辽": "210000",
    "吉": "220000", "黑": "230000", "沪": "310000", "苏": "320000", "浙": "330000", "皖": "340000",
    "闽": "350000", "赣": "360000", "鲁": "370000", "豫": "410000", "鄂": "420000", "湘": "430000",
    "粤": "440000", "桂": "450000", "琼": "460000", "渝": "500000", "川": "510000", "黔": "520000",
    "滇": "530000", "藏": "540000", "陕": "610000", "甘": "620000", "青": "630000", "宁": "640000",
    "新": "650000", "穗": "440100", "深": "440300", "杭": "330100", "甬": "330200",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SourceText:
    """What the extraction reads.

    ``name``: file name without suffix or record title; ``folders``: names of the folders above it;
    ``head``: lines before the body (history of adoption); ``body``: the rest, cleaned; ``given``:
    front matter or record meta, which wins over what is extracted.
    """

    domain: str
    name: str
    title: str
    body: str
    head: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Facts:
    """Document-level metadata; dates ISO or None, ``""`` where unknown."""

    doc_number: str
    issuer: str
    level: str
    place: Place | None
    promulgated: str | None
    effective: str | None
    expires: str | None
    status: Status


def extract(source: SourceText, today: date) -> Facts:
    """All document-level facts; ``today`` decides between in_force and not_yet."""
    given = source.given
    number = given.get("doc_number") or _doc_number(source)
    issuer = given.get("issuer") or _issuer(source)
    named = given.get("jurisdiction")
    place = (resolve(named) if named else None) or _place(source, number, issuer)
    level = given.get("level") or _level(source, place, issuer)
    promulgated = _given_date(given, "promulgated") or _promulgated(source)
    effective = _given_date(given, "effective") or _effective(source, promulgated)
    expires = _given_date(given, "expires") or expires_in(source.body, effective)
    return Facts(
        number,
        issuer,
        level,
        place,
        _iso(promulgated),
        _iso(effective),
        _iso(expires),
        _status(source, effective, expires, today),
    )


def name_date(name: str) -> str | None:
    """``个人所得税法(2018-08-31)`` -> ``2018-08-31``."""
    match = _NAME_DATE.search(name)
    return match[1] if match else None


def without_date(name: str) -> str:
    """The name without its date in brackets."""
    return _NAME_DATE.sub("", name).strip()


def normalise_doc_number(text: str) -> str:
    """``沪府办规[２０２４] 3 号`` -> ``沪府办规〔2024〕3号``; other forms only lose white space."""
    plain = re.sub(r"\s", "", unicodedata.normalize("NFKC", text))
    match = _DOC_NUMBER.fullmatch(plain)
    return f"{match['word']}〔{match['year']}〕{int(match['n'])}号" if match else plain


def _doc_number(source: SourceText) -> str:
    opening = source.body[:600].split("第一条", 1)[0]
    for text in ("\n".join(source.head), source.title, opening):
        plain = unicodedata.normalize("NFKC", text)
        for line in plain.split("\n"):
            # A citation inside a sentence (根据…〔2020〕5号) is another document's number.
            match = _DOC_NUMBER.search(line)
            if (
                match
                and len(line) <= 60
                and not re.search(r"根据|依据|按照|《", line[: match.start()])
            ):
                return normalise_doc_number(match.group())
        match = _ORDER.search(plain) or _NOTICE.search(plain)
        if match and "《" not in plain[: match.start()].split("\n")[-1]:
            return normalise_doc_number(match.group().removeprefix("中华人民共和国"))
    return ""


def _issuer(source: SourceText) -> str:
    courts = _COURT.findall(source.title)
    if courts:
        return "、".join(dict.fromkeys(courts))
    for line in reversed(source.head):
        congress = _CONGRESS.search(line)
        if congress:
            return _after_date(congress.group()) + "人民代表大会常务委员会"
        if "全国人民代表大会常务委员会" in line or re.search(r"届全国人民代表大会常务", line):
            return "全国人民代表大会常务委员会"
        if "全国人民代表大会" in line:
            return "全国人民代表大会"
        if "国务院" in line:
            return "国务院"
        order = re.search(r"([\u4e00-\u9fff]{2,16}(?:部|委员会|总局|局|人民政府))(?:令|公告)", line)
        if order:
            return order[1].removeprefix("中华人民共和国")
    about = re.match(r"(.{3,40}?)关于", source.title)
    if about and re.search(r"(?:政府|厅|办公室|委员会|局|部|中心|院|委|会)$", about[1].strip()):
        return about[1].strip()
    for line in source.body[:1500].split("\n")[:12]:
        if _ISSUER_LINE.fullmatch(line.strip()):
            return re.sub(r"\s+", "、", line.strip())
    return ""


def _after_date(text: str) -> str:
    return re.split(r"[日\s　]", text)[-1]


def _place(source: SourceText, number: str, issuer: str) -> Place | None:
    if source.domain == "law":
        return COUNTRY
    national = re.search(r"^(?:全国人民|国务院|最高人民|财政部|国家|中国人民银行|人力资源)", issuer)
    if source.domain == "fiscal" and national and not places_in(source.title):
        return COUNTRY
    for text in (source.title, issuer, "\n".join(source.head)):
        places = places_in(text)
        if places:
            return _narrowest(places)
    if number[:1] in _PREFIXES and not number.startswith(("新华", "青年")):
        place = resolve(_PREFIXES[number[0]])
        if place:
            return place
    if source.domain == "fiscal" and national:
        return COUNTRY
    for folder in reversed(source.folders):
        place = resolve(folder)
        if place:
            return place
    counts = Counter(places_in(source.body[:300])) or Counter(places_in(source.body[:3000]))
    if counts:
        return _narrowest(tuple(counts))
    return (
        COUNTRY if source.domain != "local" or re.search(r"国务院|全国|国家", source.body) else None
    )


def _narrowest(places: tuple[Place, ...]) -> Place:
    """The first place, or the narrower one that follows it inside it (浙江省杭州市)."""
    best = places[0]
    for place in places[1:]:
        if best.code in ancestors(place.code):
            best = place
    return best


def _level(source: SourceText, place: Place | None, issuer: str) -> str:
    title, head = source.title, "\n".join(source.head)
    for folder in reversed(source.folders):
        if folder in LEVELS:
            return folder
    if re.fullmatch(r"(?:中华人民共和国)?宪法(?:修正案.*)?", title):
        return "宪法"
    if _COURT.search(title):
        return "司法解释"
    local = place is not None and place != COUNTRY
    if local and "人民代表大会" in head + issuer:
        return "地方性法规"
    if "全国人民代表大会" in head + issuer:
        return "法律"
    if "国务院" in head and "令" in head + title:
        return "行政法规"
    if local and re.search(r"人民政府令|政府令", head + source.body[:400]):
        return "地方政府规章"
    if re.search(r"(?:部|委员会|总局|局|署)令", head + source.body[:300]):
        return "部门规章"
    if issuer == "国务院" and re.search(r"(?:条例|办法|规定)$", title):
        return "行政法规"
    return "规范性文件"


def _promulgated(source: SourceText) -> date | None:
    dated = name_date(source.name)
    if dated:
        return date.fromisoformat(dated)
    events = [line for line in source.head if not re.search(r"施行\s*$|起施行|批准", line)]
    days = dates_in("\n".join(events or source.head))
    if days:
        return days[-1]
    # A notice is dated under its last line, or beside its head.
    tail = dates_in(source.body[-200:])
    if tail:
        return tail[-1]
    opening = dates_in(source.body[:400])
    return opening[0] if opening else None


def _effective(source: SourceText, promulgated: date | None) -> date | None:
    for line in reversed(source.head):
        day = effective_in_head(line)
        if day is not None and (promulgated is None or day >= promulgated):
            return day
    tail, opening = source.body[-800:], source.body[:800]
    stated = effective_in(tail, promulgated) or effective_in(opening, promulgated)
    if stated is None:
        return promulgated
    # An amended version repeats the day of entry into force of the first one.
    return stated if promulgated is None else max(stated, promulgated)


def _status(
    source: SourceText, effective: date | None, expires: date | None, today: date
) -> Status:
    given = source.given.get("status", "")
    if given in ("in_force", "amended", "repealed", "not_yet"):
        return given  # type: ignore[return-value]
    if given in ("已废止", "废止", "失效", "已失效") or _REPEALED.search(
        "\n".join((source.title, source.name, *source.head))
    ):
        return "repealed"
    if expires is not None and expires <= today:
        return "repealed"
    if effective is not None and effective > today:
        return "not_yet"
    return "in_force"


def _given_date(given: Mapping[str, str], key: str) -> date | None:
    days = dates_in(given.get(key, ""))
    return days[0] if days else None


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
