"""Ranks and differing figures of cited rules. All rules are 虚构示例."""

from __future__ import annotations

from typing import Any

from fusion.citations import Citation, cite
from fusion.hierarchy import conflict_note, figures, hierarchy_notes, rank_note
from fusion.nodes import RankedPassage
from tests.fusion.fake_sources import passage

QUESTION = "员工年假工资几天内付清"
CLAUSE = "用人单位应当在{}内付清员工年假工资。"


def cited(*rules: tuple[str, str, dict[str, Any]]) -> list[tuple[Citation, RankedPassage]]:
    items = [
        RankedPassage(passage("law", title, "1", content, **known), 1.0)
        for title, content, known in rules
    ]
    return [(cite(n, item, 0, len(item.passage.content)), item) for n, item in enumerate(items, 1)]


def test_the_last_line_names_the_levels_from_the_highest_to_the_lowest() -> None:
    rules = cited(
        ("示例通知", "甲", {"level": "规范性文件"}),
        ("示例条例", "乙", {"level": "行政法规"}),
        ("示例法", "丙", {"level": "法律"}),
        ("示例市条例", "丁", {"level": "地方性法规"}),
        ("示例办法", "戊", {"level": "部门规章"}),
        ("示例解释", "己", {"level": "司法解释"}),
    )
    assert rank_note(rules) == (
        "效力位阶（由高到低）：法律《示例法》[3] > 行政法规《示例条例》[2] > "
        "地方性法规《示例市条例》[4]、部门规章《示例办法》[5] > 规范性文件《示例通知》[1]"
        "；另有司法解释《示例解释》[6]。"
    )


def test_a_places_regulation_stands_above_its_governments_rule() -> None:
    rules = cited(
        ("示例市办法", "甲", {"level": "地方政府规章"}),
        ("示例市条例", "乙", {"level": "地方性法规"}),
    )
    assert rank_note(rules) == (
        "效力位阶（由高到低）：地方性法规《示例市条例》[2] > 地方政府规章《示例市办法》[1]。"
    )
    rules = cited(
        ("示例市办法", "甲", {"level": "地方政府规章"}),
        ("示例部办法", "乙", {"level": "部门规章"}),
    )
    assert rank_note(rules) is None


def test_one_level_or_an_unknown_one_gets_no_line() -> None:
    law = ("示例法", "甲", {"level": "法律"})
    assert rank_note(cited(law, ("示例二法", "乙", {"level": "法律"}))) is None
    assert rank_note(cited(law, ("示例报道", "乙", {"level": "新闻解读"}))) is None
    assert rank_note(cited(law, ("示例文", "乙", {}))) is None


def test_different_figures_on_one_point_are_pointed_out_with_the_principle() -> None:
    rules = cited(
        ("示例通知", CLAUSE.format("十五日"), {"level": "规范性文件"}),
        ("示例法", CLAUSE.format("30日"), {"level": "法律"}),
    )
    first, last = hierarchy_notes(QUESTION, rules)
    assert "《示例通知》[1]为“十五日内”，《示例法》[2]为“30日内”" in first
    assert "如属同一事项，上位法优于下位法（《示例法》位阶较高）" in first
    assert last.startswith("效力位阶")


def test_of_one_level_the_later_rule_or_the_local_one_is_named() -> None:
    old = ("示例甲法", CLAUSE.format("十日"), {"level": "法律", "version": "2010-01-01"})
    new = ("示例乙法", CLAUSE.format("5日"), {"level": "法律", "version": "2020-01-01"})
    note = conflict_note(QUESTION, cited(old, new))
    assert note is not None
    assert "新的规定优于旧的规定（《示例乙法》2020-01-01起施行）" in note
    place = {"jurisdiction": "上海市", "jurisdiction_code": "310000"}
    level = {"level": "规范性文件"}
    local = ("示例市通知", CLAUSE.format("5日"), {**level, **place})
    note = conflict_note(QUESTION, cited(("示例通知", CLAUSE.format("十日"), level), local))
    assert note is not None
    assert "特别规定优于一般规定（《示例市通知》为地方规定）" in note


def test_no_difference_is_claimed_where_the_text_shows_none() -> None:
    law, low = {"level": "法律"}, {"level": "规范性文件"}
    same = cited(("示例法", CLAUSE.format("三十日"), law), ("示例通知", CLAUSE.format("30日"), low))
    other_point = cited(
        ("示例法", CLAUSE.format("三十日"), law),
        ("示例通知", "申请人应当在十日内提交材料。", low),
    )
    other_unit = cited(
        ("示例法", CLAUSE.format("三十日"), law), ("示例通知", CLAUSE.format("10个工作日"), low)
    )
    one_document = cited(
        ("示例法", CLAUSE.format("三十日"), law), ("示例法", CLAUSE.format("十日"), law)
    )
    for rules in (same, other_point, other_unit, one_document):
        assert conflict_note(QUESTION, rules) is None
    asked_otherwise = cited(
        ("示例法", CLAUSE.format("三十日"), law), ("示例通知", CLAUSE.format("十日"), low)
    )
    assert conflict_note("开一家饭馆要哪些证", asked_otherwise) is None


def test_figures_are_read_in_both_scripts() -> None:
    found = [
        (f.value, f.unit) for f in figures("处二万元以上五万元以下罚款，加收百分之三，1.5倍。")
    ]
    assert found == [(20_000, "元"), (50_000, "元"), (3, "%"), (1.5, "倍")]
