"""Comparing the stores of a domain, and making two of them anew."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from configs.errors import InputError, SourceUnavailableError, StoreBusyError
from indexes import rebuilding
from indexes.chroma_store import CosineChromaVectorStore
from indexes.domain_index import DomainIndex
from indexes.keyword_index import KeywordIndex
from indexes.store_layout import StoreLayout
from indexes.writer import DocumentChange, DomainWriter
from ingest.ledger import Ledger
from ingest.rebuild import rebuild
from ingest.verify import verify
from tests.fakes import FakeEmbedder
from tests.indexes.passages import document, passage
from tests.ingest.documents import run_ingest, settings, statute, stored, write

TITLES = [f"第{n}号条例（虚构示例）" for n in range(4)]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for n, title in enumerate(TITLES):
        write(tmp_path / "d" / f"{n}.md", statute(title, [f"渔船{n}应当登记。", f"休渔{n}个月。"]))
    run_ingest(tmp_path / "store", tmp_path / "d")
    return tmp_path / "store"


def spoil(store: Path, change: Callable[[DomainWriter], None]) -> None:
    with DomainWriter.open(settings(store), "law", FakeEmbedder()) as writer:
        change(writer)


def differences(store: Path) -> set[tuple[str, str, int]]:
    return {(d.place, d.kind, d.count) for d in verify(settings(store), "law").differences}


def found(index: DomainIndex, query: str) -> set[str]:
    return {hit.id for signal in index.signals for hit in index.search(signal, query, 1)}


def test_stores_that_agree_are_ok(store: Path) -> None:
    report = verify(settings(store), "law")
    assert (report.ok, report.documents, report.passages) == (True, 4, 8)


def test_missing_extra_and_changed_passages_are_told_by_store(store: Path) -> None:
    first = next(iter(stored(store)))

    def change(writer: DomainWriter) -> None:
        row, held = next(iter(writer.catalog.passages("law")))
        assert row == first
        vector = writer.cache.embed(writer.embedder, ["别的内容"])
        writer.dense.upsert([row], [passage("别的内容", title=held.metadata.title)], vector)
        writer.keyword.delete_ids([row])
        writer.keyword.add(["law:多余@1#a1"], [passage("多余")])
        writer.keyword.commit()

    spoil(store, change)
    assert differences(store) == {
        ("vector store", "differs", 1),
        ("keyword index", "missing", 1),
        ("keyword index", "extra", 1),
    }
    assert rebuild(settings(store), "law", embedder=FakeEmbedder(), grace_s=0) == 8
    assert differences(store) == set()


def test_documents_that_ledger_or_catalog_lack_are_told(store: Path, tmp_path: Path) -> None:
    by_hand = document("手写法", {"1": "虚构示例。"})
    gone = DocumentChange(str(tmp_path / "d" / "0.md"), None)
    spoil(store, lambda writer: writer.apply([gone, DocumentChange("by hand", by_hand)]))
    assert differences(store) == {("ledger", "missing", 1), ("catalog", "missing", 1)}


def test_content_that_does_not_fit_its_hash_is_told(store: Path) -> None:
    connection = sqlite3.connect(StoreLayout(store).catalog)
    connection.execute("UPDATE passages SET content = content || '改' WHERE article = '2'")
    connection.commit()
    connection.close()
    assert ("catalog", "differs", 4) in differences(store)


def test_rebuilding_embeds_and_reads_nothing_and_searches_go_on_meanwhile(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in (tmp_path / "d").iterdir():
        file.unlink()
    before = stored(store)
    index = DomainIndex.open(settings(store), "law", FakeEmbedder())
    want = found(index, "渔船2应当登记。")
    seen: list[set[str]] = []
    original = DomainWriter.switch_dense

    def switch(writer: DomainWriter, *arguments: object) -> None:
        seen.append(found(index, "渔船2应当登记。"))
        original(writer, *arguments)  # type: ignore[arg-type]
        seen.append(found(index, "渔船2应当登记。"))

    def slowly(vectors: CosineChromaVectorStore) -> None:
        time.sleep(0.5)  # longer than a question waits for the new vectors to open
        warm(vectors)

    warm = CosineChromaVectorStore.warm
    monkeypatch.setattr(DomainWriter, "switch_dense", switch)
    monkeypatch.setattr(CosineChromaVectorStore, "warm", slowly)
    embedder = FakeEmbedder()
    assert rebuild(settings(store), "law", embedder=embedder, grace_s=0) == 8
    seen.append(found(index, "渔船2应当登记。"))
    index.close()
    assert seen == [want] * 3
    assert embedder.texts == []
    assert stored(store) == before
    with Ledger(store) as ledger:
        assert ledger.totals("law") == (4, 4, 8)
    run_ingest(store, write(tmp_path / "d" / "x.md", statute("新条例（虚构示例）", ["新。"])))
    assert differences(store) == set()


@pytest.mark.parametrize("step", ["switch_dense", "drop"])
def test_a_rebuild_that_is_cut_off_loses_nothing(
    store: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    before = stored(store)

    class CutOffError(BaseException):
        pass

    def cut(*_: object) -> None:
        raise CutOffError

    with monkeypatch.context() as patched:
        patched.setattr(DomainWriter, step, cut)
        with pytest.raises(CutOffError):
            rebuild(settings(store), "law", embedder=FakeEmbedder(), grace_s=0)
    index = DomainIndex.open(settings(store), "law", FakeEmbedder())
    assert found(index, "渔船2应当登记。")
    index.close()
    spoil(store, lambda writer: None)  # the next writer mends
    assert differences(store) == set()
    assert stored(store) == before
    assert rebuild(settings(store), "law", embedder=FakeEmbedder(), grace_s=0) == 8
    assert differences(store) == set()


@pytest.mark.parametrize("step", ["add", "clear"])
def test_the_mending_of_a_rebuild_that_was_cut_off_may_be_cut_off_too(
    store: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    class CutOffError(BaseException):
        pass

    def cut(*_: object) -> None:
        raise CutOffError

    with monkeypatch.context() as patched:
        patched.setattr(DomainWriter, "switch_dense", cut)
        with pytest.raises(CutOffError):
            rebuild(settings(store), "law", embedder=FakeEmbedder(), grace_s=0)
    with monkeypatch.context() as patched:
        patched.setattr(KeywordIndex, step, cut)
        with pytest.raises(CutOffError):
            spoil(store, lambda writer: None)
    assert differences(store) == set()  # the old rows are still found
    spoil(store, lambda writer: None)
    assert differences(store) == set()


def test_readers_get_time_to_open_the_new_vectors(store: Path) -> None:
    waited: list[float] = []
    with DomainWriter.open(settings(store), "law", FakeEmbedder()) as writer:
        rebuilding.rebuild_indexes(writer, lambda *_: None, grace_s=7.0, sleep=waited.append)
    assert waited == [7.0]


def test_what_cannot_be_done_is_named(store: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing in it"):
        rebuild(settings(store), "local", embedder=FakeEmbedder())
    with pytest.raises(SourceUnavailableError):
        verify(settings(tmp_path / "nowhere"), "law")
    lock = StoreLayout(store).lock_writer()
    try:
        with pytest.raises(StoreBusyError):
            verify(settings(store), "law")
    finally:
        lock.release()
