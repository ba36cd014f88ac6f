"""Opening Chroma, embedded or on a server, and one collection in cosine space with its model.

Chroma's shared client cache is not used: a reader must be able to open the same directory again to
see another process's writes, while its old view is still answering.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chromadb.api import ServerAPI
from chromadb.api.collection_configuration import CreateHNSWConfiguration
from chromadb.api.models.Collection import Collection
from chromadb.config import Settings, System
from chromadb.errors import InvalidArgumentError, NotFoundError

from configs.errors import (
    ConfigError,
    PolicyFusionError,
    SourceUnavailableError,
    StoreMismatchError,
)
from configs.settings import StoreConfig

# Saved after every ``sync_threshold`` writes: what is not saved is replayed by whoever opens it.
HNSW: CreateHNSWConfiguration = {
    "space": "cosine",
    "ef_construction": 100,
    "ef_search": 400,  # recall@100 of 50,000 passages .98 to .99; with 200 .94 to .97
    "sync_threshold": 2000,
}
SAVES = 50
"""Saves of the vector index, each of the whole, while as many rows are written as it holds."""
FINGERPRINT = "fingerprint"


def open_collection(
    store: StoreConfig, directory: Path, name: str, fingerprint: str | None, *, create: bool
) -> tuple[System, Collection]:
    """Start a Chroma of our own and open the collection; ``stop`` the system when done.

    Raises SourceUnavailableError, StoreMismatchError or ConfigError (a name Chroma refuses).
    """
    if store.chroma == "embedded" and not create and not directory.is_dir():
        raise _absent(name)
    system = System(_settings(store, directory))
    try:
        api: ServerAPI = system.instance(ServerAPI)  # type: ignore[type-abstract]
        system.start()
        model = _model(api, name, fingerprint, create)
        _compare(name, model.metadata or {}, model.configuration_json, fingerprint)
    except PolicyFusionError:
        system.stop()
        raise
    except Exception as error:  # without a server plain ValueError and httpx errors come
        raise SourceUnavailableError(
            f"Chroma cannot be opened ({one_line(error)}); {_remedy(store)}"
        ) from error
    return system, _wrap(api, model)


def recreate_collection(old: Collection) -> Collection:
    """An empty collection of the same name and model in the place of ``old``."""
    api: Any = old._client
    api.delete_collection(old.name)
    return _wrap(api, _create(api, old.name, str(old.metadata[FINGERPRINT])))


def create_beside(collection: Collection, suffix: str) -> Collection:
    """An empty collection of the same model, named as ``collection`` plus ``suffix``."""
    api: Any = collection._client
    name = collection.name + suffix
    drop_collection(collection, name)
    return _wrap(api, _create(api, name, str(collection.metadata[FINGERPRINT])))


def drop_collection(collection: Collection, name: str) -> None:
    """Delete the collection ``name`` in the database of ``collection``, if it is there."""
    api: Any = collection._client
    with contextlib.suppress(NotFoundError):
        api.delete_collection(name)


def plan_saves(collection: Collection, rows: int) -> None:
    """Save the vector index ``SAVES`` times in ``rows`` writes, at the earliest as HNSW says.

    A save writes the whole index, and what is not saved is replayed at opening: a fixed step would
    cost a large store too many saves.
    """
    known, wanted = _save_step(collection), rows // SAVES
    if known is not None and known < wanted:
        collection.modify(configuration={"hnsw": {"sync_threshold": wanted}})


def saves_too_often(collection: Collection, rows: int) -> bool:
    """Whether the step that ``plan_saves`` would choose for ``rows`` is at least twice the present
    one: only then is it worth loading the index anew."""
    known = _save_step(collection)
    return known is not None and 2 * known <= rows // SAVES


def _save_step(collection: Collection) -> int | None:
    hnsw = collection._model.configuration_json.get("hnsw") or {}
    step: int | None = hnsw.get("sync_threshold")
    return step


def _settings(store: StoreConfig, directory: Path) -> Settings:
    if store.chroma == "server":
        return Settings(
            chroma_api_impl="chromadb.api.fastapi.FastAPI",
            chroma_server_host=store.host,
            chroma_server_http_port=store.port,
            anonymized_telemetry=False,
        )
    _prepare(directory / "chroma.sqlite3")
    return Settings(
        is_persistent=True, persist_directory=str(directory), anonymized_telemetry=False
    )


def _prepare(database: Path) -> None:
    """Make a new database a WAL one: its readers never wait for a writer's transaction.

    Only before Chroma has opened it: a second SQLite library closing a file in the same process
    would drop the first one's locks.
    """
    if not database.exists():
        connection = sqlite3.connect(database)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.close()


def _model(api: ServerAPI, name: str, fingerprint: str | None, create: bool) -> Any:
    try:
        return api.get_collection(name)
    except NotFoundError as error:
        if not create or fingerprint is None:
            raise _absent(name) from error
        return _create(api, name, fingerprint)


def _create(api: ServerAPI, name: str, fingerprint: str) -> Any:
    try:
        return api.create_collection(
            name, configuration={"hnsw": HNSW}, metadata={FINGERPRINT: fingerprint}
        )
    except InvalidArgumentError as error:
        raise ConfigError(
            f"collection name {name!r} is refused by Chroma; "
            "use 3 to 512 letters, digits, dots, dashes or underscores"
        ) from error


def _wrap(api: ServerAPI, model: Any) -> Collection:
    return Collection(client=api, model=model, embedding_function=None, data_loader=None)


def _compare(
    name: str, metadata: Mapping[str, Any], configuration: Mapping[str, Any], wanted: str | None
) -> None:
    space = (configuration.get("hnsw") or configuration.get("spann") or {}).get("space")
    if space != "cosine":
        raise StoreMismatchError(
            f"collection {name}: its space is {space}, cosine is needed; "
            "delete the collection and ingest again"
        )
    built = metadata.get(FINGERPRINT)
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


def one_line(error: BaseException) -> str:
    """The message of a foreign error, fit for one line."""
    return " ".join(str(error).split())[:200] or type(error).__name__
