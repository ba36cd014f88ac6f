"""Which files an ingest is about: sorted, each once, with a reason for everything left out."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from configs.errors import InputError


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to ingest (absolute path) and the folder that its name is told relative to."""

    path: Path
    root: Path


@dataclass(frozen=True, slots=True)
class Skipped:
    """A path that is not ingested, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Walk:
    """What the paths of one call hold.

    ``roots``: the folders (absolute) whose vanished files may be pruned; ``unreadable``: folders
    below them that could not be listed, so nothing in them counts as vanished.
    """

    files: tuple[FoundFile, ...]
    skipped: tuple[Skipped, ...]
    roots: tuple[Path, ...]
    unreadable: tuple[Path, ...]

    def vanished(self, known: Iterable[str]) -> tuple[str, ...]:
        """Those of the ``known`` paths that lay below the roots and exist no more."""
        present = {str(found.path) for found in self.files}
        return tuple(
            path
            for path in sorted(known)
            if path not in present
            and any(Path(path).is_relative_to(root) for root in self.roots)
            and not any(Path(path).is_relative_to(folder) for folder in self.unreadable)
            and not os.path.lexists(path)
        )


def file_digest(path: Path) -> str:
    """SHA-256 of the file's bytes, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_files(paths: Sequence[Path], suffixes: Iterable[str]) -> Walk:
    """Walk ``paths`` (files or folders) for files whose suffix (``.md``, any case) is supported.

    Hidden files and links that lead out of their root are skipped; so are links to files that are
    found under their own name. Raises InputError for a path that does not exist or cannot be
    listed, a single file of unsupported suffix, or a folder without any supported file (which is
    what an unmounted disk looks like).
    """
    if not paths:
        raise InputError("no path given; name at least one file or folder")
    allowed = frozenset(suffix.lower() for suffix in suffixes)
    files: dict[Path, FoundFile] = {}
    skipped: list[Skipped] = []
    roots: list[Path] = []
    unreadable: list[Path] = []
    for given in paths:
        root = _existing(given)
        if root.is_file():
            if root.suffix.lower() not in allowed:
                raise InputError(
                    f"{given}: files of type '{root.suffix}' are not supported;"
                    f" use one of {' '.join(sorted(allowed))}"
                )
            files.setdefault(root, FoundFile(root, root.parent))
            continue
        found = _below(root, allowed, skipped, unreadable)
        if not found:
            raise InputError(
                f"{given}: no supported file ({' '.join(sorted(allowed))}) in this folder;"
                " check the path, or that its disk is mounted"
            )
        roots.append(root)
        for path in found:
            files.setdefault(path, FoundFile(path, root))
    ordered = sorted(files.values(), key=lambda item: str(item.path))
    return Walk(tuple(ordered), tuple(skipped), tuple(roots), tuple(unreadable))


def _existing(given: Path) -> Path:
    try:
        root = given.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise InputError(f"{given}: no such file or folder; check the path") from error
    try:
        str(root).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"{_shown(given)}: the name is not UTF-8; rename it") from error
    if root.is_dir():
        try:
            next(os.scandir(root), None)
        except OSError as error:
            raise InputError(
                f"{given}: the folder cannot be listed ({error.strerror}); check its permissions"
            ) from error
    elif not root.is_file():
        raise InputError(f"{given}: neither a file nor a folder; name a regular file")
    return root


def _below(
    root: Path, allowed: frozenset[str], skipped: list[Skipped], unreadable: list[Path]
) -> list[Path]:
    found: set[Path] = set()
    links: list[Path] = []

    def failed(error: OSError) -> None:
        unreadable.append(Path(error.filename))
        skipped.append(Skipped(_shown(error.filename), f"cannot be listed ({error.strerror})"))

    for folder, subfolders, names in os.walk(root, onerror=failed):
        here = Path(folder)
        for name in sorted(subfolders):
            reason = _why_not(here / name)
            if reason is None and (here / name).is_symlink():
                reason = "link to a folder"
            if reason is not None:
                subfolders.remove(name)
                skipped.append(Skipped(_shown(here / name), reason))
        for name in sorted(names):
            path = here / name
            reason = _why_not(path)
            if reason is None and path.suffix.lower() not in allowed:
                reason = f"type '{path.suffix}' is not supported"
            if reason is not None:
                skipped.append(Skipped(_shown(path), reason))
            elif path.is_symlink():
                links.append(path)
            elif path.is_file():
                found.add(path)
            else:
                skipped.append(Skipped(_shown(path), "not a regular file"))
    found.update(_useful_links(root, links, found, skipped))
    return sorted(found)


def _useful_links(
    root: Path, links: Sequence[Path], found: set[Path], skipped: list[Skipped]
) -> Iterator[Path]:
    """Links to files of the same root that are not found otherwise (mounted volumes do that)."""
    targets = set(found)
    for link in links:
        target = link.resolve()
        if not target.is_relative_to(root):
            skipped.append(Skipped(_shown(link), "link that leads out of the folder"))
        elif not target.is_file():
            skipped.append(Skipped(_shown(link), "link that leads nowhere"))
        elif target in targets:
            skipped.append(Skipped(_shown(link), "link to a file that is read under its own name"))
        else:
            targets.add(target)
            yield link


def _why_not(path: Path) -> str | None:
    if path.name.startswith("."):
        return "hidden"
    if path.name.startswith("~$"):
        return "lock file of an open Word document"
    try:
        path.name.encode("utf-8")
    except UnicodeEncodeError:
        return "the name is not UTF-8; rename it"
    return None


def _shown(path: object) -> str:
    return os.fsencode(str(path)).decode("utf-8", "replace")
