"""Zip archives: every member of a supported type is a document of its own.

Members go one by one to a temporary file whose name this module chooses, so that no name inside an
archive can lead anywhere; sizes are counted while reading, so that no header can lie about them.
"""

from __future__ import annotations

import stat
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path, PurePosixPath

from configs.errors import InputError
from indexes.schema import Document
from ingest.readers import BadRecord

MAX_MEMBERS = 10_000
MAX_BYTES = 2 * 10**9
"""Unpacked bytes of a whole archive, nested ones included."""

MAX_MEMBER_BYTES = 200 * 2**20
MAX_RATIO = 200
"""Unpacked to packed bytes of a member of more than ``FREE_BYTES``; text reaches about 20."""

FREE_BYTES = 10 * 2**20
MAX_DEPTH = 2
UNSUPPORTED = "(unsupported files)"
"""Key of the one bad record that tells of all members of types that are not read."""

_CHUNK = 2**20
_LITTER = ("__MACOSX", "Thumbs.db", "desktop.ini")

Clock = Callable[[], date]
Parse = Callable[[Path, str, Path | None, Clock], Iterator[Document | BadRecord]]


class _TooMuchError(Exception):
    """The whole archive must be given up; the text is the reason."""


@dataclass
class _Budget:
    members: int = 0
    unpacked: int = 0


def parse_archive(
    path: Path, name: str, domain: str, clock: Clock, parse: Parse, suffixes: Collection[str]
) -> Iterator[Document | BadRecord]:
    """The documents of a zip file, member by member, in the archive's order.

    ``name``: how the archive is called in ``file``, which becomes ``name/member``. The metadata's
    ``record`` is the member's path (with ``#id`` for a record of a JSONL member), ids and titles
    are those that the member would have as a file. A member that cannot be read comes as BadRecord
    with its path as key, and so does the archive's rest once a limit is passed; all members of
    types that are not supported come as one, under ``UNSUPPORTED``. Raises InputError for a damaged
    or empty archive.
    """
    reader = _Reader(path.name, name, domain, clock, parse, suffixes)
    # The folders that the file lies in tell a document's place; the archive counts as one.
    place = Path(path.absolute().parent.name, path.stem)
    found = False
    try:
        for item in reader.members(path, "", place, 1):
            found = True
            yield item
    except _TooMuchError as error:
        yield BadRecord("(rest of the archive)", str(error))
        found = True
    if reader.unsupported:
        found = True
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(reader.unsupported.items()))
        yield BadRecord(UNSUPPORTED, f"types that are not supported: {kinds}")
    if not found:
        raise InputError(f"{path.name}: holds no supported file; remove it")


