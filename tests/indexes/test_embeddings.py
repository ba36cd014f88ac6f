"""Embedders on a tiny model of one layer, loaded by the real HuggingFaceEmbedding."""

from __future__ import annotations

import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from configs.errors import ModelMissingError
from configs.settings import EmbeddingConfig
from indexes import bundled_model as building
from indexes.bundled_model import build_bundled_model
from indexes.embeddings import (
    Embedder,
    ModelFingerprint,
    directory_revision,
    length_sorted_batches,
    load_embedder,
)
from indexes.model_precision import resolve_precision
from indexes.model_workers import model_workers, parallel_batches
from tests.indexes.packed_e5 import HIDDEN, write_packed

TEXTS = ["公积金税率", "", "  \n", "税" * 5000, "坏\ud800字", "税", "GDP税率公积金"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tiny")
    path = write_packed(root / "packed.bin")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "_packed_path", lambda: path)
        return build_bundled_model(root / "tiny-zh")


def config(directory: Path, **changes: object) -> EmbeddingConfig:
    base = {"provider": "huggingface", "model": str(directory), "max_length": 32}
    return EmbeddingConfig.model_validate({**base, "precision": "float32", **changes})


def test_equal_configurations_share_one_embedder_and_others_do_not(tiny: Path) -> None:
    shared = load_embedder(config(tiny))
    assert load_embedder(config(tiny)) is shared
    assert load_embedder(config(tiny, max_length=16)) is not shared


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8"])
def test_any_text_gets_a_finite_unit_vector(tiny: Path, precision: str) -> None:
    embedder = load_embedder(config(tiny, precision=precision))
    vectors = embedder.embed_texts(TEXTS)
    assert vectors.shape == (len(TEXTS), HIDDEN)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    for text in TEXTS:
        assert np.linalg.norm(embedder.embed_query(text)) == pytest.approx(1.0, abs=1e-5)


def test_vectors_stand_in_the_order_of_the_texts_whatever_their_length(tiny: Path) -> None:
    embedder = load_embedder(config(tiny, batch_size=2))
    together = embedder.embed_texts(TEXTS)
    alone = np.concatenate([embedder.embed_texts([text]) for text in TEXTS])
    assert together == pytest.approx(alone, abs=1e-5)
    assert abs(float(together[0] @ together[5])) < 0.999  # else any order would pass


def test_no_texts_give_an_empty_matrix(tiny: Path) -> None:
    assert load_embedder(config(tiny)).embed_texts([]).shape == (0, HIDDEN)


def test_what_lies_beyond_max_length_is_not_read(tiny: Path) -> None:
    embedder = load_embedder(config(tiny))
    head = "税率" * 40
    first, second = embedder.embed_texts([head + "公积金", head + "GDP" * 900])
    assert first == pytest.approx(second, abs=1e-5)
    short = load_embedder(config(tiny, max_length=8)).embed_texts([head])[0]
    assert float(short @ first) < 0.99999


def test_instructions_are_put_before_the_text(tiny: Path) -> None:
    plain = load_embedder(config(tiny))
    told = load_embedder(config(tiny, query_instruction="税率: ", text_instruction="GDP: "))
    assert told.embed_query("公积金") == pytest.approx(plain.embed_query("税率: 公积金"), abs=1e-5)
    expected = plain.embed_texts(["GDP: 公积金"])
    assert told.embed_texts(["公积金"]) == pytest.approx(expected, abs=1e-5)


def test_llamaindex_gets_the_same_vectors(tiny: Path) -> None:
    from llama_index.core.base.embeddings.base import BaseEmbedding

    embedder = load_embedder(config(tiny, query_instruction="税: "))
    model = embedder.llama()
    assert isinstance(model, BaseEmbedding)
    assert model.get_query_embedding("率") == pytest.approx(embedder.embed_query("率"), abs=1e-5)


def test_many_threads_get_what_one_thread_gets(tiny: Path) -> None:
    embedder = Embedder(config(tiny, batch_size=4))
    questions = [f"公积金{'税率' * i}" for i in range(12)]
    expected = embedder.embed_texts(questions)
    with ThreadPoolExecutor(8) as pool:
        texts = [pool.submit(embedder.embed_texts, questions) for _ in range(4)]
        queries = [pool.submit(embedder.embed_query, q) for q in questions * 3]
        for found in texts:
            assert found.result() == pytest.approx(expected, abs=1e-5)
        for place, query in enumerate(queries):
            assert query.result() == pytest.approx(expected[place % 12], abs=1e-5)


class Counting(Embedder):
    """Counts encodings and lets the test decide when they end."""

    def __init__(self, failures: int = 0) -> None:
        super().__init__(EmbeddingConfig())
        self.release = threading.Event()
        self.calls: list[str] = []
        self.failures = failures

    def _encode_query(self, text: str) -> tuple[float, ...]:
        self.calls.append(text)
        assert self.release.wait(20)
        if len(self.calls) <= self.failures:
            raise RuntimeError("out of memory")
        return (1.0, 0.0)


def test_a_question_that_several_threads_ask_is_encoded_once() -> None:
    embedder = Counting()
    with ThreadPoolExecutor(6) as pool:
        answers = [pool.submit(embedder.embed_query, "公租房") for _ in range(6)]
        embedder.release.set()
        assert {tuple(answer.result()) for answer in answers} == {(1.0, 0.0)}
    assert embedder.calls == ["公租房"]


def test_a_caller_who_changes_its_vector_does_not_change_the_remembered_one() -> None:
    embedder = Counting()
    embedder.release.set()
    embedder.embed_query("公租房").clear()
    assert embedder.embed_query("公租房") == [1.0, 0.0]


