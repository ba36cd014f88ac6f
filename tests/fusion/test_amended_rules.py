"""Articles that an amendment changed, where only the older text is there. All rules: 虚构示例."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest

from fusion.answer import PolicyAnswer
from fusion.engine import PolicyQueryEngine
from ingest.pipeline import ingest
from ingest.report import IngestReport
from tests.fakes import FakeEmbedder
from tests.fusion.ingested import ingested

TODAY = date(2024, 6, 1)
HEAD = "# {title}\n{day}公布 自{start}起施行\n<!-- INFO END -->\n"


def document(title: str, day: str, start: str, text: str) -> str:
    return HEAD.format(title=title, day=day, start=start) + text


BILL = "示例船舶法修正案（二）"
RULE = (
    "第一条 为了管理船舶，制定本法。\n第二条 船舶登记费为五百元。\n第三条 船舶检验每年一次。\n"
    "第四条 船舶保险由船主投保。船舶保险费每年三百元。\n"
)
FILES = {
    "law/示例船舶法(2019-01-01).md": document("示例船舶法", "2019年1月1日", "2019年3月1日", RULE),
    f"law/{BILL}(2023-05-01).md": document(
        BILL,
        "2023年5月1日",
        "2023年7月1日",
        "一、将第二条修改为：“船舶登记费为八百元，由船舶登记机关收取，登记机关应当出具收据。”\n"
        "二、第三条后增加一条，作为第三条之一：“船舶检验报告保存十年，由船舶检验机构保管。”\n"
        "三、第四条中的“三百元”修改为“四百元”。\n"
        "四、本修正案自2023年7月1日起施行。\n",
    ),
    "law/示例港口法(2023-09-01).md": document(
        "示例港口法",
        "2023年9月1日",
        "2023年9月1日",
        "第一条 为了管理港口，制定本法。\n第二条 港口费为九百元。\n",
    ),
    "law/示例港口法修正案(2023-09-01).md": document(
        "示例港口法修正案",
        "2023年9月1日",
        "2023年9月1日",
        "一、将第二条修改为：“港口费为九百元。”\n二、将第一条修改为：“为了管理港口，制定本法。”\n",
    ),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PolicyQueryEngine]:
    root = tmp_path_factory.mktemp("amended")
    made = ingested(root, FILES, domains=("law",), clock=lambda: TODAY)
    embedders = {domain: FakeEmbedder() for domain in ("law", "fiscal", "local")}
    with PolicyQueryEngine.from_config(made, clock=lambda: TODAY, embedders=embedders) as opened:
        yield opened


def ask(engine: PolicyQueryEngine, question: str, as_of: str | None = None) -> PolicyAnswer:
    answer = engine.query(question, as_of=as_of)
    assert isinstance(answer, PolicyAnswer)
    return answer


def test_a_replaced_article_is_answered_by_what_replaces_it(engine: PolicyQueryEngine) -> None:
    answer = ask(engine, "示例船舶法第二条怎么规定？")
    assert answer.citations[0].title == BILL
    assert "八百元" in str(answer)
    assert all("五百元" not in c.quote for c in answer.citations)
    assert f"《示例船舶法》（已修改，2023-07-01起由《{BILL}》取代）" in str(answer)


def test_before_the_amendment_the_article_applies_as_it_was(engine: PolicyQueryEngine) -> None:
    answer = ask(engine, "示例船舶法第二条怎么规定？", "2023-06-30")
    assert answer.citations[0].title == "示例船舶法"
    assert "五百元" in str(answer)
    assert "八百元" not in str(answer)


def test_an_article_that_the_amendment_adds_is_found_there(engine: PolicyQueryEngine) -> None:
    found = engine.search("示例船舶法第三条之一")
    assert found.references[0].found
    assert found.passages[0].passage.metadata.title == BILL
    assert "保存十年" in found.passages[0].passage.content
    before = engine.search("示例船舶法第三条之一", as_of="2023-06-30")
    assert before.references[0].missing == "article"


def test_an_article_changed_in_part_is_cited_with_the_change(engine: PolicyQueryEngine) -> None:
    answer = ask(engine, "示例船舶法第四条")
    assert (
        f"注意：《示例船舶法》第4条已由《{BILL}》（2023-07-01起）修改，"
        "所引为修改前的文本，请对照修改内容。"
    ) in str(answer)
    titles = [item.passage.metadata.title for item in engine.search("示例船舶法第四条").passages]
    assert titles[:2] == ["示例船舶法", BILL]
    assert "已由" not in str(ask(engine, "示例船舶法第四条", "2023-06-30"))
    assert "已由" not in str(ask(engine, "示例船舶法第一条"))


def test_an_amendment_that_the_rule_holds_by_now_points_to_the_rule(
    engine: PolicyQueryEngine,
) -> None:
    found = engine.search("示例港口法第二条")
    assert found.passages[0].passage.metadata.title == "示例港口法"
    bill = next(i for i in found.passages if i.passage.metadata.title == "示例港口法修正案")
    assert found.amendment_notes[bill.passage.id] == (
        "注意：《示例港口法修正案》的修改已并入《示例港口法》（2023-09-01文本），条文以后者为准。"
    )
    assert found.passages[0].passage.id not in found.amendment_notes


def test_an_amendment_that_leaves_the_store_leaves_the_rule_as_it_was(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    root = tmp_path_factory.mktemp("removed")
    made = ingested(root, FILES, domains=("law",), clock=lambda: TODAY)

    def again() -> IngestReport:
        options = {"prune": True, "embedder": FakeEmbedder(), "progress": False}
        return ingest(made, "law", [root / "law"], clock=lambda: TODAY, **options)  # type: ignore[arg-type]

    assert again().linked == 0
    (root / f"law/{BILL}(2023-05-01).md").unlink()
    assert again().linked == 1
    embedders = {domain: FakeEmbedder() for domain in ("law", "fiscal", "local")}
    with PolicyQueryEngine.from_config(made, clock=lambda: TODAY, embedders=embedders) as opened:
        found = opened.search("示例船舶法第二条")
    assert "五百元" in found.passages[0].passage.content
    assert found.references[0].excluded == ""
