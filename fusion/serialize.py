"""Results and answers as JSON-able dicts: the contract of the command line and the servers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fusion.answer import PolicyAnswer
from fusion.citations import Citation
from fusion.coverage import SourceCoverage
from fusion.nodes import RankedPassage, RetrievalResult, from_node
from fusion.resolved import ResolvedReference
from fusion.version_notes import OtherVersion, version_line


def result_json(result: RetrievalResult) -> dict[str, Any]:
    """``{query, query_id, results: [{id, source, title, …, score, content, file, trace}],
    references, other_versions, coverage, trace}``.

    Results are best first; dates are ISO strings or None, ``heading_path`` is a list.
    """
    return {
        "query": result.query,
        "query_id": result.query_id,
        "results": [_passage(item) for item in result.passages],
        "references": [_reference(entry) for entry in result.references],
        "other_versions": [_version(entry) for entry in result.other_versions],
        "coverage": [_coverage(entry) for entry in result.coverage],
        "trace": dict(result.trace),
    }


def answer_json(answer: PolicyAnswer) -> dict[str, Any]:
    """As ``result_json``, with ``answer``, ``sufficient``, ``confidence``, ``unverified``,
    ``missing`` (parts of the question without a rule) and ``citations``.

    ``citations[i].marker`` = n stands for ``results[n - 1]``.
    """
    return {
        "query": answer.trace.get("query", ""),
        "query_id": answer.query_id,
        "answer": str(answer),
        "sufficient": answer.sufficient,
        "confidence": answer.confidence,
        "unverified": list(answer.unverified),
        "missing": list(answer.missing),
        "citations": [_citation(citation) for citation in answer.citations],
        "results": [_passage(from_node(node)) for node in answer.source_nodes],
        "references": [_reference(entry) for entry in answer.references],
        "other_versions": [_version(entry) for entry in answer.other_versions],
        "coverage": [_coverage(entry) for entry in answer.coverage],
        "trace": dict(answer.trace),
    }


def _passage(item: RankedPassage) -> dict[str, Any]:
    passage, meta = item.passage, item.passage.metadata
    return {
        "id": passage.id,
        "source": passage.source,
        "title": meta.title,
        "doc_number": meta.doc_number,
        "article": meta.article,
        "heading_path": list(meta.heading_path),
        "effective": meta.effective,
        "expires": meta.expires,
        "status": meta.status,
        "jurisdiction": meta.jurisdiction,
        "score": item.score,
        "content": passage.content,
        "file": meta.file,
        "trace": dict(item.trace),
    }


def _version(item: OtherVersion) -> dict[str, Any]:
    passage, meta = item.passage, item.passage.metadata
    return {
        "id": passage.id,
        "source": passage.source,
        "title": meta.title,
        "doc_number": meta.doc_number,
        "article": meta.article,
        "effective": meta.effective,
        "expires": meta.expires,
        "status": item.status,
        "note": version_line(item),
        "successor": asdict(item.successor) if item.successor else None,
        "replaces": item.replaces,
        "jurisdiction": meta.jurisdiction,
        "content": passage.content,
        "file": meta.file,
    }


def _coverage(entry: SourceCoverage) -> dict[str, Any]:
    return {**asdict(entry), "notes": list(entry.notes), "lost": list(entry.lost)}


def _reference(reference: ResolvedReference) -> dict[str, Any]:
    lists = {"ids": list(reference.ids), "candidates": list(reference.candidates)}
    return {**asdict(reference), **lists}


def _citation(citation: Citation) -> dict[str, Any]:
    return {**asdict(citation), "heading_path": list(citation.heading_path)}
