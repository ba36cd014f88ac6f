from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from configs.errors import (
    ConfigError,
    InputError,
    SourceUnavailableError,
    StoreMismatchError,
)
from configs.settings import Settings, SignalConfig
from indexes.chroma_store import CosineChromaVectorStore
from indexes.domain_index import DomainIndex
from indexes.schema import Filters, SignalName
from indexes.writer import DocumentChange, DomainWriter
from tests.fakes import FakeEmbedder
from tests.indexes.passages import document, store_settings

DOCUMENTS = [
    document("示例劳动法", {"1": "解除合同的应当支付经济补偿。", "2": "工作时间每日八小时。"}),
    document("甲市购车补贴办法", {"1": "购买新能源汽车可以申领补贴。"}, code="310000"),
    document("乙市购车补贴办法", {"1": "购买新能源汽车可以申领补贴。"}, code="110000"),
    document(
        "旧补贴办法", {"1": "购买汽车可以申领补贴。"}, effective="2010-01-01", expires="2020-01-01"
    ),
]
SIGNALS: tuple[SignalName, ...] = ("dense", "keyword")


def write(settings: Settings, *changes: DocumentChange) -> None:
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        writer.apply(changes)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = store_settings(tmp_path)
    write(made, *(DocumentChange(d.key, d) for d in DOCUMENTS))
    return made


@pytest.fixture
def index(settings: Settings) -> Iterator[DomainIndex]:
    made = DomainIndex.open(settings, "law", FakeEmbedder())
    yield made
    made.close()


def test_both_signals_find_the_passage_and_it_can_be_read(index: DomainIndex) -> None:
    assert index.signals == SIGNALS
    assert index.count() == 5
    for signal in SIGNALS:
        best = index.search(signal, "经济补偿", 3)[0]
        assert index.passages([best.id])[best.id].content == "解除合同的应当支付经济补偿。"


@pytest.mark.parametrize("signal", SIGNALS)
@pytest.mark.parametrize(
    "filters",
    [
        Filters(),
        Filters(jurisdictions=frozenset({"310000", "100000"})),
        Filters(as_of=date(2024, 1, 1)),
        Filters(as_of=date(2015, 1, 1), jurisdictions=frozenset({"100000"})),
        Filters(jurisdictions=frozenset({"999999"})),
    ],
)
def test_filters_hold_for_every_signal(
    index: DomainIndex, signal: SignalName, filters: Filters
) -> None:
    found = {hit.id for hit in index.search(signal, "购买汽车申领补贴", 10, filters)}
    admitted = {p.id for d in DOCUMENTS for p in d.passages if filters.admits(p.metadata)}
    assert found <= admitted
    if signal == "dense":
        assert found == admitted


# 91 passages. For one that is wanted Chroma has to filter; for two or forty, a further look does.
@pytest.mark.parametrize("k", [1, 2, 40])
def test_a_rare_place_is_found_beyond_the_nearest_passages(tmp_path: Path, k: int) -> None:
    settings = store_settings(tmp_path)
    near = document("近", {str(n): f"购车补贴申领条件{n}" for n in range(90)})
    far = document("远", {"1": "渔业资源"}, code="310000", effective="2020-01-01")
    write(settings, DocumentChange("近", near), DocumentChange("远", far))
    index = DomainIndex.open(settings, "law", FakeEmbedder())
    place = Filters(jurisdictions=frozenset({"310000"}), as_of=date(2024, 1, 1))
    assert [hit.id for hit in index.search("dense", "购车补贴", k, place)] == [far.passages[0].id]
    index.close()


def test_questions_of_any_length_work(index: DomainIndex) -> None:
    for signal in SIGNALS:
        assert index.search(signal, "购买新能源汽车补贴" * 1200, 2)
        assert index.search(signal, "  \n", 2) == ()
        assert len(index.search(signal, "补贴", 10_000)) <= 5
    with pytest.raises(InputError):
        index.search("dense", "补贴", 0)


def test_a_running_reader_follows_the_writer(settings: Settings, index: DomainIndex) -> None:
    for signal in SIGNALS:
        index.search(signal, "渔业资源", 1)
    new = document("示例渔业法", {"1": "渔业资源应当保护。"})
    write(settings, DocumentChange(new.key, new), DocumentChange("示例劳动法", None))
    for signal in SIGNALS:
        deadline = time.monotonic() + 60.0
        while index.search(signal, "渔业资源", 1)[0].id != new.passages[0].id:
            assert time.monotonic() < deadline
            time.sleep(0.02)  # the vector store is opened again in the background
        assert "示例劳动法" not in str(index.search(signal, "经济补偿", 10))


