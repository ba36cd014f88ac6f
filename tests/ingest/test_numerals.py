"""Numerals and article numbers as statutes write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.numerals import ARTICLE, article_label, article_number, parse_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("一", 1),
        ("十", 10),
        ("十二", 12),
        ("二十", 20),
        ("一百零五", 105),
        ("一百〇五", 105),
        ("一百一十", 110),
        ("两百", 200),
        ("一千二百六十", 1260),
        ("一千零四十", 1040),
        ("12", 12),
        ("１２", 12),
        ("１2", 12),
        ("二〇二四", 2024),
        ("二○二四", 2024),
        ("一八四○", 1840),
    ],
)
def test_chinese_arabic_and_full_width_numerals_are_read(text: str, number: int) -> None:
    assert parse_number(text) == number


@pytest.mark.parametrize("text", ["", "甲", "第", "一百百", "1a", "十五点"])
def test_what_is_no_numeral_gives_none(text: str) -> None:
    assert parse_number(text) is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("第一千二百六十条 附则", "1260"),
        ("第一百二十条之一 组织", "120-1"),
        ("第一百二十条之十二 组织", "120-12"),
        ("第１２条 内容", "12"),
        ("第12条 内容", "12"),
        ("第 三 条 内容", "3"),
        ("第〇条", "0"),
    ],
)
def test_article_numbers_become_digits(text: str, label: str) -> None:
    match = ARTICLE.match(text)
    assert match is not None
    number = article_number(match)
    assert number is not None
    assert article_label(number) == label


def test_an_article_number_does_not_reach_over_a_line_break() -> None:
    assert ARTICLE.match("第一\n条") is None


def test_a_malformed_article_number_gives_none() -> None:
    match = ARTICLE.match("第百百条")
    assert match is not None
    assert article_number(match) is None


def _spelled(number: int) -> str:
    """Independent speller for 1..9999: digits with 千百十, 零 for gaps (GB/T 15835)."""
    digits = "零一二三四五六七八九"
    text, gap = "", False
    for power, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // power % 10
        if digit:
            text += ("零" if gap and text else "") + digits[digit] + unit
        gap = digit == 0
    return text.removeprefix("一") if text.startswith("一十") else text


@given(st.integers(1, 9999))
def test_every_spelled_number_is_read_back(number: int) -> None:
    assert parse_number(_spelled(number)) == number


@given(st.integers(0, 10**9))
def test_digits_in_either_width_are_read_back(number: int) -> None:
    wide = str(number).translate({ord(str(d)): chr(0xFF10 + d) for d in range(10)})
    assert parse_number(str(number)) == parse_number(wide) == number


@given(st.text(max_size=12))
def test_no_text_makes_the_reader_fail(text: str) -> None:
    number = parse_number(text)
    assert number is None or number >= 0
