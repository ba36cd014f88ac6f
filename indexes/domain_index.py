"""The read side of one knowledge domain: dense and keyword search over its passages."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from configs.errors import ConfigError, InputError, SourceUnavailableError
from configs.settings import DomainConfig, Settings
from indexes.catalog import PassageCatalog, row_id
from indexes.chroma_client import model_mismatch
from indexes.chroma_store import CosineChromaVectorStore
from indexes.keyword_index import KeywordIndex
from indexes.reopening import Reopenable
from indexes.schema import NO_FILTERS, Filters, Hit, Passage, SignalName, date_int
from indexes.store_layout import StoreLayout
from indexes.tokenizer import Tokenizer, simplified

if TYPE_CHECKING:
    from indexes.embeddings import TextEmbedder

WIDENING = (4, 16, 64)
"""How many times ``k`` nearest passages are looked at, step by step, before filters go into the
vector store."""


def domain_config(settings: Settings, domain: str) -> DomainConfig:
    """The settings of one domain. Raises ConfigError naming the domains that there are."""
    try:
        return settings.domains[domain]
    except KeyError as error:
        known = ", ".join(sorted(settings.domains))
        raise ConfigError(
            f"domain {domain!r} is not configured; use one of {known}, or add it under domains"
        ) from error


class DomainIndex:
    """Search in one domain, from any thread, beside a writer in any process."""

    def __init__(
        self,
        name: str,
        catalog: PassageCatalog,
        keyword: KeywordIndex | None,
        dense: Reopenable[CosineChromaVectorStore] | None,
        embedder: TextEmbedder | None,
    ) -> None:
        self.name = name
        self._catalog, self._keyword, self._dense = catalog, keyword, dense
        self._embedder = embedder
        self._keyword_version = catalog.store_version(name)
        self._keyword_lock = threading.Lock()

    @classmethod
    def open(
        cls,
        settings: Settings,
        domain: str,
        embedder: TextEmbedder | None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> DomainIndex:
        """Open what was ingested. Without an embedder only the keyword signal is there.

        Raises ConfigError for an unknown domain, SourceUnavailableError when it was never ingested
        or cannot be read, StoreMismatchError when it was built with another embedding model.
        """
        config = domain_config(settings, domain)
        layout = StoreLayout(Path(settings.store.dir))
        catalog = PassageCatalog(layout.catalog)
        try:
            built = catalog.fingerprint(domain)
            if built is None or not catalog.store_version(domain):
                raise SourceUnavailableError(
                    f"domain {domain} has nothing in it; run `policy-fusion ingest {domain} PATH`"
                )
            keyword = None
            if config.keyword.weight > 0:
                tokenizer = Tokenizer.from_dictionary(config.keyword.dictionary)
                keyword = KeywordIndex(layout.keyword(domain), tokenizer, config.keyword)
            dense = None
            if embedder is not None and config.dense.weight > 0:
                if built != embedder.fingerprint.key:
                    raise model_mismatch(f"domain {domain}", built, embedder.fingerprint.key)
                dense = _dense(settings, config, domain, built, layout, catalog, clock)
        except BaseException:
            catalog.close()
            raise
        return cls(domain, catalog, keyword, dense, embedder)

    @property
    def signals(self) -> tuple[SignalName, ...]:
        """The signals that can be searched: those of weight 0 or without a model are left out."""
        found: list[SignalName] = []
        if self._dense is not None:
            found.append("dense")
        if self._keyword is not None:
            found.append("keyword")
        return tuple(found)

    def search(
        self, signal: SignalName, query: str, k: int, filters: Filters = NO_FILTERS
    ) -> tuple[Hit, ...]:
        """The ``k`` best passages of one signal, best first; every id is one the catalog lists.

        Scores: dense = cosine in [-1, 1]; keyword = BM25 share in (0, 1] (see ``KeywordIndex``).
        Any length of query works: the model reads its beginning, BM25 its rarest terms.
        Raises InputError for a signal that this index does not have.
        """
        if signal not in self.signals or k < 1:
            raise InputError(
                f"domain {self.name}: no signal {signal!r} or k = {k} below 1; "
                f"signals are {', '.join(self.signals)}"
            )
        if not query.strip():
            return ()
        if signal == "keyword" and self._keyword is not None:
            return self._search_keyword(self._keyword, query, k, filters)
        if self._dense is not None and self._embedder is not None:
            vector = self._embedder.embed_query(simplified(query))
            return self._search_dense(self._dense, vector, k, filters)
        return ()

    def _search_keyword(
        self, keyword: KeywordIndex, query: str, k: int, filters: Filters
    ) -> tuple[Hit, ...]:
        with self._keyword_lock:
            version = self._catalog.store_version(self.name)
            if version != self._keyword_version:
                keyword.reload()
                self._keyword_version = version
        hits = keyword.search(query, k, filters)
        listed = self._listed(hits, k, filters)
        if len(listed) < k == len(hits):  # rows of a running or killed ingest took places
            listed = self._listed(keyword.search(query, WIDENING[0] * k, filters), k, filters)
        return listed

    def _search_dense(
        self,
        dense: Reopenable[CosineChromaVectorStore],
        vector: Sequence[float],
        k: int,
        filters: Filters,
    ) -> tuple[Hit, ...]:
        with dense.use() as store:
            try:
                return self._nearest(store, vector, k, filters)
            except SourceUnavailableError:
                # A rebuild drops the old vectors, perhaps before a slow reader has the new ones.
                if not dense.renew(store):
                    raise
        with dense.use() as store:
            return self._nearest(store, vector, k, filters)

    def _nearest(
        self,
        store: CosineChromaVectorStore,
        vector: Sequence[float],
        k: int,
        filters: Filters,
    ) -> tuple[Hit, ...]:
        where = _where(filters)
        # A condition inside Chroma reads the metadata of the whole collection: it comes last.
        for wide in WIDENING if where else (1, WIDENING[0]):
            hits = store.search(vector, wide * k)
            listed = self._listed(hits, k, filters)
            if len(listed) == k or len(hits) < wide * k:
                return listed
        if where is None:
            return listed
        return self._listed(store.search(vector, WIDENING[0] * k, where), k, filters)

    def _listed(self, hits: tuple[Hit, ...], k: int, filters: Filters) -> tuple[Hit, ...]:
        """Rows to passages: the best row of each, only what the catalog lists and filters admit."""
        best: dict[str, float] = {}
        for hit in hits:
            best.setdefault(row_id(hit.id), hit.score)
        ids, kept = list(best), list[Hit]()
        for start in range(0, len(ids), 2 * k):  # most are admitted, so the first part is enough
            part = ids[start : start + 2 * k]
            admitted = self._catalog.admitted(part, filters)
            kept += [Hit(id_, best[id_]) for id_ in part if id_ in admitted]
            if len(kept) >= k:
                break
        return tuple(kept[:k])

    def passages(self, ids: Iterable[str]) -> dict[str, Passage]:
        """The passages of these ids; unknown ids are left out."""
        return self._catalog.get(ids)

    @property
    def catalog(self) -> PassageCatalog:
        """The catalog behind this index, for look-ups by title and article."""
        return self._catalog

    def count(self) -> int:
        """Number of searchable passages."""
        return self._catalog.count(self.name)

    def close(self) -> None:
        """Release files and memory once running searches have ended."""
        if self._dense is not None:
            self._dense.close()
        self._catalog.close()


def _dense(
    settings: Settings,
    config: DomainConfig,
    domain: str,
    fingerprint: str,
    layout: StoreLayout,
    catalog: PassageCatalog,
    clock: Callable[[], float],
) -> Reopenable[CosineChromaVectorStore]:
    embedded = settings.store.chroma == "embedded"

    def opener() -> CosineChromaVectorStore:
        with layout.chroma_gate() if embedded else nullcontext():
            store = CosineChromaVectorStore.open(
                settings.store, layout.chroma, config.collection, fingerprint
            )
            store.warm()
        return store

    return Reopenable(
        opener,
        CosineChromaVectorStore.close,
        # A server sees every write at once: nothing to follow.
        (lambda: catalog.store_version(domain)) if embedded else (lambda: 0),
        interval_s=settings.store.reopen_seconds,
        clock=clock,
    )


def _where(filters: Filters) -> dict[str, Any] | None:
    conditions: list[dict[str, Any]] = []
    if filters.jurisdictions is not None:
        conditions.append({"jurisdiction_code": {"$in": sorted(filters.jurisdictions)}})
    if filters.as_of is not None:
        day = date_int(filters.as_of, 0)
        conditions += [{"effective_int": {"$lte": day}}, {"expires_int": {"$gt": day}}]
    if not conditions:
        return None
    return conditions[0] if len(conditions) == 1 else {"$and": conditions}
