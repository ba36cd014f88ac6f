"""Which document changes may be applied, and which of them have to be applied together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from indexes.schema import Document

BATCH_PASSAGES = 2000
"""Passages after which a batch is closed; one document is never split."""


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """The new content of the document ``doc_key`` of a domain; ``document`` None removes it."""

    doc_key: str
    document: Document | None


def conflicts(
    domain: str, changes: Sequence[DocumentChange], owners: Mapping[str, str]
) -> dict[str, str]:
    """``doc_key`` -> the reason, for changes that must be refused; the others are safe together.

    ``owners``: passage id -> key of the document that holds it now. An id may move to another
    document only when its owner gives it up in the same changes. Of two new claimants the first
    wins.
    """
    refused: dict[str, str] = {}
    for change in changes:
        if reason := _malformed(domain, change):
            refused[change.doc_key] = reason
    while True:
        changing = {c.doc_key for c in changes if c.doc_key not in refused}
        claims = {id_: key for id_, key in owners.items() if key not in changing}
        found = _first_conflict(changes, changing, claims)
        if found is None:
            return refused
        refused[found[0]] = found[1]  # its present passages stay: look at the others again


def _first_conflict(
    changes: Sequence[DocumentChange], changing: set[str], claims: dict[str, str]
) -> tuple[str, str] | None:
    for change in changes:
        if change.doc_key not in changing or change.document is None:
            continue
        for passage in change.document.passages:
            other = claims.setdefault(passage.id, change.doc_key)
            if other != change.doc_key:
                return change.doc_key, (
                    f"{change.doc_key}: the same title and version are stored from {other}"
                    f" (passage {passage.id}); remove the copy, or give one of the two another"
                    " title or version"
                )
    return None


def _malformed(domain: str, change: DocumentChange) -> str:
    seen: set[str] = set()
    for passage in change.document.passages if change.document else ():
        if not passage.id.startswith(f"{domain}:") or passage.source != domain:
            return (
                f"{change.doc_key}: passage {passage.id} is not of the domain {domain}; "
                f"parse the file for the domain {domain}"
            )
        if passage.id.endswith("~"):
            return f"{change.doc_key}: passage id {passage.id} ends with ~; use another locator"
        if passage.id in seen:
            return (
                f"{change.doc_key}: passage id {passage.id} stands twice in this document; "
                "number its passages apart"
            )
        seen.add(passage.id)
    return ""


def batches(
    changes: Sequence[DocumentChange], owners: Mapping[str, str]
) -> Iterator[list[DocumentChange]]:
    """Changes in batches of about ``BATCH_PASSAGES``.

    A document that takes an id over goes with the document that gives it up. A key that comes
    twice counts as its last change.
    """
    by_key = {change.doc_key: change for change in changes}
    partners: dict[str, set[str]] = {key: set() for key in by_key}
    for key, change in by_key.items():
        for passage in change.document.passages if change.document else ():
            owner = owners.get(passage.id, key)
            if owner != key and owner in by_key:
                partners[key].add(owner)
                partners[owner].add(key)
    batch: list[DocumentChange] = []
    size = 0
    done: set[str] = set()
    for key in by_key:
        together, open_keys = [], [key]
        while open_keys:
            if (found := open_keys.pop()) not in done:
                done.add(found)
                together.append(by_key[found])
                open_keys += sorted(partners[found])
        weight = sum(len(c.document.passages) for c in together if c.document)
        if batch and size + weight > BATCH_PASSAGES:
            yield batch
            batch, size = [], 0
        batch += together
        size += weight
    if batch:
        yield batch
