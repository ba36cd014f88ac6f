"""The one schema that every knowledge domain's hits are normalised into.

Pure data: no LlamaIndex, no Chroma. Dates are ISO strings (``YYYY-MM-DD``); their integer
form ``YYYYMMDD`` exists for range filters, which vector stores want as numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from typing import Any, Literal

Status = Literal["in_force", "amended", "repealed", "not_yet"]
SignalName = Literal["dense", "keyword"]

NATIONAL = "100000"
"""GB/T 2260 code this project uses for rules of the whole country."""

OPEN_END = 99991231
"""``expires_int`` of a rule that has no known end."""

_ID = re.compile(
    r"^(?P<domain>[a-z][a-z0-9_]*):(?P<document>[^@#]+)@(?P<version>[^@#]+)#(?P<locator>[^@#]+)$"
)


def date_int(value: str | date | None, default: int) -> int:
    """``2024-06-01`` -> ``20240601``; ``default`` when the date is unknown (None or empty)."""
    if not value:
        return default
    return int(str(value).replace("-", ""))


@dataclass(frozen=True, slots=True)
class PassageMetadata:
    """What is known of a passage apart from its words. Unknown text is ``""``, unknown dates None.

    ``jurisdiction`` is a name (``上海市``, ``全国``), ``jurisdiction_code`` its six-digit GB/T 2260
    code (national = ``100000``). ``article`` is in digits: ``54``, ``120-1`` for 第一百二十条之一;
    empty where the passage is no article. ``start``/``end`` are character offsets of ``content``
    in the cleaned document text. ``record`` is the id of the JSONL record it came from, else "".
    ``expires`` is the first day on which the rule no longer applies, if known. ``table_header`` is
    what a part of a long table lacks: its caption, unit and header row as the document says them,
    "" elsewhere.
    """

    title: str
    file: str
    doc_number: str = ""
    issuer: str = ""
    level: str = ""
    jurisdiction: str = ""
    jurisdiction_code: str = ""
    promulgated: str | None = None
    effective: str | None = None
    expires: str | None = None
    status: Status = "in_force"
    heading_path: tuple[str, ...] = ()
    article: str = ""
    part: int = 0
    page: int | None = None
    table_header: str = ""
    record: str = ""
    version: str = ""
    content_hash: str = ""
    start: int = 0
    end: int = 0

    def to_flat(self) -> dict[str, str | int]:
        """Flat scalars for a vector store: no None, tuples joined by `` > ``, dates as ints too.

        ``table_header`` only where there is one.
        """
        flat: dict[str, str | int] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name == "heading_path":
                value = " > ".join(value)
            if value is None or (f.name == "table_header" and not value):
                continue
            flat[f.name] = value
        flat["effective_int"] = date_int(self.effective, 0)
        flat["expires_int"] = date_int(self.expires, OPEN_END)
        return flat

    def in_force_on(self, day: date) -> bool:
        """True unless the rule is known not to apply on ``day`` (unknown dates count as open)."""
        number = date_int(day, 0)
        return date_int(self.effective, 0) <= number < date_int(self.expires, OPEN_END)


@dataclass(frozen=True, slots=True)
class Passage:
    """One retrievable, quotable piece of one version of one document.

    ``id`` = ``{domain}:{document}@{version}#{locator}``, e.g. ``law:民法典@2021-01-01#a54``;
    ``source`` is the domain; ``content`` the text as the document says it (never prefixed).
    """

    id: str
    source: str
    content: str
    metadata: PassageMetadata

    def readable(self) -> str:
        """The content below the header of the table that it continues; else the content alone."""
        header = self.metadata.table_header
        return f"{header}\n{self.content}" if header else self.content

    def embedding_text(self) -> str:
        """The text that is embedded: title, heading path, then the readable content."""
        head = " ".join((self.metadata.title, *self.metadata.heading_path)).strip()
        return f"{head}\n{self.readable()}" if head else self.readable()


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage id with the raw score one signal gave it (higher is better)."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class Filters:
    """Which passages may be returned; the default lets everything pass.

    ``jurisdictions``: GB/T 2260 codes that are allowed (the place, its ancestors, national);
    ``as_of``: only rules not known to be out of force on that day.
    """

    jurisdictions: frozenset[str] | None = None
    as_of: date | None = None

    def admits(self, metadata: PassageMetadata) -> bool:
        """Whether a passage with this metadata may be returned."""
        if self.jurisdictions is not None and metadata.jurisdiction_code not in self.jurisdictions:
            return False
        return self.as_of is None or metadata.in_force_on(self.as_of)


NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class PassageId:
    """The four parts of a passage id."""

    domain: str
    document: str
    version: str
    locator: str

    def __str__(self) -> str:
        return f"{self.domain}:{self.document}@{self.version}#{self.locator}"

    @classmethod
    def parse(cls, text: str) -> PassageId:
        """Inverse of ``str``. Raises ValueError when ``text`` is no passage id."""
        match = _ID.match(text)
        if match is None:
            raise ValueError(f"not a passage id: {text!r}")
        return cls(**match.groupdict())


@dataclass(frozen=True, slots=True)
class Document:
    """One version of one document after parsing: its cleaned text and the passages that tile it.

    ``text[p.metadata.start:p.metadata.end] == p.content`` for every passage; spans are ordered and
    disjoint, and what lies outside of them is only headings, the file's info head and white space.
    ``key`` identifies the document inside its file (a JSONL file holds many), ``warnings`` are for
    the ingest report.
    """

    domain: str
    key: str
    title: str
    version: str
    text: str
    passages: tuple[Passage, ...]
    warnings: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
