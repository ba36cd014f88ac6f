from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import (
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)
from llama_index.vector_stores.chroma import ChromaVectorStore

from configs.errors import (
    ConfigError,
    InputError,
    SourceUnavailableError,
    StoreMismatchError,
)
from configs.settings import StoreConfig
from indexes.chroma_store import CosineChromaVectorStore
from tests.indexes.passages import passage

AXES = np.eye(4, dtype=np.float32)


def opened(
    directory: Path, fingerprint: str | None = "model-a", *, create: bool = False
) -> CosineChromaVectorStore:
    return CosineChromaVectorStore.open(
        StoreConfig(), directory, "test_law", fingerprint, create=create
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CosineChromaVectorStore]:
    made = opened(tmp_path, create=True)
    yield made
    made.close()


def fill(store: CosineChromaVectorStore, vectors: np.ndarray) -> None:
    passages = [passage(f"第{n}条", article=str(n)) for n in range(len(vectors))]
    store.upsert([str(n) for n in range(len(vectors))], passages, vectors)


def test_scores_are_true_cosines(store: CosineChromaVectorStore) -> None:
    fill(store, np.array([[1, 0, 0, 0], [0.8, 0.6, 0, 0], [0, 1, 0, 0], [-1, 0, 0, 0]], "f4"))
    hits = store.search([1.0, 0.0, 0.0, 0.0], 10)
    assert [hit.id for hit in hits] == ["0", "1", "2", "3"]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.8, 0.0, -1.0], abs=1e-6)
    assert all(-1.0 <= hit.score <= 1.0 for hit in hits)


def test_llama_index_queries_give_cosines_too(store: CosineChromaVectorStore) -> None:
    fill(store, np.array([[1, 0, 0, 0], [0.8, 0.6, 0, 0], [0, 1, 0, 0], [-1, 0, 0, 0]], "f4"))
    assert isinstance(store, ChromaVectorStore)
    for mode in (VectorStoreQueryMode.DEFAULT, VectorStoreQueryMode.MMR):
        query = VectorStoreQuery([1.0, 0.0, 0.0, 0.0], similarity_top_k=4, mode=mode)
        result = store.query(query)
        cosines = dict(zip(result.ids or [], result.similarities or [], strict=True))
        assert cosines == pytest.approx({"0": 1.0, "1": 0.8, "2": 0.0, "3": -1.0}, abs=1e-6)
    assert (result.nodes or [])[0].get_content() == "第0条"


def test_what_the_plain_adapter_ignores_is_obeyed_or_refused(
    store: CosineChromaVectorStore,
) -> None:
    fill(store, AXES)
    query = VectorStoreQuery([1.0, 0.0, 0.0, 0.0], similarity_top_k=4, node_ids=["2"])
    assert store.query(query).ids == ["2"]
    by_article = MetadataFilters(filters=[MetadataFilter(key="article", value="3")])
    query = VectorStoreQuery([1.0, 0.0, 0.0, 0.0], similarity_top_k=4, filters=by_article)
    assert store.query(query).ids == ["3"]
    with pytest.raises(InputError, match="doc_ids"):
        store.query(VectorStoreQuery([1.0, 0, 0, 0], doc_ids=["x"]))
    with pytest.raises(InputError, match="mode"):
        store.query(VectorStoreQuery([1.0, 0, 0, 0], mode=VectorStoreQueryMode.HYBRID))


