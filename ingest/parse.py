"""From a file to documents: the one entry of the parsing half of ingest."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

from configs.errors import InputError
from indexes.schema import Document, Passage, PassageId, PassageMetadata
from ingest.cleaning import clean
from ingest.metadata import Facts, SourceText, extract, name_date, without_date
from ingest.readers import BadRecord, Record, front_matter, read_records, read_text
from ingest.splitter import Span, lines_of, split

__all__ = ["PARSER_VERSION", "SUPPORTED_SUFFIXES", "BadRecord", "parse_file"]

SUPPORTED_SUFFIXES = frozenset({".md", ".txt", ".jsonl"})
PARSER_VERSION = "1"
"""Moves when parsing changes its results, so that unchanged files are parsed again."""

_INFO_END = "<!-- INFO END -->"
_STATE = "中华人民共和国"
_UNTITLED = re.compile(r"[\W\d_a-zA-Z]*")
_HISTORY = re.compile(r"\d{4}\s*年")


def parse_file(
    path: Path, domain: str, root: Path | None, clock: Callable[[], date]
) -> Iterator[Document | BadRecord]:
    """The documents of one file, in order; bad lines of a JSONL file come as BadRecord.

    ``file`` in the metadata is the path below ``root`` with forward slashes (the name alone when
    root is None). Raises InputError, one line a clerk understands, for a file that cannot be read
    or holds no text.
    """
    name = path.name if root is None else path.relative_to(root).as_posix()
    if path.suffix.lower() == ".jsonl":
        empty = True
        for record in read_records(path):
            empty = False
            yield (
                record
                if isinstance(record, BadRecord)
                else _from_record(record, domain, name, clock())
            )
        if empty:
            raise InputError(f"{path.name}: holds no records; add lines or remove it")
        return
    folders = tuple(path.resolve().parent.parts[-3:])
    yield _from_text(read_text(path), path.stem, domain, name, folders, clock())


def _from_text(
    raw: str, stem: str, domain: str, file: str, folders: tuple[str, ...], today: date
) -> Document:
    text = clean(raw)
    given, offset = front_matter(text)
    head, body_start = _head(text, offset)
    titles = [line.lstrip("# ").strip() for line in head if line.startswith("#")]
    history = tuple(line for line in head if not line.startswith("#"))
    title, part = _title(stem, titles, given.get("title", ""), folders, text[body_start:])
    if not text[body_start:].strip():
        raise InputError(f"{file}: has a head but no text; complete it or remove it")
    source = SourceText(domain, stem, title, text[body_start:], history, folders, given)
    repeated = {re.sub(r"\s", "", t) for t in (title, _STATE + title, *titles)}
    spans = split(text, body_start, tuple(repeated))
    return _document(domain, text, title, spans, extract(source, today), file, part=part, name=stem)


def _from_record(record: Record, domain: str, file: str, today: date) -> Document | BadRecord:
    text = clean(record.text)
    if not text.strip():
        return BadRecord(record.line, "has an empty text; complete it or remove the line")
    first = next((text[a:b] for a, b in lines_of(text)), "")
    title = record.title or first[:60]
    source = SourceText(domain, title, title, text, given=record.meta)
    spans = split(text)
    return _document(
        domain, text, title, spans, extract(source, today), file, record=record.id, name=title
    )


def _head(text: str, offset: int) -> tuple[list[str], int]:
    """The lines before the body, and where the body starts.

    The head ends at INFO END; without that mark it is the ``#`` title and the dated lines
    (history of adoption) right under it.
    """
    end = text.find(_INFO_END)
    if end >= 0:
        lines = [text[a:b] for a, b in lines_of(text[:end], offset)]
        return lines, end + len(_INFO_END)
    lines, start = [], offset
    for a, b in lines_of(text, offset):
        line = text[a:b]
        is_title = re.match(r"#\s", line) and not lines
        if not is_title and not (lines and len(line) < 80 and re.match(r"[（(]?\d{4}\s*年", line)):
            break
        lines.append(line)
        start = b
    return lines, start


def _title(
    stem: str, headings: list[str], given: str, folders: tuple[str, ...], body: str
) -> tuple[str, str]:
    """(title that users cite, part name when the file is one part of a law in a folder)."""
    if given:
        return given.strip(), ""
    name = without_date(stem)
    heading = headings[0] if headings else ""
    short = heading.removeprefix(_STATE)
    # A folder that bears the law's name holds its parts (民法典/合同编.md).
    if folders and short == folders[-1] and name != short:
        return short, name
    if not _UNTITLED.fullmatch(name):
        return name, ""
    if heading:
        return short, ""
    first = next((body[a:b] for a, b in lines_of(body)), name)
    return first.lstrip("# ").strip()[:80] or name, ""


def _document(
    domain: str,
    text: str,
    title: str,
    spans: tuple[Span, ...],
    facts: Facts,
    file: str,
    *,
    name: str,
    part: str = "",
    record: str = "",
) -> Document:
    digest = hashlib.sha256(text.encode()).hexdigest()
    # Two versions may start on one day; the date in a file name is that version's alone.
    version = name_date(name) or facts.effective or facts.promulgated or digest[:8]
    document = _safe(record or title)
    prefix = f"{_safe(part)}-" if part else ""
    passages = []
    for span in spans:
        content = text[span.start : span.end]
        locator = prefix + span.locator if prefix and not span.article else span.locator
        metadata = PassageMetadata(
            title=title,
            file=file,
            doc_number=facts.doc_number,
            issuer=facts.issuer,
            level=facts.level,
            jurisdiction=facts.place.name if facts.place else "",
            jurisdiction_code=facts.place.code if facts.place else "",
            promulgated=facts.promulgated,
            effective=facts.effective,
            expires=facts.expires,
            status=facts.status,
            heading_path=(part, *span.heading_path) if part else span.heading_path,
            article=span.article,
            part=span.part,
            record=record,
            version=version,
            content_hash=hashlib.sha256(content.encode()).hexdigest()[:16],
            start=span.start,
            end=span.end,
        )
        passages.append(
            Passage(str(PassageId(domain, document, version, locator)), domain, content, metadata)
        )
    if not passages:
        raise InputError(f"{file}: holds only headings; complete it or remove it")
    key = f"{file}#{record}" if record else file
    return Document(domain, key, title, version, text, tuple(passages))


def _safe(text: str) -> str:
    return re.sub(r"[\s@#]+", "_", text)
