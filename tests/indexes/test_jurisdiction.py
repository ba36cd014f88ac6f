"""Places: names and codes (GB/T 2260), who governs whom, and places that a text names."""

from __future__ import annotations

import pytest

from configs.errors import InputError
from indexes.jurisdiction import allowed_codes, ancestors, name_of, parts, places_in, resolve


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("上海市", "310000"),
        ("上海", "310000"),
        ("魔都", "310000"),
        ("申城", "310000"),
        ("沪", "310000"),
        ("帝都", "110000"),
        ("京", "110000"),
        ("羊城", "440100"),
        ("穗", "440100"),
        ("鹏城", "440300"),
        ("深圳经济特区", "440300"),
        ("杭城", "330100"),
        ("山城", "500000"),
        ("渝", "500000"),
        ("广东省", "440000"),
        ("广东", "440000"),
        ("吉林", "220000"),
        ("内蒙古", "150000"),
        ("新疆", "650000"),
        ("香港", "810000"),
        ("延边", "222400"),
        ("浦东新区", "310115"),
        ("浦东", "310115"),
        ("上海市黄浦区", "310101"),
        ("广州天河", "440106"),
        ("广东省深圳市", "440300"),
        (" 北京市 朝阳区", "110105"),
        ("南京市鼓楼区", "320106"),
        ("闸北区", "310106"),
        ("440100", "440100"),
        ("全国", "100000"),
        ("国家", "100000"),
    ],
)
def test_a_place_is_known_by_all_its_names(name: str, code: str) -> None:
    place = resolve(name)
    assert place is not None
    assert place.code == code
    assert place.name == name_of(code)


@pytest.mark.parametrize("name", ["", "火星", "朝阳区", "鼓楼区", "上海火星", "某某市"])
def test_unknown_and_ambiguous_names_give_none(name: str) -> None:
    assert resolve(name) is None


@pytest.mark.parametrize(
    ("code", "chain"),
    [
        ("440106", ("440106", "440100", "440000", "100000")),
        ("440100", ("440100", "440000", "100000")),
        ("310115", ("310115", "310000", "100000")),
        ("310000", ("310000", "100000")),
        ("429004", ("429004", "420000", "100000")),
        ("100000", ("100000",)),
    ],
)
def test_the_ancestors_are_city_province_and_country(code: str, chain: tuple[str, ...]) -> None:
    assert ancestors(code) == chain


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("在魔都养狗要办证吗", ["上海市"]),
        ("我在广州天河区租房", ["广州市", "天河区"]),
        ("广州天河租房补贴", ["广州市", "天河区"]),
        ("浙江省舟山市普陀区的规定", ["浙江省", "舟山市", "普陀区"]),
        ("北京的朝阳区和上海的静安区", ["北京市", "朝阳区", "上海市", "静安区"]),
        ("朝阳区的补贴", []),
        ("重庆江北", ["重庆市", "江北区"]),
        ("宁波江北区", ["宁波市", "江北区"]),
        ("沪牌怎么拍", ["上海市"]),
        ("在沪工作三年", ["上海市"]),
        ("京沪高速", []),
        ("上海市民", ["上海市"]),
        ("上海、上海市、沪上", ["上海市"]),
        ("深圳和东莞", ["深圳市", "东莞市"]),
    ],
)
def test_places_are_found_in_questions(text: str, names: list[str]) -> None:
    assert [place.name for place in places_in(text)] == names


@pytest.mark.parametrize(
    "text",
    [
        "孙中山先生",
        "长治久安",
        "二十四平方米",
        "集中卫生管理",
        "来宾登记",
        "国内江河",
        "日照标准",
        "黄金、白银",
        "市和县人民政府",
        "健康县城",
        "合作市场主体",
        "新兴区域",
        "拆封开封后不退",
        "城区、郊区和矿区",
        "平安顺利",
    ],
)
def test_everyday_words_are_no_places(text: str) -> None:
    assert places_in(text) == ()


def test_what_applies_in_a_place_are_its_own_rules_and_those_above() -> None:
    assert allowed_codes("天河区") == {"440106", "440100", "440000", "100000"}
    assert allowed_codes("魔都") == {"310000", "100000"}
    assert allowed_codes("全国") == {"100000"}


def test_an_unknown_place_is_refused_with_a_remedy() -> None:
    with pytest.raises(InputError, match="'火星' is not known; use an official name"):
        allowed_codes("火星")


def test_an_ambiguous_place_is_refused_and_the_cities_are_named() -> None:
    with pytest.raises(InputError, match=r"name the city as well, e\.g\. 北京市朝阳区"):
        allowed_codes("朝阳区")


def test_the_parts_of_a_place_are_its_cities_districts_and_counties() -> None:
    assert "440305" in parts("440300")
    assert {"440100", "440305"} <= set(parts("440000"))
    assert "440000" not in parts("440000")
    assert not any(code[:2] != "50" for code in parts("500000"))
    assert parts("440305") == parts("100000") == ()
