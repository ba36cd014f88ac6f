"""The parts of a .docx package as XML trees, opened so that no file can harm.

Read with zipfile and lxml: entities stay unresolved and a part with a DTD is refused, what a
package unpacks to is bounded, pictures are never loaded.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from zipfile import BadZipFile, ZipFile
from zlib import error as ZlibError  # noqa: N812

from lxml import etree

from configs.errors import InputError
from ingest.readers import MAX_BYTES

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT = b"http://purl.oclc.org/ooxml/wordprocessingml/main"
_TRANSITIONAL = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAX_PART = 100 * 1024 * 1024
_RELATED = ("numbering", "styles", "footnotes", "endnotes")
_UNUSABLE_TITLE = re.compile(r"Microsoft|Word|文档\d*$|\.docx?$|^[\x00-\x7f]*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Package:
    """``document``: the main part; ``parts``: numbering, styles, footnotes, endnotes as far as
    there; ``title``: of the file's properties, "" if nothing usable."""

    document: etree._Element
    parts: Mapping[str, etree._Element] = field(default_factory=dict)
    title: str = ""


def open_package(path: Path) -> Package:
    """The parts of a Word file.

    Raises InputError for an encrypted, damaged, too large or dangerous file and for one that is no
    Word file by its content.
    """
    name = path.name
    try:
        with path.open("rb") as file:
            start = file.read(8)
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{name}: is over {MAX_BYTES // 1_000_000} MB; split it")
        if start.startswith(_OLE):
            raise InputError(_ole_message(path))
        if not start:
            raise InputError(f"{name}: the file is empty; remove it or save it again")
        with ZipFile(path) as archive:
            return _package(archive, name)
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({error.strerror}); check it") from error
    except (BadZipFile, ZlibError, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(
            f"{name}: is no Word file or is damaged; open it in Word and save it again as .docx"
        ) from error


def _ole_message(path: Path) -> str:
    # Both an encrypted .docx and an old .doc are OLE files; the stream's name tells them apart.
    if "EncryptedPackage".encode("utf-16-le") in path.read_bytes():
        return f"{path.name}: is protected by a password; save it without password and retry"
    return f"{path.name}: is an old Word file (.doc) by its content; save it as .docx"


def _package(archive: ZipFile, name: str) -> Package:
    main = _main_part(archive, name)
    if main is None:
        raise InputError(f"{name}: is a zip file but no Word file; save it from Word as .docx")
    related = _relationships(archive, main, name)
    parts = {
        kind: root
        for kind in _RELATED
        if kind in related and (root := _xml(archive, related[kind], name)) is not None
    }
    document = _xml(archive, main, name)
    if document is None:
        raise InputError(f"{name}: its main part is missing; save it again from Word as .docx")
    return Package(document, parts, _title(archive, name))


def _main_part(archive: ZipFile, name: str) -> str | None:
    related = _relationships(archive, "", name)
    return related.get("officeDocument") if related else None


def _relationships(archive: ZipFile, part: str, name: str) -> dict[str, str]:
    """Kind of relationship -> part name, of the inner targets of ``part``."""
    folder, file = posixpath.split(part)
    root = _xml(archive, posixpath.join(folder, "_rels", f"{file}.rels"), name)
    found: dict[str, str] = {}
    for relation in () if root is None else root:
        if isinstance(relation.tag, str) and relation.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, relation.get("Target", "")))
            found.setdefault(relation.get("Type", "").rpartition("/")[2], target.lstrip("/"))
    return found


def _xml(archive: ZipFile, part: str, name: str) -> etree._Element | None:
    """The tree of a part, None when the package has no such part."""
    names = {entry.filename.lower(): entry for entry in archive.infolist()}
    entry = names.get(part.lower())
    if entry is None:
        return None
    if entry.file_size > _MAX_PART:
        raise InputError(f"{name}: unpacks to more than {_MAX_PART // 1_000_000} MB; split it")
    with archive.open(entry) as stream:
        data = stream.read(_MAX_PART + 1)  # the size that the zip declares may be a lie
    if len(data) > _MAX_PART:
        raise InputError(f"{name}: unpacks to more than {_MAX_PART // 1_000_000} MB; split it")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(data.replace(_STRICT, _TRANSITIONAL), parser)
    except etree.XMLSyntaxError as error:
        raise InputError(
            f"{name}: its part {part} is damaged; open it in Word and save it again"
        ) from error
    if root.getroottree().docinfo.doctype:
        raise InputError(f"{name}: its part {part} declares entities; save it again from Word")
    return root


def _title(archive: ZipFile, name: str) -> str:
    root = _xml(archive, "docProps/core.xml", name)
    title = "" if root is None else root.findtext("{http://purl.org/dc/elements/1.1/}title", "")
    title = " ".join(title.split())
    return "" if _UNUSABLE_TITLE.search(title) else title
