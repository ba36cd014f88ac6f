"""Places: names, other names and GB/T 2260 codes (行政区划代码), and who governs whom.

``configs/places.csv`` holds provinces, cities, districts and counties,
``configs/place_aliases.csv`` abbreviations (沪), nicknames (魔都) and former names (闸北区).
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from configs.errors import InputError
from indexes.schema import NATIONAL

_PEOPLES = (
    "朝鲜族|土家族|苗族|藏族|羌族|彝族|布依族|侗族|壮族|哈尼族|傣族|白族|景颇族|傈僳族|回族"
    "|蒙古族|蒙古|哈萨克|柯尔克孜"
)
_SUFFIX = re.compile(
    rf"(?:特别行政区|(?:壮族|回族|维吾尔)?自治区|(?:{_PEOPLES})*自治州|地区|盟|省|市)$"
)
_DISTRICT_SUFFIX = re.compile(r"(?:新区|区|县|市)$")
# Everyday words: such a short name counts only with its suffix (白银市), such a district only
# behind its city (攀枝花市东区).
_EVERYDAY = frozenset(
    (
        *("安康", "白银", "来宾", "日照", "阿里", "东方", "兴安", "合作市", "共青城市", "解放区"),
        *("港口区", "市中区", "城中区", "城东区", "城西区", "城北区", "城关区", "新城区", "老城区"),
        *("新市区", "西市区", "友好区", "前进区", "江南区", "海港区", "站前区", "向阳区"),
    )
)
# Words in which a short name is no place; the name stands at {}.
_GUARDS = {
    "中山": r"(?<!孙){}(?!先生|装|陵|路|大学|医院)",
    "内江": r"(?<![国境海市]){}(?!河)",
    "南平": r"(?<![东西]){}(?![原均])",
    "海口": r"(?<![出入]){}",
    "海南": r"{}(?!海)",
    "开封": r"(?<![未已拆公]){}(?![后的])",
    "长治": r"{}(?!久安)",
    "四平": r"(?<![十百千万]){}(?![方均米台])",
    "中卫": r"(?<![集其]){}(?!生)",
    "安顺": r"(?<!平){}(?!利)",
    "新乡": r"{}(?![土村镇])",
    "朝阳": r"{}(?!产业)",
    "大同": r"{}(?!小异|社会|世界|主义)",
    "三明": r"{}(?!治)",
    "海东": r"(?<![上沿]){}",
    "北海": r"{}(?!公园|舰队|海)",
    "河池": r"(?<![内运]){}",
    "黄浦": r"{}(?!江)",
    "南沙": r"{}(?!群岛)",
    "台中": r"(?<![电平舞柜]){}(?!国|央|心)",
    "福田": r"{}(?!汽车)",
}
_LONGEST_PLACE = 30
_AROUND_ABBREVIATION = (
    r"(?:(?<=[在来进返离赴留落入])(?P<before>[京沪渝穗])(?!津冀|昆|九|广|港)"
    r"|(?P<after>[京沪渝穗深杭])(?=[牌籍漂]|户(?:口|籍)|[A-Z]牌))"
)


@dataclass(frozen=True, slots=True)
class Place:
    """A place by its official name and six-digit GB/T 2260 code (national = 100000)."""

    name: str
    code: str


COUNTRY = Place("全国", NATIONAL)
_COUNTRY_NAMES = frozenset(("全国", "国家", "中国", "中央", "中华人民共和国"))


def resolve(name: str) -> Place | None:
    """The place of that name: official, short (上海), former, nickname, abbreviation or code.

    A district may be written after its city (上海市黄浦区, 广州天河). None when unknown or when
    several places bear the name (朝阳区).
    """
    wanted = re.sub(r"\s", "", name)
    tables = _tables()
    if wanted in _COUNTRY_NAMES:
        return COUNTRY
    if wanted in tables.names:
        return Place(tables.names[wanted], wanted)
    codes = (
        tables.official.get(wanted)
        or tables.others.get(wanted)
        or tables.abbreviations.get(wanted)
        or tables.districts.get(wanted, ())
    )
    if codes:
        return _place(codes[0]) if len(codes) == 1 else None
    places = places_in(wanted)
    return places[-1] if places and _covers(wanted, _mentions(wanted)) else None


def ancestors(code: str) -> tuple[str, ...]:
    """The code itself, its city, its province and the country, each once, narrowest first."""
    wider = (code[:4] + "00", code[:2] + "0000")
    known = _tables().names
    return (
        *dict.fromkeys((code, *(c for c in wider if c in known and code != NATIONAL))),
        NATIONAL,
    )[: None if code != NATIONAL else 1]


@lru_cache(maxsize=4096)
def parts(code: str) -> tuple[str, ...]:
    """The codes of the cities, districts and counties inside of a place, without its own."""
    if code == NATIONAL or not code.endswith("00"):
        return ()
    prefix = code[:2] if code.endswith("0000") else code[:4]
    return tuple(c for c in _tables().names if c.startswith(prefix) and c not in (code, NATIONAL))


def places_in(text: str) -> tuple[Place, ...]:
    """The places that a text names, in order of appearance, each once; the longest name wins.

    A district name that several cities share (朝阳区) counts only when the text names one of those
    cities or provinces as well; a district without 区/县 (天河) only right behind its city.
    """
    found = list(_mentions(text))
    sure = {codes[0] for _, _, codes in found if len(codes) == 1}
    provinces = {code[:2] for code in sure}
    cities = {code[:4] for code in sure if code[2:4] != "00"}
    result: list[str] = []
    for _, _, codes in found:
        near = [c for c in codes if c[:4] in cities] or [c for c in codes if c[:2] in provinces]
        chosen = codes if len(codes) == 1 else near
        if len(chosen) == 1:
            result.append(chosen[0])
    return tuple(_place(code) for code in dict.fromkeys(result))


def ambiguous_in(text: str) -> tuple[tuple[Place, ...], ...]:
    """For each name of the text that ``places_in`` leaves out as several places bear it: those."""
    sure = {place.code for place in places_in(text)}
    shared = dict.fromkeys(codes for _, _, codes in _mentions(text) if len(codes) > 1)
    return tuple(tuple(map(_place, codes)) for codes in shared if not sure & {*codes})


def place_ending(text: str) -> tuple[Place | None, int]:
    """The place whose name stands at the end of ``text``, and its length; (None, 0) without one."""
    tail = text[-_LONGEST_PLACE:]
    for start, end, codes in _mentions(tail):
        if end == len(tail) and len(codes) == 1:
            return _place(codes[0]), end - start
    return None, 0


def allowed_codes(name: str) -> frozenset[str]:
    """Codes whose rules apply in the named place: itself, its ancestors, the country.

    Raises InputError for a name that is unknown or that several places bear.
    """
    place = resolve(name)
    if place is not None:
        return frozenset(ancestors(place.code))
    sharing = _tables().official.get(re.sub(r"\s", "", name), ())
    if sharing:
        some = " or ".join(name_of(ancestors(code)[1]) + name for code in sharing[:2])
        raise InputError(f"several places are called {name!r}; name the city as well, e.g. {some}")
    raise InputError(
        f"place {name!r} is not known; use an official name such as 上海市 or 广东省深圳市"
    )


def name_of(code: str) -> str:
    """Official name of a code; ``""`` when unknown."""
    return _tables().names.get(code, "")


def _place(code: str) -> Place:
    return Place(_tables().names[code], code)


def _covers(text: str, mentions: Iterable[tuple[int, int, tuple[str, ...]]]) -> bool:
    """Whether the mentions, one behind the other, make up the whole text."""
    at = 0
    for start, end, _ in mentions:
        if start != at:
            return False
        at = end
    return at == len(text)


def _mentions(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """(start, end, codes) of every place name in the text, from left to right."""
    tables = _tables()
    at = 0
    while match := _pattern().search(text, at):
        word = match["word"]
        at = match.end()
        if word is None:
            abbreviation = match["before"] or match["after"]
            yield match.start(), at, tables.abbreviations[abbreviation]
            continue
        codes = tables.official.get(word) or tables.others[word]
        yield match.start(), at, codes
        while len(codes) == 1 and (inner := _district_behind(text, at, codes[0])):
            yield at, inner[0], (inner[1],)
            at, codes = inner[0], (inner[1],)


def _district_behind(text: str, at: int, city: str) -> tuple[int, str] | None:
    """A district's or city's short name right behind the wider place (广州|天河, 浙江|舟山)."""
    prefix = city.rstrip("0") if city.endswith("0000") else city[:4]
    if not city.endswith("00"):
        return None
    tables = _tables()
    for length in range(min(15, len(text) - at), 1, -1):
        word = text[at : at + length]
        for code in (*tables.official.get(word, ()), *tables.districts.get(word, ())):
            if code.startswith(prefix) and code != city:
                return at + length, code
    return None


@dataclass(frozen=True, slots=True)
class _Tables:
    names: dict[str, str]
    """Official name by code."""
    official: dict[str, tuple[str, ...]]
    """Codes by official name."""
    others: dict[str, tuple[str, ...]]
    """Codes by short name of a province or city, nickname and former name."""
    abbreviations: dict[str, tuple[str, ...]]
    districts: dict[str, tuple[str, ...]]
    """Codes by the name of a district or county without 区/县/市."""


@lru_cache(maxsize=1)
def _tables() -> _Tables:
    names = {NATIONAL: COUNTRY.name}
    official: defaultdict[str, list[str]] = defaultdict(list)
    others: defaultdict[str, list[str]] = defaultdict(list)
    districts: defaultdict[str, list[str]] = defaultdict(list)
    for row in _rows("places.csv"):
        code, name = row["code"], row["name"]
        names[code] = name
        official[name].append(code)
        wide = code.endswith("00")
        short = (_SUFFIX if wide else _DISTRICT_SUFFIX).sub("", name)
        if len(short) >= 2 and short != name:
            (others if wide else districts)[short].append(code)
    abbreviations: dict[str, tuple[str, ...]] = {}
    for row in _rows("place_aliases.csv"):
        if row["kind"] == "abbreviation":
            abbreviations[row["alias"]] = (row["code"],)
        else:
            others[row["alias"]] = [row["code"]]
    # 吉林 is a province and a city, 海南 a province and a prefecture: the wider place wins.
    return _Tables(
        names,
        {name: tuple(codes) for name, codes in official.items()},
        {
            name: (min(codes),) if any(c.endswith("0000") for c in codes) else tuple(codes)
            for name, codes in others.items()
        },
        abbreviations,
        {name: tuple(codes) for name, codes in districts.items()},
    )


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = resources.files("configs").joinpath(name).read_text(encoding="utf-8")
    return csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    tables = _tables()
    # Two characters with 县 or 区 turn up by chance (市和县人民政府).
    chance = {name for name in tables.official if len(name) == 2 and name[-1] in "县区"}
    words = {*tables.official, *tables.others} - _EVERYDAY - _COUNTRY_NAMES - chance
    # The first character as a look-ahead lets the engine skip most positions at once.
    first = "".join(sorted({re.escape(word[0]) for word in words}))
    spelled = "|".join(_guarded(word) for word in sorted(words, key=len, reverse=True))
    return re.compile(f"(?P<word>(?=[{first}])(?:{spelled}))|{_AROUND_ABBREVIATION}")


def _guarded(word: str) -> str:
    if word in _GUARDS:
        return _GUARDS[word].format(re.escape(word))
    # 新兴区|域, 南部县|级, 合作市|场: only of districts, 上海市民 still names 上海市.
    wide = any(code.endswith("00") for code in _tables().official.get(word, ("00",)))
    return re.escape(word) + ("" if wide else "(?![域级场间])")
