"""LightGBM trees kept in a JSON file: ``{version, provenance, features, model}``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from configs.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Trees:
    """Fitted trees; ``provenance`` says what they were fitted on."""

    booster: Any
    provenance: str

    def predict(self, rows: Sequence[Sequence[float]], *, raw: bool = True) -> list[float]:
        """One number per row: the trees' sum, or with ``raw=False`` what the objective makes of it
        (a probability where the trees were fitted on a binary one)."""
        if not rows:
            return []
        import numpy as np

        matrix = np.asarray(rows, dtype=np.float64)
        found = self.booster.predict(matrix, num_threads=1, raw_score=raw)
        return [float(x) for x in found]


def parse_trees(text: str, name: str, features: Sequence[str], version: int) -> Trees:
    """Raises ConfigError when it is another version, names other features, or holds no trees."""
    try:
        found: dict[str, Any] = json.loads(text)
        its_version, names, trees = found["version"], list(found["features"]), str(found["model"])
        provenance = str(found["provenance"])
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{name}: not a weights file ({error}); run `make tune`") from error
    if its_version != version or tuple(names) != tuple(features):
        odd = sorted(set(names) ^ set(features))
        raise ConfigError(
            f"{name}: made for other features (version {its_version}, differing: {odd}); "
            "run `make tune`"
        )
    # LightGBM aborts the process on some broken model texts; a whole one says where it ends.
    if not trees.startswith("tree\n") or "end of trees" not in trees:
        raise ConfigError(f"{name}: the trees are cut off or no LightGBM model; run `make tune`")
    import lightgbm

    try:
        booster = lightgbm.Booster(model_str=trees)
    except lightgbm.basic.LightGBMError as error:
        raise ConfigError(f"{name}: LightGBM refuses it ({error}); run `make tune`") from error
    return Trees(booster, provenance)


def load_trees(
    path: str | Path | None, packaged: str, features: Sequence[str], version: int, instead: str
) -> Trees:
    """The trees of a file, by default the packaged ones (``weights/….json`` in configs).

    ``instead``: the setting that does without them, for the message. Raises ConfigError.
    """
    source = resources.files("configs").joinpath(packaged) if path is None else Path(path)
    name = f"configs/{packaged}" if path is None else str(path)
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{name}: the weights cannot be read; run `make tune`, or set {instead}"
        ) from error
    return parse_trees(text, name, features, version)


def trees_file(booster: Any, provenance: str, features: Sequence[str], version: int) -> str:
    """The JSON that ``parse_trees`` reads."""
    document = {
        "version": version,
        "provenance": provenance,
        "features": list(features),
        "model": booster.model_to_string(),
    }
    return json.dumps(document, ensure_ascii=False, indent=1)
