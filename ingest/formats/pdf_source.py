"""The pages of a PDF file as characters and tables, opened so that no file can harm."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pdfplumber
import pypdfium2
from pdfminer.pdfdocument import PDFPasswordIncorrect
from pdfminer.pdfexceptions import PDFException
from pdfminer.psexceptions import PSException
from pdfplumber.utils.exceptions import MalformedPDFException, PdfminerException

from configs.errors import InputError
from ingest.formats.pdf_encryption import name_character_sets, unlocked
from ingest.formats.pdf_lines import Line, pieces_of
from ingest.formats.pdf_tables import TableBlock, inside, tables_of
from ingest.readers import MAX_BYTES

_MAX_PAGES = 3000
_UNREADABLE = re.compile("\\(cid:\\d+\\)|[\ufffd\ue000-\uf8ff\x00-\x08]")
_COMMON = re.compile(
    "[\u0020-\u007e\u00a0-\u00ff\u2000-\u2fff\u3000-\u303f\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]"
)
_GARBAGE = 0.3
_REFERENCE = re.compile(rb"(\d{1,10})\s+\d{1,5}\s+obj\s+(\d{1,10})\s+\d{1,5}\s+R\s+endobj")
_FEW = 20
_PICTURE = 0.3
"""A picture that covers this share of a page with few characters makes it a scan."""


@dataclass(frozen=True, slots=True)
class Page:
    """``pieces``: of text outside of tables; ``picture``: the words are (or may be) in a picture
    alone; ``garbled``: the characters have no meaning (a font without Unicode table)."""

    height: float
    pieces: tuple[Line, ...]
    tables: tuple[TableBlock, ...] = ()
    picture: bool = False
    garbled: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """The pages of a file; ``title``: of its properties, "" if none; ``lossy``: parts of it are
    damaged, words may be missing."""

    pages: tuple[Page, ...]
    title: str = ""
    lossy: bool = False


class _Journal(logging.Handler):
    """Keeps what pdfminer logs: only a loss of data concerns the reader."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lossy = False

    def emit(self, record: logging.LogRecord) -> None:
        self.lossy = self.lossy or "Data-loss" in record.getMessage()


def load(path: Path) -> Source:
    """All pages of a PDF file.

    Raises InputError for a file that is empty, too large, damaged, protected by a password, or no
    PDF by its content. A password that only forbids printing or copying is no hindrance.
    """
    _check(path)
    content = unlocked(path)
    with _refusing(path), _journal() as journal, pdfplumber.open(content) as document:
        title = str((document.metadata or {}).get("Title", "") or "")
        pages = []
        for page in document.pages:
            if content is not path:
                name_character_sets(page)
            pages.append(_page(page))
            page.close()
    return Source(tuple(pages), title, journal.lossy)


@contextmanager
def _journal() -> Iterator[_Journal]:
    logger, journal = logging.getLogger("pdfminer"), _Journal()
    propagate, logger.propagate = logger.propagate, False
    logger.addHandler(journal)
    try:
        yield journal
    finally:
        logger.removeHandler(journal)
        logger.propagate = propagate


def _check(path: Path) -> None:
    """Open the file with pdfium first: it ends on every damage, loops of page trees included."""
    name = path.name
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(1024)
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({error.strerror}); check it") from error
    if not start:
        raise InputError(f"{name}: the file is empty; remove it or save it again")
    if size > MAX_BYTES:
        raise InputError(f"{name}: is over {MAX_BYTES // 1_000_000} MB; split it")
    if b"%PDF" not in start:
        raise InputError(f"{name}: is no PDF by its content; save it again as .pdf")
    try:
        with pypdfium2.PdfDocument(path) as document:
            count = len(document)
    except pypdfium2.PdfiumError as error:
        if "assword" in str(error):
            raise InputError(_protected(name)) from error
        raise InputError(_damaged(name)) from error
    if not count:
        raise InputError(f"{name}: has no pages; save it again")
    if count > _MAX_PAGES:
        raise InputError(f"{name}: {count} pages are over {_MAX_PAGES}; split it")
    if _has_loop(path.read_bytes()):
        raise InputError(_damaged(name))


def _has_loop(data: bytes) -> bool:
    """Whether an object is nothing but a reference that leads back to itself.

    pdfminer would follow it for ever; every other loop it notices.
    """
    following: dict[bytes, bytes] = {m[1]: m[2] for m in _REFERENCE.finditer(data)}
    for start in following:
        seen, at = set[bytes](), start
        while at in following and at not in seen:
            seen.add(at)
            at = following[at]
        if at in seen:
            return True
    return False


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """What pdfminer raises on a damaged file, as InputError."""
    try:
        yield
    except InputError:
        raise
    except (PdfminerException, PDFException, PSException, MalformedPDFException) as error:
        cause = error.args[0] if error.args else error
        if isinstance(error, PDFPasswordIncorrect) or isinstance(cause, PDFPasswordIncorrect):
            raise InputError(_protected(path.name)) from error
        raise InputError(_damaged(path.name)) from error
    except (
        *(ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError),
        *(RecursionError, ZeroDivisionError, OverflowError, NotImplementedError),
    ) as error:
        # pdfminer does not check what a damaged file says of itself.
        raise InputError(_damaged(path.name)) from error


def _protected(name: str) -> str:
    return f"{name}: is protected by a password; save it without password and retry"


def _damaged(name: str) -> str:
    return f"{name}: is damaged; print or export it as PDF again"


def _page(page: Any) -> Page:
    chars = [c for c in page.chars if inside(c, page.bbox)]  # none that the paper cuts off
    text = "".join(c["text"] for c in chars)
    few = len(re.sub(r"\s", "", text)) < _FEW
    if text and not few and _garbled(text):
        return Page(float(page.height), (), picture=True, garbled=True)
    tables = tables_of(page, chars)
    boxes = [(t.x0, t.top, t.x1, t.bottom) for t in tables]
    outside = [c for c in chars if not any(inside(c, box) for box in boxes)]
    return Page(
        float(page.height),
        tuple(pieces_of(outside)),
        tuple(tables),
        picture=few and not tables and _pictured(page),
    )


def _garbled(text: str) -> bool:
    """Whether the characters of a text layer make no words of any language."""
    broken = len(_UNREADABLE.findall(text))
    plain = _UNREADABLE.sub("", text)
    strange = len(plain) - len(_COMMON.findall(plain)) - sum(c.isspace() for c in plain)
    return broken + strange > _GARBAGE * (broken + len(plain))


def _pictured(page: Any) -> bool:
    area = sum(abs((i["x1"] - i["x0"]) * (i["bottom"] - i["top"])) for i in page.images)
    return bool(area > _PICTURE * page.width * page.height)