def test_llama_index_nodes_are_added_in_batches_and_replaced(
    store: CosineChromaVectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexes.chroma_store.WRITE_BATCH", 2)
    nodes = [TextNode(id_=f"n{i}", text=f"旧{i}", embedding=AXES[i].tolist()) for i in range(3)]
    assert store.add(nodes) == ["n0", "n1", "n2"]
    store.add([TextNode(id_="n1", text="新", embedding=AXES[1].tolist())])
    result = store.query(VectorStoreQuery(AXES[1].tolist(), similarity_top_k=1))
    assert (result.nodes or [])[0].get_content() == "新"
    assert store.count() == 3


def test_a_plain_llama_index_user_finds_text_and_metadata_in_the_collection(
    tmp_path: Path, store: CosineChromaVectorStore
) -> None:
    store.upsert(["x"], [passage("虚构示例内容", doc_number="示府〔2024〕1号")], AXES[:1])
    store.close()
    client = chromadb.PersistentClient(str(tmp_path))
    plain = ChromaVectorStore.from_collection(client.get_collection("test_law", None))
    result = plain.query(VectorStoreQuery(AXES[0].tolist(), similarity_top_k=1))
    node = (result.nodes or [])[0]
    assert node.get_content() == "虚构示例内容"
    assert node.metadata["doc_number"] == "示府〔2024〕1号"
    client.close()
    store._system = None


def test_replacing_a_row_leaves_nothing_of_the_old_one(store: CosineChromaVectorStore) -> None:
    store.upsert(["x"], [passage("旧", page=7, expires="2024-01-01")], AXES[:1])
    store.upsert(["x"], [passage("新")], AXES[1:2])
    got = store.client.get(ids=["x"], include=["documents", "metadatas", "embeddings"])
    assert got["documents"] == ["新"]
    assert "page" not in got["metadatas"][0]
    assert "expires" not in got["metadatas"][0]
    assert got["embeddings"][0].tolist() == AXES[1].tolist()
    assert store.count() == 1


def test_rows_are_counted_listed_and_deleted(
    store: CosineChromaVectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexes.chroma_store.PAGE", 3)
    monkeypatch.setattr("indexes.chroma_store.WRITE_BATCH", 2)
    fill(store, np.tile(AXES, (2, 1)))
    assert sorted(store.all_ids()) == [str(n) for n in range(8)]
    store.delete_ids(["0", "5", "7", "absent"])
    store.delete_ids(["0"])
    assert store.count() == 5
    assert store.present(["0", "1", "absent"]) == {"1"}
    assert store.readable()
    assert store.search(AXES[0].tolist(), 10, {"article": {"$in": ["4", "0"]}})[0].id == "4"


def test_a_large_collection_is_saved_in_larger_steps(
    tmp_path: Path, store: CosineChromaVectorStore
) -> None:
    def hnsw() -> dict[str, Any]:
        again = opened(tmp_path)
        found = dict(again.client._model.configuration_json["hnsw"])
        again.close()
        return found

    before = hnsw()
    store.plan_saves(10)
    assert hnsw() == before
    store.plan_saves(50 * before["sync_threshold"] * 3)
    assert hnsw() == {**before, "sync_threshold": before["sync_threshold"] * 3}


def test_an_empty_collection_answers_with_nothing(store: CosineChromaVectorStore) -> None:
    store.warm()
    assert store.search([1.0, 0.0, 0.0, 0.0], 5) == ()
    assert list(store.all_ids()) == []


def test_another_model_of_the_same_dimension_is_refused(
    tmp_path: Path, store: CosineChromaVectorStore
) -> None:
    with pytest.raises(StoreMismatchError, match=r"model-a.*model-b"):
        opened(tmp_path, "model-b")
    with pytest.raises(StoreMismatchError):
        opened(tmp_path, "model-b", create=True)


def test_a_collection_of_another_space_is_refused(tmp_path: Path) -> None:
    client = chromadb.PersistentClient(str(tmp_path))
    client.create_collection("test_law", metadata={"fingerprint": "model-a"})
    client.close()
    with pytest.raises(StoreMismatchError, match="l2"):
        opened(tmp_path)


def test_what_is_absent_out_of_reach_or_badly_named_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailableError, match="ingest"):
        opened(tmp_path / "nowhere")
    with pytest.raises(SourceUnavailableError, match="ingest"):
        opened(tmp_path)
    with pytest.raises(ConfigError, match="'x'"):
        CosineChromaVectorStore.open(StoreConfig(), tmp_path, "x", "m", create=True)
    dead = StoreConfig(chroma="server", port=1)
    with pytest.raises(SourceUnavailableError, match="chroma run") as caught:
        CosineChromaVectorStore.open(dead, tmp_path, "test_law", "m")
    assert "\n" not in str(caught.value)


def test_a_second_opening_sees_what_the_first_one_wrote_later(
    tmp_path: Path, store: CosineChromaVectorStore
) -> None:
    fill(store, AXES[:2])
    before = opened(tmp_path)
    before.warm()
    fill(store, AXES)
    after = opened(tmp_path)
    assert after.search(AXES[3].tolist(), 1)[0].id == "3"
    before.close()
    assert after.search(AXES[2].tolist(), 1)[0].id == "2"
    after.close()


def test_a_filtered_search_in_an_old_view_still_answers(
    tmp_path: Path, store: CosineChromaVectorStore
) -> None:
    fill(store, AXES[:2])
    old = opened(tmp_path)
    old.warm()
    fill(store, AXES)  # the old view's metadata now know rows that its vectors do not
    hits = old.search(AXES[0].tolist(), 1, {"article": {"$in": ["0", "3"]}})
    assert "0" in {hit.id for hit in hits}
    old.close()


def test_the_nearest_hundred_are_nearly_all_found(store: CosineChromaVectorStore) -> None:
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(40, 48))
    vectors = centres[rng.integers(0, 40, 4000)] + 0.7 * rng.normal(size=(4000, 48))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    fill(store, vectors)
    shares = []
    for row in rng.integers(0, 4000, 20):
        exact = set(np.argsort(-(vectors @ vectors[row]))[:100].tolist())
        found = {int(hit.id) for hit in store.search(vectors[row].tolist(), 100)}
        shares.append(len(found & exact) / 100)
    assert math.fsum(shares) / len(shares) >= 0.95
