"""Query adapters: arithmetic by hand, files that do not fit, one base under several domains."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from configs.errors import ConfigError, ModelMissingError
from configs.settings import EmbeddingConfig
from indexes.domain_index import DomainIndex
from indexes.embeddings import load_embedder
from indexes.query_adapter import AdaptedEmbedder, QueryAdapter, load_query_adapter
from indexes.writer import DocumentChange, DomainWriter
from tests.fakes import FakeEmbedder
from tests.indexes.passages import document, store_settings

PROBE = "怎么申请补贴？"


def adapter(base: FakeEmbedder, **changes: object) -> QueryAdapter:
    size = base.dimension
    made = QueryAdapter(
        matrix=np.zeros((size, size), dtype=np.float32),
        shift=np.zeros(size, dtype=np.float32),
        probe=PROBE,
        probe_vector=base._vector(PROBE),
        instruction="",
        base=base.fingerprint.key,
        provenance="虚构示例",
    )
    return replace(made, **changes)


def test_a_query_is_moved_by_its_map_and_the_shift_and_has_length_one_again() -> None:
    small = QueryAdapter(
        matrix=np.array([[0.0, 2.0], [0.0, 0.0]], dtype=np.float32),
        shift=np.array([2.0, 2.0], dtype=np.float32),
        probe="",
        probe_vector=np.array([1.0, 0.0], dtype=np.float32),
        instruction="",
        base="",
        provenance="",
    )
    # (1, 0) + (0, 2) + (2, 2) = (3, 4), of length 5; (0, 1) + 0 + (2, 2) = (2, 3)
    assert small.apply([1.0, 0.0]) == pytest.approx([0.6, 0.8])
    rows = small.apply([[1.0, 0.0], [0.0, 1.0]])
    assert rows == pytest.approx(np.array([[0.6, 0.8], [2 / 13**0.5, 3 / 13**0.5]]))


def test_a_saved_adapter_is_read_back_and_is_small(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    base = FakeEmbedder(dimension=384)
    matrix = rng.normal(0, 0.1, (384, 384)).astype(np.float32)
    written = adapter(base, matrix=matrix, instruction="query: ")
    written.save(tmp_path / "a.npz")
    read = load_query_adapter(str(tmp_path / "a.npz"))
    assert read.matrix == pytest.approx(matrix, abs=1e-3)
    assert (read.probe, read.instruction, read.base) == (PROBE, "query: ", written.base)
    assert read.provenance == "虚构示例"
    assert (tmp_path / "a.npz").stat().st_size < 300_000


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"matrix": np.zeros((64, 32), dtype=np.float32)}, "disagree"),
        ({"probe_vector": np.zeros(3, dtype=np.float32)}, "disagree"),
        ({"shift": np.zeros((2, 2), dtype=np.float32)}, "expected one dimension"),
        ({"shift": np.full(64, np.nan, dtype=np.float32)}, "not finite"),
    ],
)
def test_a_file_with_wrong_numbers_is_refused(
    tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    adapter(FakeEmbedder(), **changes).save(tmp_path / "a.npz")
    with pytest.raises(ConfigError, match=said) as raised:
        load_query_adapter(str(tmp_path / "a.npz"))
    assert "remove embedding.adapter" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", [None, b"", b"no numbers", b"PK\x03\x04 broken"])
def test_a_file_that_is_no_adapter_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "a.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match="cannot be read"):
        load_query_adapter(str(path))


def test_an_adapter_of_another_version_or_with_a_part_missing_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "new.npz", version=np.int64(99))
    np.savez(tmp_path / "part.npz", version=np.int64(1), matrix=np.eye(2))
    with pytest.raises(ConfigError, match="version 99, expected 1"):
        load_query_adapter(str(tmp_path / "new.npz"))
    with pytest.raises(ConfigError, match="shift"):
        load_query_adapter(str(tmp_path / "part.npz"))


def test_only_questions_pass_through_the_adapter() -> None:
    base = FakeEmbedder()
    turned = AdaptedEmbedder(base, adapter(base, matrix=-2 * np.eye(64, dtype=np.float32)), "x")
    assert turned.embed_query("公积金") == pytest.approx(-base._vector("公积金"), abs=1e-6)
    assert turned.embed_texts(["公积金"]) == pytest.approx(base.embed_texts(["公积金"]))
    assert turned.fingerprint == base.fingerprint


def test_an_adapter_of_another_dimension_or_instruction_is_refused() -> None:
    base = FakeEmbedder()
    with pytest.raises(ConfigError, match="for 32 dimensions, the model 'fake' has 64"):
        _ = AdaptedEmbedder(base, adapter(FakeEmbedder(dimension=32)), "x").fingerprint
    with pytest.raises(ConfigError, match="query instruction 'query: ', not ''"):
        _ = AdaptedEmbedder(base, adapter(base, instruction="query: "), "x").fingerprint


def test_a_model_that_gives_other_vectors_than_the_base_is_refused() -> None:
    base = FakeEmbedder()
    other = base._vector("完全不同的句子")
    strange = AdaptedEmbedder(base, adapter(base, probe_vector=other), "law.npz")
    with pytest.raises(ModelMissingError, match=r"'law\.npz' was trained on the model fake-.*set"):
        strange.embed_query("公积金")


def test_vectors_that_are_a_little_off_are_still_those_of_the_base() -> None:
    base = FakeEmbedder()
    near = base._vector(PROBE) + np.float32(0.015)  # 64 * .015^2 = .0144: cosine about .993
    assert len(AdaptedEmbedder(base, adapter(base, probe_vector=near), "x").embed_query("税")) == 64


def test_domains_share_the_base_and_keep_their_adapters_apart(tmp_path: Path) -> None:
    base = FakeEmbedder()
    for name, factor in (("a", -2.0), ("b", 1.0)):
        matrix = factor * np.eye(64, dtype=np.float32)
        adapter(base, matrix=matrix).save(tmp_path / f"{name}.npz")
    plain = EmbeddingConfig(model="e5-small-zh")
    first, second, same = (
        load_embedder(plain.model_copy(update={"adapter": str(tmp_path / name)}))
        for name in ("a.npz", "b.npz", "a.npz")
    )
    assert first is same
    assert first is not second
    assert isinstance(first, AdaptedEmbedder)
    assert isinstance(second, AdaptedEmbedder)
    assert first._base is second._base is load_embedder(plain)


def test_a_wrong_adapter_file_is_told_when_the_embedder_is_made() -> None:
    with pytest.raises(ConfigError, match=r"'absent\.npz' cannot be read"):
        load_embedder(EmbeddingConfig(adapter="absent.npz"))


def test_a_store_built_by_the_base_is_searched_through_an_adapter(tmp_path: Path) -> None:
    settings, base = store_settings(tmp_path), FakeEmbedder()
    texts = document("甲法", {"1": "渔业资源应当保护。", "2": "公积金贷款由银行发放。"})
    with DomainWriter.open(settings, "law", base) as writer:
        writer.apply([DocumentChange(texts.key, texts)])
    # A map that sends every question to the second article, whatever it says.
    goal = 100 * base._vector(texts.passages[1].embedding_text())
    turned = AdaptedEmbedder(base, adapter(base, shift=goal), "x")
    for embedder, best in ((base, 0), (turned, 1)):
        index = DomainIndex.open(settings, "law", embedder)
        assert index.search("dense", "渔业资源", 1)[0].id == texts.passages[best].id
        index.close()
