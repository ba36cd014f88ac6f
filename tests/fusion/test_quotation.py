"""Quotations held against their source. All rules are 虚构示例."""

from __future__ import annotations

import pytest

from fusion.quotation import compare_quotation

ARTICLE = "第二条　试用期最长六个月。有下列情形之一的，\n不得约定试用期：（一）完成一定任务的合同；"


@pytest.mark.parametrize(
    "quoted",
    [
        "试用期最长六个月。",
        "试用期最长六个月",
        "有下列情形之一的，不得约定试用期",
        "试用期最长六个月……不得约定试用期：",
        "試用期最長六個月",
        "有下列情形之一的,不得约定试用期:",
    ],
)
def test_words_of_the_text_are_verbatim_in_any_width_and_with_omissions(quoted: str) -> None:
    match = compare_quotation(quoted, ARTICLE)
    assert (match.status, match.share, match.difference) == ("verbatim", 1.0, "")


def test_a_changed_word_is_shown() -> None:
    match = compare_quotation("试用期最长三个月。有下列情形之一的", ARTICLE)
    assert match.status == "nearly"
    assert match.difference == "试用期最长[-三-]{+六+}个月。有下列情形之一的"


def test_a_word_left_out_and_a_word_added_are_shown() -> None:
    left_out = compare_quotation("有下列情形之一的，约定试用期", ARTICLE)
    assert left_out.difference == "有下列情形之一的,{+不得+}约定试用期"
    added = compare_quotation("试用期一般最长六个月。有下列情形", ARTICLE)
    assert added.difference == "试用期[-一般-]最长六个月。有下列情形"


def test_omitted_words_must_come_in_the_order_of_the_text() -> None:
    assert compare_quotation("不得约定试用期……试用期最长", ARTICLE).status != "verbatim"


@pytest.mark.parametrize("quoted", ["工资应当按月足额支付给劳动者本人", "……", "。"])
def test_other_words_are_not_found(quoted: str) -> None:
    assert compare_quotation(quoted, ARTICLE).status == "not_found"
