"""Writes the linked validity of documents (new version, repeal) into the indexes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date

from indexes.batching import BATCH_PASSAGES, DocumentChange
from indexes.schema import Document
from indexes.writer import DomainWriter
from ingest.ledger import Ledger
from ingest.validity import Validity, with_validity
from ingest.versions import pending_changes


def apply_links(writer: DomainWriter, ledger: Ledger, domain: str, today: date) -> int:
    """Bring every document's beginning, end and status up to date; how many documents changed.

    Texts stay as they are, so nothing is embedded. A kill in between costs a second application.
    """
    changes = pending_changes(ledger.facts(domain), today)
    for part in _parts(writer, domain, changes):
        writer.apply([DocumentChange(key, document) for key, document in part.items()])
        ledger.applied(domain, {key: changes[key] for key in part})
    return len(changes)


def _parts(
    writer: DomainWriter, domain: str, changes: Mapping[str, Validity]
) -> Iterator[dict[str, Document]]:
    part: dict[str, Document] = {}
    size = 0
    for entry in writer.catalog.documents(domain) if changes else ():
        if entry.doc_key not in changes:
            continue
        document = Document(
            domain=domain,
            key=entry.doc_key,
            title=entry.title,
            version=entry.version,
            text=writer.catalog.document_text(domain, entry.doc_key) or "",
            passages=writer.catalog.document_passages(domain, entry.doc_key),
            extra=entry.extra,
        )
        part[entry.doc_key] = with_validity(document, changes[entry.doc_key])
        size += len(document.passages)
        if size >= BATCH_PASSAGES:
            yield part
            part, size = {}, 0
    if part:
        yield part
