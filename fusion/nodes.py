"""Ranked passages, and their form as LlamaIndex nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode
from pydantic import Field

from fusion.coverage import SourceCoverage
from fusion.question_time import QuestionDate
from fusion.resolved import ResolvedReference
from fusion.version_notes import OtherVersion
from indexes.schema import Hit, Passage, PassageMetadata, SignalName

_SHOWN = frozenset(
    {"title", "heading_path", "doc_number", "effective", "jurisdiction", "table_header"}
)
_EMBEDDED = frozenset({"title", "heading_path", "table_header"})
_FIELDS = frozenset(f.name for f in fields(PassageMetadata))


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage with its score (higher is better) and the trace that explains the score."""

    passage: Passage
    score: float
    trace: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """What one query found: passages best first, each id once, and where they were looked for.

    ``trace`` holds what concerns the whole query (mode, filters, times, reranking); the trace of a
    passage is its own. ``references``: the articles that the question names, found or not.
    ``confidence`` in [0, 1] that they hold the answer, None where nobody judged. ``lists``: the
    raw hits of every signal of every domain that answered.
    ``other_versions``: what matches but does not apply on the day asked for. ``dated``: the date
    that the question itself names, where the caller gave none. ``beside``: articles beside the
    passages that a model may also read (``fusion.neighbours``); they are no results.
    ``basis_notes``: title -> the line that the law which it carries out is repealed;
    ``place_notes``: passage id -> the line that it is marked with another place than was asked for;
    ``amendment_notes``: passage id -> the line that an amendment has changed it.
    """

    query: str
    passages: tuple[RankedPassage, ...]
    coverage: tuple[SourceCoverage, ...]
    trace: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    references: tuple[ResolvedReference, ...] = ()
    confidence: float | None = None
    lists: Mapping[str, Mapping[SignalName, Sequence[Hit]]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    other_versions: tuple[OtherVersion, ...] = ()
    dated: QuestionDate | None = None
    beside: tuple[RankedPassage, ...] = ()
    basis_notes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    place_notes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    amendment_notes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def query_id(self) -> str:
        """The id to give feedback by; "" where no history is kept."""
        return str(self.trace.get("query_id", ""))

    @property
    def nodes(self) -> list[NodeWithScore]:
        """The passages as fresh LlamaIndex nodes, which the caller may change at will."""
        return [to_node(item, self.coverage) for item in self.passages]


class FusedNode(NodeWithScore):
    """A node that keeps its trace and the query's coverage beside it.

    They do not stand in the node's metadata, because metadata enters hashes and prompts.
    """

    trace: dict[str, Any] = Field(default_factory=dict)
    coverage: tuple[SourceCoverage, ...] = ()


def to_node(item: RankedPassage, coverage: Sequence[SourceCoverage] = ()) -> FusedNode:
    """A fresh node: ``id_`` is the passage id, ``text`` its content, metadata flat scalars."""
    flat: dict[str, Any] = {"source": item.passage.source, **item.passage.metadata.to_flat()}
    node = TextNode(
        id_=item.passage.id,
        text=item.passage.content,
        metadata=flat,
        excluded_embed_metadata_keys=[key for key in flat if key not in _EMBEDDED],
        excluded_llm_metadata_keys=[key for key in flat if key not in _SHOWN],
    )
    return FusedNode(node=node, score=item.score, trace=dict(item.trace), coverage=tuple(coverage))


def from_node(node: NodeWithScore) -> RankedPassage:
    """The ranked passage of a node: one of ours, or any text node of another retriever."""
    metadata = dict(node.node.metadata)
    known = {key: value for key, value in metadata.items() if key in _FIELDS}
    if isinstance(known.get("heading_path"), str):
        path = known["heading_path"]
        known["heading_path"] = tuple(path.split(" > ")) if path else ()
    known.setdefault("title", str(metadata.get("file_name", node.node.node_id)))
    known.setdefault("file", str(metadata.get("file_path", "")))
    passage = Passage(
        id=node.node.node_id,
        source=str(metadata.get("source", "")),
        content=node.node.get_content(metadata_mode=MetadataMode.NONE),
        metadata=PassageMetadata(**known),
    )
    trace = node.trace if isinstance(node, FusedNode) else {}
    return RankedPassage(passage, node.score or 0.0, MappingProxyType(dict(trace)))


def coverage_of(nodes: Sequence[NodeWithScore]) -> tuple[SourceCoverage, ...]:
    """The coverage that came with these nodes; empty when none of them carries one."""
    return next((n.coverage for n in nodes if isinstance(n, FusedNode) and n.coverage), ())
