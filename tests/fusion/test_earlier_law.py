"""旧…法, 原…法 and 新…法 in a question mean a version; all rules are 虚构示例."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest

from fusion.answer import PolicyAnswer
from fusion.engine import PolicyQueryEngine
from tests.fakes import FakeEmbedder
from tests.fusion.ingested import DOMAINS, ingested

TODAY = date(2024, 6, 1)
HEAD = "# {title}\n{day}公布 自{day}起施行\n<!-- INFO END -->\n"
VERSIONS = (
    ("示例商会法", "2012年5月1日", "最低的注册资本为三万元。"),
    ("示例商会法", "2018年5月1日", "最低的注册资本为二万元。"),
    ("示例商会法", "2023年3月1日", "最低的注册资本为一万元。"),
    ("示例渡船法", "2015年5月1日", "渡船的罚款为一百元。"),
    ("示例渡船法", "2025年1月1日", "渡船的罚款为九百元。"),
    ("示例旧货法", "2016年5月1日", "旧货的罚款为五十元。"),
)
FILES = {
    f"law/{title}({day[:4]}-0{day[5]}-01).md": HEAD.format(title=title, day=day)
    + f"第一条 为了示例，制定本法。\n第二条 {rule}\n"
    for title, day, rule in VERSIONS
} | {
    "fiscal/示例车税法.md": HEAD.format(title="示例车税法", day="2018年5月1日")
    + "第一条 车要纳税。\n",
    "local/示例停车办法.md": HEAD.format(title="示例停车办法", day="2018年5月1日")
    + "第一条 停车。\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PolicyQueryEngine]:
    profile = ingested(tmp_path_factory.mktemp("earlier"), FILES)
    embedders = {domain: FakeEmbedder() for domain in DOMAINS}
    with PolicyQueryEngine.from_config(profile, clock=lambda: TODAY, embedders=embedders) as made:
        yield made


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("旧示例商会法第二条", "二万元"),
        ("原示例商会法第2条怎么说", "二万元"),
        ("老示例商会法第二条", "二万元"),
        ("请问旧的《示例商会法》第二条", "二万元"),
        ("修订前的示例商会法第二条", "二万元"),
        ("旧示例商会法的注册资本最低是多少", "二万元"),
        ("新示例商会法第二条", "一万元"),
        ("示例商会法第二条", "一万元"),
        ("现行示例商会法第二条", "一万元"),
        ("新示例渡船法第二条", "九百元"),
        ("示例渡船法第二条", "一百元"),
        # A version that is not there: the one that is; 旧 may also begin a title.
        ("旧示例渡船法第二条", "一百元"),
        ("示例旧货法第二条", "五十元"),
    ],
)
def test_the_version_that_is_called_old_or_new_answers(
    engine: PolicyQueryEngine, question: str, content: str
) -> None:
    assert content in engine.search(question).passages[0].passage.content


def test_the_answer_says_which_version_was_taken(engine: PolicyQueryEngine) -> None:
    answer = engine.query("旧示例商会法第二条")
    assert isinstance(answer, PolicyAnswer)
    assert str(answer).splitlines()[0] == (
        "注意：依问题中的“旧示例商会法”，按2023-02-28有效的规定"
        "（《示例商会法》2018-05-01起施行、2023-03-01起不再适用的版本）回答。"
    )


@pytest.mark.parametrize(
    "question",
    [
        "新示例商会法和旧示例商会法的注册资本",
        "旧示例商会法的注册资本与现在有什么区别",
        "2013年的旧示例商会法规定的注册资本",
    ],
)
def test_a_comparison_or_a_date_of_its_own_is_left_as_it_is(
    engine: PolicyQueryEngine, question: str
) -> None:
    assert "2023-02-28" not in str(engine.query(question))


def test_a_day_that_the_caller_gives_is_not_overruled(engine: PolicyQueryEngine) -> None:
    found = engine.search("旧示例商会法第二条", as_of="2013-01-01")
    assert "三万元" in found.passages[0].passage.content
