"""Loads the model in the background as soon as it is known that there is something to embed.

Imports and weights take seconds, more than the rest of a small update; meanwhile the indexes are
opened and files are parsed.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ingest.ledger import LEDGER_NAME
from ingest.walk import Walk, file_digest

if TYPE_CHECKING:
    from indexes.embeddings import FloatArray, ModelFingerprint, TextEmbedder

_FILES = "SELECT path, size, mtime_ns, sha256 FROM files WHERE domain = ?"
_QUARANTINE = "SELECT path FROM quarantine WHERE domain = ?"


class WarmedEmbedder:
    """A ``TextEmbedder`` whose model's ``warm_up()`` runs in a thread if the walk found new texts.

    It begins when the fingerprint is asked for: the store is locked then and the model is there.
    A model without that method is left alone. What loading raises is raised by the first call that
    needs the model. A context manager: its end waits for the thread, except after an error.
    """

    def __init__(self, model: TextEmbedder, store: Path, domain: str, walk: Walk) -> None:
        self._model, self._store, self._domain, self._walk = model, store, domain, walk
        self._loading: threading.Thread | None = None
        self._undecided = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._loading is not None and kind is None:
            self._loading.join()

    @property
    def fingerprint(self) -> ModelFingerprint:
        """The model's own."""
        fingerprint = self._model.fingerprint
        if self._undecided:
            self._undecided = False
            self._begin()
        return fingerprint

    def embed_query(self, text: str) -> list[float]:
        """As the model."""
        return self._model.embed_query(text)

    def embed_texts(self, texts: Sequence[str]) -> FloatArray:
        """As the model."""
        return self._model.embed_texts(texts)

    def _begin(self) -> None:
        warm_up = getattr(self._model, "warm_up", None)
        if warm_up is None or not _new_texts(self._store, self._domain, self._walk):
            return

        def load() -> None:
            with contextlib.suppress(Exception):
                warm_up()

        self._loading = threading.Thread(target=load, name="loading-model", daemon=True)
        self._loading.start()


def _new_texts(store: Path, domain: str, walk: Walk) -> bool:
    """Whether a file has bytes that were never ingested. Reads at most until the first of them."""
    files: dict[str, tuple[int, int]] = {}
    digests: set[str] = set()
    quarantined: set[str] = set()
    # Only looked at: a missing or damaged ledger is for those to say who need it.
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(
            sqlite3.connect(f"{(store / LEDGER_NAME).absolute().as_uri()}?mode=ro", uri=True)
        ) as ledger,
    ):
        for path, size, mtime_ns, digest in ledger.execute(_FILES, (domain,)):
            files[path] = (size, mtime_ns)
            digests.add(digest)
        quarantined.update(row[0] for row in ledger.execute(_QUARANTINE, (domain,)))
    for found in walk.files:
        path = str(found.path)
        if path in quarantined:
            continue
        with contextlib.suppress(OSError):
            stat = found.path.stat()
            if files.get(path) == (stat.st_size, stat.st_mtime_ns):
                continue
            if file_digest(found.path) not in digests:
                return True
    return False
