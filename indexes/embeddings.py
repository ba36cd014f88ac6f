"""Embedding models behind one small interface, loaded by LlamaIndex's ``HuggingFaceEmbedding``.

One loaded model a configuration and process: domains that share a base share its weights, and a
question that several domains ask at once is encoded once. Heavy imports happen at first use.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from configs.errors import ModelMissingError
from configs.settings import EmbeddingConfig
from indexes.bundled_model import BUNDLED_NAME, bundled_model_dir, ensure_bundled_model
from indexes.model_dimension import stated_dimension
from indexes.model_precision import Precision, quantise_linear, resolve_precision, torch_dtype
from indexes.model_workers import model_workers, parallel_batches
from indexes.query_adapter import AdaptedEmbedder, load_query_adapter

FloatArray = npt.NDArray[np.float32]

_QUERY_MEMO = 256
_CHARACTERS_PER_TOKEN = 16  # no piece is longer; what lies beyond could never be read
_BATCH_CHARACTERS = 3072  # padded size of a batch: larger ones leave the cache and are slower
_HASHED = ("*.json", "*.safetensors", "pytorch_model*.bin", "vocab.txt", "*.model")


@dataclass(frozen=True, slots=True)
class ModelFingerprint:
    """What makes two vectors comparable.

    ``revision``: for a local directory a hash of weights and configuration, so that it names the
    same model on every machine; for a hub model its commit. ``+int8`` is appended where weights
    are quantised; float32 and bfloat16 are not told apart (cosine .99998, docs/models.md).
    """

    name: str
    revision: str
    dimension: int
    normalised: bool = True
    query_instruction: str = ""
    text_instruction: str = ""
    max_length: int = 512

    @property
    def key(self) -> str:
        """A short stable string, equal for equal fingerprints only: ``e5-small-zh-1a2b3c4d``…"""
        text = json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)
        return f"{self.name}-{hashlib.sha256(text.encode('utf-8')).hexdigest()[:12]}"


class TextEmbedder(Protocol):
    """What the rest of the project asks of an embedding model."""

    @property
    def fingerprint(self) -> ModelFingerprint:
        """Which model this is."""

    def embed_query(self, text: str) -> list[float]:
        """A question's unit vector."""

    def embed_texts(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors of passages, shape ``(len(texts), dimension)``, in order."""


class Embedder:
    """A ``TextEmbedder`` over ``HuggingFaceEmbedding``; thread-safe; loads at first use.

    Raises ModelMissingError (at first use) when the model cannot be loaded.
    """

    def __init__(self, config: EmbeddingConfig, models_dir: str | None = None) -> None:
        self._config = config
        self._models_dir = models_dir
        self._loading = threading.RLock()
        self._memo_lock = threading.Lock()
        self._memo: OrderedDict[str, Future[tuple[float, ...]]] = OrderedDict()

    @cached_property
    def precision(self) -> Precision:
        """The precision that ``auto`` stands for on this machine."""
        return resolve_precision(self._config.precision)

    @property
    def fingerprint(self) -> ModelFingerprint:
        """Read from the model's files; only a model that does not state its dimension is loaded."""
        with self._loading:
            return self._fingerprint

    def warm_up(self) -> None:
        """Load the model now instead of at first use."""
        self.llama()

    def llama(self) -> Any:
        """The LlamaIndex ``BaseEmbedding``, with the instructions built in."""
        with self._loading:
            return self._model

    def embed_query(self, text: str) -> list[float]:
        """The L2-normalised vector of a question. Recent questions are remembered."""
        with self._memo_lock:
            future = self._memo.get(text)
            mine = future is None
            if future is None:
                future = self._memo[text] = Future()
                if len(self._memo) > _QUERY_MEMO:
                    self._memo.popitem(last=False)
            else:
                self._memo.move_to_end(text)
        if mine:
            try:
                future.set_result(self._encode_query(text))
            except BaseException as error:
                with self._memo_lock:
                    self._memo.pop(text, None)
                future.set_exception(error)
        return list(future.result())

    def embed_texts(self, texts: Sequence[str]) -> FloatArray:
        """L2-normalised vectors of passages: float32, ``(len(texts), dimension)``, in order."""
        model = self.llama()
        result = np.zeros((len(texts), self.fingerprint.dimension), dtype=np.float32)
        readable = [self._readable(text) for text in texts]
        running: deque[tuple[list[int], Future[list[list[float]]]]] = deque()

        def collect() -> None:
            places, future = running.popleft()
            result[places] = _unit(np.asarray(future.result(), dtype=np.float32))

        for places in length_sorted_batches(
            [len(text) for text in readable], self._config.batch_size
        ):
            if len(running) == parallel_batches():  # one worker stays free for questions
                collect()
            batch = [readable[place] for place in places]
            future = model_workers().submit(model.get_text_embedding_batch, batch)
            running.append((places, future))
        while running:
            collect()
        return result

    def _encode_query(self, text: str) -> tuple[float, ...]:
        model = self.llama()
        work = model_workers().submit(model.get_query_embedding, self._readable(text))
        vector = work.result()
        return tuple(_unit(np.asarray([vector], dtype=np.float32))[0].tolist())

    def _readable(self, text: str) -> str:
        """Cut what the model could never read; replace lone surrogates, which have no UTF-8."""
        head = text[: self._config.max_length * _CHARACTERS_PER_TOKEN]
        return head.encode("utf-8", "replace").decode("utf-8")

    @cached_property
    def _directory(self) -> Path | None:
        """The local directory of the model; None for a model of the hub."""
        config = self._config
        if config.provider == "bundled":
            if config.model != BUNDLED_NAME:
                raise ModelMissingError(
                    f"there is no bundled model '{config.model}'; use '{BUNDLED_NAME}', or "
                    "provider: huggingface"
                )
            return ensure_bundled_model(self._models_dir)
        path = Path(config.model).expanduser()
        if path.is_dir():
            return path
        if path.is_absolute() or config.model.startswith((".", "~")) or len(path.parts) > 2:
            raise ModelMissingError(
                f"model directory {config.model} does not exist; correct embedding.model or put "
                "the model there"
            )
        return None

    @cached_property
    def _model(self) -> Any:
        directory = self._directory
        from llama_index.embeddings.huggingface import HuggingFaceEmbedding
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        config = self._config
        try:
            model = HuggingFaceEmbedding(
                model_name=str(directory or config.model),
                max_length=config.max_length,
                query_instruction=config.query_instruction,
                text_instruction=config.text_instruction,
                embed_batch_size=config.batch_size,
                normalize=True,
                # A local model asks no hub, whatever HF_HUB_OFFLINE says: no waits on retries.
                local_files_only=directory is not None,
                revision=config.revision,
                model_kwargs={"dtype": torch_dtype(self.precision)},
            )
        except (OSError, ValueError) as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
            raise ModelMissingError(
                f"embedding model '{config.model}' cannot be loaded ({reason}); give a local "
                "directory or check the name and the network"
            ) from error
        if self.precision == "int8":
            quantise_linear(model._model)
        return model

    @cached_property
    def _fingerprint(self) -> ModelFingerprint:
        config, directory = self._config, self._directory
        dimension = stated_dimension(directory) if directory else None
        if dimension is None:
            probe = model_workers().submit(self._model.get_text_embedding, "维度").result()
            dimension = len(probe)
        query, text = config.query_instruction, config.text_instruction
        if not (query and text):
            from llama_index.embeddings.huggingface import utils

            # HuggingFaceEmbedding fills in a known model's own instruction where ours is empty.
            name = str(directory or config.model)
            query = query or utils.get_query_instruct_for_model_name(name)
            text = text or utils.get_text_instruct_for_model_name(name)
        revision = directory_revision(directory) if directory else _hub_revision(config)
        return ModelFingerprint(
            name=Path(config.model).name,
            revision=revision + ("+int8" if config.precision == "int8" else ""),
            dimension=dimension,
            query_instruction=query,
            text_instruction=text,
            max_length=config.max_length,
        )


_embedders: dict[tuple[EmbeddingConfig, str | None], Embedder] = {}
_adapted: dict[tuple[EmbeddingConfig, str | None], AdaptedEmbedder] = {}
_embedders_lock = threading.Lock()


def load_embedder(config: EmbeddingConfig, models_dir: str | None = None) -> TextEmbedder:
    """The process's one embedder of this configuration (equal configurations share it).

    Returns at once; weights are read, and the bundled model built, at first use. With an adapter it
    is an ``AdaptedEmbedder`` over the ``Embedder`` of the same configuration without one. Raises
    ConfigError when the adapter cannot be read.
    """
    plain = config.model_copy(update={"adapter": None})
    with _embedders_lock:
        base = _embedders.setdefault((plain, models_dir), Embedder(plain, models_dir))
        if config.adapter is None:
            return base
        if (config, models_dir) not in _adapted:
            adapter = load_query_adapter(config.adapter)
            _adapted[config, models_dir] = AdaptedEmbedder(base, adapter, config.adapter)
        return _adapted[config, models_dir]


def length_sorted_batches(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Positions in batches of similar length, longest first, so that little padding is computed.

    A batch has at most ``batch_size`` texts and, unless it is one text, 3072 padded characters.
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    start = 0
    while start < len(order):
        longest = max(1, lengths[order[start]])
        size = max(1, min(batch_size, _BATCH_CHARACTERS // longest))
        yield order[start : start + size]
        start += size


def directory_revision(directory: Path) -> str:
    """Twelve hex digits of SHA-256 over a model directory's weights and configuration files."""
    digest = hashlib.sha256()
    paths = {path for pattern in _HASHED for path in directory.rglob(pattern)}
    for path in sorted(paths, key=lambda p: p.relative_to(directory).as_posix()):
        digest.update(path.relative_to(directory).as_posix().encode("utf-8"))
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]


def _hub_revision(config: EmbeddingConfig) -> str:
    """The commit of a hub model in the local hub cache (``…/snapshots/<commit>/config.json``)."""
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(config.model, "config.json", revision=config.revision)
    return Path(cached).parent.name if isinstance(cached, str) else config.revision or "main"


def _unit(vectors: FloatArray) -> FloatArray:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: FloatArray = vectors / np.maximum(norms, np.float32(1e-12))
    return result


__all__ = [
    "Embedder",
    "ModelFingerprint",
    "TextEmbedder",
    "bundled_model_dir",
    "directory_revision",
    "length_sorted_batches",
    "load_embedder",
]
