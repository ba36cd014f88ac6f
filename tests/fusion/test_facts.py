"""Numbers, dates and articles of a text in one normal form. All texts are 虚构示例."""

from __future__ import annotations

import pytest

from fusion.facts import facts, missing_facts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("罚款十万元", "罚款10万元"),
        ("罚款10万元", "罚款100,000元"),
        ("罚款１０万元", "罚款100000元"),
        ("总额1.5亿元", "总额一亿五千万元"),
        ("税率百分之三", "税率3%"),
        ("税率３％", "税率3 %"),
        ("按日加收万分之五", "按日加收0.05%"),
        ("三分之二以上", "2/3以上"),
        ("三分之二以上", "3分之2以上"),
        ("一、二级残疾", "1级或2级残疾"),
        ("2024年1月1日起", "2024-01-01起"),
        ("二〇二四年一月一日起", "2024.1.1起"),
        ("期限十二个月", "期限一年"),
        ("十五日内", "15天内"),
        ("第一百二十条之一", "第120条之1"),
        ("示财税〔2024〕3号", "示财税[2024]第3号"),
        ("罰款二千元", "罚款2000元"),
        ("三至五年", "3年至5年"),
        ("年满十六周岁", "16岁"),
        ("见https://www.shili.gov.cn/", "网址：ｗｗｗ.SHILI.gov.cn。"),
        ("见www.shili.gov.cn", "请登录https://www.shili.gov.cn/a/list.html?id=3办理"),
        ("见shili.gov.cn", "请登录http://www.shili.gov.cn办理"),
        ("见www.shili.gov.cn/a?b=1&c=2", "见www.shili.gov.cn/a?b=1&amp;c=2"),
        ("发至SL@shili.gov.cn", "邮箱sl@shili.gov.cn，"),
        ("电话010-12345678", "（010）12345678"),
        ("电话01012345678", "电话：010－12345678"),
        ("电话12345678", "电话010-12345678"),
        ("电话138 1234 5678", "13812345678"),
        ("拨打400-123-4567", "400-1234567"),
    ],
)
def test_two_spellings_of_one_value_support_each_other(one: str, other: str) -> None:
    assert facts(one)
    assert not missing_facts(facts(one), facts(other))


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("罚款二十万元", "罚款十万元"),
        ("税率13%", "税率3%"),
        ("十五日内", "十五个工作日内"),
        ("三年", "三个月"),
        ("2024年1月2日", "2024年1月1日"),
        ("2024年2月", "2024年1月1日"),
        ("第47条", "第四十八条"),
        ("第120条", "第一百二十条之一"),
        ("示财税〔2024〕4号", "示财税〔2024〕3号"),
        ("三至五年", "3年至6年"),
        ("3个百分点", "3%"),
        ("见www.shili.gov.cn", "见www.shilie.gov.cn"),
        ("见www.shili.gov.cn", "发至sl@shili.gov.cn"),
        ("见www.shili.gov.cn/a", "见www.shili.gov.cn"),
        ("见shili.gov.cn", "见shili.gov.cn.com"),
        ("发至sm@shili.gov.cn", "发至sl@shili.gov.cn"),
        ("电话010-12345679", "电话010-12345678"),
        ("电话021-12345678", "电话12345678"),
        ("电话010-12345678-5", "电话010-12345678"),
        ("电话13812345679", "电话13812345678"),
    ],
)
def test_another_value_is_missing(claim: str, source: str) -> None:
    assert missing_facts(facts(claim), facts(source))


@pytest.mark.parametrize(
    "words",
    [
        "一般应当统一办理，十分重要，万一不成，任何一方不得反悔",
        "包括以下三种情形：第一，登记；第二，公告",
        "1. 登记\n（二）公告\n三、备案\n① 送达",
        "根据第二款第（三）项办理",
        "千万不要逾期",
    ],
)
def test_words_and_list_numbers_are_no_facts(words: str) -> None:
    assert not facts(words)


def test_a_date_supports_its_month_and_its_year_but_not_the_reverse() -> None:
    assert not missing_facts(facts("2024年1月、2024年，1月1日"), facts("2024年1月1日"))
    assert missing_facts(facts("2024年1月1日"), facts("2024年1月"))


@pytest.mark.parametrize("source", ["补贴12 0\n00元", "补贴12,\n000元", "补贴１２\n０００元"])
def test_a_number_that_a_line_break_cuts_is_one_number(source: str) -> None:
    assert missing_facts(facts("补贴12000元"), facts(source)) == frozenset()
    assert missing_facts(facts("补贴1200元"), facts(source))
