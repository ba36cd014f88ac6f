from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from configs.errors import InputError, StoreBusyError, StoreMismatchError
from configs.settings import Settings
from indexes import batching, chroma_client
from indexes.domain_index import DomainIndex
from indexes.schema import Document, SignalName
from indexes.writer import DocumentChange, DomainWriter
from tests.fakes import FakeEmbedder
from tests.indexes.passages import document, store_settings

SIGNALS: tuple[SignalName, ...] = ("dense", "keyword")
OLD = document("甲法", {"1": "渔业资源应当保护。", "2": "共同的内容不变。"})
NEW = document("甲法", {"1": "林业资源应当保护。", "2": "共同的内容不变。", "3": "新增的条文。"})


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return store_settings(tmp_path)


def put(writer: DomainWriter, *documents: Document) -> None:
    writer.apply([DocumentChange(d.key, d) for d in documents])


def shown(settings: Settings, query: str, signal: SignalName) -> list[str]:
    """The texts that a fresh reader gets, best first."""
    index = DomainIndex.open(settings, "law", FakeEmbedder())
    ids = [hit.id for hit in index.search(signal, query, 10)]
    passages = index.passages(ids)
    index.close()
    return [passages[id_].content for id_ in ids]


def test_new_content_under_the_same_id_replaces_the_old(settings: Settings) -> None:
    for version in (OLD, NEW, OLD, NEW):
        with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
            put(writer, version)
            assert writer.verify() == []
            assert writer.catalog.count("law") == len(version.passages)
    for signal in SIGNALS:
        assert shown(settings, "林业资源", signal)[0] == "林业资源应当保护。"
        assert "渔业资源应当保护。" not in shown(settings, "渔业资源", signal)


def test_first_ingest_keeps_passage_ids_as_rows(settings: Settings) -> None:
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        put(writer, OLD)
        assert sorted(writer.dense.all_ids()) == sorted(p.id for p in OLD.passages)


def test_unchanged_passages_are_neither_embedded_nor_written_again(settings: Settings) -> None:
    model = FakeEmbedder()
    with DomainWriter.open(settings, "law", model) as writer:
        put(writer, OLD)
        put(writer, NEW)
        put(writer, NEW)
        rows = set(writer.dense.all_ids())
    assert len(model.texts) == 4  # two of OLD, then the changed one and the added one
    assert f"{OLD.passages[1].id}" in rows


def test_a_removed_document_is_gone_everywhere(settings: Settings) -> None:
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        put(writer, OLD, document("乙法", {"1": "留下的内容。"}))
        writer.apply([DocumentChange("甲法", None), DocumentChange("没有", None)])
        assert writer.verify() == []
        assert (writer.catalog.count("law"), writer.dense.count(), writer.keyword.count()) == (
            1,
            1,
            1,
        )


def test_a_moved_file_keeps_its_passages(settings: Settings) -> None:
    moved = document("甲法", {"1": "渔业资源应当保护。"}, key="new.md", file="new.md")
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        put(writer, document("甲法", {"1": "渔业资源应当保护。"}, key="old.md", file="old.md"))
        writer.apply([DocumentChange("new.md", moved), DocumentChange("old.md", None)])
        assert writer.verify() == []
        assert [d.doc_key for d in writer.catalog.documents("law")] == ["new.md"]
        assert writer.catalog.get([moved.passages[0].id])[moved.passages[0].id].metadata.file == (
            "new.md"
        )


def test_a_claim_on_anothers_passages_is_refused_and_the_rest_goes_in(settings: Settings) -> None:
    thief = document("甲法", {"1": "冒名的内容。"}, key="thief.md")
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        put(writer, OLD)
        with pytest.raises(InputError, match=r"thief.md.*甲法"):
            put(writer, thief, document("乙法", {"1": "好的内容。"}))
        assert [d.doc_key for d in writer.catalog.documents("law")] == ["乙法", "甲法"]
        assert writer.catalog.document_passages("law", "甲法") == OLD.passages
        assert writer.verify() == []


def test_an_empty_document_is_listed_without_passages(settings: Settings) -> None:
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        put(writer, document("空文", {}))
        assert [(d.doc_key, d.passages) for d in writer.catalog.documents("law")] == [("空文", 0)]
        assert writer.verify() == []


