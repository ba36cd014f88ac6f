"""Which rule closes which, by the titles, dates and words of fictitious documents (虚构示例)."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from ingest.rule_names import normal_title, wrapped_rule
from ingest.validity import DocumentFacts, Repeal, Validity
from ingest.versions import express_repeals, link_versions, pending_changes

TODAY = date(2025, 1, 1)


def facts(key: str, title: str, effective: str | None, **known: object) -> DocumentFacts:
    base = DocumentFacts(key, title, "100000", None, effective, None, "in_force")
    return replace(base, **known)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("《渔业办法》同时废止。", ["渔业办法"]),
        (
            "本法自2021年1月1日起施行。《甲法》、《乙法》和《丙条例》同时废止。",
            ["甲法", "乙法", "丙条例"],
        ),
        ("2010年2月1日国务院公布的《甲条例》同时予以废止", ["甲条例"]),
        ("1990年公布的《甲办法》、1995年公布的《乙办法》同时废止", ["甲办法", "乙办法"]),
        (
            "《甲办法》（示财〔2010〕1号）、《乙办法》（示财〔2011〕2号）同时废止",
            ["甲办法", "乙办法"],
        ),
        ("根据《立法法》，《甲条例》同时废止", ["甲条例"]),
        ("依照《甲法》制定的《乙条例》同时废止", ["乙条例"]),
        ("《甲条例（虚构示例）》自本法施行之日起同时废止", ["甲条例（虚构示例）"]),
        ("《甲条例》第三条同时废止", []),
        ("与《甲条例》不一致的规定同时废止", []),
        ("《甲条例》中有关登记的规定同时废止", []),
        ("《甲条例》的实施细则同时废止", []),
        ("《甲办法》《乙办法》，同时废止。", ["甲办法", "乙办法"]),
        ("自本办法施行之日起，《甲办法》即行废止", ["甲办法"]),
        ("《关于修改〈甲条例〉的决定》修正的《甲条例》同时废止", ["甲条例"]),
        ("《甲条例》废止后，其登记证继续有效", []),
        (
            "1990年1月2日甲局发布的《甲办法》，1991年1月2日甲局批准、1991年3月4日乙局发布的"
            "《乙办法》和《丙办法》同时废止",
            ["甲办法", "乙办法", "丙办法"],
        ),
        ("根据《甲法》制定的《乙办法》，以及《丙办法》中有关登记的规定同时废止", []),
        ("原办法同时废止", []),
        ("《甲条例》继续有效。", []),
    ],
)
def test_only_whole_rules_that_the_text_names_are_repealed(text: str, titles: list[str]) -> None:
    assert [repeal.title for repeal in express_repeals("", text)] == titles


def test_a_decision_to_repeal_names_its_rule_in_its_title() -> None:
    title = "关于废止《甲办法（虚构示例）》的决定（虚构示例）"
    assert express_repeals(title, "") == (Repeal("甲办法（虚构示例）"),)
    assert express_repeals("关于修改《甲办法》的决定", "") == ()


def test_a_decision_on_several_rules_lists_those_that_it_repeals_in_lines() -> None:
    text = (
        "决定对下列规章予以废止和修改：\n一、废止下列规章：\n1.《甲办法》（2001年1月2日公布）\n"
        "（二）《乙规定》\n二、修改下列规章：\n1.《丙办法》\n将第三条修改为……\n"
    )
    title = "示例市人民政府关于废止和修改部分规章的决定（虚构示例）"
    assert express_repeals(title.removesuffix("（虚构示例）"), text) == (
        Repeal("甲办法"),
        Repeal("乙规定"),
    )
    assert express_repeals("关于渔业的办法", text) == ()


def test_a_court_that_stands_before_the_title_and_a_law_named_in_it_belong_to_it() -> None:
    rule = "最高人民法院关于《中华人民共和国渔业法》的规定"
    documents = [
        facts("a", "最高人民法院关于《渔业法》的规定", "2000-01-01"),
        facts("b", "示例市实施《渔业法》办法", "2000-01-01"),
        facts(
            "c",
            "新规定",
            "2010-01-01",
            repeals=(
                Repeal("关于〈渔业法〉的规定"),
                Repeal("示例市实施〈中华人民共和国渔业法〉办法"),
            ),
        ),
    ]
    assert normal_title(rule) == "最高人民法院关于渔业法的规定"
    closed = Validity("2010-01-01", "repealed")
    assert link_versions(documents, TODAY) == {"a": closed, "b": closed}


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("本法自2021年1月1日起施行。《甲法》同时废止。", "2021-01-01"),
        ("本法自二〇二一年一月一日起施行。\n\n2009年公布的《甲法》同时废止。", "2021-01-01"),
        ("本法自2021年1月1日起施行，自2009年5月1日起施行的《甲法》同时废止。", "2021-01-01"),
        ("《甲法》自2021年1月1日起同时废止。", "2021-01-01"),
        ("本法自公布之日起施行。《甲法》同时废止。", None),
    ],
)
def test_the_day_beside_a_repeal_is_read(text: str, day: str | None) -> None:
    assert express_repeals("", text) == (Repeal("甲法", day),)


def test_titles_are_compared_without_the_state_marks_and_spacing() -> None:
    assert normal_title("《中华人民共和国 渔业法(试行)》") == "渔业法（试行）"
    assert normal_title("中华人民共和国渔业法") != normal_title("渔业法实施细则")


def test_each_version_ends_on_the_day_of_the_next() -> None:
    versions = [
        facts("c", "渔业法", "2020-01-01"),
        facts("a", "中华人民共和国渔业法", "2000-01-01"),
        facts("b", "渔业法", "2010-01-01"),
    ]
    assert link_versions(versions, TODAY) == {
        "a": Validity("2010-01-01", "amended"),
        "b": Validity("2020-01-01", "amended"),
    }


def test_the_parts_of_one_law_are_no_versions_of_each_other() -> None:
    parts = [
        facts("总则", "渔业法典", "2021-01-01", promulgated="2020-05-28"),
        facts("捕捞编", "渔业法典", "2021-01-01", promulgated="2020-05-28"),
    ]
    assert link_versions(parts, TODAY) == {}
    amended = facts("新", "渔业法典", "2024-01-01", promulgated="2023-12-01")
    closed = Validity("2024-01-01", "amended")
    assert link_versions([*parts, amended], TODAY) == {"总则": closed, "捕捞编": closed}


def test_a_part_without_a_day_takes_that_of_the_other_parts() -> None:
    parts = [
        facts("总则", "渔业法典", "2021-01-01", promulgated="2020-05-28"),
        facts("捕捞编", "渔业法典", "2020-05-28", promulgated="2020-05-28"),
        facts("附则", "渔业法典", None, promulgated="2020-05-28"),
    ]
    dated = Validity(None, "in_force", "2021-01-01")
    assert link_versions(parts, TODAY) == {"捕捞编": dated, "附则": dated}
    amended = facts("新", "渔业法典", "2024-01-01", promulgated="2023-12-01")
    closed = Validity("2024-01-01", "amended", "2021-01-01")
    assert link_versions([*parts, amended], TODAY)["捕捞编"] == closed


def test_parts_that_disagree_share_no_day() -> None:
    parts = [
        facts("总则", "渔业法典", "2021-01-01", promulgated="2020-05-28"),
        facts("捕捞编", "渔业法典", "2021-07-01", promulgated="2020-05-28"),
        facts("附则", "渔业法典", "2020-05-28", promulgated="2020-05-28"),
    ]
    assert link_versions(parts, TODAY) == {}


def test_a_shared_day_is_taken_back_when_the_part_that_states_it_is_gone() -> None:
    stated = facts("总则", "渔业法典", "2021-01-01", promulgated="2020-05-28")
    part = facts("附则", "渔业法典", "2020-05-28", promulgated="2020-05-28")
    dated = Validity(None, "in_force", "2021-01-01")
    assert pending_changes({"总则": (stated, None), "附则": (part, None)}, TODAY) == {"附则": dated}
    assert pending_changes({"总则": (stated, None), "附则": (part, dated)}, TODAY) == {}
    own = Validity(None, "in_force", "2020-05-28")
    assert pending_changes({"附则": (part, dated)}, TODAY) == {"附则": own}
    assert pending_changes({"附则": (part, own)}, TODAY) == {}


def test_a_repeal_that_an_amended_version_repeats_counts_from_its_first_day() -> None:
    documents = [
        facts("a", "渔船办法", "2000-01-01"),
        facts("b", "渔业法", "2020-01-01", repeals=(Repeal("渔船办法", "2005-07-01"),)),
        facts("c", "网具办法", "2010-01-01"),
        facts("d", "捕捞法", "2020-01-01", repeals=(Repeal("网具办法", "2005-07-01"),)),
    ]
    assert link_versions(documents, TODAY) == {"a": Validity("2005-07-01", "repealed")}


def test_rules_of_other_places_unknown_days_and_one_day_are_no_versions() -> None:
    documents = [
        facts("a", "渔业办法", "2000-01-01"),
        facts("b", "渔业办法", "2010-01-01", jurisdiction_code="310000"),
        facts("c", "渔业办法", None),
        facts("d", "渔业办法", "2000-01-01"),
    ]
    assert link_versions(documents, TODAY) == {}


def test_notices_of_one_title_are_no_versions_of_each_other() -> None:
    documents = [
        facts("a", "关于做好防汛工作的通知", "2000-01-01"),
        facts("b", "关于做好防汛工作的通知", "2010-01-01"),
    ]
    assert link_versions(documents, TODAY) == {}


def test_an_end_that_the_document_states_itself_is_not_moved_later() -> None:
    documents = [
        facts("a", "补贴办法", "2000-01-01", expires="2005-01-01", status="repealed"),
        facts("b", "补贴办法", "2010-01-01"),
    ]
    assert link_versions(documents, TODAY) == {}


def test_a_repeal_closes_all_earlier_versions_that_are_still_open() -> None:
    documents = [
        facts("old", "渔船办法", "2000-01-01"),
        facts("new", "渔船办法", "2010-01-01"),
        facts("law", "渔业法", "2020-01-01", repeals=(Repeal("渔船办法"),)),
        facts("later", "渔船办法", "2022-01-01"),
    ]
    linked = link_versions(documents, TODAY)
    assert linked["old"] == Validity("2010-01-01", "amended")
    assert linked["new"] == Validity("2020-01-01", "repealed")
    assert "later" not in linked


def test_the_first_of_two_repeals_counts_in_either_order() -> None:
    documents = [
        facts("a", "渔船办法", "2000-01-01"),
        facts("b", "甲法", "2020-01-01", repeals=(Repeal("渔船办法"),)),
        facts("c", "乙法", "2010-01-01", repeals=(Repeal("渔船办法"),)),
    ]
    wanted = {"a": Validity("2010-01-01", "repealed")}
    assert link_versions(documents, TODAY) == wanted
    assert link_versions(documents[::-1], TODAY) == wanted


def test_a_rule_never_repeals_itself() -> None:
    document = facts("a", "渔船办法", "2000-01-01", repeals=(Repeal("渔船办法"),))
    assert link_versions([document], TODAY) == {}


def test_what_was_applied_is_not_applied_again_and_taken_back_when_its_cause_is_gone() -> None:
    old, new = facts("a", "渔业法", "2000-01-01"), facts("b", "渔业法", "2010-01-01")
    closed = Validity("2010-01-01", "amended")
    assert pending_changes({"a": (old, None), "b": (new, None)}, TODAY) == {"a": closed}
    assert pending_changes({"a": (old, closed), "b": (new, None)}, TODAY) == {}
    assert pending_changes({"a": (old, closed)}, TODAY) == {"a": Validity(None, "in_force")}


def test_a_status_moves_on_when_its_day_comes() -> None:
    coming = facts("a", "渔业法", "2025-06-01", status="not_yet")
    ending = facts("b", "补贴办法", "2020-01-01", expires="2025-06-01")
    known = {"a": (coming, None), "b": (ending, None)}
    assert pending_changes(known, date(2025, 5, 31)) == {}
    assert pending_changes(known, date(2025, 6, 1)) == {
        "a": Validity(None, "in_force"),
        "b": Validity("2025-06-01", "repealed"),
    }


OLD_NOTICE = "示例市人民政府办公厅关于印发《甲管理办法》的通知"
NEW_NOTICE = "示例市财政局关于印发甲管理办法的通知"


@pytest.mark.parametrize(
    ("title", "rule"),
    [
        (OLD_NOTICE, "甲管理办法"),
        (NEW_NOTICE, "甲管理办法"),
        ("关于重新发布〈甲规定（试行）〉的公告", "甲规定（试行）"),
        ("关于印发2024年工作方案的通知", ""),
        ("关于修改《甲管理办法》的通知", ""),
        ("甲管理办法", ""),
    ],
)
def test_a_notice_of_publication_goes_by_the_name_of_its_rule(title: str, rule: str) -> None:
    assert wrapped_rule(title) == rule


def test_a_newer_notice_of_the_same_rule_closes_the_older_one() -> None:
    old = facts("a", OLD_NOTICE, "2019-01-01", doc_number="示府办〔2018〕9号")
    new = facts("b", NEW_NOTICE, "2024-01-01", doc_number="示财〔2023〕3号")
    elsewhere = replace(old, key="c", jurisdiction_code="990000", doc_number="他府〔2018〕1号")
    assert link_versions([old, new, elsewhere], TODAY) == {"a": Validity("2024-01-01", "amended")}


def test_the_same_notice_in_two_files_or_without_a_number_closes_nothing() -> None:
    once = facts("a", OLD_NOTICE, "2019-01-01", doc_number="示府办〔2018〕9号")
    again = replace(once, key="b", effective="2019-02-01")
    unnumbered = facts("c", NEW_NOTICE, "2024-01-01")
    assert link_versions([once, again, unnumbered], TODAY) == {}


@pytest.mark.parametrize(
    ("named", "number"),
    [
        ("甲管理办法", ""),
        ("关于印发甲管理办法的通知", ""),
        ("关于印发《甲管理办法》的通知", ""),
        ("关于印发《甲管理办法》的通知", "示府办〔2018〕9号"),
        ("甲办法（旧名）", "示府办[2018]9号"),
    ],
)
def test_a_repeal_reaches_a_notice_by_its_rule_and_its_number(named: str, number: str) -> None:
    behind = f"（{number}）" if number else ""
    text = f"本办法自2024年1月1日起施行。《{named}》{behind}同时废止。"
    repeals = express_repeals("乙办法", text)
    old = facts("a", OLD_NOTICE, "2019-01-01", doc_number="示府办〔2018〕9号")
    other = facts("b", "关于印发丙办法的通知", "2019-01-01", doc_number="示府办〔2018〕90号")
    new = facts("c", "乙办法", "2024-01-01", repeals=repeals)
    assert link_versions([old, other, new], TODAY) == {"a": Validity("2024-01-01", "repealed")}
