"""Articles beside the best passage, for a model to read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from configs.settings import Settings
from fusion.answer import PolicyAnswer
from fusion.engine import PolicyQueryEngine
from fusion.lookup import ReferenceLookup
from fusion.neighbours import Neighbours
from fusion.nodes import RankedPassage, RetrievalResult
from indexes.catalog import PassageCatalog
from indexes.schema import Filters
from tests.fakes import FakeEmbedder
from tests.fusion.fake_llms import ScriptedLLM
from tests.fusion.ingested import DOMAINS, ingested

TODAY = date(2024, 6, 1)
# 虚构示例: all of these rules are made up.
FILES = {
    "law/示例渔船法.md": """# 示例渔船法
2018年5月1日公布 自2018年6月1日起施行
<!-- INFO END -->
第一条 为了保护渔船，制定本法。
第二条 渔船应当登记。
第三条 未依照本法第二条登记的，依照《示例处罚法》第二条处罚；本法第三条不溯及既往。
第四条 登记由县渔业部门办理。
第五条 前条规定的登记不收费。
""",
    "fiscal/示例处罚法(2015-01-01).md": """# 示例处罚法
2015年1月1日公布 自2015年3月1日起施行
<!-- INFO END -->
第一条 为了规范处罚，制定本法。
第二条 处旧罚款五百元。
""",
    "fiscal/示例处罚法(2020-01-01).md": """# 示例处罚法
2020年1月1日修订 自2020年3月1日起施行
<!-- INFO END -->
第一条 为了规范处罚，制定本法。
第二条 处新罚款一千元。
""",
    "local/示例附则.md": "# 示例附则\n第一条 自2024年1月1日起施行。\n",
}


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    root = tmp_path_factory.mktemp("neighbours")
    return ingested(root, FILES, store={"reopen_seconds": 0.0})


@pytest.fixture(scope="module")
def catalog(profile: Settings) -> Iterator[PassageCatalog]:
    made = PassageCatalog(Path(profile.store.dir) / "catalog.sqlite")
    yield made
    made.close()


def beside(
    catalog: PassageCatalog, article: str, limit: int = 4, as_of: date = TODAY
) -> list[tuple[str, str, str]]:
    (best,) = catalog.find("law", "示例渔船法", article)
    lookup = ReferenceLookup(dict.fromkeys(DOMAINS, catalog), {})
    result = RetrievalResult("登记", (RankedPassage(best, 0.9),), ())
    found = Neighbours(lookup, limit).apply(result, Filters(as_of=as_of))
    return [
        (item.trace["neighbour"]["why"], item.passage.metadata.title, item.passage.metadata.article)
        for item in found.beside
    ]


def test_what_it_refers_to_comes_before_the_next_and_the_previous_article(
    catalog: PassageCatalog,
) -> None:
    assert beside(catalog, "3") == [
        ("reference", "示例渔船法", "2"),
        ("reference", "示例处罚法", "2"),
        ("next", "示例渔船法", "4"),
    ]


def test_the_version_in_force_is_read(catalog: PassageCatalog) -> None:
    (best,) = catalog.find("law", "示例渔船法", "3")
    lookup = ReferenceLookup(dict.fromkeys(DOMAINS, catalog), {})
    result = RetrievalResult("登记", (RankedPassage(best, 0.9),), ())
    for day, words in ((TODAY, "新罚款"), (date(2019, 1, 1), "旧罚款")):
        found = Neighbours(lookup, 9).apply(result, Filters(as_of=day))
        assert words in found.beside[1].passage.content
        assert found.beside[1].trace["neighbour"] == {
            "of": best.id,
            "why": "reference",
            "text": "《示例处罚法》第二条",
        }


def test_the_article_before_is_a_reference_where_it_is_named(catalog: PassageCatalog) -> None:
    assert beside(catalog, "5") == [("reference", "示例渔船法", "4")]


def test_what_the_catalog_keeps_is_read_and_not_the_words_again(
    catalog: PassageCatalog, profile: Settings, tmp_path: Path
) -> None:
    copied = tmp_path / "catalog.sqlite"
    with (
        closing(sqlite3.connect(Path(profile.store.dir) / "catalog.sqlite")) as source,
        closing(sqlite3.connect(copied)) as db,
    ):
        source.backup(db)
        (best,) = catalog.find("law", "示例渔船法", "5")
        (other,) = catalog.find("law", "示例渔船法", "1")
        db.execute("UPDATE refers SET target = ? WHERE id = ?", (other.id, best.id))
        db.commit()
    changed = PassageCatalog(copied)
    assert beside(changed, "5") == [
        ("reference", "示例渔船法", "1"),
        ("previous", "示例渔船法", "4"),
    ]
    changed.close()


def test_the_first_article_has_only_a_next_one(catalog: PassageCatalog) -> None:
    assert beside(catalog, "1") == [("next", "示例渔船法", "2")]
    assert beside(catalog, "3", limit=1) == [("reference", "示例渔船法", "2")]


def test_the_passages_before_and_after_are_those_of_the_document(catalog: PassageCatalog) -> None:
    (last,) = catalog.find("law", "示例渔船法", "5")
    before, after = catalog.adjacent(last.id)
    assert before is not None
    assert (before.metadata.article, after) == ("4", None)
    assert catalog.adjacent("law:没有@1#a1") == (None, None)


def test_a_model_reads_them_and_may_cite_them(profile: Settings) -> None:
    model = ScriptedLLM(pieces=("处新罚款一千元。[2][3][4]",), window=20_000)
    embedders = {domain: FakeEmbedder() for domain in DOMAINS}
    question = "示例渔船法第三条怎么罚"
    with PolicyQueryEngine.from_config(
        profile, clock=lambda: TODAY, embedders=embedders, llm=model
    ) as engine:
        made = engine.query(question, top_k=1)
        results = engine.search(question, top_k=1)
    assert isinstance(made, PolicyAnswer)
    assert "处新罚款一千元" in model.prompts[0]
    titles = [node.metadata["title"] for node in made.source_nodes]
    assert titles == ["示例渔船法", "示例渔船法", "示例处罚法", "示例渔船法"]
    assert (made.citations[1].title, made.citations[1].article) == ("示例处罚法", "2")
    assert (len(results.passages), results.beside) == (1, ())  # a search shows what was ranked


def test_without_a_model_nothing_is_looked_for(profile: Settings) -> None:
    embedders = {domain: FakeEmbedder() for domain in DOMAINS}
    with PolicyQueryEngine.from_config(profile, clock=lambda: TODAY, embedders=embedders) as engine:
        assert engine._neighbours is None
        made = engine.query("示例渔船法第三条怎么罚", top_k=1)
    assert isinstance(made, PolicyAnswer)
    assert len(made.source_nodes) == 1
