"""Cleaning drops what is invisible and keeps every word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingest.cleaning import clean, clean_pages


def test_all_kinds_of_line_breaks_become_one_kind() -> None:
    assert clean("甲\r\n乙\r丙\u2028丁\u2029戊\u0085己\f庚") == "甲\n乙\n丙\n丁\n戊\n己\n庚"


def test_invisible_characters_go() -> None:
    assert clean("\ufeff第\u200b一\u00ad条\u2060 甲\u0000乙\x07") == "第一条 甲乙"


def test_lines_of_private_use_glyphs_go_and_leave_one_blank_line() -> None:
    assert clean("甲\n\n\ue004\ue010\n\n\u200b\n\n乙") == "甲\n\n乙"


def test_full_width_forms_and_odd_spellings_stay() -> None:
    text = "第１２条　自２０２３年３月1日起，一八四○年（虚构示例）；Ａ类"
    assert clean(text) == text


def test_white_space_at_line_ends_goes_but_not_inside() -> None:
    assert clean("甲　乙 \t\n　丙　") == "甲　乙\n　丙"


def test_bold_marks_go_only_from_markdown() -> None:
    assert clean("**第一条** 甲") == "**第一条** 甲"
    assert clean("**第一条** 甲 2 * 3 ** 4", markdown=True) == "第一条 甲 2 * 3 ** 4"


@given(st.text())
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(st.text(alphabet="第一二三条章，。；（）ＡＢ１２　 abc", max_size=200))
def test_visible_characters_are_all_kept(text: str) -> None:
    assert "".join(clean(text).split()) == "".join(text.split())


def test_pages_begin_at_the_same_words_after_cleaning() -> None:
    first, second, third = "\u200b第一页的字。\n\n\n", "\n\n\n\ue000", "  第三页 的字。\n"
    text = first + second + third
    starts = (0, len(first), len(first) + len(second))
    whole, pages = clean_pages(text, starts)
    assert whole.replace("\n", "") == "第一页的字。  第三页 的字。"
    assert whole[pages[0] :].startswith("第一页的字。")
    assert pages[1] == pages[2]
    assert whole[pages[2] :].startswith("第三页 的字。")


def test_every_kind_of_line_break_parts_lines() -> None:
    broken = "甲\r\n乙\r丙\v丁\f戊\u0085己\u2028庚\u2029辛"
    assert clean(broken).split("\n") == list("甲乙丙丁戊己庚辛")