@dataclass
class _Reader:
    archive: str
    name: str
    domain: str
    clock: Clock
    parse: Parse
    suffixes: Collection[str]

    def __post_init__(self) -> None:
        self._budget = _Budget()
        self._seen: set[str] = set()
        self.unsupported: Counter[str] = Counter()

    def members(
        self, path: Path, prefix: str, place: Path, depth: int
    ) -> Iterator[Document | BadRecord]:
        """What is in one archive; ``prefix`` is the path of a nested one, with a slash."""
        try:
            archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            reason = "the archive is damaged; pack it again"
            if depth > 1:
                yield BadRecord(prefix.rstrip("/"), reason)
                return
            raise InputError(f"{self.archive}: {reason}") from error
        with archive:
            for member in archive.infolist():
                self._budget.members += 1
                if self._budget.members > MAX_MEMBERS:
                    raise _TooMuchError(f"holds more than {MAX_MEMBERS} files; split it")
                if member.is_dir():
                    continue
                yield from self._member(archive, member, prefix, place, depth)

    def _member(
        self,
        archive: zipfile.ZipFile,
        member: zipfile.ZipInfo,
        prefix: str,
        place: Path,
        depth: int,
    ) -> Iterator[Document | BadRecord]:
        inner = _member_name(member)
        parts = PurePosixPath(inner.replace("\\", "/")).parts
        if any(part in _LITTER or part.startswith("._") for part in parts):
            return
        key = prefix + inner
        reason = self._why_not(member, parts, key, depth)
        if reason:
            yield BadRecord(_shown(key), reason)
            return
        suffix = PurePosixPath(parts[-1]).suffix.lower()
        if suffix not in self.suffixes:
            self.unsupported[suffix or "without a type"] += 1
            return
        self._seen.add(key)
        with tempfile.TemporaryDirectory() as folder:
            # Folders keep their meaning for the parser, without the parts that could climb.
            target = Path(folder, place, *parts)
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                self._unpack(archive, member, target)
            except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
                yield BadRecord(key, f"is damaged ({error}); pack it again")
                return
            except InputError as error:
                yield BadRecord(key, str(error))
                return
            except OSError as error:
                yield BadRecord(key, f"cannot be unpacked ({error.strerror}); give it a short name")
                return
            if target.suffix.lower() == ".zip":
                inside = place / Path(*parts).with_suffix("")
                yield from self.members(target, key + "/", inside, depth + 1)
            else:
                yield from self._documents(target, key)

    def _why_not(
        self, member: zipfile.ZipInfo, parts: tuple[str, ...], key: str, depth: int
    ) -> str:
        suffix = PurePosixPath(parts[-1]).suffix.lower() if parts else ""
        if not parts or ".." in parts or parts[0] == "/" or ":" in parts[0] or "\x00" in key:
            return "its name leads out of the archive; pack it again"
        if stat.S_ISLNK(member.external_attr >> 16):
            return "is a link, not a file; pack the file itself"
        if member.flag_bits & 0x1:
            return "is protected by a password; pack it without one"
        if suffix == ".zip" and depth >= MAX_DEPTH:
            return f"archives are read {MAX_DEPTH} deep only; unpack it"
        return "stands twice in the archive; the first one counts" if key in self._seen else ""

    def _unpack(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path) -> None:
        size = 0
        with archive.open(member) as source, target.open("xb") as file:
            while chunk := source.read(_CHUNK):
                size += len(chunk)
                self._budget.unpacked += len(chunk)
                if self._budget.unpacked > MAX_BYTES:
                    raise _TooMuchError(f"unpacks to more than {MAX_BYTES // 10**6} MB; split it")
                if size > MAX_MEMBER_BYTES:
                    raise InputError(f"unpacks to more than {MAX_MEMBER_BYTES // 2**20} MB; split")
                if size > max(FREE_BYTES, MAX_RATIO * member.compress_size):
                    raise InputError("unpacks to far more than any text does; is it a zip bomb?")
                file.write(chunk)

    def _documents(self, target: Path, key: str) -> Iterator[Document | BadRecord]:
        try:
            for item in self.parse(target, self.domain, target.parent, self.clock):
                if isinstance(item, BadRecord):
                    yield BadRecord(f"{key}, {item.key}", item.reason)
                else:
                    yield self._renamed(item, key)
        except InputError as error:
            yield BadRecord(key, str(error))
        except MemoryError:
            raise
        except Exception as error:  # one member must not stop the others
            text = " ".join(f"{type(error).__name__}: {error}".split())
            yield BadRecord(key, f"cannot be parsed ({text}); save it again as plain UTF-8 text")

    def _renamed(self, document: Document, key: str) -> Document:
        file = f"{self.name}/{key}"
        inner = document.passages[0].metadata.record
        record = f"{key}#{inner}" if inner else key
        passages = tuple(
            replace(p, metadata=replace(p.metadata, file=file, record=record))
            for p in document.passages
        )
        full_key = f"{self.name}#{record}"
        return replace(document, key=full_key, passages=passages)


def _member_name(member: zipfile.ZipInfo) -> str:
    """The name as the packer wrote it: without the UTF-8 flag Chinese systems write GBK."""
    if member.flag_bits & 0x800:
        return member.filename
    raw = member.orig_filename.split("\x00")[0].encode("cp437", "replace")
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return member.filename


def _shown(key: str) -> str:
    return key.replace("\x00", "�").encode("utf-8", "replace").decode("utf-8")
