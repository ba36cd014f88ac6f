"""A folder of weights versions: ``0001.json``, ``0002.json`` … and ``current``, which names one.

Versions are never changed or removed, so that going back is moving ``current``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from configs.errors import ConfigError, InputError
from configs.weights_file import FusionWeights, read_weights

CURRENT = "current"
_NAME = re.compile(r"^\d{4}\.json$")


def packaged_folder() -> Path:
    """The folder of the versions that come with the package."""
    return Path(str(resources.files("configs").joinpath("weights", "fusion")))


def resolve_weights(named: str, profile_folder: Path) -> Path:
    """The file that a profile's ``weights`` names: a file, or a folder's current version.

    Relative paths count from the profile's folder, then from the working directory; ``packaged`` is
    the package's folder. Raises ConfigError when nothing is there.
    """
    given = Path(named).expanduser()
    places = [packaged_folder()] if named == "packaged" else [profile_folder / given, given]
    for place in places:
        if place.is_file():
            return place
        if place.is_dir():
            number = current(place)
            if number is not None:
                return place / f"{number:04}.json"
            raise ConfigError(f"{place}: no weights version yet; run `python -m eval.tuning`")
    raise ConfigError(f"weights {named!r}: no such file or folder; correct it in the profile")


def versions(folder: Path) -> list[FusionWeights]:
    """All versions, oldest first; [] where there is no folder. Raises ConfigError for a bad one."""
    if not folder.is_dir():
        return []
    names = sorted(path for path in folder.iterdir() if _NAME.match(path.name))
    return [read_weights(path) for path in names]


def current(folder: Path) -> int | None:
    """The version in use, None where none is. Raises ConfigError when ``current`` is damaged."""
    pointer = folder / CURRENT
    if not pointer.is_file():
        return None
    text = pointer.read_text(encoding="utf-8").strip()
    if not (text.isascii() and text.isdigit() and (folder / f"{int(text):04}.json").is_file()):
        raise ConfigError(f"{pointer}: {text!r} is no version of this folder; write one's number")
    return int(text)


def next_version(folder: Path) -> int:
    """The number that a new version gets: 1 above the highest."""
    numbers = [int(p.stem) for p in folder.glob("*.json") if _NAME.match(p.name)]
    return max(numbers, default=0) + 1


def add(folder: Path, weights: FusionWeights) -> Path:
    """Write a version and make it the current one. Raises InputError when its number is taken."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{weights.version:04}.json"
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(weights.model_dump_json(indent=1) + "\n")
    except FileExistsError as error:
        raise InputError(f"{path} is there already; take the next number") from error
    _point(folder, weights.version)
    return path


def rollback(folder: Path, to: int | None = None) -> int:
    """Make an earlier version the current one (None: the current one's parent); its number.

    Raises InputError when there is no such version.
    """
    known = {weights.version: weights for weights in versions(folder)}
    now = current(folder)
    target = to if to is not None else (known[now].parent if now in known else None)
    if target is None:
        raise InputError(f"{folder}: the current version replaced none; name one with --to")
    if target not in known:
        listed = ", ".join(map(str, known)) or "none"
        raise InputError(f"{folder} has no version {target}; it has {listed}")
    _point(folder, target)
    return target


def difference(old: FusionWeights, new: FusionWeights) -> list[tuple[str, Any, Any]]:
    """(dotted key, old value, new value) of every parameter that differs; None = not there."""
    before = dict(_flat("", old.model_dump(include={"fusion", "domains"})))
    after = dict(_flat("", new.model_dump(include={"fusion", "domains"})))
    keys = dict.fromkeys((*before, *after))
    return [(k, before.get(k), after.get(k)) for k in keys if before.get(k) != after.get(k)]


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{prefix}.{key}" if prefix else str(key), inner)
    else:
        yield prefix, value


def _point(folder: Path, version: int) -> None:
    fresh = folder / f".{CURRENT}.{os.getpid()}"
    fresh.write_text(f"{version}\n", encoding="utf-8")
    fresh.replace(folder / CURRENT)  # readers see the old number or the new, never half of one