class Stumbling(FakeEmbedder):
    """Fails on a certain word."""

    def embed_texts(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if any("坏" in text for text in texts):
            raise RuntimeError("model failed")
        return super().embed_texts(texts)


def test_a_failing_model_leaves_the_old_version_and_the_writer_usable(settings: Settings) -> None:
    with DomainWriter.open(settings, "law", Stumbling()) as writer:
        put(writer, OLD)
        with pytest.raises(RuntimeError):
            put(writer, document("甲法", {"1": "坏的内容"}))
        assert writer.catalog.document_passages("law", "甲法") == OLD.passages
        put(writer, NEW)
        assert writer.verify() == []


def test_a_failure_between_the_stores_is_undone_by_the_next_batch(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        put(writer, OLD)
        with monkeypatch.context() as patch:
            patch.setattr(writer.keyword, "commit", lambda: (_ for _ in ()).throw(OSError("full")))
            with pytest.raises(OSError, match="full"):
                put(writer, NEW)
        put(writer, document("乙法", {"1": "好的内容。"}))
        assert writer.verify() == []
        assert writer.catalog.document_passages("law", "甲法") == OLD.passages


def test_only_one_writer_at_a_time(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexes.store_layout.LOCK_WAIT_S", 0.05)
    with (
        DomainWriter.open(settings, "law", FakeEmbedder()),
        pytest.raises(StoreBusyError),
    ):
        DomainWriter.open(settings, "local", FakeEmbedder())
    DomainWriter.open(settings, "local", FakeEmbedder()).close()


def test_another_model_is_refused_and_the_lock_is_free_again(settings: Settings) -> None:
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        put(writer, OLD)
    with pytest.raises(StoreMismatchError, match=r"fake.*other"):
        DomainWriter.open(settings, "law", FakeEmbedder(name="other"))
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        assert writer.verify() == []


def test_verify_names_what_is_wrong_and_repair_mends_it(settings: Settings) -> None:
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        put(writer, NEW)
        writer.dense.delete_ids([NEW.passages[0].id])
        writer.keyword.delete_ids([NEW.passages[1].id])
        writer._write_keyword([("law:x@1#a1", NEW.passages[2])])
        problems = " ".join(writer.verify())
        assert "1 passages are missing in the vector store" in problems
        assert "1 passages are missing in the keyword index" in problems
        assert "1 rows in the keyword index are not listed" in problems
        writer.repair()
        assert writer.verify() == []


BIG = document("长法", {str(n): f"第{n}条 内容{n}" for n in range(60)})


@pytest.fixture
def saved_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chroma saves its vector index after every 50 writes, so that there is a file to harm."""
    monkeypatch.setattr("indexes.chroma_client.HNSW", {**chroma_client.HNSW, "sync_threshold": 50})


@pytest.mark.usefixtures("saved_at_once")
def test_a_lost_vector_index_is_written_again_from_the_cache(
    settings: Settings, tmp_path: Path
) -> None:
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        put(writer, BIG)
    saved = next((tmp_path / "chroma").glob("*/index_metadata.pickle"))
    saved.write_bytes(b"")  # as a kill during saving may leave it
    model = FakeEmbedder()
    with DomainWriter.open(settings, "law", model) as writer:
        assert writer.verify() == []
    assert model.texts == []
    assert shown(settings, "内容59", "dense")


@pytest.mark.usefixtures("saved_at_once")
def test_vectors_that_cannot_be_read_are_reported_and_repaired(
    settings: Settings, tmp_path: Path
) -> None:
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        put(writer, BIG)
    next((tmp_path / "chroma").glob("*/index_metadata.pickle")).unlink()
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        assert writer.verify() == ["law: some vectors cannot be read"]
        writer.repair()
        assert writer.verify() == []


def test_a_changed_dictionary_rebuilds_the_keyword_index(
    settings: Settings, tmp_path: Path
) -> None:
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        put(writer, document("甲法", {"1": "请出示绿色礼券申领码后办理。"}))
        assert "绿色礼券申领码" not in writer.keyword._tokenizer.tokens("绿色礼券申领码")
    words = tmp_path / "words.txt"
    words.write_text("绿色礼券申领码\n", encoding="utf-8")
    law = settings.domains["law"]
    keyword = law.keyword.model_copy(update={"dictionary": str(words)})
    changed = settings.model_copy(
        update={"domains": {"law": law.model_copy(update={"keyword": keyword})}}
    )
    with DomainWriter.open(changed, "law", FakeEmbedder()) as writer:
        searcher = writer.keyword._index.searcher()
        assert searcher.doc_freq("body", "绿色礼券申领码") == 1
        assert writer.verify() == []


def test_many_documents_go_in_by_bounded_batches(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "BATCH_PASSAGES", 10)
    documents = [document(f"法{n}", {"1": f"内容{n}", "2": "同"}) for n in range(12)]
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        put(writer, *documents)
        assert writer.catalog.store_version("law") == 3  # 24 passages by 10
        assert writer.catalog.count("law") == 24
        assert writer.verify() == []


def test_a_growing_store_is_saved_in_larger_steps_and_keeps_every_row(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Steps of 100 rows, one save while the rows double: from 200 rows on a step of as many is due.
    monkeypatch.setattr(chroma_client, "HNSW", {**chroma_client.HNSW, "sync_threshold": 100})
    monkeypatch.setattr(chroma_client, "SAVES", 1)

    def step(writer: DomainWriter) -> int:
        return int(writer.dense.client._model.configuration_json["hnsw"]["sync_threshold"])

    def law(name: str, count: int) -> Document:
        return document(name, {str(n): f"第{n}条 {name}内容{n}" for n in range(count)})

    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        put(writer, law("甲法", 150))
        assert step(writer) == 100
        put(writer, law("乙法", 70))
        assert step(writer) == 220
        put(writer, law("丙法", 5))
        assert writer.verify() == []
        assert writer.dense.count() == 225
    assert shown(settings, "乙法内容69", "dense")[0] == "第69条 乙法内容69"
