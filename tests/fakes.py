"""Small deterministic stand-ins for models, injected by tests."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from indexes.embeddings import ModelFingerprint


@dataclass
class FakeEmbedder:
    """Hashes characters and character bigrams into a unit vector: similar texts are near.

    ``queries`` and ``texts`` record what was embedded, in order.
    """

    dimension: int = 64
    name: str = "fake"
    queries: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def fingerprint(self) -> ModelFingerprint:
        return ModelFingerprint(self.name, "1", self.dimension)

    def embed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        return [float(value) for value in self._vector(text)]

    def embed_texts(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.texts.extend(texts)
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> npt.NDArray[np.float32]:
        vector = np.zeros(self.dimension, dtype=np.float64)
        vector[0] = 1e-3  # an empty text gets a direction too, never NaN
        squeezed = "".join(text.split())
        grams = [squeezed[i : i + 2] for i in range(len(squeezed) - 1)] + list(squeezed)
        for gram in grams:
            code = zlib.crc32(gram.encode("utf-8"))
            vector[code % self.dimension] += 1.0 if code & 0x80000000 else -1.0
        return (vector / np.linalg.norm(vector)).astype(np.float32)
