"""The stated dimension of a model directory is the one its vectors have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import indexes.bundled_model as building
from configs.settings import EmbeddingConfig
from indexes.bundled_model import build_bundled_model
from indexes.embeddings import load_embedder
from indexes.model_dimension import stated_dimension
from tests.indexes.packed_e5 import HIDDEN, write_packed


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tiny")
    path = write_packed(root / "packed.bin")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "_packed_path", lambda: path)
        return build_bundled_model(root / "tiny-zh")


def save(directory: Path, *modules: tuple[str, dict[str, object]]) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    listed = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.X"}]
    listed[0]["type"] = "sentence_transformers.models.Transformer"
    for number, (kind, config) in enumerate(modules, 1):
        path = f"{number}_{kind}"
        (directory / path).mkdir(exist_ok=True)
        (directory / path / "config.json").write_text(json.dumps(config))
        listed.append({"idx": number, "name": str(number), "path": path, "type": f"a.b.{kind}"})
    (directory / "modules.json").write_text(json.dumps(listed))
    return directory


MEAN = {"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True}


@pytest.mark.parametrize(
    ("modules", "dimension"),
    [
        ([("Pooling", MEAN), ("Normalize", {})], 8),
        ([("Pooling", {"embedding_dimension": 8, "pooling_mode": "cls"})], 8),
        ([("Pooling", MEAN), ("Dense", {"in_features": 8, "out_features": 5})], 5),
        ([("Pooling", {**MEAN, "pooling_mode_cls_token": True})], None),
        ([("Pooling", {"embedding_dimension": 8, "pooling_mode": ["cls", "mean"]})], None),
        ([("Pooling", MEAN), ("SomethingNew", {})], None),
        ([], None),
    ],
)
def test_the_last_module_that_sets_a_dimension_counts(
    tmp_path: Path, modules: list[tuple[str, dict[str, object]]], dimension: int | None
) -> None:
    assert stated_dimension(save(tmp_path, *modules)) == dimension


def test_a_directory_without_the_files_states_nothing(tmp_path: Path) -> None:
    assert stated_dimension(tmp_path) is None
    (tmp_path / "modules.json").write_text("{")
    assert stated_dimension(tmp_path) is None


def test_what_sentence_transformers_saves_is_read_as_it_encodes(tiny: Path, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense

    pooled = SentenceTransformer(str(tiny), device="cpu")
    pooled.append(Dense(HIDDEN, 6))
    pooled.save(str(tmp_path / "dense"))
    assert stated_dimension(tmp_path / "dense") == pooled.encode(["公租房"]).shape[1] == 6
    assert stated_dimension(tiny) == HIDDEN


def test_a_fingerprint_is_told_without_loading_the_weights(tiny: Path) -> None:
    embedder = load_embedder(
        EmbeddingConfig(
            provider="huggingface", model=str(tiny), query_instruction="q", text_instruction="p"
        )
    )
    assert embedder.fingerprint.dimension == HIDDEN
    assert "_model" not in vars(embedder)
    assert len(embedder.embed_query("公租房")) == HIDDEN