def test_a_failed_question_is_tried_again_next_time() -> None:
    embedder = Counting(failures=1)
    embedder.release.set()
    with pytest.raises(RuntimeError, match="out of memory"):
        embedder.embed_query("公租房")
    assert embedder.embed_query("公租房") == [1.0, 0.0]


def test_old_questions_are_forgotten_first() -> None:
    embedder = Counting()
    embedder.release.set()
    for number in range(400):
        embedder.embed_query(f"问{number}")
        embedder.embed_query("常问")
    assert embedder.calls.count("常问") == 1
    embedder.embed_query("问0")
    assert embedder.calls.count("问0") == 2


class Blocking:
    """A model whose batches hang until released while questions are answered at once."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.started = threading.Semaphore(0)

    def get_text_embedding_batch(self, texts: list[str]) -> list[list[float]]:
        self.started.release()
        assert self.release.wait(20)
        return [[3.0, 4.0] for _ in texts]

    def get_query_embedding(self, text: str) -> list[float]:
        return [0.0, 2.0]


def test_a_question_does_not_wait_for_an_ingest_in_the_same_process() -> None:
    embedder = Embedder(EmbeddingConfig(batch_size=1))
    model = Blocking()
    embedder.__dict__.update(_model=model, _fingerprint=ModelFingerprint("blocking", "1", 2))
    with ThreadPoolExecutor(2) as pool:
        ingest = pool.submit(embedder.embed_texts, ["文"] * 50)
        for _ in range(parallel_batches()):
            assert model.started.acquire(timeout=20)
        question = pool.submit(embedder.embed_query, "问")
        assert question.result(timeout=20) == [0.0, 1.0]
        assert not ingest.done()
        model.release.set()
        assert ingest.result(timeout=20)[0] == pytest.approx([0.6, 0.8])


def test_models_compute_on_one_torch_thread_each() -> None:
    assert model_workers().submit(torch.get_num_threads).result() == 1


@pytest.mark.parametrize(("preset", "used"), [(None, "64"), ("500", "500")])
def test_the_kernels_that_torch_keeps_are_bounded_unless_the_user_says_how_many(
    monkeypatch: pytest.MonkeyPatch, preset: str | None, used: str
) -> None:
    name = "ONEDNN_PRIMITIVE_CACHE_CAPACITY"
    monkeypatch.delenv(name, raising=False)
    if preset is not None:
        monkeypatch.setenv(name, preset)
    model_workers()
    assert os.environ[name] == used


def test_a_fingerprint_follows_content_and_settings_not_the_place(
    tiny: Path, tmp_path: Path
) -> None:
    here = load_embedder(config(tiny)).fingerprint
    copy = Path(shutil.copytree(tiny, tmp_path / "elsewhere" / tiny.name))
    assert load_embedder(config(copy)).fingerprint == here
    assert here.dimension == HIDDEN
    assert here.name == "tiny-zh"
    others = [{"query_instruction": "q: "}, {"text_instruction": "p: "}, {"max_length": 16}]
    keys = {load_embedder(config(tiny, **change)).fingerprint.key for change in others}
    assert len(keys | {here.key}) == 4


def test_bfloat16_shares_a_store_with_float32_and_int8_does_not(tiny: Path) -> None:
    keys = {
        precision: load_embedder(config(tiny, precision=precision)).fingerprint.key
        for precision in ("float32", "bfloat16", "int8")
    }
    assert keys["bfloat16"] == keys["float32"] != keys["int8"]


def test_a_revision_changes_with_the_weights_and_not_with_a_readme(
    tiny: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(tiny, tmp_path / "copy"))
    (copy / "README.md").write_text("虚构示例")
    assert directory_revision(copy) == directory_revision(tiny)
    weights = copy / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert directory_revision(copy) != directory_revision(tiny)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"provider": "bundled", "model": "e6"}, "use 'e5-small-zh'"),
        ({"model": "/no/such/model"}, "does not exist"),
        ({"model": "./no-such-model"}, "does not exist"),
        ({"model": "nobody/no-such-model"}, "check the name and the network"),
    ],
)
def test_a_model_that_is_not_there_is_named_with_the_remedy(
    tiny: Path, settings: dict[str, object], message: str
) -> None:
    embedder = load_embedder(config(tiny, **settings))
    with pytest.raises(ModelMissingError, match=message) as caught:
        embedder.embed_query("公租房")
    assert str(settings["model"]) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_directory_without_a_model_is_named(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match=str(tmp_path)):
        _ = load_embedder(config(tmp_path)).fingerprint


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        ({"amx_bf16": True, "avx512_bf16": True}, "bfloat16"),
        ({"amx_bf16": False, "avx512_bf16": True}, "float32"),
        ({}, "float32"),
    ],
)
def test_auto_is_bfloat16_only_on_cpus_with_its_matrix_tiles(
    monkeypatch: pytest.MonkeyPatch, capabilities: dict[str, bool], expected: str
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities, raising=False)
    assert resolve_precision("auto") == expected
    assert resolve_precision("int8") == "int8"


def test_auto_is_float32_where_torch_cannot_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert resolve_precision("auto") == "float32"


@given(st.lists(st.integers(0, 9000), max_size=60), st.integers(1, 20))
def test_batches_tile_the_texts_from_long_to_short(lengths: list[int], size: int) -> None:
    batches = list(length_sorted_batches(lengths, size))
    flat = [place for batch in batches for place in batch]
    assert sorted(flat) == list(range(len(lengths)))
    assert [lengths[p] for p in flat] == sorted(lengths, reverse=True)
    for batch in batches:
        assert 1 <= len(batch) <= size
        assert len(batch) == 1 or len(batch) * max(lengths[p] for p in batch) <= 3072
