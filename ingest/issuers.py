"""Who issued a document: from its history of adoption, its title, or the signature at its end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from indexes.jurisdiction import Place, places_in
from ingest.dates import DATE
from ingest.organs import is_organ, side_by_side
from ingest.signature import Signature

_STATE = "中华人民共和国"
_COURT = re.compile(r"最高人民(?:法院|检察院)")
_CONGRESS = re.compile(
    r"(?P<body>[\u4e00-\u9fff]{2,12}?(?:省|市|自治区|自治州|自治县|县|区|旗))"
    r"(?:第[一二三四五六七八九十百零〇\d]+届)?(?:人民代表大会|人大)(?P<committee>常务委员会|常委会)?"
)
_NATIONAL_CONGRESS = re.compile(r"全国(?:人民代表大会|人大)(?P<committee>常务委员会|常委会)?")
_DECREE = re.compile(
    r"(?P<organs>[\u4e00-\u9fff、\s]{2,40}?)(?:第\s*[\d一二三四五六七八九十百]+\s*号令|令|公告)"
)
_MEETING = re.compile(
    r"(?P<organs>[\u4e00-\u9fff、\s]{2,40}?)(?:\d{4}年)?第\s*[\d一二三四五六七八九十百]+\s*(?:号令|次\S{0,4}会议)"
)
_PUBLISHED = re.compile(
    r"(?P<organs>[\u4e00-\u9fff、\s]{2,40}?)(?:公布|发布|颁布|批准|印发|制定|修订|通过)"
)
_ABOUT = re.compile(
    # A 发文字号 may stand before the names.
    r"^(?:[\u4e00-\u9fff]{1,14}[〔\[（(]\d{4}[〕\]）)]\d+号[\s\-—：:]*)?"
    r"(?P<organs>.{2,60}?)(?:印发)?(?:关于|转发|公告|通告|令[（(]?第)"
)
_AND_OTHERS = re.compile(
    r"等(?:[二三四五六七八九十两\d]{1,3}[个家]?|有关|多个?)?(?:部门|单位|机关)$"
)
_NUMBERED = re.compile(r"(?P<organs>.{2,60}?)(?:令|公告)(?:\d{4}年)?第\d+号")
_BETWEEN = re.compile(r"[\s　、，,；;/|]+")


def issuer_of_statute(history: Sequence[str], title: str) -> str:
    """The organ behind a statute, from the lines of its adoption; ``""`` when they tell nothing.

    Whoever adopted it counts before whoever approved it (批准), and the organ of the title's own
    place before that of a wider one.
    """
    courts = list(dict.fromkeys(_COURT.findall(title)))
    if not courts and history:
        courts = list(dict.fromkeys(_COURT.findall("".join(history[:2]))))
    if courts:
        return "、".join(courts)
    for line in history:
        national = _NATIONAL_CONGRESS.search(line)
        if national and not _quoted(line, national.start()):
            return "全国人民代表大会" + ("常务委员会" if national["committee"] else "")
    local = _local_congress(history, title)
    if local:
        return local
    for line in reversed(history):
        organs = _decree(re.sub(r"《[^》]*》?|〈[^〉]*〉", "", line))
        if organs:
            return organs
    return ""


def issuer_of_notice(title: str, signed: Signature) -> str:
    """The organs behind a notice: named before 关于 in its title, or signed above its date.

    A title that names one of them (财政部等三部门关于…) counts where nobody signed.
    """
    about = _ABOUT.match(title)
    if about and not title.startswith("转发"):
        organs = _organs(about["organs"])
        if organs:
            return organs
        if not signed.organs:
            return _organs(_AND_OTHERS.sub("", about["organs"]))
    return "、".join(signed.organs)


def issuer_of_number(number: str) -> str:
    """The organs that a number spells out (财政部 税务总局公告2023年第12号), else ``""``."""
    spelt = _NUMBERED.fullmatch(number)
    return _organs(spelt["organs"], statute=True) if spelt else ""


def issuer_as_given(given: str, signed: Signature) -> str:
    """A stated issuer as names joined by 、, completed where it is only the first of the organs
    that signed together; what does not read as organs stays as it is."""
    names = [n for word in _BETWEEN.split(given) if word for n in side_by_side(word)]
    if not all(map(is_organ, names)):
        return given
    if len(names) == 1 and len(signed.organs) > 1 and names[0] in signed.organs:
        return "、".join(signed.organs)
    return "、".join(dict.fromkeys(names))


def _quoted(line: str, at: int) -> bool:
    return line.rfind("《", 0, at) > line.rfind("》", 0, at)


def _local_congress(history: Sequence[str], title: str) -> str:
    own = {place.code for place in places_in(title)}
    found: list[tuple[bool, bool, int, str]] = []
    for index, line in enumerate(history):
        for match in _CONGRESS.finditer(line):
            if _quoted(line, match.start()):
                continue
            body = re.split(r"[日经由\s　]", match["body"])[-1]
            places = places_in(body)
            if not places:
                continue
            name = body + "人民代表大会" + ("常务委员会" if match["committee"] else "")
            adopted = "批准" not in line[match.end() :]
            found.append((places[-1].code in own, adopted, index, name))
    return max(found)[3] if found else ""


def _decree(line: str) -> str:
    """The organ of 国务院令第138号公布, or of 1986年5月7日 民政部发布."""
    plain = DATE.sub(" ", line).replace(_STATE, "")
    for pattern in (_DECREE, _MEETING, _PUBLISHED):
        match = pattern.search(plain)
        if match:
            organs = _organs(match["organs"], statute=True)
            if organs:
                return organs
    return ""


def _organs(text: str, *, statute: bool = False) -> str:
    """The organs that a phrase names, joined by 、; ``""`` when it names anything else."""
    words = [w for word in _BETWEEN.split(text.strip()) if word for w in side_by_side(word)]
    if statute:
        words = [w.removeprefix("经") for w in words]
    kept: list[str] = []
    for word in words:
        if is_organ(word) or (
            statute and re.fullmatch(r"中央军事委员会|.{1,8}(?:部|委|局|院|署)", word)
        ):
            kept.append(word)
        elif kept or not statute:
            return ""
    return "、".join(kept)


def place_of_issuer(issuer: str) -> Place | None:
    """The narrowest place that the first organ names (国家税务总局重庆市税务局 -> 重庆市)."""
    places = places_in(issuer.split("、", maxsplit=1)[0])
    return places[-1] if places else None
