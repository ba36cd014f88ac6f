"""The law of another country is not the store's. All questions are 虚构示例."""

from __future__ import annotations

import pytest

from fusion.question_abroad import asks_abroad, land_before


@pytest.mark.parametrize(
    "question",
    [
        "日本消费税率",
        "纽约停车罚款多少",
        "香港印花税税率",
        "法国劳动法规定每周工作几小时",
        "请问新加坡组屋怎么申请",
        "在德国工作最低工资多少",
        "另外纽约停车怎么罚款",
        "我公司签的合同按照法国的法律有效吗",
    ],
)
def test_a_question_for_the_law_of_elsewhere_is_known(question: str) -> None:
    assert asks_abroad(question)


@pytest.mark.parametrize(
    "question",
    [
        "美国公民在上海工作要交个税吗",
        "日本料理店要办什么许可证",
        "香港居民可以参加社保吗",
        "从日本寄回的化妆品要交税吗",
        "德国进口车的消费税",
        "外国人怎么申请永久居留",
        "外国投资企业怎么设立",
        "美国学历在国内怎么认证",
        "我在法国赚的钱在中国要交个税吗",
        "上海的法国梧桐能不能砍",
        "朝鲜族自治州的条例",
    ],
)
def test_people_and_goods_from_elsewhere_meet_the_law_of_here(question: str) -> None:
    assert not asks_abroad(question)


@pytest.mark.parametrize(
    ("head", "land"), [("法国", "法国"), ("请问法国的", "法国"), ("在上海", ""), ("法国人的", "")]
)
def test_the_land_before_the_name_of_a_law(head: str, land: str) -> None:
    assert land_before(head) == land
