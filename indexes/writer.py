"""The write side of one knowledge domain: whole documents, new beside old, then one switch.

A batch goes: embed, note the new rows in the catalog, write them to the vector store and the
keyword index, switch the catalog in one transaction, delete the rows that are no longer listed.
Killed anywhere, the catalog still lists either the old or the new documents, each whole, and the
notes say which rows of the other two stores ``recover`` has to look at.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from filelock import FileLock

from configs.errors import InputError, SourceUnavailableError
from configs.settings import Settings
from indexes.batching import DocumentChange, batches, conflicts
from indexes.catalog import PassageCatalog, other_row
from indexes.chroma_client import model_mismatch
from indexes.chroma_store import CosineChromaVectorStore
from indexes.domain_index import domain_config
from indexes.embedding_cache import EmbeddingCache, Vectors
from indexes.keyword_index import KeywordIndex
from indexes.schema import Passage
from indexes.store_layout import StoreLayout
from indexes.tokenizer import Tokenizer

if TYPE_CHECKING:
    from indexes.embeddings import TextEmbedder

__all__ = ["DocumentChange", "DomainWriter"]
_log = logging.getLogger(__name__)
PAGE = 1000
Rows = list[tuple[str, Passage]]


@dataclass
class DomainWriter:
    """The only writer of a store while it is open; a context manager. Get one by ``open``."""

    domain: str
    catalog: PassageCatalog
    cache: EmbeddingCache
    dense: CosineChromaVectorStore
    keyword: KeywordIndex
    embedder: TextEmbedder
    _layout: StoreLayout
    _lock: FileLock
    _embedded: bool
    _open_dense: Callable[[], CosineChromaVectorStore]

    @classmethod
    def open(cls, settings: Settings, domain: str, embedder: TextEmbedder) -> Self:
        """Lock the store, create what is missing, and mend what a killed writer left.

        Raises StoreBusyError while another process writes, StoreMismatchError when the domain was
        built with another embedding model, ConfigError for an unknown domain.
        """
        config = domain_config(settings, domain)
        tokenizer = Tokenizer.from_dictionary(config.keyword.dictionary)
        layout = StoreLayout(Path(settings.store.dir))
        layout.create()
        lock = layout.lock_writer()
        try:
            catalog = PassageCatalog(layout.catalog, create=True)
            key = embedder.fingerprint.key
            catalog.set_fingerprint(domain, key)
            built = catalog.fingerprint(domain)
            if built != key:
                raise model_mismatch(f"domain {domain}", str(built), key)
            embedded = settings.store.chroma == "embedded"
            open_dense = partial(
                CosineChromaVectorStore.open,
                settings.store,
                layout.chroma,
                config.collection,
                key,
                create=True,
            )
            with layout.chroma_gate() if embedded else nullcontext():
                dense = open_dense()
                dense.plan_saves(catalog.count(domain))
            keyword = KeywordIndex(layout.keyword(domain), tokenizer, config.keyword, create=True)
            cache = EmbeddingCache(layout.embeddings)
        except BaseException:
            lock.release()
            raise
        writer = cls(
            domain, catalog, cache, dense, keyword, embedder, layout, lock, embedded, open_dense
        )
        try:
            writer.recover()
        except BaseException:
            writer.close()
            raise
        return writer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all parts and let the next writer in."""
        try:
            self.keyword.close()
            self.dense.close()
            self.cache.close()
            self.catalog.close()
        finally:
            self._lock.release()

    # -- changing -----------------------------------------------------------------------------

    def apply(self, changes: Sequence[DocumentChange]) -> None:
        """Add, replace (same ``doc_key``) or remove (``document`` None) documents.

        Each document becomes visible whole, once; passages that did not change are not written
        again. Raises InputError, after all other documents were applied, for documents that claim
        passage ids of another document or of another domain.
        """
        refused = self.conflicts(changes)
        accepted = [change for change in changes if change.doc_key not in refused]
        owners = self.catalog.owners(self.domain, _claimed(accepted))
        for batch in batches(accepted, owners):
            self._apply_batch(batch)
        if refused:
            first = next(iter(refused.values()))
            more = f" (and {len(refused) - 1} more documents)" if len(refused) > 1 else ""
            raise InputError(f"{first}{more}")

    def embed(self, changes: Sequence[DocumentChange]) -> None:
        """Embed what ``apply`` of these changes would, so that it finds the vectors in the cache.

        For calling while another thread applies earlier changes.
        """
        current = self.catalog.current(self.domain, [change.doc_key for change in changes])
        passages = chain.from_iterable(c.document.passages for c in changes if c.document)
        fresh = [p for p in passages if current.get(p.id, ("", None))[1] != p]
        self.cache.embed(self.embedder, [p.embedding_text() for p in fresh])

    def conflicts(self, changes: Sequence[DocumentChange]) -> dict[str, str]:
        """``doc_key`` -> why ``apply`` will refuse it, for those that it will."""
        owners = self.catalog.owners(self.domain, _claimed(changes))
        return conflicts(self.domain, changes, owners)

    def _apply_batch(self, changes: Sequence[DocumentChange]) -> None:
        if self.catalog.pending(self.domain):
            self.recover()  # an earlier batch failed half-way
        current = self.catalog.current(self.domain, [change.doc_key for change in changes])
        rows: dict[str, str] = {}
        fresh: Rows = []
        for passage in chain.from_iterable(c.document.passages for c in changes if c.document):
            old = current.get(passage.id)
            if old is not None and old[1] == passage:
                rows[passage.id] = old[0]
                continue
            row = passage.id if old is None else other_row(old[0])
            rows[passage.id] = row
            fresh.append((row, passage))
        kept = set(rows.values())
        stale = [row for row, _ in current.values() if row not in kept]
        vectors = self.cache.embed(self.embedder, [p.embedding_text() for _, p in fresh])
        self.catalog.add_pending(self.domain, [row for row, _ in fresh])
        self._write_dense(fresh, vectors)
        self._write_keyword(fresh)
        self._switch(changes, rows, stale)
        self._discard(stale)
        self.catalog.clear_pending(self.domain)
        self._replan_saves()

    def _replan_saves(self) -> None:
        # A first ingest would save ever more rows in the small steps of an empty store.
        total = self.catalog.count(self.domain)
        if self._embedded and self.dense.saves_too_often(total):
            with self._gate():
                self.dense.plan_saves(total)
                self.dense.close()
                self.dense = self._open_dense()

    def _write_dense(self, rows: Rows, vectors: Vectors) -> None:
        self.write_dense(rows, vectors, self.dense)

    def write_dense(self, rows: Rows, vectors: Vectors, store: CosineChromaVectorStore) -> None:
        """Write rows into ``store``; ``vectors``: (len(rows), dimension)."""
        size = store.batch_size
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            with self._gate():
                store.upsert(
                    [row for row, _ in part], [p for _, p in part], vectors[start : start + size]
                )

    def beside(self, suffix: str) -> CosineChromaVectorStore:
        """A new, empty vector store beside the present one."""
        with self._gate():
            return self.dense.beside(suffix)

    def switch_dense(self, fresh: CosineChromaVectorStore, suffix: str) -> None:
        """Put the rows of ``fresh`` in the place of the vector store's; it holds the old ones then,
        in a collection whose name ends with ``suffix``."""
        with self._gate():
            self.dense.exchange(fresh, suffix)

    def drop(self, store: CosineChromaVectorStore) -> None:
        """Delete a vector store that ``beside`` gave."""
        with self._gate():
            store.drop()

    def _write_keyword(self, rows: Rows) -> None:
        if rows:
            self.keyword.delete_ids(row for row, _ in rows)
            self.keyword.add([row for row, _ in rows], [p for _, p in rows])
            self.keyword.commit()

    def _switch(
        self, changes: Sequence[DocumentChange], rows: dict[str, str], stale: Sequence[str]
    ) -> None:
        documents = [(change.doc_key, change.document) for change in changes]
        self.catalog.switch(self.domain, documents, rows, stale)

    def _discard(self, rows: Sequence[str]) -> None:
        if rows:
            with self._gate():
                self.dense.delete_ids(rows)
            self.keyword.delete_ids(rows)
            self.keyword.commit()

    def _gate(self) -> AbstractContextManager[None]:
        return self._layout.chroma_gate() if self._embedded else nullcontext()

    # -- mending ------------------------------------------------------------------------------

    def recover(self) -> None:
        """Make the three stores agree, keeping what the catalog lists; quick when they do.

        Undoes rows of batches that never switched, deletes those that a switch left behind, writes
        again what is missing (from the catalog, vectors from the cache).
        """
        self.keyword.rollback()
        noted = self.catalog.pending(self.domain)
        # After a kill every vector is read once: Chroma does not save its index in one step.
        if not self._opens() or (noted and not self.dense.readable()):
            _log.warning(
                "%s: the vector store was cut off while saving; writing it again", self.domain
            )
            self._recreate_dense()
        listed = self.catalog.listed(noted)
        self._discard([row for row in noted if row not in listed])
        if self.keyword.built_with != self.keyword.tokenizer_key:
            self._rewrite_keyword()
        total = self.catalog.count(self.domain)
        if noted or (self.dense.count(), self.keyword.count()) != (total, total):
            self._mend(total)
        self.keyword.mark_built()
        self.catalog.clear_pending(self.domain)

    def repair(self) -> None:
        """As ``recover``, but reads every vector and row even when nothing looks amiss."""
        self.recover()
        if not self.dense.readable():
            self._recreate_dense()
        self._mend(self.catalog.count(self.domain))

    def _recreate_dense(self) -> None:
        # Killed after this, the counts differ, so that the next writer goes on mending.
        with self._gate():
            self.dense.recreate()

    def _opens(self) -> bool:
        """Load the vector index (which replays Chroma's log); whether that works."""
        try:
            with self._gate():
                self.dense.warm()
        except SourceUnavailableError:
            return False
        return True

    def _rewrite_keyword(self) -> None:
        """All rows anew in one commit: until then, and if it is cut off, the old ones are found."""
        self.keyword.clear()
        pages = self.catalog.passages(self.domain)
        while page := list(islice(pages, PAGE)):
            self.keyword.add([row for row, _ in page], [passage for _, passage in page])
        self.keyword.commit()

    def _mend(self, total: int) -> None:
        _log.info("%s: comparing vector store and keyword index with the catalog", self.domain)
        pages = self.catalog.passages(self.domain)
        while page := list(islice(pages, PAGE)):
            rows = [row for row, _ in page]
            in_dense, in_keyword = self.dense.present(rows), self.keyword.present(rows)
            lost = [(row, p) for row, p in page if row not in in_dense]
            if lost:
                texts = [p.embedding_text() for _, p in lost]
                self._write_dense(lost, self.cache.embed(self.embedder, texts))
            self._write_keyword([(row, p) for row, p in page if row not in in_keyword])
        if (self.dense.count(), self.keyword.count()) != (total, total):
            extra = set(chain(self.dense.all_ids(), self.keyword.all_ids()))
            extra -= set(self.catalog.rows(self.domain))
            self._discard(sorted(extra))
        self.catalog.touch(self.domain)

    def verify(self) -> list[str]:
        """What the catalog, the vector store and the keyword index disagree on; [] when nothing.

        Compares every row, reads every vector, a page at a time; ``repair`` mends what it says.
        """
        problems: list[str] = []
        total = self.catalog.count(self.domain)
        rows = self.catalog.rows(self.domain)
        missing = {"vector store": 0, "keyword index": 0}
        listed = 0
        while page := list(islice(rows, PAGE)):
            listed += len(page)
            missing["vector store"] += len(page) - len(self.dense.present(page))
            missing["keyword index"] += len(page) - len(self.keyword.present(page))
        if listed != total:
            problems.append(f"{self.domain}: documents list {total} passages, {listed} are there")
        counts = {"vector store": self.dense.count(), "keyword index": self.keyword.count()}
        for name, lost in missing.items():
            if lost:
                problems.append(f"{self.domain}: {lost} passages are missing in the {name}")
            if extra := counts[name] - (listed - lost):
                problems.append(f"{self.domain}: {extra} rows in the {name} are not listed")
        if not self.dense.readable():
            problems.append(f"{self.domain}: some vectors cannot be read")
        if self.catalog.pending(self.domain):
            problems.append(f"{self.domain}: an ingest did not end")
        return problems


def _claimed(changes: Sequence[DocumentChange]) -> list[str]:
    return [p.id for change in changes if change.document for p in change.document.passages]
