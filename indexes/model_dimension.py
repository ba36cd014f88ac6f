"""The length of a model's vectors, read from its directory without loading its weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_KEEPS_DIMENSION = ("Transformer", "Normalize", "Dropout", "LayerNorm")


def stated_dimension(directory: Path) -> int | None:
    """Dimension of a sentence-transformers directory: that of its last module which sets one.

    None when the files do not tell (then a text must be embedded to know).
    """
    modules = _json(directory / "modules.json")
    if not isinstance(modules, list):
        return None
    for module in reversed(modules):
        kind = str(module.get("type", "")).rpartition(".")[2]
        config = _json(directory / str(module.get("path", "")) / "config.json")
        if not isinstance(config, dict):
            config = {}
        for key in ("out_features", "embedding_dimension", "word_embedding_dimension"):
            if kind not in _KEEPS_DIMENSION and isinstance(config.get(key), int):
                # Several kinds of pooling are put side by side.
                modes = [k for k, v in config.items() if k.startswith("pooling_mode") and v is True]
                several = len(modes) > 1 or not isinstance(config.get("pooling_mode", ""), str)
                return None if several else int(config[key])
        if kind not in _KEEPS_DIMENSION:
            return None
    return None


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
