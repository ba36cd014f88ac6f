from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from configs.errors import InputError
from indexes import embedding_cache
from indexes.embedding_cache import EmbeddingCache, cache_key
from tests.fakes import FakeEmbedder


@pytest.fixture
def cache(tmp_path: Path) -> EmbeddingCache:
    return EmbeddingCache(tmp_path / "embeddings.sqlite")


def test_known_texts_do_not_reach_the_model_again(cache: EmbeddingCache, tmp_path: Path) -> None:
    first, again = FakeEmbedder(), FakeEmbedder()
    vectors = cache.embed(first, ["甲", "乙", "甲"])
    assert first.texts == ["甲", "乙"]
    cache.close()
    reopened = EmbeddingCache(tmp_path / "embeddings.sqlite")
    np.testing.assert_array_equal(
        reopened.embed(again, ["甲", "丙", "乙", "甲"])[[0, 2, 3]], vectors[[0, 1, 2]]
    )
    assert again.texts == ["丙"]


def test_vectors_keep_the_order_of_the_texts(cache: EmbeddingCache) -> None:
    model = FakeEmbedder()
    texts = [f"文本{n}" for n in range(600)]
    cache.embed(model, texts[300:400])
    np.testing.assert_array_equal(cache.embed(model, texts), FakeEmbedder().embed_texts(texts))


def test_another_model_has_its_own_vectors(cache: EmbeddingCache) -> None:
    cache.embed(FakeEmbedder(name="a"), ["甲"])
    other = FakeEmbedder(name="b")
    cache.embed(other, ["甲"])
    assert other.texts == ["甲"]
    assert cache_key("a", "甲") != cache_key("b", "甲")


def test_nothing_to_embed_gives_an_empty_matrix(cache: EmbeddingCache) -> None:
    assert cache.embed(FakeEmbedder(dimension=8), []).shape == (0, 8)


class Failing(FakeEmbedder):
    """Fails at the second slice."""

    def embed_texts(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if self.texts:
            raise RuntimeError("out of memory")
        return super().embed_texts(texts)


def test_what_was_embedded_before_a_failure_is_kept(
    cache: EmbeddingCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_cache, "SLICE", 2)
    with pytest.raises(RuntimeError):
        cache.embed(Failing(), ["甲", "乙", "丙"])
    model = FakeEmbedder()
    cache.embed(model, ["甲", "乙", "丙"])
    assert model.texts == ["丙"]


class Broken(FakeEmbedder):
    def embed_texts(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.full((len(texts), self.dimension), np.nan, dtype=np.float32)


def test_vectors_that_are_not_numbers_are_refused_and_not_kept(cache: EmbeddingCache) -> None:
    with pytest.raises(InputError, match="not finite"):
        cache.embed(Broken(), ["甲"])
    assert cache.get([cache_key(Broken().fingerprint.key, "甲")]) == {}
