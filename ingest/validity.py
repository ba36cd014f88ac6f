"""When documents and their articles apply: what is known of them, and what linking says."""

from __future__ import annotations

from dataclasses import dataclass, replace

from indexes.amendments import Amendment, bare_words
from indexes.schema import Document, Passage, Status


@dataclass(frozen=True, slots=True)
class Repeal:
    """A title that a document repeals, the day that stands beside it (ISO) if any, and its
    发文字号, "" where none is named."""

    title: str
    day: str | None = None
    number: str = ""


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """What version linking needs of a document; dates are ISO strings or None."""

    key: str
    title: str
    jurisdiction_code: str
    promulgated: str | None
    effective: str | None
    expires: str | None
    status: Status
    repeals: tuple[Repeal, ...] = ()
    doc_number: str = ""
    amends: tuple[Amendment, ...] = ()


@dataclass(frozen=True, slots=True)
class ArticleEnd:
    """One article (digits), or one passage (id) of an amendment, that ends before its document.

    ``day`` ISO, the first on which it does not apply; ``status`` None until it has come. It does
    not end where the document already says what replaces it, then or later (one of ``new``, as
    ``indexes.amendments.bare_words`` writes it).
    """

    day: str
    status: Status | None
    article: str = ""
    passage: str = ""
    new: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Validity:
    """When a document stops to apply (first day, ISO; None = no known end) and its status.

    ``effective``: the day on which it starts, where another part of the same law states it.
    ``ends``: articles of it that end by themselves.
    """

    expires: str | None
    status: Status
    effective: str | None = None
    ends: tuple[ArticleEnd, ...] = ()


def with_validity(document: Document, validity: Validity) -> Document:
    """The same document with this end, status and (where given) beginning on every passage."""
    text = bare_words(document.text) if any(end.new for end in validity.ends) else ""
    ends = [end for end in validity.ends if not any(new in text for new in end.new)]
    return replace(
        document, passages=tuple(_passage(passage, validity, ends) for passage in document.passages)
    )


def _passage(passage: Passage, validity: Validity, ends: list[ArticleEnd]) -> Passage:
    metadata = replace(
        passage.metadata,
        expires=validity.expires,
        status=validity.status,
        effective=validity.effective or passage.metadata.effective,
    )
    for end in ends:
        own = passage.id == end.passage or (end.article and metadata.article == end.article)
        if own and (metadata.expires is None or end.day < metadata.expires):
            metadata = replace(metadata, expires=end.day, status=end.status or metadata.status)
    return replace(passage, metadata=metadata)
