"""Answers as LlamaIndex responses that also carry citations, coverage and trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.schema import NodeWithScore

from fusion.citations import Citation
from fusion.coverage import SourceCoverage
from fusion.resolved import ResolvedReference
from fusion.version_notes import OtherVersion


@dataclass
class PolicyAnswer(Response):
    """A whole answer: ``str(answer)`` is its text.

    Marker ``[n]`` in the text stands for ``source_nodes[n - 1]``; ``citations`` has one entry per
    marker used. ``sufficient`` is False where the text says 资料不足; ``confidence`` is in [0, 1].
    ``other_versions``: what matches but does not apply on the day asked for; never cited.
    """

    citations: tuple[Citation, ...] = ()
    coverage: tuple[SourceCoverage, ...] = ()
    trace: Mapping[str, Any] = field(default_factory=dict)
    sufficient: bool = True
    confidence: float = 0.0
    references: tuple[ResolvedReference, ...] = ()
    unverified: tuple[str, ...] = ()
    """Sentences of a model that carry no marker, or (in streams) state a number, date or article
    that the passages they cite do not have. Always empty without a model."""
    other_versions: tuple[OtherVersion, ...] = ()
    missing: tuple[str, ...] = ()
    """The parts of a question of several parts on which the material says nothing, as asked."""

    @property
    def query_id(self) -> str:
        """The id to give feedback by; "" where no history is kept."""
        retrieval = self.trace.get("retrieval", {})
        return str(retrieval.get("query_id", ""))


class _Streamed:
    """What a stream knows at once, and what it knows when it has ended."""

    coverage: tuple[SourceCoverage, ...] = ()
    confidence: float = 0.0
    answer: PolicyAnswer | None = None
    """The whole answer; None until the stream has ended."""

    if TYPE_CHECKING:
        source_nodes: list[NodeWithScore]
        metadata: dict[str, Any] | None
        response_txt: str | None

    def begin(
        self,
        nodes: list[NodeWithScore],
        coverage: tuple[SourceCoverage, ...],
        confidence: float,
    ) -> None:
        """Give the stream what is known before its first piece."""
        self.source_nodes = nodes
        self.metadata = {node.node_id: node.node.metadata for node in nodes}
        self.coverage = coverage
        self.confidence = confidence

    def finish(self, answer: PolicyAnswer) -> None:
        """Give the stream the whole answer, at its end."""
        self.answer = answer

    @property
    def citations(self) -> tuple[Citation, ...]:
        """One entry per marker used; empty until the stream has ended."""
        return self.answer.citations if self.answer else ()

    @property
    def sufficient(self) -> bool | None:
        """False where the text says 资料不足; None until the stream has ended."""
        return self.answer.sufficient if self.answer else None

    @property
    def unverified(self) -> tuple[str, ...]:
        """As in PolicyAnswer; empty until the stream has ended."""
        return self.answer.unverified if self.answer else ()

    @property
    def missing(self) -> tuple[str, ...]:
        """As in PolicyAnswer; empty until the stream has ended."""
        return self.answer.missing if self.answer else ()

    @property
    def trace(self) -> Mapping[str, Any]:
        """Empty until the stream has ended."""
        return self.answer.trace if self.answer else {}

    @property
    def query_id(self) -> str:
        """The id to give feedback by; "" until the stream has ended or where no history is kept."""
        return self.answer.query_id if self.answer else ""


@dataclass
class PolicyStream(_Streamed, StreamingResponse):
    """An answer that arrives in pieces: iterate ``response_gen``; ``source_nodes`` are there."""

    def finish(self, answer: PolicyAnswer) -> None:
        """Also keep the text for ``str(stream)`` after the pieces were read."""
        super().finish(answer)
        self.response_txt = answer.response


@dataclass
class AsyncPolicyStream(_Streamed, AsyncStreamingResponse):
    """As ``PolicyStream``: ``async for piece in stream.async_response_gen()``."""
