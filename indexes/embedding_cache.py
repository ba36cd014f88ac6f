"""Embeddings by content hash, so that text embedded once is never embedded again (SQLite)."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from configs.errors import InputError

if TYPE_CHECKING:
    from indexes.embeddings import TextEmbedder

Vectors = npt.NDArray[np.float32]
SLICE = 512
"""Texts embedded between two commits: what a kill can cost."""


def cache_key(fingerprint: str, text: str) -> str:
    """sha256 over the model's fingerprint and the exact text that is embedded."""
    return hashlib.sha256(f"{fingerprint}\n{text}".encode()).hexdigest()


class EmbeddingCache:
    """Key -> float32 vector. Safe for threads; a kill loses at most the last slice."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(
            path, timeout=30.0, isolation_level=None, check_same_thread=False
        )
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS vectors(key TEXT PRIMARY KEY, vector BLOB NOT NULL)"
        )

    def get(self, keys: Sequence[str]) -> dict[str, Vectors]:
        """The known vectors, each of shape (dimension,); unknown keys are left out."""
        sql = "SELECT key, vector FROM vectors WHERE key IN (SELECT value FROM json_each(?))"
        with self._lock:
            rows = self._connection.execute(sql, (json.dumps(list(keys)),)).fetchall()
        return {key: np.frombuffer(blob, dtype="<f4") for key, blob in rows}

    def put(self, vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors, in one transaction."""
        rows = [(key, vector.astype("<f4").tobytes()) for key, vector in vectors.items()]
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES(?, ?)", rows)
            self._connection.execute("COMMIT")

    def embed(self, embedder: TextEmbedder, texts: Sequence[str]) -> Vectors:
        """Vectors of ``texts`` in their order, float32 of shape (len(texts), dimension).

        Only texts not seen before reach the model, each once. Raises InputError when the model
        returns another shape or numbers that are not finite.
        """
        dimension = embedder.fingerprint.dimension
        keys = [cache_key(embedder.fingerprint.key, text) for text in texts]
        known = self.get(keys)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        order = sorted(new, key=lambda key: len(new[key]))  # little padding in each batch
        for start in range(0, len(order), SLICE):
            part = order[start : start + SLICE]
            vectors = np.asarray(embedder.embed_texts([new[key] for key in part]), np.float32)
            if vectors.shape != (len(part), dimension) or not np.isfinite(vectors).all():
                raise InputError(
                    f"model {embedder.fingerprint.key} gave vectors of shape {vectors.shape} or "
                    f"not finite, ({len(part)}, {dimension}) was expected; "
                    "check embedding.model and embedding.precision"
                )
            fresh = dict(zip(part, vectors, strict=True))
            self.put(fresh)
            known.update(fresh)
        return (
            np.stack([known[key] for key in keys])
            if keys
            else np.zeros((0, dimension), dtype=np.float32)
        )

    def close(self) -> None:
        self._connection.close()
