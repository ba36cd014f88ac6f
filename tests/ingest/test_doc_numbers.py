"""发文字号 in its four styles, normalised, and told apart from citations."""

from __future__ import annotations

import pytest

from ingest.doc_numbers import normalise_doc_number, own_doc_number


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("法释〔2022〕912号", "法释〔2022〕912号"),
        ("沪府办规[２０２４] 03 号", "沪府办规〔2024〕3号"),
        ("沪府办规（2024）3号", "沪府办规〔2024〕3号"),
        ("沪府办规【2024】第3号", "沪府办规〔2024〕3号"),
        ("沪府办规﹝2024﹞3号", "沪府办规〔2024〕3号"),
        ("沪府办规［2024］３号", "沪府办规〔2024〕3号"),
        ("国务院令第938号", "国务院令第938号"),
        ("国务院令 第九百三十八号", "国务院令第938号"),
        ("中华人民共和国国务院令第938号", "国务院令第938号"),
        ("财政部 税务总局公告2023年第912号", "财政部 税务总局公告2023年第912号"),
        ("财政部　税务总局公告２０２３年第９１２号", "财政部 税务总局公告2023年第912号"),
        ("某市人民政府令第 907 号", "某市人民政府令第907号"),
        ("沪府办规〈2024〉3号", "沪府办规〔2024〕3号"),
        ("沪府办规＜2024＞03号", "沪府办规〔2024〕3号"),
        ("公告２０２３年第０５号", "公告2023年第5号"),
        ("（2023年 第五号）", "2023年第5号"),
    ],
)
def test_a_number_gets_one_spelling(text: str, normal: str) -> None:
    assert normalise_doc_number(text) == normal


def test_an_unknown_form_only_loses_white_space_and_full_width() -> None:
    assert normalise_doc_number("第 ９ 号文") == "第9号文"


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("2001年1月2日 中华人民共和国国务院令第968号发布", "国务院令第968号"),
        (
            "2007年1月8日 中华人民共和国国务院、中华人民共和国中央军事委员会令第988号公布",
            "国务院、中央军事委员会令第988号",
        ),
        ("关于印发某办法的通知沪府规〔2023〕934号", "沪府规〔2023〕934号"),
        ("（国办发〔2020〕901号）", "国办发〔2020〕901号"),
        (
            "某省第十二届人民代表大会常务委员会公告第936号公布",
            "某省第十二届人民代表大会常务委员会公告第936号",
        ),
    ],
)
def test_the_number_of_the_document_itself_is_found_in_a_line(line: str, number: str) -> None:
    assert own_doc_number([line]) == number


@pytest.mark.parametrize(
    "line",
    [
        "根据国发〔2019〕901号文件的要求",
        "《关于某事的通知（虚构示例）》（国办发〔2020〕907号）同时废止",
        "第一次会议通过",
        "2020年第5号（总号：1234）",
        "根据公告2020年第5号",
        "",
    ],
)
def test_citations_and_lines_without_a_number_give_nothing(line: str) -> None:
    assert own_doc_number([line]) == ""


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        (["关于某事的公告（虚构示例）", "2023年第5号"], "2023年第5号"),
        (["关于某事的公告", "（2023年第5号）"], "2023年第5号"),
        (["公告 2020年 第5号"], "公告2020年第5号"),
        (["财政部 税务总局公告", "2023年第905号"], "财政部 税务总局公告2023年第905号"),
        (["2023年第5号", "示财税〔2023〕7号"], "示财税〔2023〕7号"),
    ],
)
def test_a_line_that_is_only_year_and_number_counts_where_no_organ_stands_with_one(
    lines: list[str], number: str
) -> None:
    assert own_doc_number(lines) == number


def test_the_first_line_with_a_number_counts() -> None:
    assert own_doc_number(["标题（虚构示例）", "甲发〔2020〕1号", "乙发〔2021〕2号"]) == (
        "甲发〔2020〕1号"
    )
