"""Whether an answer says what it must."""

from __future__ import annotations

import pytest

from eval.key_points import count_covered, covered


@pytest.mark.parametrize(
    ("point", "answer"),
    [
        ("双倍返还", "收定金的一方违约的，应当双倍返还。[1]"),
        ("双倍 返还", "应当双倍，返还定金"),
        ("15%", "不得超过合约总价的百分之十五。"),
        ("试用期4个月", "（三）三年以上的，试用期不得超过四个月。[2]"),
        ("ＡＢＣ", "abc"),
        ("3万元以上30万元以下", "处三万元以上三十万元以下的罚款"),
        ("2024年1月1日", "自二〇二四年一月一日起施行"),
    ],
)
def test_a_point_is_found_by_its_words_or_its_numbers(point: str, answer: str) -> None:
    assert covered(point, answer)


@pytest.mark.parametrize(
    ("point", "answer"),
    [
        ("双倍返还", "应当返还定金"),
        ("15", "第115号"),
        ("15%", "1.15%"),
        ("4个月", "十四个月"),
        ("5", "1.5倍"),
        ("3万元以上30万元以下", "处三万元罚款。另处三十万元罚款。"),
        ("1", "应当返还。[1]"),
        ("。", "应当返还。"),
    ],
)
def test_a_point_is_not_found_in_other_words_or_parts_of_numbers(point: str, answer: str) -> None:
    assert not covered(point, answer)


def test_points_are_counted() -> None:
    assert count_covered(["八千元", "免征", "退税"], "免征购置税，补贴8000元。") == 2
