"""A LlamaIndex vector store on Chroma that returns true cosines and knows its model.

The plain adapter returns exp(-distance) of whatever space the collection has, sends batches above
the client's limit and never notices another embedding model. Chroma's shared client cache is not
used: a reader must be able to open the same directory again to see another process's writes.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from chromadb.api import ServerAPI
from chromadb.api.collection_configuration import CreateHNSWConfiguration
from chromadb.api.models.Collection import Collection
from chromadb.config import Settings as ChromaSettings
from chromadb.config import System
from chromadb.errors import ChromaError, InternalError, NotFoundError
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import (
    VectorStoreQuery,
    VectorStoreQueryMode,
    VectorStoreQueryResult,
)
from llama_index.vector_stores.chroma import ChromaVectorStore
from pydantic import PrivateAttr

from configs.errors import InputError, SourceUnavailableError, StoreMismatchError
from configs.settings import StoreConfig
from indexes.schema import Hit, Passage

HNSW: CreateHNSWConfiguration = {
    "space": "cosine",
    "ef_construction": 100,
    "ef_search": 200,
    "sync_threshold": 5000,
}
WRITE_BATCH = 500
PAGE = 5000
_FINGERPRINT = "fingerprint"


class CosineChromaVectorStore(ChromaVectorStore):
    """One collection in cosine space. ``open`` it; ``close`` it when done."""

    _system: System | None = PrivateAttr(default=None)

    def __init__(self, chroma_collection: Any = None, **kwargs: Any) -> None:
        super().__init__(chroma_collection=chroma_collection, **kwargs)

    @classmethod
    def open(
        cls,
        store: StoreConfig,
        directory: Path,
        collection: str,
        fingerprint: str | None,
        *,
        create: bool = False,
    ) -> CosineChromaVectorStore:
        """Open a collection, embedded in ``directory`` or on the configured server.

        ``fingerprint``: key of the embedding model that will be used (None: not compared).
        Raises StoreMismatchError when the collection was built with another one or in another
        space, SourceUnavailableError when it is not there (and not ``create``) or out of reach.
        """
        if store.chroma == "embedded" and not create and not directory.is_dir():
            raise _absent(collection)
        try:
            system, api = _start(store, directory)
        except Exception as error:  # chromadb raises plain ValueError when no server answers
            raise SourceUnavailableError(
                f"Chroma cannot be opened ({_line(error)}); {_remedy(store)}"
            ) from error
        try:
            model = _collection(api, collection, fingerprint, create)
            _compare(collection, model.metadata or {}, model.configuration_json, fingerprint)
        except BaseException:
            system.stop()
            raise
        opened = Collection(client=api, model=model, embedding_function=None, data_loader=None)
        instance = cls(chroma_collection=opened)
        instance._system = system
        return instance

    @classmethod
    def class_name(cls) -> str:
        return "CosineChromaVectorStore"

    def close(self) -> None:
        """Release files and memory; the store must not be used afterwards."""
        if self._system is not None:
            self._system.stop()

    # -- the engine's own methods -------------------------------------------------------------

    def upsert(
        self,
        rows: Sequence[str],
        passages: Sequence[Passage],
        embeddings: npt.NDArray[np.float32],
    ) -> None:
        """Write passages under these row keys, replacing all that these rows held before.

        ``embeddings``: (n, dimension). One row is replaced in one step: it is never missing.
        """
        keys = {key for passage in passages for key in passage.metadata.to_flat()}
        # Chroma merges metadata on upsert; an explicit None removes a key that is gone.
        blank: dict[str, Any] = dict.fromkeys(sorted(keys | _OPTIONAL))
        for start in range(0, len(rows), self.batch_size):
            part = slice(start, start + self.batch_size)
            self._collection.upsert(
                ids=list(rows[part]),
                embeddings=embeddings[part],
                metadatas=[{**blank, **p.metadata.to_flat()} for p in passages[part]],
                documents=[p.content for p in passages[part]],
            )

    @property
    def batch_size(self) -> int:
        """Rows that go into one call, below the client's limit."""
        return min(WRITE_BATCH, int(self._collection._client.get_max_batch_size()))

    def delete_ids(self, rows: Sequence[str]) -> None:
        """Delete rows; unknown ones are ignored."""
        for start in range(0, len(rows), self.batch_size):
            known = self.present(rows[start : start + self.batch_size])
            if known:
                self._collection.delete(ids=sorted(known))

    def search(
        self, embedding: Sequence[float], k: int, where: Mapping[str, Any] | None = None
    ) -> tuple[Hit, ...]:
        """The ``k`` nearest rows, best first; the score is the cosine in [-1, 1].

        While another process writes, ``where`` may not be applied by Chroma (its metadata are then
        newer than its vectors): a longer list without the condition comes back instead, so the
        caller checks the hits against the catalog. Raises SourceUnavailableError.
        """
        try:
            found = self._nearest(embedding, k, where)
        except InternalError:
            if where is None:
                raise
            found = self._nearest(embedding, max(10 * k, 1000), None)
        except ChromaError as error:
            raise SourceUnavailableError(f"Chroma cannot be searched: {_line(error)}") from error
        return tuple(Hit(row, _cosine(distance)) for row, distance in found)

    def _nearest(
        self, embedding: Sequence[float], k: int, where: Mapping[str, Any] | None
    ) -> list[tuple[str, float]]:
        vectors: Any = [np.asarray(embedding, dtype=np.float32)]
        result: dict[str, Any] = dict(
            self._collection.query(
                query_embeddings=vectors,
                n_results=max(1, k),
                where=dict(where) if where else None,
                include=["distances"],
            )
        )
        return list(zip(result["ids"][0], result["distances"][0], strict=True))

    def count(self) -> int:
        """Number of rows."""
        return int(self._collection.count())

    def present(self, rows: Sequence[str]) -> set[str]:
        """Those of the rows that the collection holds."""
        return set(self._collection.get(ids=list(rows), include=[])["ids"]) if rows else set()

    def all_ids(self) -> Iterator[str]:
        """Every row, read in pages."""
        offset = 0
        while page := self._collection.get(limit=PAGE, offset=offset, include=[])["ids"]:
            yield from page
            offset += len(page)

    def warm(self) -> None:
        """Load the vector index now, so that no question waits for it."""
        dimension = self._collection._model.dimension
        if dimension:
            self._nearest([1.0] + [0.0] * (dimension - 1), 1, None)

    # -- LlamaIndex ---------------------------------------------------------------------------

    def add(self, nodes: Sequence[BaseNode], **add_kwargs: Any) -> list[str]:
        """Add nodes that carry embeddings; a node of a known id is replaced."""
        for start in range(0, len(nodes), self.batch_size):
            part = list(nodes[start : start + self.batch_size])
            self.delete_ids([node.node_id for node in part])
            super().add(part, **add_kwargs)
        return [node.node_id for node in nodes]

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """As the parent, with ``similarities`` = cosines, and ``node_ids`` obeyed.

        Raises InputError for what Chroma cannot do (``doc_ids``, hybrid and sparse modes), which
        the parent would silently ignore.
        """
        if query.mode not in (VectorStoreQueryMode.DEFAULT, VectorStoreQueryMode.MMR):
            raise InputError(f"Chroma has no {query.mode} mode; use default or mmr")
        if query.doc_ids:
            raise InputError("Chroma cannot filter by doc_ids; use metadata filters")
        if query.node_ids:
            kwargs["ids"] = query.node_ids
        result = super().query(query, **kwargs)
        if result.similarities is None:
            return result
        # The parent gives exp(-distance): take the logarithm back to the distance itself.
        cosines = [_cosine(-math.log(s)) if s > 0.0 else -1.0 for s in result.similarities]
        return VectorStoreQueryResult(nodes=result.nodes, similarities=cosines, ids=result.ids)


