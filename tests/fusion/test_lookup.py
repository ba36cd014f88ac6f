"""Articles that a question names are read, not searched for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from configs.settings import Settings
from fusion.answer import PolicyAnswer
from fusion.engine import PolicyQueryEngine
from fusion.serialize import answer_json, result_json
from indexes.schema import Filters
from ingest.pipeline import ingest
from tests.fakes import FakeEmbedder
from tests.fusion.ingested import DOMAINS, ingested

TODAY = date(2024, 6, 1)
# 虚构示例: all of these rules are made up.
FILES = {
    "law/示例劳动保障法(2019-01-01).md": """# 示例劳动保障法
2019年1月1日公布 自2019年3月1日起施行
<!-- INFO END -->
第一条 为了保护劳动者，制定本法。
第二条 旧的试用期最长一年。
""",
    "law/示例劳动保障法(2023-01-01).md": """# 示例劳动保障法
2023年1月1日修订 自2023年3月1日起施行
<!-- INFO END -->
第一条 为了保护劳动者，制定本法。
第二条 新的试用期最长六个月。
第二条之一 有下列情形之一的，不得约定试用期：
（一）完成一定任务的合同；
（二）三个月以下的合同。
第三条 工资按月支付。
""",
    "fiscal/示例车船税法.md": """# 示例车船税法
2018年5月1日公布 自2018年6月1日起施行
<!-- INFO END -->
第一条 车船应当缴纳车船税。
第二条 示例市公共汽车免税。
第五条 本法由税务机关执行。
""",
    "fiscal/示例印花新法.md": """# 示例印花新法
2021年5月1日公布 自2022年1月1日起施行
<!-- INFO END -->
第一条 书立凭证应当缴纳示例印花费。
第二条 本法自2022年1月1日起施行。《示例印花旧条例》同时废止。
""",
    "local/上海市停车示例办法.txt": """上海市停车示例办法
示府办规〔2024〕3号
第一条 本办法适用于上海市。
第二条 停车半小时内免费。
第三条 本办法自2024年2月1日起施行，有效期五年。
""",
    "local/北京市停车示例办法.txt": """北京市停车示例办法
