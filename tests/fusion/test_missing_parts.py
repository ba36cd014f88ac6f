"""A question of several parts of which the material answers some. All rules are 虚构示例."""

from __future__ import annotations

import pytest

from fusion.answer import PolicyAnswer, PolicyStream
from fusion.missing_parts import missing_parts
from fusion.nodes import RankedPassage, RetrievalResult
from fusion.question_parts import question_parts
from fusion.serialize import answer_json
from fusion.synthesizer import PolicySynthesizer
from indexes.schema import Passage
from tests.fusion.fake_llms import ScriptedLLM
from tests.fusion.fake_sources import passage

SUBSIDY = passage(
    "local",
    "示例市新能源车补贴办法（虚构示例）",
    "3",
    "第三条　购买新能源车的个人，每辆补贴一万元。",
)
TAX = passage(
    "fiscal", "购置税征收办法（虚构示例）", "6", "第六条　新能源车免征购置税，由税务机关办理。"
)
QUESTION = "买新能源车补贴多少？车辆购置税能免吗？"


def items(*passages: Passage) -> list[RankedPassage]:
    return [RankedPassage(p, 0.9) for p in passages]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (QUESTION, ["买新能源车补贴多少", "车辆购置税能免吗"]),
        ("在上海买车，能拿多少补贴，购置税能免吗", ["在上海买车，能拿多少补贴", "购置税能免吗"]),
        ("养狗要办什么证、一年交多少钱", ["养狗要办什么证", "一年交多少钱"]),
        ("契税怎么交？我是首套房。要不要公证", ["契税怎么交", "我是首套房。要不要公证"]),
        ("要哪些条件、材料、手续", []),
        ("买新能源车补贴多少", []),
        ("我在上海，想买车，请告诉我标准", []),
        ("小规模纳税人和一般纳税人的税率分别是多少", ["小规模纳税人", "一般纳税人"]),
        ("上海和北京的公积金缴存比例分别是多少", ["上海市", "北京市"]),
        ("", []),
    ],
)
def test_a_question_falls_apart_into_what_it_asks(question: str, parts: list[str]) -> None:
    assert [part.text for part in question_parts(question)] == parts


def test_the_part_whose_term_no_passage_has_is_missing() -> None:
    assert missing_parts(QUESTION, items(SUBSIDY)) == ("车辆购置税能免吗",)
    assert missing_parts(QUESTION, items(SUBSIDY, TAX)) == ()


@pytest.mark.parametrize(
    "question",
    [
        "买新能源车补贴多少？旧车能退吗？",  # no subject of its own
        "买新能源车补贴多少？我会不会被赶走？",  # the words of a layman: nothing can be said
        "车辆购置税能免吗",  # one part
        "契税能免吗？车辆购置税能免吗？",  # neither: the confidence judges that
    ],
)
def test_what_cannot_be_told_is_not_called_missing(question: str) -> None:
    assert missing_parts(question, items(SUBSIDY)) == ()


def test_an_abbreviation_is_met_by_what_it_stands_for() -> None:
    aid = passage(
        "local", "救助办法（虚构示例）", "2", "第二条　最低生活保障由街道受理，每月发放。"
    )
    question = "新能源车补贴多少？低保去哪儿交材料？"
    assert missing_parts(question, items(SUBSIDY, aid)) == ()
    assert missing_parts(question, items(SUBSIDY)) == ("低保去哪儿交材料",)


def test_a_long_part_of_which_nothing_is_met_is_missing() -> None:
    question = "新能源车补贴多少？出国留学三年回来的博士在老家租门面开餐馆怎么登记"
    assert missing_parts(question, items(SUBSIDY)) == (
        "出国留学三年回来的博士在老家租门面开餐馆怎么登记",
    )


def test_of_two_places_the_one_without_a_rule_is_missing_beside_the_other() -> None:
    here = {"jurisdiction": "上海市", "jurisdiction_code": "310000"}
    shanghai = passage("local", "上海公积金办法（虚构示例）", "1", "缴存比例为百分之七。", **here)
    national = passage("fiscal", "公积金条例（虚构示例）", "1", "缴存比例不低于百分之五。")
    question = "上海和北京的公积金缴存比例分别是多少"
    assert missing_parts(question, items(shanghai, national)) == ("北京市",)
    assert missing_parts(question, items(national)) == ()  # it may answer for both


# -- in the answer -----------------------------------------------------------------------------

LINE = "注意：资料中没有找到问题这一部分的规定：“车辆购置税能免吗”。"


def result(score: float = 0.9) -> RetrievalResult:
    return RetrievalResult(QUESTION, (RankedPassage(SUBSIDY, score),), ())


def test_the_extractive_answer_says_what_is_missing_in_one_line() -> None:
    made = PolicySynthesizer().answer(result())
    assert isinstance(made, PolicyAnswer)
    assert str(made).splitlines()[-1] == LINE
    assert made.missing == ("车辆购置税能免吗",)
    assert made.sufficient
    assert answer_json(made)["missing"] == ["车辆购置税能免吗"]


def test_the_answer_of_a_model_says_it_too_also_in_a_stream() -> None:
    synthesizer = PolicySynthesizer(llm=ScriptedLLM(pieces=("每辆补贴一万元。[1]",)))
    made = synthesizer.answer(result())
    stream = synthesizer.answer(result(), streaming=True)
    assert isinstance(stream, PolicyStream)
    assert str(made) == str(stream) == f"每辆补贴一万元。[1]\n{LINE}"
    assert stream.missing == ("车辆购置税能免吗",)


def test_what_only_the_context_window_left_out_is_not_called_missing() -> None:
    long = passage("fiscal", TAX.metadata.title, "6", "税" * 5000 + TAX.content)
    found = RetrievalResult(QUESTION, tuple(items(SUBSIDY, long)), ())
    model = ScriptedLLM(pieces=("每辆补贴一万元。[1]",), window=1200, output=100)
    made = PolicySynthesizer(llm=model).answer(found)
    assert isinstance(made, PolicyAnswer)
    assert made.trace["synthesis"]["markers"] == [1]
    assert made.missing == ()


def test_an_answer_that_is_insufficient_as_a_whole_names_no_part() -> None:
    made = PolicySynthesizer().answer(result(score=0.1))
    assert isinstance(made, PolicyAnswer)
    assert (made.sufficient, made.missing) == (False, ())


def test_a_part_on_another_country_is_missing_though_the_words_are_there() -> None:
    question = "买新能源车补贴多少？日本新能源车补贴多少？"
    assert missing_parts(question, items(SUBSIDY, TAX)) == ("日本新能源车补贴多少",)
