"""A domain's vector store and keyword index made anew from its catalog, without any file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tqdm import tqdm

from configs.errors import InputError
from configs.settings import Settings
from indexes.domain_index import domain_config
from indexes.embeddings import load_embedder
from indexes.rebuilding import rebuild_indexes
from indexes.writer import DomainWriter

if TYPE_CHECKING:
    from indexes.embeddings import TextEmbedder

GRACE_S = 1.0
"""Seconds, besides ``store.reopen_seconds``, that readers have to open the new vector store."""


def rebuild(
    settings: Settings,
    domain: str,
    *,
    embedder: TextEmbedder | None = None,
    progress: bool = True,
    grace_s: float | None = None,
) -> int:
    """Regenerate both indexes from the catalog; the number of passages written.

    The old indexes stay searchable until the switch, unless opening the store finds them damaged:
    then they are mended first. Raises InputError (nothing ingested), ConfigError, StoreBusyError,
    StoreMismatchError (another model), ModelMissingError.
    """
    config = domain_config(settings, domain)
    model = embedder or load_embedder(config.embedding, settings.models_dir)
    shown = progress and sys.stderr.isatty()
    wait = settings.store.reopen_seconds + GRACE_S if grace_s is None else grace_s
    with DomainWriter.open(settings, domain, model) as writer:
        if not writer.catalog.count(domain):
            raise InputError(f"domain {domain} has nothing in it; run `policy-fusion ingest` first")
        with tqdm(desc=domain, unit=" passages", file=sys.stderr, disable=not shown) as bar:

            def written(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            return rebuild_indexes(writer, written, grace_s=wait)
