"""Do ledger, catalog, vector store and keyword index say the same? Reads all of them, a page at a
time, and changes nothing."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from configs.settings import Settings
from indexes.catalog import PassageCatalog
from indexes.chroma_store import CosineChromaVectorStore
from indexes.domain_index import domain_config
from indexes.keyword_index import KeywordIndex
from indexes.schema import Passage
from indexes.store_layout import StoreLayout
from indexes.tokenizer import Tokenizer
from ingest.ledger import LEDGER_NAME, Ledger

EXAMPLES = 5
_PAGE = 1000

Kind = Literal["missing", "extra", "differs"]


@dataclass(frozen=True, slots=True)
class Difference:
    """``place`` (ledger, catalog, vector store, keyword index) lacks ``count`` documents or
    passages that another place lists, has so many too many, or holds so many with other content.
    ``examples``: the first keys or rows."""

    place: str
    kind: Kind
    count: int
    examples: tuple[str, ...]
    remedy: str

    def line(self) -> str:
        """One line for people."""
        shown = ", ".join(self.examples)
        return f"{self.place}: {self.count} {self.kind} ({shown}); {self.remedy}"


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What was compared in one domain, and what differs."""

    domain: str
    documents: int
    passages: int
    differences: tuple[Difference, ...]

    @property
    def ok(self) -> bool:
        """Everything agrees."""
        return not self.differences

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "domain": self.domain,
            "ok": self.ok,
            "documents": self.documents,
            "passages": self.passages,
            "differences": [asdict(difference) for difference in self.differences],
        }


def verify(settings: Settings, domain: str) -> VerifyReport:
    """Compare the four stores of a domain.

    Documents: ledger against catalog. Passages: vector store (rows, text and all metadata) and
    keyword index (rows; it keeps no text) against the catalog, whose content is checked against
    its own hashes. Raises SourceUnavailableError (nothing ingested, or unreadable), StoreBusyError
    (an ingest is running), ConfigError.
    """
    config = domain_config(settings, domain)
    layout = StoreLayout(Path(settings.store.dir))
    catalog = PassageCatalog(layout.catalog)
    try:
        with layout.lock_writer():
            found = _Found()
            documents = _documents(layout, catalog, domain, found)
            dense = CosineChromaVectorStore.open(
                settings.store, layout.chroma, config.collection, None
            )
            try:
                tokenizer = Tokenizer.from_dictionary(config.keyword.dictionary)
                keyword = KeywordIndex(layout.keyword(domain), tokenizer, config.keyword)
                passages = _passages(catalog, domain, dense, keyword, found)
            finally:
                dense.close()
    finally:
        catalog.close()
    return VerifyReport(domain, documents, passages, found.differences())


class _Found:
    def __init__(self) -> None:
        self._keys: dict[tuple[str, Kind], list[str]] = defaultdict(list)
        self._counts: dict[tuple[str, Kind], int] = defaultdict(int)

    def add(self, place: str, kind: Kind, keys: Iterable[str]) -> None:
        kept = self._keys[place, kind]
        for key in keys:
            self._counts[place, kind] += 1
            if len(kept) < EXAMPLES:
                kept.append(key)

    def differences(self) -> tuple[Difference, ...]:
        return tuple(
            Difference(place, kind, count, tuple(self._keys[place, kind]), _REMEDIES[place])
            for (place, kind), count in self._counts.items()
        )


_REMEDIES = {
    "ledger": "they came by other means than ingest; remove or ingest them",
    "catalog": "ingest the same folders again",
    "vector store": "run `policy-fusion rebuild`",
    "keyword index": "run `policy-fusion rebuild`",
}


def _documents(layout: StoreLayout, catalog: PassageCatalog, domain: str, found: _Found) -> int:
    listed = {document.doc_key for document in catalog.documents(domain)}
    known: set[str] = set()
    if (layout.root / LEDGER_NAME).is_file():
        with Ledger(layout.root) as ledger:
            known = set(ledger.document_paths(domain))
    found.add("ledger", "missing", sorted(listed - known))
    found.add("catalog", "missing", sorted(known - listed))
    return len(listed)


def _passages(
    catalog: PassageCatalog,
    domain: str,
    dense: CosineChromaVectorStore,
    keyword: KeywordIndex,
    found: _Found,
) -> int:
    total = 0
    rows: set[str] = set()
    pages = catalog.passages(domain)
    while page := list(islice(pages, _PAGE)):
        keys = [row for row, _ in page]
        total += len(page)
        rows.update(keys)
        found.add("catalog", "differs", (p.id for _, p in page if not _own_hash(p)))
        stored, indexed = dense.stored(keys), keyword.present(keys)
        found.add("vector store", "missing", (row for row in keys if row not in stored))
        found.add("keyword index", "missing", (row for row in keys if row not in indexed))
        wrong = (
            r for r, p in page if r in stored and stored[r] != (p.content, p.metadata.to_flat())
        )
        found.add("vector store", "differs", wrong)
    found.add("vector store", "extra", (row for row in dense.all_ids() if row not in rows))
    found.add("keyword index", "extra", (row for row in keyword.all_ids() if row not in rows))
    return total


def _own_hash(passage: Passage) -> bool:
    known = passage.metadata.content_hash
    return not known or hashlib.sha256(passage.content.encode()).hexdigest().startswith(known)
