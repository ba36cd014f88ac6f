"""Where a document applies: the place of its issuer, else of its title, its 发文字号, its text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from indexes.jurisdiction import COUNTRY, Place, ancestors, name_of, places_in, resolve
from ingest.issuers import place_of_issuer

_NATIONAL_ORGAN = re.compile(
    r"^(?:中共中央|全国|国务院|最高人民|中国人民|中央|国家|财政部|税务总局|海关总署|市场监管总局|人力资源社会保障部|人力资源和社会保障部"
    r"|教育部|科技部|科学技术部|工业和信息化部|公安部|民政部|司法部|自然资源部|生态环境部|住房城乡建设部|住房和城乡建设部|交通运输部|交通部"
    r"|水利部|农业农村部|农业部|商务部|文化和旅游部|文化部|卫生部|卫生健康委|应急管理部|退役军人事务部|审计署|人社部|医保局|发展改革委|银保监会|证监会)"
)
_NATIONAL_TITLE = re.compile(
    r"(?<![省市区州县厅])(?:国务院|国家(?!级|统一)|全国|中央|[两二三四五六七八九十多]部[门委]|财政部|税务总局|人社部"
    r"|人力资源社会保障部|发改委|发展改革委|工信部|商务部|教育部|央行|人民银行"
    r"|医保局|民政部|交通运输部|农业农村部|卫生健康委|卫健委|海关总署|银保监会|证监会|市场监管总局|住建部|应急管理部)"
)
_ALL_PROVINCES = re.compile(r"各省、?自治区|各省[（(]区")
_WHOLE_COUNTRY = re.compile(r"在中华人民共和国(?:境内|领域)|各省、自治区、直辖市人民政府")
_NATIONAL_LEVELS = frozenset(("宪法", "法律", "监察法规", "行政法规", "司法解释", "部门规章"))
_LOCAL_TITLE = re.compile(r"^(?:[省市区县州]|本市|我[省市区县])")
_CODE_WORD = re.compile(r"[\u4e00-\u9fff]")
_OURS = re.compile(r"(?:本|我|全)(?P<unit>省|自治区|市|区|县|州)")
_DATELINE = re.compile(
    r"(?:新华社|中新社|中新网|新华网|人民网)\s*[\u4e00-\u9fff]{2,6}?(?=\d{1,2}月)|新疆生产建设兵团"
)
_DOMINANT = 0.5
_LONG = 5000


def place_of(
    *,
    domain: str,
    title: str,
    issuer: str,
    number: str,
    history: Sequence[str],
    tags: Sequence[str],
    folders: Sequence[str],
    body: str,
) -> Place | None:
    """The place of a document; None when nothing tells it.

    Rules of the domain ``law`` and of national organs apply in the whole country. What comes first
    wins: issuer, title, head, 发文字号, folder, text.
    """
    if domain == "law" or not _NATIONAL_LEVELS.isdisjoint(tags):
        return COUNTRY
    if issuer:
        named = place_of_issuer(issuer)
        if named:
            return named
        if _NATIONAL_ORGAN.match(issuer):
            return COUNTRY
    named = _narrowest(places_in(title)) or _narrowest(places_in("\n".join(history)))
    if named:
        return named
    by_number = resolve(number[0]) if number and _CODE_WORD.match(number) else None
    if by_number and not number.startswith(("新华", "国")):
        return by_number
    if _NATIONAL_TITLE.search(title) or title.startswith("中华人民共和国"):
        return COUNTRY
    for folder in reversed(folders):
        place = resolve(folder)
        if place:
            return place
    if _ALL_PROVINCES.search(body[:400]) or _WHOLE_COUNTRY.search(body[:2000]):
        return COUNTRY
    found = _by_text(_DATELINE.sub("", body))
    if found == COUNTRY and _LOCAL_TITLE.match(title):
        return None
    if found:
        return _district(found, issuer)
    return COUNTRY if domain != "local" else None


def _district(place: Place, issuer: str) -> Place:
    """The district in ``place`` that the organ names, where several cities have one of its name."""
    named = places_in(place.name + issuer)[-1:] if issuer else ()
    return named[0] if named and place.code in ancestors(named[0].code) else place


def _narrowest(places: Sequence[Place]) -> Place | None:
    """The first place, or one that follows it and lies in it (浙江省杭州市)."""
    best: Place | None = None
    for place in places:
        if best is None or best.code in ancestors(place.code):
            best = place
    return best


def _by_text(body: str) -> Place | None:
    """The place that most mentions lie in; the country when several provinces share them."""
    opening = body[:400]
    counts = Counter(place.code for line in (opening, body[-200:]) for place in _all_mentions(line))
    if not counts:
        counts = Counter(place.code for place in _all_mentions(body[:5000]))
        if counts.total() == 1 and len(body) > _LONG and not _OURS.search(body[:5000]):
            return None  # named once in passing, far from the beginning of a long text
    national = bool(_NATIONAL_TITLE.search(body[:200]))
    if not counts:
        return COUNTRY if national and not _OURS.search(body) else None
    provinces = Counter(f"{code[:2]}0000" for code in counts.elements())
    total = sum(counts.values())
    province, most = provinces.most_common(1)[0]
    if most / total <= _DOMINANT or (national and most < 3 and not _OURS.search(body)):
        return COUNTRY
    inside = Counter({code: n for code, n in counts.items() if code[:2] == province[:2]})
    cities = Counter(f"{code[:4]}00" for code in inside.elements() if code[2:4] != "00")
    unit = _OURS.search(body)
    if cities and (unit is None or unit["unit"] not in ("省", "自治区")):
        city, often = cities.most_common(1)[0]
        if often >= most * _DOMINANT and name_of(city):
            return Place(name_of(city), city)
        narrow = inside.most_common(1)[0][0]
        if often >= most * _DOMINANT and name_of(narrow):
            return Place(name_of(narrow), narrow)
    return Place(name_of(province), province)


def _all_mentions(text: str) -> list[Place]:
    """Places sentence by sentence, so that one named often counts often."""
    return [place for part in re.split(r"[。；，\n]", text) for place in places_in(part)]
