"""Writes tiny packed models in the layout that ``indexes.model_e5`` reads."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

HIDDEN, LAYERS, HEADS, FORWARD, POSITIONS, TYPES = 32, 1, 2, 64, 64, 2
PIECES = [
    ("<s>", 0.0),
    ("<pad>", 0.0),
    ("</s>", 0.0),
    ("<unk>", 0.0),
    ("▁", -4.0),
    ("公积金", -9.0),
    ("公", -11.0),
    ("积", -11.0),
    ("金", -11.0),
    ("▁query", -8.0),
    ("税", -9.0),
    ("率", -9.0),
    ("～", -10.0),
    ("Привет", -9.0),
    ("П", -12.0),
    ("GDP", -9.0),
    ("</s>x", -30.0),
    ("<mask>", 0.0),
]
NORMALISATION = {"\t": " ", "\u200b": " ", "\x01": "", "\u3000": " ", "Ｇ": "G"}


def q4_0(rows: np.ndarray) -> bytes:
    """Quantise as llama.cpp's reference does: the value of largest magnitude becomes -8."""
    out = b""
    for block in rows.reshape(-1, 32):
        extreme = float(block[np.abs(block).argmax()])
        scale = np.float16(extreme / -8.0)
        inverse = 1.0 / float(scale) if scale else 0.0
        levels = np.clip(np.floor(block * inverse + 8.5), 0, 15).astype(np.uint8)
        out += scale.tobytes() + (levels[:16] | (levels[16:] << 4)).tobytes()
    return out


def write_packed(path: Path, seed: int = 1) -> Path:
    """A random model of one layer over ``PIECES``."""
    rng = np.random.default_rng(seed)
    tensors: dict[str, tuple[int, np.ndarray]] = {}

    def add(name: str, *shape: int, quantised: bool = False, centre: float = 0.0) -> None:
        values = (rng.normal(size=shape) * 0.2 + centre).astype("<f4")
        tensors[name] = (int(quantised), values)

    add("emb.word", len(PIECES), HIDDEN, quantised=True)
    add("emb.pos", POSITIONS, HIDDEN)
    add("emb.type", TYPES, HIDDEN)
    add("emb.ln.w", HIDDEN, centre=1.0)
    add("emb.ln.b", HIDDEN)
    for name, rows, columns in (
        ("q", HIDDEN, HIDDEN),
        ("k", HIDDEN, HIDDEN),
        ("v", HIDDEN, HIDDEN),
        ("ao", HIDDEN, HIDDEN),
        ("fi", FORWARD, HIDDEN),
        ("fo", HIDDEN, FORWARD),
    ):
        add(f"l0.{name}.w", rows, columns, quantised=True)
        add(f"l0.{name}.b", rows)
    for name in ("aln", "oln"):
        add(f"l0.{name}.w", HIDDEN, centre=1.0)
        add(f"l0.{name}.b", HIDDEN)

    encoded = [piece.encode("utf-8") for piece, _ in PIECES]
    offsets = np.cumsum([0, *map(len, encoded)]).astype("<u4")
    table = b"".join(
        struct.pack(f"<IB{len(to)}I", ord(c), len(to), *map(ord, to))
        for c, to in sorted(NORMALISATION.items())
    )
    head = b"E5S1" + struct.pack(
        "<I7ifi", 1, HIDDEN, LAYERS, HEADS, FORWARD, len(PIECES), POSITIONS, TYPES, 1e-12, 32
    )
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, int(offsets[-1])) + offsets.tobytes()
    head += np.array([score for _, score in PIECES], "<f4").tobytes() + b"".join(encoded)
    head += struct.pack("<iI", len(NORMALISATION), len(table)) + table
    head += struct.pack("<i", len(tensors))
    payload = {n: q4_0(v) if kind else v.tobytes() for n, (kind, v) in tensors.items()}
    start = len(head) + sum(2 + len(name) + 21 for name in tensors)
    directory, body = b"", b""
    for name, (kind, values) in tensors.items():
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", kind, values.size, start + len(body), len(payload[name]))
        body += payload[name]
    path.write_bytes(head + directory + body)
    return path