第一条 本办法适用于北京市。
第二条 停车一刻钟内免费。
第三条 本办法自2024年2月1日起施行。
""",
}


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    root = tmp_path_factory.mktemp("lookup")
    return ingested(root, FILES, store={"reopen_seconds": 0.0})


@pytest.fixture(scope="module")
def engine(profile: Settings) -> Iterator[PolicyQueryEngine]:
    embedders = {domain: FakeEmbedder() for domain in DOMAINS}
    with PolicyQueryEngine.from_config(profile, clock=lambda: TODAY, embedders=embedders) as made:
        yield made


def first(engine: PolicyQueryEngine, question: str, **options: Any) -> tuple[str, str]:
    best = engine.search(question, **options).passages[0].passage
    return best.metadata.title, best.content.strip()


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("《示例劳动保障法》第二条怎么规定", "第二条 新的试用期最长六个月。"),
        ("示例劳动保障法第3条", "第三条 工资按月支付。"),
        ("示劳法第三条", "第三条 工资按月支付。"),
        ("示例车船税法五条是什么", "第五条 本法由税务机关执行。"),
        ("示府办规〔2024〕3号第二条", "第二条 停车半小时内免费。"),
        ("示府办规[2024]3号 第 2 条", "第二条 停车半小时内免费。"),
        ("北京的停车示例办法第二条", "第二条 停车一刻钟内免费。"),
        ("上海的停车示例办法第二条", "第二条 停车半小时内免费。"),
    ],
)
def test_the_article_that_is_named_comes_first(
    engine: PolicyQueryEngine, question: str, content: str
) -> None:
    assert first(engine, question)[1] == content


def test_the_version_in_force_on_the_day_is_read(engine: PolicyQueryEngine) -> None:
    question = "示例劳动保障法第二条"
    assert first(engine, question, as_of="2020-01-01")[1] == "第二条 旧的试用期最长一年。"
    assert first(engine, question, as_of="2024-01-01")[1] == "第二条 新的试用期最长六个月。"


def test_a_rule_that_is_out_of_force_is_shown_as_what_it_is(engine: PolicyQueryEngine) -> None:
    found = engine.search("示例车船税法第一条", as_of="2010-01-01")
    (reference,) = found.references
    assert reference.found
    assert reference.excluded == "date"
    answer = str(engine.query("示例车船税法第一条", as_of="2010-01-01"))
    assert "《示例车船税法》第1条在所问日期不具效力" in answer


def test_an_article_that_does_not_exist_is_said_not_to_exist(engine: PolicyQueryEngine) -> None:
    answer = engine.query("示例车船税法第十五条是什么")
    (reference,) = answer.references  # type: ignore[union-attr]
    assert (reference.found, reference.missing, reference.nearest) == (False, "article", "5")
    assert "注意：《示例车船税法》没有第15条，最接近的是第5条。" in str(answer)
    assert not answer.sufficient  # type: ignore[union-attr]


def test_a_document_that_is_not_there_is_said_not_to_be_there(engine: PolicyQueryEngine) -> None:
    answer = engine.query("《没有这部示例法》第三条")
    assert "注意：资料中没有《没有这部示例法》。" in str(answer)
    assert not answer.sufficient  # type: ignore[union-attr]


def test_a_rule_of_another_place_does_not_answer(engine: PolicyQueryEngine) -> None:
    found = engine.search("上海市停车示例办法第二条", jurisdiction="北京市")
    (reference,) = found.references
    assert reference.excluded == "place"
    assert all(item.passage.metadata.jurisdiction != "上海市" for item in found.passages)


@pytest.mark.parametrize(
    ("question", "missing", "excluded"),
    [
        ("天津市停车示例办法第二条", "document", ""),
        ("天津停车示例办法第二条", "document", ""),
        ("我在天津，停车示例办法第二条怎么说", "", "place"),
    ],
)
def test_a_rule_that_only_shares_its_name_does_not_answer_for_another_place(
    engine: PolicyQueryEngine, question: str, missing: str, excluded: str
) -> None:
    answer = engine.query(question)
    (reference,) = answer.references  # type: ignore[union-attr]
    assert (reference.missing, reference.excluded) == (missing, excluded)
    assert {c.jurisdiction for c in answer.citations} <= {"", "全国"}  # type: ignore[union-attr]


def test_a_short_name_of_rules_of_several_places_names_them(engine: PolicyQueryEngine) -> None:
    answer = engine.query("停车办法第二条怎么说")
    assert isinstance(answer, PolicyAnswer)
    assert (
        "注意：《停车办法》可能指《上海市停车示例办法》、《北京市停车示例办法》，请写明地区或全称。"
        in str(answer).splitlines()
    )
    (reference,) = answer_json(answer)["references"]
    assert reference["candidates"] == ["上海市停车示例办法", "北京市停车示例办法"]
    assert not reference["found"]


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("北京的停车办法第二条", "第二条 停车一刻钟内免费。"),
        ("上海停车办法第二条", "第二条 停车半小时内免费。"),
    ],
)
def test_a_short_name_beside_a_place_means_the_rule_of_that_place(
    engine: PolicyQueryEngine, question: str, content: str
) -> None:
    assert first(engine, question)[1] == content


def test_a_short_name_beside_a_place_without_such_a_rule_means_none(
    engine: PolicyQueryEngine,
) -> None:
    (reference,) = engine.search("广州的停车办法第二条").references
    assert (reference.missing, reference.candidates) == ("document", ())


def test_a_version_that_is_named_by_its_year_is_not_mixed_up_with_the_present_one(
    engine: PolicyQueryEngine,
) -> None:
    found = engine.search("示例劳动保障法（2019年）第二条")
    (reference,) = found.references
    assert (reference.excluded, len(reference.ids)) == ("date", 1)
    assert found.other_versions[0].passage.content.strip() == "第二条 旧的试用期最长一年。"
    (present,) = engine.search("示例劳动保障法（2023年修订）第二条").references
    assert present.excluded == ""


def test_a_rule_that_is_only_known_as_repealed_is_said_to_be(engine: PolicyQueryEngine) -> None:
    answer = engine.query("示例印花旧条例第一条怎么规定")
    assert "注意：资料中没有《示例印花旧条例》（《示例印花新法》载明其废止）。" in str(answer)
    assert not answer.sufficient  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "question", ["法国示例劳动保障法第二条", "法国示例劳动保障法规定试用期最长多久"]
)
def test_the_law_of_another_country_is_not_answered_from_the_store(
    engine: PolicyQueryEngine, question: str
) -> None:
    answer = engine.query(question)
    assert not answer.sufficient  # type: ignore[union-attr]
    assert str(answer).find("资料不足") >= 0


def test_the_whole_article_is_quoted_and_certain(engine: PolicyQueryEngine) -> None:
    answer = engine.query("示例劳动保障法第二条之一的内容是什么")
    assert "（二）三个月以下的合同。" in str(answer)
    assert answer.confidence == 1.0  # type: ignore[union-attr]
    assert answer.citations[0].article == "2-1"  # type: ignore[union-attr]


def test_what_is_named_stays_once_and_the_rest_keeps_its_order(engine: PolicyQueryEngine) -> None:
    question = "示例劳动保障法第三条"
    retrieved = engine._retriever.search(question, Filters(as_of=TODAY))
    plain = [p.passage.id for p in retrieved.passages]
    named = [p.passage.id for p in engine.search(question).passages]
    assert len(named) == len(set(named))
    assert named[1:] == [p for p in plain if p != named[0]][: len(named) - 1]


def test_references_are_in_the_json_of_search_and_ask(engine: PolicyQueryEngine) -> None:
    found = result_json(engine.search("示例车船税法第二条"))["references"]
    asked = answer_json(engine.query("示例车船税法第二条"))["references"]  # type: ignore[arg-type]
    assert found == asked
    assert found[0]["text"] == "示例车船税法第二条"
    assert found[0]["found"]
    assert len(found[0]["ids"]) == 1


def test_documents_ingested_meanwhile_can_be_named(profile: Settings, tmp_path: Path) -> None:
    embedders = {domain: FakeEmbedder() for domain in DOMAINS}
    with PolicyQueryEngine.from_config(profile, clock=lambda: TODAY, embedders=embedders) as made:
        assert made.search("《示例新规》第一条").references[0].missing == "document"
        path = tmp_path / "示例新规.md"
        path.write_text(
            "# 示例新规\n第一条 自2024年1月1日起施行。\n第二条 虚构示例。\n", encoding="utf-8"
        )
        ingest(profile, "law", [path], embedder=FakeEmbedder(), progress=False)
        assert made.search("《示例新规》第二条").references[0].found
