"""References to a document's own articles, kept in the catalog. All texts are 虚构示例."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.catalog import PassageCatalog
from indexes.schema import Document
from tests.indexes.passages import document

FISHING = {
    "1": "第一条 为了保护渔船，制定本法。",
    "2": "第二条 渔船应当登记。",
    "3": "第三条 违反本法第二条的，处罚款；前条规定不溯及既往。",
}


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[PassageCatalog]:
    made = PassageCatalog(tmp_path / "catalog.sqlite", create=True)
    yield made
    made.close()


def put(catalog: PassageCatalog, *documents: Document) -> None:
    rows = {p.id: p.id for d in documents for p in d.passages}
    catalog.switch("law", [(d.key, d) for d in documents], rows, ())


def kept(tmp_path: Path) -> list[tuple[str, ...]]:
    """(locator, locator that is meant, words) of every row of the table."""
    with closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as db:
        rows = db.execute("SELECT id, target, text FROM refers ORDER BY id, position").fetchall()
    return [(id.partition("#")[2], target.partition("#")[2], text) for id, target, text in rows]


def meant(catalog: PassageCatalog, title: str, article: str) -> list[tuple[str, str]]:
    (passage,) = catalog.find("law", title, article)
    return [(found.metadata.article, text) for found, text in catalog.referred(passage)]


def as_of_an_earlier_release(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as db:
        db.executescript("DROP TABLE refers; DROP TABLE refers_read;")


def test_they_are_written_with_the_document(catalog: PassageCatalog, tmp_path: Path) -> None:
    put(catalog, document("渔船法", FISHING))
    assert kept(tmp_path) == [("a3", "a2", "第二条")]
    assert meant(catalog, "渔船法", "3") == [("2", "第二条")]
    assert meant(catalog, "渔船法", "2") == []


def test_they_are_gone_with_the_document(catalog: PassageCatalog, tmp_path: Path) -> None:
    put(catalog, document("渔船法", FISHING), document("渔港法", FISHING))
    catalog.switch("law", [("渔船法", None)], {}, ())
    with closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as db:
        ids = {row[0] for row in db.execute("SELECT id FROM refers")}
        read = {row[0] for row in db.execute("SELECT document FROM refers_read")}
    assert ids == {"law:渔港法@2021-01-01#a3"}
    assert read == {"law:渔港法@2021-01-01"}


def test_a_document_that_is_written_again_has_the_new_ones_alone(
    catalog: PassageCatalog, tmp_path: Path
) -> None:
    put(catalog, document("渔船法", FISHING))
    put(catalog, document("渔船法", {**FISHING, "3": "第三条 依照第一条处理。"}))
    assert kept(tmp_path) == [("a3", "a1", "第一条")]


def test_a_reference_to_an_article_that_is_dropped_is_dropped(
    catalog: PassageCatalog, tmp_path: Path
) -> None:
    put(catalog, document("渔船法", FISHING))
    put(catalog, document("渔船法", {"1": FISHING["1"], "3": "第三条 违反本法第二条的，处罚款。"}))
    assert kept(tmp_path) == []


def test_a_switch_that_fails_keeps_them(catalog: PassageCatalog, tmp_path: Path) -> None:
    put(catalog, document("渔船法", FISHING))
    with pytest.raises(KeyError):  # no row is given for the new passages
        catalog.switch("law", [("渔船法", document("渔船法", {"1": "第一条 新。"}))], {}, ())
    assert kept(tmp_path) == [("a3", "a2", "第二条")]


def test_the_parts_of_a_code_in_several_files_refer_to_each_other_in_any_order(
    catalog: PassageCatalog, tmp_path: Path
) -> None:
    later = document("示例法典", {"3": "第三条 依照本法第二条处理。"}, key="分则")
    first = document("示例法典", {"2": "第二条 渔船应当登记。"}, key="总则")
    put(catalog, later)
    assert kept(tmp_path) == []
    put(catalog, first)
    assert meant(catalog, "示例法典", "3") == [("2", "第二条")]
    catalog.switch("law", [("总则", None)], {}, ())
    assert kept(tmp_path) == []


def test_another_version_of_the_document_is_not_meant(
    catalog: PassageCatalog, tmp_path: Path
) -> None:
    old = document("渔船法", {"2": "第二条 旧。"}, key="旧")
    moved = tuple(replace(p, id=p.id.replace("2021", "2011")) for p in old.passages)
    put(catalog, replace(old, passages=moved))
    put(catalog, document("渔船法", {"3": "第三条 违反本法第二条的，处罚款。"}))
    assert kept(tmp_path) == []


def test_an_attached_rule_means_its_own_articles(catalog: PassageCatalog, tmp_path: Path) -> None:
    made = document("渔船法", FISHING)
    attached = [
        replace(p, id=p.id.replace("#a", "#x2-a"), content=content)
        for p, content in zip(
            made.passages[1:], ("第二条 附则。", "第三条 第一条、第二条除外。"), strict=True
        )
    ]
    put(catalog, replace(made, passages=(*made.passages, *attached)))
    assert kept(tmp_path) == [("a3", "a2", "第二条"), ("x2-a3", "x2-a2", "第二条")]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("第三条 依照示例渔业法第一条、第二条处理。", []),
        ("第三条 依照示例渔业法第一条第一款、第二款和第二条处理。", []),
        ("第三条 依照示例渔业法第九条或者第二条处理。", []),
        ("第三条 依照《示例渔业通告》第一条以及第二条第一项处理。", []),
        ("第三条 依照该公约第一条和示例通则第二条处理。", []),
        ("第三条 依照示例渔业法第一条、本法第二条处理。", ["2"]),
        ("第三条 依照本法第一条第一款、第二款和第二条处理。", ["1", "2"]),
        ("第三条 违反本实施细则第一条、第二条的，处罚款。", ["1", "2"]),
    ],
)
def test_articles_of_other_documents_are_told_by_the_words_before_them(
    catalog: PassageCatalog, content: str, expected: list[str]
) -> None:
    put(catalog, document("渔船法", {**FISHING, "3": content}))
    assert [article for article, _ in meant(catalog, "渔船法", "3")] == expected


def test_a_catalog_of_an_earlier_release_is_read_when_asked(
    catalog: PassageCatalog, tmp_path: Path
) -> None:
    put(catalog, document("渔船法", FISHING))
    as_of_an_earlier_release(tmp_path)
    assert meant(catalog, "渔船法", "3") == [("2", "第二条")]
    assert meant(catalog, "渔船法", "2") == []


def test_a_catalog_of_an_earlier_release_is_filled_as_its_documents_are_written(
    catalog: PassageCatalog, tmp_path: Path
) -> None:
    put(catalog, document("渔船法", FISHING), document("渔港法", FISHING))
    as_of_an_earlier_release(tmp_path)
    writer = PassageCatalog(tmp_path / "catalog.sqlite", create=True)
    put(writer, document("渔船法", FISHING))
    writer.close()
    assert kept(tmp_path) == [("a3", "a2", "第二条")]
    for title in ("渔船法", "渔港法"):
        assert meant(catalog, title, "3") == [("2", "第二条")]
