"""The head of a document and the title by which users cite it. All texts are 虚构示例."""

from __future__ import annotations

import pytest

from ingest.head import read_head, same_title
from ingest.levels import LEVELS
from ingest.titles import name_date, title_of_file

MARKED = """# 中华人民共和国示例法

2001年1月2日 第九届示例会议通过

2020年3月4日 《关于修改〈示例法〉的决定》修正

<!-- INFO END -->

中华人民共和国
示例法

法示〔2020〕9号

第一条 内容。"""


def test_the_history_up_to_the_mark_is_head_and_no_text() -> None:
    head = read_head(MARKED, "示例法")
    assert head.headings == ("中华人民共和国示例法",)
    assert head.history[:2] == (
        "2001年1月2日 第九届示例会议通过",
        "2020年3月4日 《关于修改〈示例法〉的决定》修正",
    )


def test_a_wrapped_title_and_the_number_under_the_mark_are_head_too() -> None:
    head = read_head(MARKED, "示例法")
    assert head.history[-1] == "法示〔2020〕9号"
    assert MARKED[head.body_start :].strip() == "第一条 内容。"


def test_without_the_mark_title_number_and_bracketed_history_are_recognised() -> None:
    text = (
        "某市示例办法\n（2010年1月2日某市人民政府令第9号公布　根据2020年3月4日\n"
        "某市人民政府令第99号修订）\n第一条 内容。"
    )
    head = read_head(text, "x")
    assert head.headings == ("某市示例办法",)
    assert head.history == (
        "2010年1月2日某市人民政府令第9号公布",
        "根据2020年3月4日某市人民政府令第99号修订",
    )
    assert text[head.body_start :].strip() == "第一条 内容。"


def test_labelled_lines_of_web_pages_are_given_fields() -> None:
    text = (
        "示例通知\n索 引 号：1234\n发文字号：示发〔2024〕9号\n成文日期：2024年5月6日\n"
        "效力状态：有效\n正文第一句。正文第二句。"
    )
    head = read_head(text, "x")
    assert head.given == {
        "doc_number": "示发〔2024〕9号",
        "promulgated": "2024年5月6日",
        "status": "有效",
    }
    assert text[head.body_start :].strip() == "正文第一句。正文第二句。"


def test_front_matter_in_either_language_is_given() -> None:
    text = "---\n发文字号: 示发〔2024〕9号\neffective: 2024-06-01\n---\n# 示例办法\n\n第一条 内容。"
    head = read_head(text, "x")
    assert head.given == {"doc_number": "示发〔2024〕9号", "effective": "2024-06-01"}
    assert head.headings == ("示例办法",)
    assert text[head.body_start :].strip() == "第一条 内容。"


@pytest.mark.parametrize(
    "text",
    [
        "第一条 内容。\n第二条 内容。",
        "一、总体要求\n内容。",
        "这是一句完整的话。\n这是第二句。",
        "（一）甲项内容。\n（二）乙项内容。",
    ],
)
def test_text_without_a_head_is_all_body(text: str) -> None:
    assert read_head(text, "x").body_start == 0


def test_titles_that_differ_in_spacing_and_width_are_the_same() -> None:
    assert same_title("中华人民共和国 示例法(试行)", "示例法（试行）")
    assert not same_title("示例法", "示例办法")
    assert not same_title("", "")


@pytest.mark.parametrize(
    ("stem", "headings", "folders", "cited", "part"),
    [
        ("示例税法(2018-08-31)", ["中华人民共和国示例税法"], ["行政"], "示例税法", ""),
        ("示例税法（2018-08-31）", [], [], "示例税法", ""),
        ("中华人民共和国示例税法", [], [], "示例税法", ""),
        ("合同编", ["中华人民共和国示例法典", "合同编"], ["示例法典"], "示例法典", "合同编"),
        ("示例法典", ["中华人民共和国示例法典"], ["示例法典"], "示例法典", ""),
        ("1", ["示例办法"], [], "示例办法", ""),
        ("doc_12", ["示例办法"], [], "示例办法", ""),
        ("stamp-law", ["中华人民共和国示例花税法"], [], "示例花税法", ""),
        ("03_示例办法", [], [], "示例办法", ""),
        ("示例办法（试行）(2020-01-02)", [], [], "示例办法（试行）", ""),
        ("42", [], [], "42", ""),
    ],
)
def test_the_title_is_what_users_cite(
    stem: str, headings: list[str], folders: list[str], cited: str, part: str
) -> None:
    title = title_of_file(stem, headings, "", folders, LEVELS)
    assert (title.cited, title.part) == (cited, part)


def test_a_given_title_wins_and_the_full_one_is_kept() -> None:
    title = title_of_file("1", ["甲"], "中华人民共和国示例法", [], LEVELS)
    assert (title.cited, title.full) == ("示例法", "中华人民共和国示例法")


def test_words_after_dots_tell_level_and_status() -> None:
    title = title_of_file("示例采购法.法律.失效", [], "", [], LEVELS)
    assert (title.cited, title.tags) == ("示例采购法", ("法律", "失效"))


def test_a_web_title_loses_its_site_and_number() -> None:
    heading = "【关于示例的通知(示改〔2025〕9号)】-某某委员会"
    assert title_of_file("p9", [heading], "", [], LEVELS).cited == "关于示例的通知"


def test_only_a_full_date_in_brackets_at_the_end_is_the_version() -> None:
    assert name_date("示例法(2018-08-31)") == "2018-08-31"
    assert name_date("示例法(2018)") is None
    assert name_date("示例法(2018-02-30)") is None
    assert name_date("(2018-08-31)示例法") is None


def test_a_title_is_one_line_whatever_the_file_is_called() -> None:
    assert title_of_file("示例\n办法\t（试行）", (), "", (), LEVELS).cited == "示例 办法 （试行）"
    assert title_of_file("\u3000", (), "", (), LEVELS).cited == "\u3000"
