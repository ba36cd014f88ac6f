"""From a file to documents: the one entry of the parsing half of ingest."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from configs.errors import InputError
from indexes.schema import Document, Passage, PassageId, PassageMetadata
from indexes.tokenizer import simplified
from ingest.amending import amendments
from ingest.archive import parse_archive
from ingest.cleaning import clean, clean_pages
from ingest.formats import SUFFIXES, read_document
from ingest.given import given_fields
from ingest.head import read_head
from ingest.levels import LEVELS
from ingest.metadata import Facts, SourceText, extract
from ingest.readers import BadRecord, Record, read_records
from ingest.reading import Reading
from ingest.repeats import said_once
from ingest.script import plain_reading, script_of
from ingest.short_names import short_names
from ingest.splitter import Span, split
from ingest.structure import lines_of
from ingest.titles import Title, name_date, title_of_file, without_date

__all__ = ["PARSER_VERSION", "SUPPORTED_SUFFIXES", "BadRecord", "parse_file"]

SUPPORTED_SUFFIXES = SUFFIXES | {".jsonl", ".zip"}
PARSER_VERSION = "7"
"""Moves when parsing changes its results, so that unchanged files are parsed again."""

_FOLDERS = 3
_STATE = "中华人民共和国"
_TWICE = "the text stands twice in this {}; one copy was kept"


@dataclass(frozen=True, slots=True)
class _Origin:
    domain: str
    file: str
    record: str = ""


def parse_file(
    path: Path, domain: str, root: Path | None, clock: Callable[[], date]
) -> Iterator[Document | BadRecord]:
    """The documents of one file, in order; what cannot be read of a JSONL file or an archive comes
    as BadRecord.

    ``file`` in the metadata is the path below ``root`` with forward slashes (the name alone when
    root is None). ``Document.extra`` holds ``full_title`` and ``part``. Raises InputError, one line
    a clerk understands, for a file that cannot be read or holds no text.
    """
    name = path.name if root is None else path.relative_to(root).as_posix()
    if path.suffix.lower() == ".zip":
        yield from parse_archive(path, name, domain, clock, parse_file, SUPPORTED_SUFFIXES)
        return
    if path.suffix.lower() == ".jsonl":
        empty = True
        for record in read_records(path):
            empty = False
            if isinstance(record, BadRecord):
                yield record
            else:
                yield _from_record(record, _Origin(domain, name, record.id), clock())
        if empty:
            raise InputError(f"{path.name}: holds no records; add lines or remove it")
        return
    folders = tuple(path.absolute().parent.parts[-_FOLDERS:])
    markdown = path.suffix.lower() == ".md"
    reading = read_document(path)
    if reading.pages:
        text, pages = clean_pages(reading.text, reading.pages)
        reading = replace(reading, text=text, pages=pages)
    else:
        reading = replace(reading, text=clean(reading.text, markdown=markdown))
    yield _from_reading(_said_once(reading), path.stem, _Origin(domain, name), folders, clock())


def _from_reading(
    reading: Reading, stem: str, origin: _Origin, folders: tuple[str, ...], today: date
) -> Document:
    script = script_of(reading.text)
    if script.traditional:
        reading, stem = plain_reading(reading, script.plain), simplified(stem)
    text, name = reading.text, without_date(stem)
    head = read_head(text, name, _STATE + name, *folders[-1:])
    given = {**_declared_title(reading, origin.file), **reading.given, **head.given}
    title = title_of_file(stem, head.headings, given.get("title", ""), folders, LEVELS)
    body = text[head.body_start :]
    if not body.strip():
        raise InputError(f"{origin.file}: has a head but no text; complete it or remove it")
    source = SourceText(
        domain=origin.domain,
        name=stem,
        title=title.cited,
        body=body,
        history=head.history,
        folders=folders,
        tags=title.tags,
        given=given,
    )
    names = (title.cited, title.full, _STATE + title.cited, *head.headings)
    bare = (re.sub(r"\s", "", name) for name in names)
    spans = split(text, head.body_start, bare, reading.rows_apart)
    if not spans:
        raise InputError(f"{origin.file}: holds only headings; complete it or remove it")
    facts = extract(source, today)
    return _document(
        script.written,
        script.title(title),
        script.spans(spans),
        facts,
        origin,
        name_date(stem),
        reading.warnings,
        reading.pages,
    )


def _said_once(reading: Reading) -> Reading:
    """The reading without the second copy of a text that stands twice in its file."""
    text, copy = said_once(reading.text)
    if copy is None:
        return reading
    pages = tuple(min(page, copy) for page in reading.pages)
    warnings = (*reading.warnings, _TWICE.format("file"))
    return replace(reading, text=text, pages=pages, warnings=warnings)


def _declared_title(reading: Reading, file: str) -> dict[str, str]:
    """The title inside an office file or a web page goes before its file's name, which is often
    附件2 or 新建文档; text files are named by people who file them."""
    if file.lower().endswith((".md", ".txt")):
        return {}
    first = next((line for line in reading.text.splitlines() if line.strip()), "")
    title = first[2:].strip() if first.startswith("# ") else reading.title.strip()
    return {"title": title} if title else {}


def _from_record(record: Record, origin: _Origin, today: date) -> Document | BadRecord:
    text, copy = said_once(clean(record.text))
    first = next((text[a:b] for a, b in lines_of(text)), "")
    if not first:
        return BadRecord(f"line {record.line}", "has an empty text; complete it or remove the line")
    script = script_of(text)
    text = script.plain
    given = given_fields(record.meta)
    title = record.title or given.get("title", "") or first[:60]
    if script.traditional:
        title = simplified(title)
    start = _title_end(text, title)
    head = read_head(text[start:], title)
    start += head.body_start
    if not text[start:].strip():
        start = 0
    source = SourceText(
        domain=origin.domain,
        name=title,
        title=title,
        body=text[start:],
        history=head.history,
        given={**head.given, **given},
    )
    spans = split(text, start)
    if not spans:
        return BadRecord(
            f"line {record.line}", "holds only headings; complete it or remove the line"
        )
    warnings = tuple(
        f"line {line}: its id {record.id!r} comes again in line {record.line}, which counts"
        for line in record.replaces
    )
    if copy is not None:
        warnings = (*warnings, _TWICE.format("record"))
    facts = extract(source, today)
    title = record.title or script.as_written(title)
    spans = script.spans(spans)
    return _document(script.written, Title(title, title), spans, facts, origin, None, warnings)


def _title_end(text: str, title: str) -> int:
    """Where the text goes on when it begins with its own title, else 0."""
    words = r"\s*".join(re.escape(c) for c in re.sub(r"\s", "", title))
    match = re.match(rf"\s*{words}(?=\s)", text)
    return match.end() if match and text[match.end() :].strip() else 0


def _document(
    text: str,
    title: Title,
    spans: tuple[Span, ...],
    facts: Facts,
    origin: _Origin,
    dated: str | None,
    warnings: tuple[str, ...],
    pages: tuple[int, ...] = (),
) -> Document:
    digest = hashlib.sha256(text.encode()).hexdigest()
    # Two versions may start on one day; the date in a file name is that version's alone.
    version = dated or facts.effective or facts.promulgated or digest[:8]
    document = _safe(origin.record or title.cited)
    common = PassageMetadata(
        title=title.cited,
        file=origin.file,
        doc_number=facts.doc_number,
        issuer=facts.issuer,
        level=facts.level,
        jurisdiction=facts.place.name if facts.place else "",
        jurisdiction_code=facts.place.code if facts.place else "",
        promulgated=facts.promulgated,
        effective=facts.effective,
        expires=facts.expires,
        status=facts.status,
        record=origin.record,
        version=version,
    )
    base = PassageId(origin.domain, document, version, "")
    passages = tuple(
        _passage(text, span, base, title.part, replace(common, page=_page(pages, span)))
        for span in spans
    )
    changes = amendments(title.cited, text, passages)
    return Document(
        domain=origin.domain,
        key=f"{origin.file}#{origin.record}" if origin.record else origin.file,
        title=title.cited,
        version=version,
        text=text,
        passages=passages,
        warnings=(*warnings, *facts.warnings, *_lost_text(text, spans)),
        extra={
            "full_title": title.full,
            "part": title.part,
            "doc_number": facts.doc_number,
            "short_names": short_names(text, title.cited),
            **({"amends": [change.to_row() for change in changes]} if changes else {}),
        },
    )


def _passage(text: str, span: Span, base: PassageId, part: str, common: PassageMetadata) -> Passage:
    content = text[span.start : span.end]
    # Articles of a law in several files count through; what is no article needs the part's name.
    locator = f"{_safe(part)}-{span.locator}" if part and not span.article else span.locator
    metadata = replace(
        common,
        heading_path=(part, *span.heading_path) if part else span.heading_path,
        article=span.article,
        part=span.part,
        table_header=span.table_header,
        content_hash=hashlib.sha256(content.encode()).hexdigest()[:16],
        start=span.start,
        end=span.end,
    )
    return Passage(str(replace(base, locator=locator)), base.domain, content, metadata)


def _page(pages: tuple[int, ...], span: Span) -> int | None:
    """The page (from 1) on which the span begins, None in a document without pages."""
    return bisect_right(pages, span.start) if pages else None


def _lost_text(text: str, spans: tuple[Span, ...]) -> tuple[str, ...]:
    """A warning when the text ends in a heading: what it announced (a table, a picture) is lost."""
    rest = text[spans[-1].end :].split()
    return (f"nothing follows the heading {rest[0]!r}: a table may be lost",) if rest else ()


def _safe(name: str) -> str:
    """``name`` without the characters that separate the parts of an id.

    Names that differ stay different: a changed name gets a check sum.
    """
    changed = re.sub(r"[\s@#]+", "_", name)
    if changed == name or not re.search(r"[@#]", name):
        return changed
    return f"{changed}~{hashlib.sha256(name.encode()).hexdigest()[:6]}"
