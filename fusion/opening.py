"""From a profile to the open parts of an engine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
from fusion.llm import build_llm
from fusion.rerank import Reranker, build_reranker
from fusion.retriever import FusionRetriever
from fusion.synthesizer import PolicySynthesizer
from fusion.two_stage import FusionPlan
from indexes.domain_index import DomainIndex
from indexes.embeddings import TextEmbedder, load_embedder

if TYPE_CHECKING:
    from indexes.schema import SignalName

_log = logging.getLogger(__name__)
_WARM_QUESTION = "本条例自何时起施行？"


@dataclass(frozen=True, slots=True)
class EngineParts:
    """What an engine is made of; ``closers`` close the indexes, ``warmers`` touch what is slow."""

    settings: Settings
    retriever: FusionRetriever
    synthesizer: PolicySynthesizer
    reranker: Reranker | None
    closers: tuple[Callable[[], None], ...]
    warmers: tuple[Callable[[], None], ...]


@dataclass(slots=True)
class _Opened:
    indexes: list[DomainIndex] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)
    notes: dict[str, tuple[str, ...]] = field(default_factory=dict)


def open_engine_parts(
    config: str | Path | Settings | None,
    *,
    store: str | Path | None,
    llm: LLM | None,
    embedders: Mapping[str, TextEmbedder] | None,
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
    opened = _Opened()
    for name, domain in settings.domains.items():
        if domain.weight > 0:
            embedder = given.get(name) or load_embedder(domain.embedding, settings.models_dir)
            _open(settings, name, embedder, opened)
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
    )
    synthesis = settings.synthesis
    writer = llm or (build_llm(synthesis.llm) if synthesis.llm else None)
    warmers: list[Callable[[], None]] = [partial(_warm, index) for index in opened.indexes]
    if reranker is not None:
        warmers.append(reranker.warm_up)
    return EngineParts(
        settings=settings,
        retriever=retriever,
        synthesizer=PolicySynthesizer(synthesis, writer),
        reranker=reranker,
        closers=tuple(index.close for index in opened.indexes),
        warmers=tuple(warmers),
    )


def _open(settings: Settings, name: str, embedder: TextEmbedder, opened: _Opened) -> None:
    try:
        opened.indexes.append(DomainIndex.open(settings, name, embedder))
    except SourceUnavailableError as error:
        opened.absent[name] = str(error)
    except (ModelMissingError, StoreMismatchError) as error:
        # The words can still be searched; the meaning cannot.
        opened.indexes.append(DomainIndex.open(settings, name, None))
        opened.notes[name] = (f"dense: {error}",)


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
