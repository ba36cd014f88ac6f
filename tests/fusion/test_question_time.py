"""The day whose law a question asks about. All questions are 虚构示例."""

from __future__ import annotations

from datetime import date

import pytest

from fusion.question_time import asks_for_earlier, read_question_date
from fusion.request import parse_request

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("2023年时的税率是多少", "2023-12-31"),
        ("按2020年的规定，产假有几天", "2020-12-31"),
        ("2018年小规模纳税人月销售额多少以下免增值税", "2018-12-31"),
        ("2019年3月卖的货，当时税率是多少", "2019-03-31"),
        ("2021年5月20日签的合同，按当时规定几天内要申报", "2021-05-20"),
        ("二〇一九年的印花税税率", "2019-12-31"),
        ("2019年以前的契税规定", "2018-12-31"),
        ("2019年修订前的契税规定", "2018-12-31"),
        ("2019年3月5日施行前的契税规定", "2019-03-04"),
        ("2016-05-01的增值税税率是多少", "2016-05-01"),
        ("２０１７年施行的会计规定有哪些处罚", "2017-12-31"),
        ("截至2021年3月1日有效的登记规定", "2021-03-01"),
        ("去年的低保标准是多少", "2025-12-31"),
        ("2027年的增值税税率是多少", "2027-12-31"),
        ("我2019年被辞退，当时的赔偿标准是多少", "2019-12-31"),
    ],
)
def test_a_date_that_stands_beside_the_law_sets_the_day(question: str, day: str) -> None:
    found = read_question_date(question, TODAY)
    assert found is not None
    assert (found.day.isoformat(), found.certain) == (day, True)


@pytest.mark.parametrize(
    "question",
    [
        "我2018年入职，公司一直没签合同，能要双倍工资吗",
        "我2018年入职，当时没签合同，现在能要双倍工资吗",
        "我2018年入职，当时公司没说加班费怎么算，能补吗",
        "我爸2012年去世，房子怎么继承",
        "2015年借的钱2024年起诉，诉讼时效几年",
        "去年换过工作，个税年度汇算几月办",
        "2018年与现在的增值税税率有什么区别",
        "2020年2月，某省发布了哪些减税通知",
        "2020年的规定和2023年的规定哪个对我有利",
    ],
)
def test_a_date_of_an_event_or_a_comparison_leaves_todays_law(question: str) -> None:
    found = read_question_date(question, TODAY)
    assert found is not None
    assert not found.certain
    asked = parse_request(
        question,
        as_of=None,
        today=lambda: TODAY,
        jurisdiction=None,
        domains=None,
        mode=None,
        top_k=5,
    )
    assert asked.filters.as_of == TODAY


@pytest.mark.parametrize(
    "question",
    [
        "财政部公告2020年第9号有哪些优惠",
        "示府规〔2024〕3号有效吗",
        "《关于2020年2月份延长申报的通知》什么时候发布",
        "2018年至2020年期间的优惠",
        "2025年度汇算什么时候开始",
        "2026年起征点是多少",
        "民法典第一百八十八条",
        "2020年2月30日的规定",
    ],
)
def test_numbers_titles_spans_and_the_running_year_set_nothing(question: str) -> None:
    assert read_question_date(question, TODAY) is None


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("23年的个税起征点", "2023-12-31"),
        ("98年的规定怎么说", "1998-12-31"),
        ("九八年的规定怎么说", "1998-12-31"),
        ("05年的征收率", "2005-12-31"),
        ("16年版的示例规定", "2016-12-31"),
        ("按照20年的规定，产假有几天", "2020-12-31"),
        ("上海22年的最低工资标准是多少", "2022-12-31"),
        ("个税18年的起征点", "2018-12-31"),
        ("19年3月卖的货，当时税率是多少", "2019-03-31"),
        ("我17年被辞退，当时的赔偿标准是多少", "2017-12-31"),
        ("18年小规模纳税人月销售额多少以下免增值税", "2018-12-31"),
        ("08年以前的契税规定", "2007-12-31"),
        ("23年社保缴费基数是多少", "2023-12-31"),
    ],
)
def test_a_year_in_two_digits_beside_the_law_sets_the_day(question: str, day: str) -> None:
    found = read_question_date(question, TODAY)
    assert found is not None
    assert (found.day.isoformat(), found.certain) == (day, True)


@pytest.mark.parametrize(
    "question",
    [
        "20年以上工龄的补偿标准",
        "20年工龄的补偿标准是多少",
        "满15年的养老金标准",
        "3年有期徒刑的量刑标准",
        "10年有期徒刑的量刑标准",
        "干了23年的补偿标准",
        "工作10年的补偿标准",
        "工作10年的补偿",
        "在公司工作了13年，补偿标准是多少",
        "我在公司12年，补偿标准是多少",
        "按20年的工龄算补偿标准",
        "缴费15年的人养老金标准是多少",
        "15年社保缴费的规定",
        "我缴了15年，当时的标准是多少",
        "20年的最长诉讼时效规定",
        "70年产权到期的规定",
        "50年的土地使用权续期规定",
        "10年期国债的税率规定",
        "10年前的规定",
        "10年、15年的规定",
        "10至15年的规定",
        "二三年的规定",
        "七八年的老员工补偿标准",
        "30年的规定",
        "12年的车报废标准",
        "示府规〔2024〕23号的规定",
        "我18年入职，公司没签合同，能要双倍工资吗",
    ],
)
def test_a_span_of_years_sets_no_day(question: str) -> None:
    assert read_question_date(question, TODAY) is None


@pytest.mark.parametrize("as_of", ["2022-01-01", "any"])
def test_a_day_that_the_caller_gives_is_not_overruled(as_of: str) -> None:
    asked = parse_request(
        "2018年的税率是多少",
        as_of=as_of,
        today=lambda: TODAY,
        jurisdiction=None,
        domains=None,
        mode=None,
        top_k=5,
    )
    assert asked.dated is None
    assert asked.filters.as_of == (None if as_of == "any" else date(2022, 1, 1))


@pytest.mark.parametrize(
    ("question", "earlier"),
    [
        ("旧示例公司法的注册资本", True),
        ("示例会计法修订前怎么处罚", True),
        ("示例增值税法还没施行的时候交多少税", True),
        ("2009版示例统计法怎么处罚", True),
        ("旧房拆迁怎么补偿", False),
        ("示例公司法的注册资本", False),
    ],
)
def test_an_earlier_version_is_asked_for_without_its_day(question: str, earlier: bool) -> None:
    assert asks_for_earlier(question) is earlier
