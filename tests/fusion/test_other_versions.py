"""Versions that do not apply on the day asked for stand apart. All rules are 虚构示例."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest

from fusion.answer import PolicyAnswer
from fusion.engine import PolicyQueryEngine
from fusion.serialize import answer_json, result_json
from policy_fusion.cli_output import answer_lines
from tests.fakes import FakeEmbedder
from tests.fusion.ingested import ingested

TODAY = date(2024, 6, 1)
HEAD = "# {title}\n{day}公布 自{start}起施行\n<!-- INFO END -->\n"
FILES = {
    "law/示例试用期法(2019-01-01).md": HEAD.format(
        title="示例试用期法", day="2019年1月1日", start="2019年3月1日"
    )
    + "第一条 为了规范试用期，制定本法。\n第二条 试用期最长一年。\n",
    "law/示例试用期法(2023-01-01).md": HEAD.format(
        title="示例试用期法", day="2023年1月1日", start="2023年3月1日"
    )
    + "第一条 为了规范试用期，制定本法。\n第二条 试用期最长六个月。\n",
    "fiscal/示例船舶税暂行条例(2010-01-01).md": HEAD.format(
        title="示例船舶税暂行条例", day="2010年1月1日", start="2010年2月1日"
    )
    + "第一条 船舶应当缴纳船舶税。\n第二条 船舶税税率为百分之五。\n",
    "fiscal/示例船舶税法(2022-01-01).md": HEAD.format(
        title="示例船舶税法", day="2022年1月1日", start="2022年7月1日"
    )
    + "第一条 船舶应当缴纳船舶税。\n第二条 船舶税税率为百分之三。\n"
    "第三条 本法自2022年7月1日起施行，《示例船舶税暂行条例》同时废止。\n",
    "fiscal/示例飞艇税法(2024-05-01).md": HEAD.format(
        title="示例飞艇税法", day="2024年5月1日", start="2025年1月1日"
    )
    + "第一条 飞艇应当缴纳飞艇税。\n第二条 飞艇税税率为百分之九。\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PolicyQueryEngine]:
    root = tmp_path_factory.mktemp("versions")
    made = ingested(
        root,
        FILES,
        domains=("law", "fiscal"),
        store={"reopen_seconds": 0.0},
        clock=lambda: TODAY,
    )
    embedders = {domain: FakeEmbedder() for domain in ("law", "fiscal", "local")}
    with PolicyQueryEngine.from_config(made, clock=lambda: TODAY, embedders=embedders) as opened:
        yield opened


def ask(engine: PolicyQueryEngine, question: str, as_of: str | None = None) -> PolicyAnswer:
    answer = engine.query(question, as_of=as_of)
    assert isinstance(answer, PolicyAnswer)
    return answer


def told(answer: PolicyAnswer) -> list[tuple[str, str]]:
    return [(o.passage.content.splitlines()[0], o.status) for o in answer.other_versions]


def test_an_amended_version_stands_apart_with_the_version_that_replaced_it(
    engine: PolicyQueryEngine,
) -> None:
    answer = ask(engine, "示例试用期最长多久")
    ((content, status),) = [t for t in told(answer) if "试用期" in t[0]]
    assert (content, status) == ("第二条 试用期最长一年。", "amended")
    successor = answer.other_versions[0].successor
    assert successor is not None
    assert (successor.same_title, successor.effective) == (True, "2023-03-01")
    assert all("最长一年" not in node.node.get_content() for node in answer.source_nodes)


def test_a_repealed_rule_names_the_rule_that_repealed_it(engine: PolicyQueryEngine) -> None:
    answer = ask(engine, "船舶税税率是多少")
    entry = answer_json(answer)["other_versions"][0]
    assert entry["status"] == "repealed"
    assert entry["content"] == "第二条 船舶税税率为百分之五。"
    assert entry["successor"]["title"] == "示例船舶税法"
    assert entry["note"] == "《示例船舶税暂行条例》（已废止，2022-07-01起由《示例船舶税法》取代）"
    lines = list(answer_lines(answer_json(answer)))
    assert f"- {entry['note']}第2条" in lines


def test_a_rule_that_is_to_come_is_not_yet_in_force(engine: PolicyQueryEngine) -> None:
    answer = ask(engine, "飞艇税税率是多少")
    assert ("第二条 飞艇税税率为百分之九。", "not_yet") in told(answer)
    assert all("飞艇" not in c.title for c in answer.citations)
    (later,) = ask(engine, "飞艇税税率是多少", "2025-01-01").citations[:1]
    assert later.title == "示例飞艇税法"


def test_before_its_successor_a_rule_answers_and_the_successor_stands_apart(
    engine: PolicyQueryEngine,
) -> None:
    found = engine.search("船舶税税率是多少", as_of="2015-01-01")
    assert {i.passage.metadata.title for i in found.passages} == {"示例船舶税暂行条例"}
    entry = result_json(found)["other_versions"][0]
    assert (entry["title"], entry["status"]) == ("示例船舶税法", "not_yet")
    assert entry["replaces"] == "示例船舶税暂行条例"


def test_the_day_of_the_question_is_told_in_the_first_line(engine: PolicyQueryEngine) -> None:
    answer = ask(engine, "2015年时的船舶税税率是多少")
    assert str(answer).splitlines()[0] == ("注意：依问题中的“2015年”，按2015-12-31有效的规定回答。")
    assert {c.title for c in answer.citations} == {"示例船舶税暂行条例"}
    assert answer.trace["retrieval"]["question"]["date"]["day"] == "2015-12-31"


def test_the_date_of_an_event_gets_todays_rule_and_a_note(engine: PolicyQueryEngine) -> None:
    answer = ask(engine, "我2015年买的船，船舶税税率是多少")
    first = str(answer).splitlines()[0]
    assert "按现行规定回答" in first
    assert "《示例船舶税暂行条例》" in first
    assert {c.title for c in answer.citations} == {"示例船舶税法"}


def test_a_named_article_out_of_force_is_quoted_apart_from_the_results(
    engine: PolicyQueryEngine,
) -> None:
    answer = ask(engine, "示例船舶税暂行条例第二条")
    assert all(node.node.metadata["title"] != "示例船舶税暂行条例" for node in answer.source_nodes)
    assert told(answer)[0] == ("第二条 船舶税税率为百分之五。", "repealed")
    assert "（已废止，2022-07-01起由《示例船舶税法》取代）：第二条 船舶税税率为百分之五。" in str(
        answer
    )


def test_without_a_day_nothing_is_set_apart(engine: PolicyQueryEngine) -> None:
    found = engine.search("船舶税税率是多少", as_of="any")
    assert found.other_versions == ()
    assert (
        len({i.passage.metadata.title for i in found.passages if "船舶" in i.passage.content}) == 2
    )
