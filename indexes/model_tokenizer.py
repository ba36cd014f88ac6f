"""The tokenizer of the bundled model: e5's unigram pieces, pruned to Chinese and ASCII text.

A piece stays when it is a single character of any script, or when all its characters are in
``in_alphabet``. So text over that alphabet is segmented exactly as by the full vocabulary (no
dropped piece could have matched it), and other scripts fall back to characters.
"""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

from indexes.model_e5 import PackedE5

METASPACE = "▁"
_SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_SHIELD = "\U0010fffd"
_RANGES = (
    (0x0020, 0x007E),  # ASCII
    (0x00A0, 0x00BF),  # Latin-1 signs: § ° · …
    (0x00D7, 0x00D7),  # ×
    (0x00F7, 0x00F7),  # ÷
    (0x0370, 0x03FF),  # Greek, used in formulas
    (0x2000, 0x2BFF),  # punctuation, arrows, mathematical and box signs
    (0x2E80, 0x2FDF),  # radicals
    (0x3000, 0x303F),  # CJK punctuation and 〇
    (0x3100, 0x312F),  # bopomofo
    (0x31C0, 0x31EF),  # strokes
    (0x3400, 0x4DBF),  # Han, extension A
    (0x4E00, 0x9FFF),  # Han
    (0xF900, 0xFAFF),  # Han, compatibility
    (0xFF00, 0xFFEF),  # full-width forms
    (0x20000, 0x323AF),  # Han, further extensions
)


def in_alphabet(character: str) -> bool:
    """Whether ``character`` belongs to Chinese, ASCII or the signs used between them."""
    code = ord(character)
    return any(low <= code <= high for low, high in _RANGES)


def kept_pieces(packed: PackedE5) -> npt.NDArray[np.int64]:
    """Ids of the pieces that stay, in the old order (specials keep their places 0–3 and last)."""

    def keep(piece: str) -> bool:
        core = piece.replace(METASPACE, "")
        return len(core) <= 1 or piece in _SPECIALS or all(map(in_alphabet, core))

    ids = [index for index, piece in enumerate(packed.pieces) if keep(piece)]
    return np.asarray(ids, dtype=np.int64)


def build_tokenizer(packed: PackedE5, ids: npt.NDArray[np.int64]) -> Tokenizer:
    """A ``tokenizers`` Unigram over the pieces ``ids`` with XLM-R's frame ``<s> … </s>``."""
    vocabulary = [(packed.pieces[i], float(packed.scores[i])) for i in ids]
    place = {packed.pieces[i]: new for new, i in enumerate(ids)}
    names = {"bos": packed.bos, "eos": packed.eos, "unk": packed.unk}
    token = {name: packed.pieces[i] for name, i in names.items()}
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=place[token["unk"]]))
    tokenizer.normalizer = _normaliser(packed)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(
        replacement=METASPACE, prepend_scheme="always"
    )
    tokenizer.decoder = decoders.Metaspace(replacement=METASPACE, prepend_scheme="always")
    bos, eos = token["bos"], token["eos"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A {eos}",
        pair=f"{bos} $A {eos} {eos} $B {eos}",
        special_tokens=[(bos, place[bos]), (eos, place[eos])],
    )
    tokenizer.add_special_tokens([AddedToken(s, special=True) for s in _SPECIALS if s in place])
    return tokenizer


def _normaliser(packed: PackedE5) -> normalizers.Normalizer:
    """e5's map is NFKC but for control characters, odd white space, and ～, which stays as it is.

    The few exceptions are read from the packed map, so nothing is hard-coded but the method.
    """
    table = packed.normalisation
    odd = {c: to for c, to in table.items() if unicodedata.normalize("NFKC", c) != to}
    dropped = "".join(sorted(c for c, to in odd.items() if to == "")) + "\0"
    spaces = "".join(sorted(c for c, to in odd.items() if to == " "))
    steps = [
        normalizers.Replace(Regex(_class(dropped)), ""),
        normalizers.Replace(Regex(_class(spaces)), " "),
        # ～ (10～20日) is not in the map, but NFKC would turn it into "~": carry it past NFKC.
        normalizers.Replace("～", _SHIELD),
        normalizers.NFKC(),
        normalizers.Replace(_SHIELD, "～"),
        normalizers.Replace(Regex(" {2,}"), " "),
        normalizers.Strip(),
    ]
    return normalizers.Sequence(steps)


def _class(characters: str) -> str:
    return "[" + "".join(f"\\x{{{ord(c):x}}}" for c in characters) + "]"


def write_tokenizer(packed: PackedE5, ids: npt.NDArray[np.int64], target: Path) -> None:
    """Write ``tokenizer.json`` and ``tokenizer_config.json`` into ``target``."""
    build_tokenizer(packed, ids).save(str(target / "tokenizer.json"), pretty=False)
    config: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": packed.shape.positions,
        "clean_up_tokenization_spaces": False,
        "bos_token": "<s>",
        "cls_token": "<s>",
        "eos_token": "</s>",
        "sep_token": "</s>",
        "pad_token": "<pad>",
        "unk_token": "<unk>",
        "mask_token": "<mask>",
        "model_input_names": ["input_ids", "attention_mask"],
    }
    text = json.dumps(config, ensure_ascii=False, indent=2, sort_keys=True)
    (target / "tokenizer_config.json").write_text(text + "\n", encoding="utf-8")
