"""A LlamaIndex vector store on Chroma that returns true cosines and knows its model.

The plain adapter returns exp(-distance) of whatever space the collection has, sends batches above
the client's limit and never notices another embedding model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from chromadb.config import System
from chromadb.errors import ChromaError, InternalError
from httpx import HTTPError
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import (
    VectorStoreQuery,
    VectorStoreQueryMode,
    VectorStoreQueryResult,
)
from llama_index.vector_stores.chroma import ChromaVectorStore
from pydantic import PrivateAttr

from configs.errors import InputError, SourceUnavailableError
from configs.settings import StoreConfig
from indexes.chroma_client import (
    create_beside,
    drop_collection,
    one_line,
    open_collection,
    plan_saves,
    recreate_collection,
    saves_too_often,
)
from indexes.schema import Hit, Passage

WRITE_BATCH = 2000
PAGE = 5000
VECTOR_PAGE = 1000


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
        space, SourceUnavailableError when it is not there (and not ``create``) or out of reach,
        ConfigError for a name that Chroma refuses.
        """
        system, opened = open_collection(store, directory, collection, fingerprint, create=create)
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
        except InternalError as error:
            if where is None:
                raise _unreadable(error) from error
            return self.search(embedding, max(10 * k, 1000))
        except (ChromaError, HTTPError) as error:
            raise _unreadable(error) from error
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

    def readable(self) -> bool:
        """Whether every row's vector can be read: false after a kill while Chroma saved its index.

        Reads all vectors, a page at a time.
        """
        try:
            for offset in range(0, self.count(), VECTOR_PAGE):
                self._collection.get(limit=VECTOR_PAGE, offset=offset, include=["embeddings"])
        except ChromaError:
            return False
        return True

    def recreate(self) -> None:
        """Replace the collection by an empty one of the same name and model."""
        self._collection = recreate_collection(self._collection)

    def beside(self, suffix: str) -> CosineChromaVectorStore:
        """A new, empty collection of the same model, named as this one plus ``suffix``.

        One that a killed process left under that name is dropped. It lives as long as this one.
        """
        return type(self)(chroma_collection=create_beside(self._collection, suffix))

    def exchange(self, other: CosineChromaVectorStore, suffix: str) -> None:
        """Take the rows of ``other`` under this one's name; the old ones go to name + ``suffix``.

        Killed between the two steps, no collection has the name; the next writer makes it anew.
        """
        old, new = self._collection, other._collection
        name = old.name
        drop_collection(old, name + suffix)
        old.modify(name=name + suffix)
        new.modify(name=name)
        self._collection, other._collection = new, old

    def drop(self) -> None:
        """Delete the collection; the store must not be used afterwards."""
        drop_collection(self._collection, self._collection.name)

    def stored(self, rows: Sequence[str]) -> dict[str, tuple[str, dict[str, Any]]]:
        """Row -> (text, flat metadata), for those of the rows that are there."""
        if not rows:
            return {}
        found: Any = self._collection.get(ids=list(rows), include=["documents", "metadatas"])
        parts = zip(found["ids"], found["documents"], found["metadatas"], strict=True)
        return {row: (str(text), dict(metadata)) for row, text, metadata in parts}

    def plan_saves(self, rows: int) -> None:
        """Let Chroma save its vector index in steps that suit ``rows``, from the next load on."""
        plan_saves(self._collection, rows)

    def saves_too_often(self, rows: int) -> bool:
        """Whether saving in steps that suit ``rows`` is worth closing and opening this store."""
        return saves_too_often(self._collection, rows)

    def warm(self) -> None:
        """Load the vector index now, so that no question waits for it.

        Raises SourceUnavailableError when it cannot be read.
        """
        dimension = self._collection._model.dimension
        if dimension:
            self.search([1.0] + [0.0] * (dimension - 1), 1)

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


_OPTIONAL = frozenset({"promulgated", "effective", "expires", "page", "table_header"})


def _cosine(distance: float) -> float:
    return 1.0 - min(max(float(distance), 0.0), 2.0)


def _unreadable(error: BaseException) -> SourceUnavailableError:
    return SourceUnavailableError(
        f"the vector store cannot be searched ({one_line(error)}); "
        "ingest again, which mends it, or start the Chroma server"
    )
