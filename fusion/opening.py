"""From a profile to the open parts of an engine."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from llama_index.core.llms import LLM

from configs.errors import (
    InputError,
    ModelMissingError,
    SourceUnavailableError,
    StoreMismatchError,
)
from configs.settings import FusionMode, Settings, load_settings
from fusion.answerability import Answerability
from fusion.history_recorder import HistoryRecorder, open_recorder
from fusion.llm import build_llm
from fusion.lookup import ReferenceLookup
from fusion.neighbours import Neighbours
from fusion.other_versions import OtherVersions
from fusion.rerank import Reranker, build_reranker
from fusion.retriever import FusionRetriever
from fusion.router import load_router
from fusion.synthesizer import PolicySynthesizer
from fusion.two_stage import FusionPlan
from indexes.domain_index import DomainIndex
from indexes.embeddings import TextEmbedder, load_embedder
from indexes.names import load_aliases

if TYPE_CHECKING:
    from indexes.schema import SignalName

_log = logging.getLogger(__name__)
_WARM_QUESTION = "本条例自何时起施行？"


@dataclass(frozen=True, slots=True)
class EngineParts:
    """What an engine is made of.

    ``refresh`` opens domains that were ingested meanwhile, ``close`` closes every index,
    ``warmers`` touch what is slow.
    """

    settings: Settings
    retriever: FusionRetriever
    synthesizer: PolicySynthesizer
    reranker: Reranker | None
    lookup: ReferenceLookup | None
    answerability: Answerability | None
    history: HistoryRecorder | None
    versions: OtherVersions
    neighbours: Neighbours | None
    refresh: Callable[[], None]
    close: Callable[[], None]
    warmers: tuple[Callable[[], None], ...]


class _Opener:
    """Opens the domains of a profile, those that are not there yet again and again."""

    def __init__(self, settings: Settings, embedders: Mapping[str, TextEmbedder]) -> None:
        self.indexes: list[DomainIndex] = []
        self.absent: dict[str, str] = {}
        self.notes: dict[str, tuple[str, ...]] = {}
        self._settings = settings
        self._embedders = embedders
        self._lock = threading.Lock()
        self._next = 0.0
        for name, domain in settings.domains.items():
            if domain.weight > 0:
                self._open(name)

    def refresh(
        self, retriever: FusionRetriever, lookup: ReferenceLookup | None, versions: OtherVersions
    ) -> None:
        """Give the retriever what can be opened by now; looks every ``store.reopen_seconds``."""
        if not self.absent or time.monotonic() < self._next or not self._lock.acquire(False):
            return
        try:
            for name in tuple(self.absent):
                if self._open(name):
                    retriever.add_source(self.indexes[-1], self.notes.get(name, ()))
                    versions.add(self.indexes[-1], self.indexes[-1].catalog)
                    if lookup is not None:
                        lookup.add(name, self.indexes[-1].catalog)
            self._next = time.monotonic() + self._settings.store.reopen_seconds
        finally:
            self._lock.release()

    def close(self) -> None:
        """Close every index."""
        with self._lock:
            for index in self.indexes:
                index.close()

    def _open(self, name: str) -> bool:
        settings = self._settings
        embedding = settings.domains[name].embedding
        embedder = self._embedders.get(name) or load_embedder(embedding, settings.models_dir)
        try:
            self.indexes.append(DomainIndex.open(settings, name, embedder))
        except SourceUnavailableError as error:
            self.absent[name] = str(error)
            return False
        except (ModelMissingError, StoreMismatchError) as error:
            # The words can still be searched; the meaning cannot.
            self.indexes.append(DomainIndex.open(settings, name, None))
            self.notes[name] = (f"dense: {error}",)
        self.absent.pop(name, None)
        return True


def open_engine_parts(
    config: str | Path | Settings | None,
    *,
    store: str | Path | None,
    llm: LLM | None,
    embedders: Mapping[str, TextEmbedder] | None,
    now: Callable[[], datetime] = datetime.now,
) -> EngineParts:
    """Open the indexes of every domain of weight above 0. Raises ConfigError, InputError."""
    settings = config if isinstance(config, Settings) else load_settings(config)
    if store is not None:
        settings = settings.with_store(store)
    given = dict(embedders or {})
    unknown = sorted(set(given) - set(settings.domains))
    if unknown:
        raise InputError(f"embedder for unknown domain {unknown[0]!r}; correct its name")
    reranker = build_reranker(settings.rerank)  # first: a bad configuration opens nothing
    learned = settings.synthesis.confidence == "learned"
    answerability = Answerability.load() if learned else None
    router = load_router(settings.fusion.router) if settings.fusion.router else None
    aliases = load_aliases(settings.references.aliases)
    opened = _Opener(settings, given)
    catalogs = {index.name: index.catalog for index in opened.indexes}
    versions = OtherVersions(
        {index.name: index for index in opened.indexes}, catalogs, settings.store.reopen_seconds
    )
    lookup = (
        ReferenceLookup(catalogs, aliases, settings.store.reopen_seconds, versions.repealed)
        if settings.references.enabled
        else None
    )
    retriever = FusionRetriever(
        opened.indexes,
        FusionPlan.from_settings(settings),
        timeouts_ms={name: domain.timeout_ms for name, domain in settings.domains.items()},
        top_k=settings.fusion.top_k,
        allow_partial=settings.fusion.allow_partial,
        labels={name: domain.label for name, domain in settings.domains.items()},
        absent=opened.absent,
        notes=opened.notes,
        plans=partial(_plan, settings),
        router=router,
    )
    synthesis = settings.synthesis
    writer = llm or (build_llm(synthesis.llm) if synthesis.llm else None)
    beside = synthesis.context.neighbours if writer is not None else 0
    neighbours = Neighbours(lookup, beside) if lookup is not None and beside else None
    warmers: list[Callable[[], None]] = [partial(_warm, index) for index in opened.indexes]
    warmers.append(versions.warm_up)
    if lookup is not None:
        warmers.append(lookup.warm_up)
    if reranker is not None:
        warmers.append(reranker.warm_up)
    return EngineParts(
        settings=settings,
        retriever=retriever,
        synthesizer=PolicySynthesizer(synthesis, writer, now=now),
        reranker=reranker,
        lookup=lookup,
        answerability=answerability,
        history=open_recorder(settings),
        versions=versions,
        neighbours=neighbours,
        refresh=partial(opened.refresh, retriever, lookup, versions),
        close=opened.close,
        warmers=tuple(warmers),
    )


def _plan(settings: Settings, mode: FusionMode) -> FusionPlan:
    if mode not in get_args(FusionMode):
        raise InputError(f"mode {mode!r} is not known; use {', '.join(get_args(FusionMode))}")
    return FusionPlan.from_settings(settings, mode)


def _warm(index: DomainIndex) -> None:
    signal: SignalName
    for signal in index.signals:
        try:
            hits = index.search(signal, _WARM_QUESTION, 1)
            index.passages([hit.id for hit in hits])
        except Exception as error:  # a question meets it again, and its coverage reports it
            _log.warning("warm-up of %s (%s) failed: %s", index.name, signal, error)
