"""Places: names, nicknames and GB/T 2260 codes (中华人民共和国行政区划代码), and who governs whom.

The table is ``configs/places.csv`` (code,name: provinces, cities, districts and counties).
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from configs.errors import InputError
from indexes.schema import NATIONAL

NICKNAMES = {
    "魔都": "310000",
    "申城": "310000",
    "沪": "310000",
    "帝都": "110000",
    "京城": "110000",
    "羊城": "440100",
    "穗": "440100",
    "花城": "440100",
    "鹏城": "440300",
    "杭城": "330100",
    "甬城": "330200",
    "山城": "500000",
    "渝": "500000",
    "蓉城": "510100",
    "津门": "120000",
    "浦东": "310115",
    "全国": NATIONAL,
    "国家": NATIONAL,
}
_MUNICIPALITIES = ("11", "12", "31", "50")
_SUFFIXES = (
    "特别行政区",
    "壮族自治区",
    "回族自治区",
    "维吾尔自治区",
    "自治区",
    "省",
    "市",
    "地区",
    "盟",
)
# Nicknames of one character name a place only beside other words of an office (沪府发); not alone.
_TEXT_NICKNAMES = {name: code for name, code in NICKNAMES.items() if len(name) > 1}
_GENERIC = {"全国", "国家"}


@dataclass(frozen=True, slots=True)
class Place:
    """A place by its official name and six-digit GB/T 2260 code (national = 100000)."""

    name: str
    code: str


COUNTRY = Place("全国", NATIONAL)


def resolve(name: str) -> Place | None:
    """The place of that official name, short name or nickname; None when unknown or ambiguous.

    A district may be written after its city (``上海市黄浦区``).
    """
    wanted = re.sub(r"\s", "", name)
    by_code, by_name = _tables()
    if wanted in by_code:
        return Place(by_code[wanted], wanted)
    code = NICKNAMES.get(wanted) or _only(by_name.get(wanted, ()))
    if code is None:
        found = places_in(wanted)
        spelled = "".join(found_place.name for found_place in found)
        return found[-1] if found and set(wanted) <= set(spelled) else None
    return Place(by_code[code], code)


def ancestors(code: str) -> tuple[str, ...]:
    """The code itself, its city, its province and the country, each once, narrowest first."""
    chain = [code]
    if code != NATIONAL:
        city, province = code[:4] + "00", code[:2] + "0000"
        by_code, _ = _tables()
        if city in by_code and code[:2] not in _MUNICIPALITIES:
            chain.append(city)
        chain += [province, NATIONAL]
    return tuple(dict.fromkeys(chain))


def places_in(text: str) -> tuple[Place, ...]:
    """Places that a text names, in order of appearance, the longest name first where they overlap.

    A district name that several cities share (朝阳区) counts only when one of them is in a
    province or city that the text names as well.
    """
    by_code, by_name = _tables()
    found: list[tuple[int, tuple[str, ...]]] = []
    for match in _pattern().finditer(text):
        word = match.group()
        codes = (_TEXT_NICKNAMES[word],) if word in _TEXT_NICKNAMES else by_name[word]
        found.append((match.start(), codes))
    sure = {codes[0] for _, codes in found if len(codes) == 1}
    provinces = {code[:2] for code in sure}
    cities = {code[:4] for code in sure if code[2:4] != "00"}
    result = []
    for _, codes in found:
        if len(codes) == 1:
            result.append(codes[0])
            continue
        near = [c for c in codes if c[:4] in cities] or [c for c in codes if c[:2] in provinces]
        if len(near) == 1:
            result.append(near[0])
    return tuple(Place(by_code[c], c) for c in dict.fromkeys(result))


def allowed_codes(name: str) -> frozenset[str]:
    """Codes whose rules apply in the named place: itself, its ancestors, the country.

    Raises InputError for a name that is not in the table.
    """
    place = resolve(name)
    if place is None:
        raise InputError(
            f"place {name!r} is not known; use an official name such as 上海市 or 广东省深圳市"
        )
    return frozenset(ancestors(place.code))


def name_of(code: str) -> str:
    """Official name of a code; ``""`` when unknown."""
    return COUNTRY.name if code == NATIONAL else _tables()[0].get(code, "")


def _only(codes: tuple[str, ...]) -> str | None:
    return codes[0] if len(codes) == 1 else None


@lru_cache(maxsize=1)
def _tables() -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    by_code: dict[str, str] = {NATIONAL: COUNTRY.name}
    names: defaultdict[str, list[str]] = defaultdict(list)
    table = resources.files("configs").joinpath("places.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(table.splitlines()):
        code, name = row["code"], row["name"]
        if code[:2] in _MUNICIPALITIES and code.endswith("0100"):
            continue  # the municipality again, as its own city
        by_code[code] = name
        names[name].append(code)
        if code.endswith("00"):
            short = next((name.removesuffix(s) for s in _SUFFIXES if name.endswith(s)), name)
            if len(short) >= 2 and short != name:
                names[short].append(code)
    # 吉林 is a province and a city: the wider place wins.
    return by_code, {
        name: (min(codes),) if any(c.endswith("0000") for c in codes) else tuple(codes)
        for name, codes in names.items()
    }


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    words = sorted({*_tables()[1], *_TEXT_NICKNAMES} - _GENERIC, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, words)))
