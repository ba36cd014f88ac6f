"""From bytes to text and records: encodings, YAML front matter, JSON lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from configs.errors import InputError

MAX_BYTES = 200 * 1024 * 1024
_FRONT = re.compile(r"\A\s*---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_BOMS = (  # that of UTF-32 begins as that of UTF-16 does
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_WITH_ZEROS = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_OTHER_KINDS = (
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a Word, Excel or zip"),
    (b"\xd0\xcf\x11\xe0", "an old Word or Excel"),
    (b"{\\rtf", "an RTF"),
    (b"\x1f\x8b", "a gzip"),
)
_COMMON = re.compile(
    "[\u0009\u000a\u000d\u0020-\u007e\u3000-\u303f\u4e00-\u9fff\uff00-\uffef\u2010-\u2027]"
)
_VISIBLE = re.compile("[^\\s\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]")
_PLAUSIBLE = 0.9
"""Share of everyday characters below which a text was read in the wrong encoding."""


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a JSONL file: a document. ``line`` is 1-based; ``replaces``: earlier lines with
    the same id, which do not count."""

    line: int
    id: str
    title: str
    text: str
    meta: dict[str, str]
    replaces: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A part of a file (a line of JSONL, a member of an archive) that is no document, and why.

    ``key`` names the part: ``line 3``, or the member's path.
    """

    key: str
    reason: str


def read_text(path: Path) -> str:
    """The file's text: UTF-8, UTF-16 or UTF-32 (with or without BOM), GB18030 or Big5.

    Raises InputError with a reason for empty, blank, binary, too large, damaged or undecodable
    files.
    """
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InputError(
                f"{path.name}: {size // 1_000_000} MB is over {MAX_BYTES // 1_000_000} MB; split it"
            )
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path.name}: cannot be read ({error.strerror}); check it") from error
    return decode(data, path.name)


def decode(data: bytes, name: str) -> str:
    """``data`` as text; ``name`` is for the messages. Raises InputError as ``read_text`` does."""
    if not data.strip(b"\x00\xef\xbb\xbf\xff\xfe"):
        raise InputError(f"{name}: the file is empty; remove it or save it again")
    refuse_other_kinds(data, name)
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _checked(_decoded(data, encoding), name)
    text = _decoded(data, "utf-8")
    if text is None:
        _refuse_damaged(data, name)
    if text is None or "\x00" in text:
        candidates = _WITH_ZEROS if b"\x00" in data else ("gb18030", "big5")
        texts = (_decoded(data, encoding) for encoding in candidates)
        text = next((t for t in texts if t is not None and _share(t) >= _PLAUSIBLE), None)
    return _checked(text, name)


def refuse_other_kinds(data: bytes, name: str) -> None:
    """Raises InputError when the first bytes are those of a PDF, a Word file …"""
    for magic, kind in _OTHER_KINDS:
        if data.startswith(magic):
            raise InputError(f"{name}: is {kind} file by its content; save it as UTF-8 text")


def front_matter(text: str) -> tuple[dict[str, str], int]:
    """YAML front matter as strings, and the offset at which the text goes on (0 without one).

    Broken YAML counts as text.
    """
    match = _FRONT.match(text)
    if match is None:
        return {}, 0
    try:
        raw = yaml.safe_load(match[1])
    except yaml.YAMLError:
        return {}, 0
    return (_strings(raw), match.end()) if isinstance(raw, dict) else ({}, 0)


def read_records(path: Path) -> Iterator[Record | BadRecord]:
    """The records of a JSONL file in order, bad lines first; of one id the last record counts.

    Raises InputError as ``read_text`` does.
    """
    found: dict[str, Record] = {}
    # Only \n ends a record: U+2028 and others may stand inside a JSON string.
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        record = _record(number, line)
        if isinstance(record, BadRecord):
            yield record
            continue
        before = found.pop(record.id, None)
        replaces = (*before.replaces, before.line) if before else ()
        found[record.id] = Record(
            number, record.id, record.title, record.text, record.meta, replaces
        )
    yield from found.values()


def _bad(line: int, reason: str) -> BadRecord:
    return BadRecord(f"line {line}", reason)


def _record(number: int, line: str) -> Record | BadRecord:
    try:
        raw: Any = json.loads(line)
    except (ValueError, RecursionError):
        return _bad(number, "is not valid JSON; correct or remove the line")
    if not isinstance(raw, dict):
        return _bad(number, "is no JSON object with id, title and text")
    for key in ("id", "text"):
        value = raw.get(key)
        usable = isinstance(value, str) or (key == "id" and type(value) is int)
        if not usable or not str(value).strip():
            return _bad(number, f"has no usable {key!r}; add it")
    title, meta = raw.get("title"), raw.get("meta")
    return Record(
        number,
        _no_surrogates(str(raw["id"])).strip(),
        _no_surrogates(title).strip() if isinstance(title, str) else "",
        _no_surrogates(raw["text"]),
        _strings(meta) if isinstance(meta, dict) else {},
    )


def _strings(raw: dict[Any, Any]) -> dict[str, str]:
    """Scalars as text, lists joined by 、; empty values and mappings are left out."""
    found: dict[str, str] = {}
    for key, value in raw.items():
        items = value if isinstance(value, list) else [value]
        parts = [str(v).strip() for v in items if v is not None and not isinstance(v, dict | list)]
        joined = _no_surrogates("、".join(filter(None, parts)))
        if joined:
            found[str(key).strip()] = joined
    return found


def _no_surrogates(text: str) -> str:
    """JSON may spell half a character (``\\ud83d``), which no store can hold."""
    return text.encode("utf-8", "ignore").decode("utf-8")


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _checked(text: str | None, name: str) -> str:
    if text is None or "\x00" in text:
        raise InputError(
            f"{name}: is no text in UTF-8, UTF-16, GB18030 or Big5; save it as UTF-8 text and retry"
        )
    if not _VISIBLE.search(text):
        raise InputError(f"{name}: holds blank space only; put its text in, or remove it")
    return text


def _refuse_damaged(data: bytes, name: str) -> None:
    """UTF-8 with a few broken bytes must not be taken for GB18030: every word would be garbage."""
    text = data.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    if damaged <= max(3, len(text) // 200) and len(re.findall("[\u4e00-\u9fff]", text)) > damaged:
        line = text[: text.index("\ufffd")].count("\n") + 1
        raise InputError(
            f"{name}: damaged UTF-8 at line {line} ({damaged} places); save the file again"
        )


def _share(text: str) -> float:
    sample = text[:20_000]
    return len(_COMMON.findall(sample)) / max(1, len(sample))