def test_rows_that_the_catalog_does_not_list_are_not_shown(
    settings: Settings, index: DomainIndex
) -> None:
    ghost = document("幽灵法", {"1": "渔业资源应当保护。"}).passages
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        model = FakeEmbedder()
        rows = [(p.id, p) for p in ghost]
        writer._write_dense(rows, model.embed_texts([p.embedding_text() for p in ghost]))
        writer._write_keyword(rows)
    fresh = DomainIndex.open(settings, "law", FakeEmbedder())
    for signal in SIGNALS:
        assert "幽灵法" not in str(fresh.search(signal, "渔业资源", 10))
    fresh.close()


def test_a_signal_without_weight_or_model_is_left_out(settings: Settings) -> None:
    index = DomainIndex.open(settings, "law", None)
    assert index.signals == ("keyword",)
    with pytest.raises(InputError, match="dense"):
        index.search("dense", "补贴", 1)
    index.close()
    law = settings.domains["law"]
    silent = law.model_copy(update={"keyword": law.keyword.model_copy(update={"weight": 0.0})})
    changed = settings.model_copy(update={"domains": {"law": silent}})
    index = DomainIndex.open(changed, "law", FakeEmbedder())
    assert index.signals == ("dense",)
    index.close()
    assert isinstance(silent.dense, SignalConfig)


def test_another_model_is_refused_before_the_first_question(settings: Settings) -> None:
    with pytest.raises(StoreMismatchError, match="other"):
        DomainIndex.open(settings, "law", FakeEmbedder(name="other"))


def test_what_was_never_ingested_or_configured_is_said(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailableError, match="policy-fusion ingest local"):
        DomainIndex.open(settings, "local", FakeEmbedder())
    with pytest.raises(SourceUnavailableError):
        DomainIndex.open(store_settings(tmp_path / "none"), "law", FakeEmbedder())
    with pytest.raises(ConfigError, match="law"):
        DomainIndex.open(settings, "fiscal", FakeEmbedder())


def test_many_threads_search_at_once_while_documents_change(
    settings: Settings, index: DomainIndex
) -> None:
    errors: list[BaseException] = []
    stop = threading.Event()

    def work(signal: SignalName) -> None:
        place = Filters(jurisdictions=frozenset({"310000"}))
        try:
            while not stop.is_set():
                assert index.search(signal, "新能源汽车补贴", 3)
                assert len(index.search(signal, "新能源汽车补贴", 3, place)) == 1
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(s,)) for s in SIGNALS for _ in range(2)]
    for thread in threads:
        thread.start()
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        for n in range(8):
            new = document("变动", {str(i): f"第{n}次 {i}" for i in range(20)})
            writer.apply([DocumentChange("变动", new)])
    stop.set()
    for thread in threads:
        thread.join()
    assert errors == []


@pytest.mark.parametrize(("foreign", "conditions"), [(3, 0), (50, 0), (130, 1)])
def test_a_filter_goes_into_the_vector_store_only_when_wider_searches_do_not_fill_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, foreign: int, conditions: int
) -> None:
    # For k = 2 the 8, 32 and 128 nearest are looked at; the foreign ones are nearer.
    settings = store_settings(tmp_path)
    near = document("甲", {str(n): "购车补贴" for n in range(foreign)}, code="110000")
    own = document("乙", {str(n): "购车的补贴另有规定" for n in range(20)}, code="310000")
    write(settings, DocumentChange("甲", near), DocumentChange("乙", own))
    asked: list[object] = []
    search = CosineChromaVectorStore.search

    def spy(store: CosineChromaVectorStore, vector: list[float], k: int, where: Any = None) -> Any:
        asked.append(where)
        return search(store, vector, k, where)

    index = DomainIndex.open(settings, "law", FakeEmbedder())
    monkeypatch.setattr(CosineChromaVectorStore, "search", spy)
    found = index.search("dense", "购车补贴", 2, Filters(jurisdictions=frozenset({"310000"})))
    index.close()
    assert len(found) == 2
    assert all(hit.id.startswith("law:乙@") for hit in found)
    assert sum(where is not None for where in asked) == conditions
