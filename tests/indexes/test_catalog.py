from __future__ import annotations

import threading
from datetime import date
from pathlib import Path

import pytest

from configs.errors import SourceUnavailableError
from indexes.catalog import PassageCatalog, other_row, row_id
from indexes.schema import Document, Filters
from tests.indexes.passages import document


@pytest.fixture
def catalog(tmp_path: Path) -> PassageCatalog:
    made = PassageCatalog(tmp_path / "catalog.sqlite", create=True)
    made.set_fingerprint("law", "model-a")
    return made


def put(catalog: PassageCatalog, *documents: Document) -> None:
    rows = {p.id: p.id for d in documents for p in d.passages}
    catalog.switch(documents[0].domain, [(d.key, d) for d in documents], rows, ())


def test_the_two_rows_of_a_passage_alternate_and_lead_back_to_its_id() -> None:
    id_ = "law:示例@2021#a1"
    assert other_row(id_) != id_
    assert other_row(other_row(id_)) == id_
    assert row_id(other_row(id_)) == row_id(id_) == id_


def test_a_passage_comes_back_as_it_went_in(catalog: PassageCatalog) -> None:
    made = document(
        "示例法",
        {"1": "第一条 内容。", "120-1": "第一百二十条之一"},
        heading_path=("第一编 总则", "第一章"),
        effective="2021-01-01",
        page=3,
    )
    put(catalog, made)
    assert catalog.get([p.id for p in made.passages] + ["law:x@1#a1"]) == {
        p.id: p for p in made.passages
    }
    assert catalog.document_passages("law", "示例法") == made.passages
    assert catalog.document_text("law", "示例法") == made.text
    assert catalog.document_text("law", "没有") is None
    assert catalog.find("law", "示例法", "120-1") == made.passages[1:]
    assert catalog.find("law", "示例法") == made.passages


def test_thousands_of_ids_are_asked_at_once(catalog: PassageCatalog) -> None:
    made = document("长法", {str(n): f"第{n}条" for n in range(5000)})
    put(catalog, made)
    assert len(catalog.get(p.id for p in made.passages)) == 5000
    assert len(list(catalog.ids("law"))) == len(set(catalog.ids("law"))) == 5000
    assert catalog.count("law") == 5000


def test_domains_are_apart(catalog: PassageCatalog) -> None:
    put(catalog, document("甲", {"1": "一"}))
    catalog.set_fingerprint("local", "model-b")
    put(catalog, document("甲", {"1": "一", "2": "二"}, domain="local"))
    assert (catalog.count("law"), catalog.count("local"), catalog.count("fiscal")) == (1, 2, 0)
    assert list(catalog.ids("law")) == ["law:甲@2021-01-01#a1"]
    assert catalog.fingerprint("law") == "model-a"
    assert catalog.fingerprint("fiscal") is None


def test_a_switch_replaces_the_whole_document_and_moves_the_version(
    catalog: PassageCatalog,
) -> None:
    assert catalog.store_version("law") == 0
    put(catalog, document("甲", {"1": "旧", "2": "旧"}), document("乙", {"1": "留"}))
    put(catalog, document("甲", {"2": "新", "3": "新"}))
    assert catalog.store_version("law") == 2
    assert [p.content for p in catalog.document_passages("law", "甲")] == ["新", "新"]
    assert [(d.doc_key, d.passages) for d in catalog.documents("law")] == [("乙", 1), ("甲", 2)]
    assert catalog.document_keys("law") == {"乙", "甲"}
    catalog.switch("law", [("甲", None)], {}, ("stale",))
    assert [d.doc_key for d in catalog.documents("law")] == ["乙"]
    assert catalog.pending("law") == ("stale",)
    catalog.clear_pending("law")
    assert catalog.pending("law") == ()


def test_a_switch_that_fails_changes_nothing(catalog: PassageCatalog) -> None:
    put(catalog, document("甲", {"1": "旧"}))
    with pytest.raises(KeyError):  # no row is given for the new passages
        catalog.switch("law", [("甲", document("甲", {"1": "新"}))], {}, ())
    assert catalog.document_passages("law", "甲")[0].content == "旧"
    assert catalog.store_version("law") == 1


def test_admitted_agrees_with_the_filters_of_the_schema(catalog: PassageCatalog) -> None:
    documents = [
        document("甲", {"1": "一"}, code="310000", effective="2020-01-01"),
        document("乙", {"1": "一"}, effective="2020-01-01", expires="2024-06-01"),
        document("丙", {"1": "一"}),
    ]
    put(catalog, *documents)
    passages = [p for d in documents for p in d.passages]
    for filters in (
        Filters(),
        Filters(jurisdictions=frozenset({"310000"})),
        Filters(as_of=date(2019, 12, 31)),
        Filters(as_of=date(2024, 6, 1), jurisdictions=frozenset({"100000"})),
    ):
        expected = {p.id for p in passages if filters.admits(p.metadata)}
        assert catalog.admitted([*(p.id for p in passages), "law:x@1#a9"], filters) == expected


def test_missing_metadata_is_counted_by_share(catalog: PassageCatalog) -> None:
    assert catalog.missing_metadata("law") == {}
    put(
        catalog,
        document("甲", {"1": "一"}, issuer="示例局"),
        document("乙", {"1": "一", "2": "二"}),
    )
    shares = catalog.missing_metadata("law")
    assert shares["issuer"] == pytest.approx(2 / 3)
    assert shares["title"] == 0.0
    assert shares["effective"] == shares["heading_path"] == 1.0


def test_a_level_that_has_no_such_field_by_nature_does_not_count(catalog: PassageCatalog) -> None:
    put(
        catalog,
        document("甲", {"1": "一"}, level="新闻解读"),
        document("乙", {"1": "一", "2": "二", "3": "三"}, level="法律"),
    )
    shares = catalog.missing_metadata("law", without={"effective": "新闻解读"})
    assert shares["effective"] == pytest.approx(3 / 4)
    assert shares["issuer"] == 1.0


def test_a_passage_written_before_there_were_table_headers_is_read(
    catalog: PassageCatalog,
) -> None:
    put(catalog, document("甲", {"1": "一"}))
    (identity,) = catalog.ids("law")
    with catalog._transaction() as connection:
        connection.execute(
            "UPDATE passages SET metadata = json_remove(metadata, '$.table_header') WHERE id = ?",
            (identity,),
        )
    assert catalog.get([identity])[identity].metadata.table_header == ""


def test_threads_read_while_one_writes(catalog: PassageCatalog) -> None:
    put(catalog, document("甲", {"1": "0", "2": "0"}))
    seen: list[set[str]] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            seen.append({p.content for p in catalog.document_passages("law", "甲")})

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for n in range(1, 30):
        put(catalog, document("甲", {"1": str(n), "2": str(n)}))
    stop.set()
    for thread in threads:
        thread.join()
    assert seen
    assert all(len(contents) == 1 for contents in seen)


def test_a_store_that_was_never_ingested_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailableError, match="ingest"):
        PassageCatalog(tmp_path / "catalog.sqlite")
