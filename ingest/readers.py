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
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*\n", re.DOTALL)
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a JSONL file: a document. ``line`` is 1-based."""

    line: int
    id: str
    title: str
    text: str
    meta: dict[str, str]


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A line of a JSONL file that is no document, and why."""

    line: int
    reason: str


def read_text(path: Path) -> str:
    """The file's text: UTF-8 with or without BOM, UTF-16 with BOM, or GB18030.

    Raises InputError with a reason for empty, binary, too large or undecodable files.
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
    if not data.strip():
        raise InputError(f"{path.name}: the file is empty; remove it or save it again")
    encodings = [name for bom, name in _BOMS if data.startswith(bom)] or ["utf-8", "gb18030"]
    for encoding in encodings:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\x00" in text:
            break
        return text
    raise InputError(
        f"{path.name}: is no text in UTF-8, UTF-16 or GB18030; save it as UTF-8 text and retry"
    )


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
    if not isinstance(raw, dict):
        return {}, 0
    return _strings(raw), match.end()


def read_records(path: Path) -> Iterator[Record | BadRecord]:
    """The records of a JSONL file in order; of records with one id the last one wins."""
    found: dict[str, Record] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        record = _record(number, line)
        if isinstance(record, BadRecord):
            yield record
            continue
        if record.id in found:
            yield BadRecord(found[record.id].line, f"id {record.id!r} comes again in line {number}")
        found[record.id] = record
    yield from found.values()


def _record(number: int, line: str) -> Record | BadRecord:
    try:
        raw: Any = json.loads(line)
    except (json.JSONDecodeError, RecursionError):
        return BadRecord(number, "is not valid JSON; correct or remove the line")
    if not isinstance(raw, dict):
        return BadRecord(number, "is no JSON object with id, title and text")
    for key in ("id", "text"):
        if not isinstance(raw.get(key), str | int) or not str(raw[key]).strip():
            return BadRecord(number, f"has no {key!r}; add it")
    title = raw.get("title")
    meta = raw.get("meta")
    return Record(
        number,
        str(raw["id"]).strip(),
        title.strip() if isinstance(title, str) else "",
        str(raw["text"]),
        _strings(meta) if isinstance(meta, dict) else {},
    )


def _strings(raw: dict[Any, Any]) -> dict[str, str]:
    return {str(k): str(v) for k, v in raw.items() if v is not None and not isinstance(v, dict)}
