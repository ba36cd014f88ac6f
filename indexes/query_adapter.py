"""A domain's own query encoder on a frozen base: a linear map behind the base's query vector.

``q' = unit(q + q W + b)``; passages keep the base's vectors, so domains that share a base share its
weights, its embedding cache and a question's one encoding. Trained by ``eval.adapters_training``.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from configs.errors import ConfigError, ModelMissingError

if TYPE_CHECKING:
    from indexes.embeddings import ModelFingerprint, TextEmbedder

FloatArray = npt.NDArray[np.float32]

ADAPTER_VERSION = 1
SAME_BASE = 0.97
"""Least cosine of the probe's vector to the stored one: int8 keeps .98, another model none."""

_REMEDY = "train one with `python -m eval.adapters_training`, or remove embedding.adapter"


@dataclass(frozen=True, slots=True, eq=False)
class QueryAdapter:
    """``matrix`` W of shape (d, d), ``shift`` b of shape (d,), float32.

    ``probe`` and ``probe_vector`` (d,) tell the base by what it computes: a question and the unit
    vector that the base gave it. ``instruction`` is the base's query instruction, ``base`` its
    fingerprint (as information), ``provenance`` says what the map was trained on.
    """

    matrix: FloatArray
    shift: FloatArray
    probe: str
    probe_vector: FloatArray
    instruction: str
    base: str
    provenance: str

    @property
    def dimension(self) -> int:
        """d, the base's dimension."""
        return int(self.shift.shape[0])

    def apply(self, vectors: npt.ArrayLike) -> FloatArray:
        """Adapted unit vectors of unit query vectors, shape (d,) or (n, d)."""
        given = np.asarray(vectors, dtype=np.float32)
        moved = given + given @ self.matrix + self.shift
        norms = np.linalg.norm(moved, axis=-1, keepdims=True)
        result: FloatArray = moved / np.maximum(norms, np.float32(1e-12))
        return result

    def save(self, path: Path) -> None:
        """Write an ``.npz`` with half-precision numbers (d = 384: below 300 kB)."""
        with path.open("wb") as file:
            np.savez_compressed(
                file,
                version=np.int64(ADAPTER_VERSION),
                matrix=self.matrix.astype(np.float16),
                shift=self.shift.astype(np.float16),
                probe=np.str_(self.probe),
                probe_vector=self.probe_vector.astype(np.float16),
                instruction=np.str_(self.instruction),
                base=np.str_(self.base),
                provenance=np.str_(self.provenance),
            )


def load_query_adapter(name: str) -> QueryAdapter:
    """An adapter by path, or by its file name in ``configs/weights``.

    Raises ConfigError when the file cannot be read, is another version, or its shapes disagree.
    """
    path = Path(name).expanduser()
    if not path.is_file():
        path = Path(str(resources.files("configs").joinpath("weights", name)))
    try:
        with np.load(path, allow_pickle=False) as file:
            version = int(file["version"])
            if version != ADAPTER_VERSION:
                raise ValueError(f"version {version}, expected {ADAPTER_VERSION}")
            adapter = QueryAdapter(
                matrix=file["matrix"].astype(np.float32),
                shift=file["shift"].astype(np.float32),
                probe=str(file["probe"]),
                probe_vector=file["probe_vector"].astype(np.float32),
                instruction=str(file["instruction"]),
                base=str(file["base"]),
                provenance=str(file["provenance"]),
            )
            _check(adapter)
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ConfigError(
            f"embedding.adapter {name!r} cannot be read ({reason}); give the path of an adapter "
            f"file or a file name in configs/weights; {_REMEDY}"
        ) from error
    return adapter


def _check(adapter: QueryAdapter) -> None:
    if adapter.shift.ndim != 1 or adapter.dimension == 0:
        raise ValueError(f"shift of shape {adapter.shift.shape}, expected one dimension")
    size = adapter.dimension
    if adapter.matrix.shape != (size, size) or adapter.probe_vector.shape != (size,):
        raise ValueError(
            f"matrix {adapter.matrix.shape}, probe {adapter.probe_vector.shape} and "
            f"shift {adapter.shift.shape} disagree"
        )
    parts = (adapter.matrix, adapter.shift, adapter.probe_vector)
    if not all(np.isfinite(part).all() for part in parts):
        raise ValueError("numbers that are not finite")


class AdaptedEmbedder:
    """A ``TextEmbedder``: the base's passages and fingerprint, questions through the adapter.

    The base remembers its own query vectors, so domains with other adapters share them.
    """

    def __init__(self, base: TextEmbedder, adapter: QueryAdapter, name: str) -> None:
        self._base, self._adapter, self._name = base, adapter, name

    @cached_property
    def fingerprint(self) -> ModelFingerprint:
        """The base's own: passages are the base's. Raises ConfigError for another dimension or
        query instruction than the adapter was trained for."""
        found, adapter = self._base.fingerprint, self._adapter
        if found.dimension != adapter.dimension:
            raise ConfigError(
                f"embedding.adapter {self._name!r} is for {adapter.dimension} dimensions, the "
                f"model '{found.name}' has {found.dimension}; {_REMEDY}"
            )
        if found.query_instruction != adapter.instruction:
            raise ConfigError(
                f"embedding.adapter {self._name!r} was trained with the query instruction "
                f"{adapter.instruction!r}, not {found.query_instruction!r}; correct "
                f"embedding.query_instruction, or {_REMEDY}"
            )
        return found

    def warm_up(self) -> None:
        """Load the base now, if it can be; else it loads at first use."""
        if warm_up := getattr(self._base, "warm_up", None):
            warm_up()

    def embed_query(self, text: str) -> list[float]:
        """A question's adapted unit vector. Raises ModelMissingError on another base model."""
        self._check_base()
        adapted: list[float] = self._adapter.apply(self._base.embed_query(text)).tolist()
        return adapted

    def embed_texts(self, texts: Sequence[str]) -> FloatArray:
        """The base's unit vectors of passages."""
        return self._base.embed_texts(texts)

    def _check_base(self) -> None:
        if self._likeness < SAME_BASE:
            raise ModelMissingError(
                f"embedding.adapter {self._name!r} was trained on the model {self._adapter.base}, "
                f"and {self.fingerprint.name} gives other vectors (cosine {self._likeness:.2f}); "
                f"set embedding.model to that model, or {_REMEDY}"
            )

    @cached_property
    def _likeness(self) -> float:
        """Cosine of the probe's vector to the stored one; a failed encoding is tried again."""
        _ = self.fingerprint
        stored = self._adapter.probe_vector
        found = np.asarray(self._base.embed_query(self._adapter.probe), dtype=np.float32)
        return float(found @ stored / max(float(np.linalg.norm(stored)), 1e-12))
