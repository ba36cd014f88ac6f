"""施行日期, 有效期 and dates in every spelling. All sentences are 虚构示例."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.dates import dates_in, effective_in, effective_in_head, expires_in

PUBLISHED = date(2020, 2, 10)


@pytest.mark.parametrize(
    "text",
    [
        "2023年5月1日",
        "２０２３年５月１日",
        "20２3年５月1日",
        "2023 年 5 月 1 日",
        "２０２3 年\n５ 月 1\n日",
        "二〇二三年五月一日",
        "二○二三年五月一日",
        "二零二三年五月一日",
        "2023-05-01",
        "2023/5/1",
        "2023.5.1",
    ],
)
def test_a_date_is_read_in_every_spelling(text: str) -> None:
    assert dates_in(f"（{text}）") == [date(2023, 5, 1)]


def test_dates_come_in_order_and_impossible_ones_are_left_out() -> None:
    text = "二○一二年十月三十一日、2023年2月30日、2020-02-29"
    assert dates_in(text) == [date(2012, 10, 31), date(2020, 2, 29)]


def test_numbers_that_only_look_like_dates_are_no_dates() -> None:
    assert dates_in("版本 1.2.3，电话 010-2345-6789，编号12023-05-0112") == []


@pytest.mark.parametrize(
    ("sentence", "day"),
    [
        ("本法自2021年1月1日起施行。", date(2021, 1, 1)),
        ("本条例自2021年1月 1日起施行。", date(2021, 1, 1)),
        ("本办法自公布之日起施行。", date(2020, 2, 10)),
        ("本通知自印发之日起执行。", date(2020, 2, 10)),
        ("本规定自发布之日起30日后施行。", date(2020, 3, 11)),
        ("本规定自公布之日起三十日后施行。", date(2020, 3, 11)),
        ("本规定自公布之日起十个工作日后施行。", date(2020, 2, 24)),
        ("本规定自公布之日起满5个工作日后施行。", date(2020, 2, 17)),
        ("本规定自公布之日起4个工作日后施行。", date(2020, 2, 14)),
        ("本法自公布之日起三个月后施行。", date(2020, 5, 10)),
        ("本办法自公布之日起半年后施行。", date(2020, 8, 10)),
        ("本办法自公布之日的次日起施行。", date(2020, 2, 11)),
        ("本办法自发布之日起次日施行。", date(2020, 2, 11)),
        ("本办法自公布之日起次月1日起施行。", date(2020, 3, 1)),
        ("本办法自印发之日次月一日起执行。", date(2020, 3, 1)),
        ("本公告自2020年1月1日起实施，截止日期另行公告。", date(2020, 1, 1)),
        ("本规则自二○二○年三月一日起施行。", date(2020, 3, 1)),
        ("本办法自2018年1月1日施行。", date(2018, 1, 1)),
        ("自2020年1月1日起至2020年12月31日执行。", date(2020, 1, 1)),
    ],
)
def test_the_day_of_entry_into_force_is_read(sentence: str, day: date) -> None:
    assert effective_in(sentence, PUBLISHED) == day


@pytest.mark.parametrize(
    ("published", "day"),
    [
        (date(2023, 6, 2), date(2023, 6, 5)),  # Friday -> Monday
        (date(2023, 6, 3), date(2023, 6, 5)),  # Saturday -> Monday
        (date(2023, 6, 4), date(2023, 6, 5)),  # Sunday -> Monday
        (date(2023, 6, 5), date(2023, 6, 6)),  # Monday -> Tuesday
    ],
)
def test_working_days_leave_out_the_weekend(published: date, day: date) -> None:
    assert effective_in("本办法自公布之日起1个工作日后施行。", published) == day


def test_a_head_line_counts_the_days_after_publication() -> None:
    assert effective_in_head("（自公布之日起30日后施行）", PUBLISHED) == date(2020, 3, 11)
    assert effective_in_head("自公布之日起施行", PUBLISHED) == PUBLISHED


def test_the_day_of_another_rule_that_is_repealed_does_not_count() -> None:
    text = "本办法自2022年3月1日起施行。2010年1月1日起施行的《旧办法（虚构示例）》同时废止。"
    assert effective_in(text, PUBLISHED) == date(2022, 3, 1)


def test_a_sentence_about_the_rule_itself_wins_over_a_later_one() -> None:
    text = "本条例自2022年3月1日起施行。新的收费标准自2023年7月1日起执行。"
    assert effective_in(text, PUBLISHED) == date(2022, 3, 1)


def test_counting_from_publication_needs_the_day_of_publication() -> None:
    assert effective_in("本办法自公布之日起施行。", None) is None


@pytest.mark.parametrize("text", ["一九四九年十月一日成立。", "于2020年1月1日前办理。", "甲乙"])
def test_dates_that_say_nothing_about_force_are_not_taken(text: str) -> None:
    assert effective_in(text, PUBLISHED) is None


def test_head_lines_tell_the_day_without_a_sentence() -> None:
    assert effective_in_head("2022年4月9日 施行") == date(2022, 4, 9)
    assert effective_in_head("2023年6月1日起施行") == date(2023, 6, 1)
    assert effective_in_head("公布之日施行", PUBLISHED) == PUBLISHED
    assert effective_in_head("2022年4月9日 第一次会议通过", PUBLISHED) is None


@pytest.mark.parametrize(
    ("sentence", "first_day_out"),
    [
        ("本办法自2022年3月1日起施行，有效期5年。", date(2027, 3, 1)),
        ("本办法自2022年3月1日起施行，有效期为五年。", date(2027, 3, 1)),
        ("本通知自印发之日起施行，有效期至2025年12月31日。", date(2026, 1, 1)),
        ("上述政策执行至2022年6月30日。", date(2022, 7, 1)),
        ("自2022年3月1日起至2022年12月31日执行。", date(2023, 1, 1)),
        ("本办法有效期2年。", date(2024, 3, 1)),
        ("本办法自2022年3月1日起施行，有效期两年半。", date(2024, 9, 1)),
        ("本办法自2022年3月1日起施行，有效期截止到2025年12月31日。", date(2026, 1, 1)),
        ("上述政策执行截至到2022年6月30日。", date(2022, 7, 1)),
        ("本办法自2022年3月1日起试行，试行期18个月。", date(2023, 9, 1)),
    ],
)
def test_the_first_day_out_of_force_is_computed(sentence: str, first_day_out: date) -> None:
    assert expires_in(sentence, date(2022, 3, 1)) == first_day_out


@pytest.mark.parametrize(
    "sentence",
    [
        "许可证有效期为5年。",
        "本条例施行后，已发的营业执照有效期5年。",
        "延续后的资格证书有效期至2025年12月31日，由主管部门执行。",
        "本办法自2022年3月1日起施行。",
    ],
)
def test_the_validity_of_licences_is_not_that_of_the_rule(sentence: str) -> None:
    assert expires_in(sentence, date(2022, 3, 1)) is None


def test_years_of_validity_need_a_known_start() -> None:
    assert expires_in("本办法自印发之日起施行，有效期5年。", None) is None


def test_a_month_later_than_the_31st_is_the_last_day_of_the_month() -> None:
    sentence = "本法自公布之日起一个月后施行。"
    assert effective_in(sentence, date(2023, 1, 31)) == date(2023, 2, 28)
    assert effective_in(sentence, date(2024, 1, 31)) == date(2024, 2, 29)
    assert effective_in(sentence, date(2024, 3, 31)) == date(2024, 4, 30)


def test_days_beyond_the_calendar_are_left_out() -> None:
    last = date(9999, 12, 31)
    assert expires_in("本办法有效期99年。", last) is None
    assert expires_in("本通知自印发之日起施行，有效期至9999年12月31日。", last) is None
    assert effective_in("本办法自公布之日起三十日后施行。", last) is None


@given(st.dates(date(1949, 10, 1), date(2099, 12, 31)))
def test_every_day_written_in_chinese_digits_is_read_back(day: date) -> None:
    digits = "〇一二三四五六七八九"
    year = "".join(digits[int(d)] for d in str(day.year))

    def small(n: int) -> str:
        tens, ones = divmod(n, 10)
        head = "" if tens == 0 else "十" if tens == 1 else digits[tens] + "十"
        return head + (digits[ones] if ones else "")

    assert dates_in(f"{year}年{small(day.month)}月{small(day.day)}日") == [day]