_OPTIONAL = frozenset({"promulgated", "effective", "expires", "page"})


def _cosine(distance: float) -> float:
    return 1.0 - min(max(float(distance), 0.0), 2.0)


def _start(store: StoreConfig, directory: Path) -> tuple[System, ServerAPI]:
    """A Chroma of our own, outside of the cache that ``PersistentClient`` shares by path."""
    if store.chroma == "server":
        settings = ChromaSettings(
            chroma_api_impl="chromadb.api.fastapi.FastAPI",
            chroma_server_host=store.host,
            chroma_server_http_port=store.port,
            anonymized_telemetry=False,
        )
    else:
        _prepare(directory / "chroma.sqlite3")
        settings = ChromaSettings(
            is_persistent=True, persist_directory=str(directory), anonymized_telemetry=False
        )
    system = System(settings)
    api: ServerAPI = system.instance(ServerAPI)  # type: ignore[type-abstract]
    system.start()
    return system, api


def _prepare(database: Path) -> None:
    """Make a new database a WAL one: its readers never wait for a writer's transaction.

    Only before Chroma has opened it: a second SQLite library closing a file in the same process
    would drop the first one's locks.
    """
    if not database.exists():
        connection = sqlite3.connect(database)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.close()


def _collection(api: ServerAPI, name: str, fingerprint: str | None, create: bool) -> Any:
    try:
        return api.get_collection(name)
    except NotFoundError as error:
        if not create or fingerprint is None:
            raise _absent(name) from error
        return api.create_collection(
            name, configuration={"hnsw": HNSW}, metadata={_FINGERPRINT: fingerprint}
        )


def _compare(
    name: str, metadata: Mapping[str, Any], configuration: Mapping[str, Any], wanted: str | None
) -> None:
    space = (configuration.get("hnsw") or configuration.get("spann") or {}).get("space")
    if space != "cosine":
        raise StoreMismatchError(
            f"collection {name}: its space is {space}, cosine is needed; "
            "delete the collection and ingest again"
        )
    built = metadata.get(_FINGERPRINT)
    if wanted is not None and built != wanted:
        raise model_mismatch(f"collection {name}", str(built), wanted)


def model_mismatch(place: str, built: str, wanted: str) -> StoreMismatchError:
    """The error for a store that was built with another embedding model."""
    return StoreMismatchError(
        f"{place} was built with the embedding model {built}, but {wanted} is configured; "
        "configure the old model again, or ingest into a new store"
    )


def _absent(collection: str) -> SourceUnavailableError:
    return SourceUnavailableError(
        f"collection {collection} does not exist; run `policy-fusion ingest DOMAIN PATH` first"
    )


def _remedy(store: StoreConfig) -> str:
    if store.chroma == "server":
        return f"start it: chroma run --host {store.host} --port {store.port}"
    return "check the directory's rights and free space"


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
