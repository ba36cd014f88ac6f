"""How often the parser's metadata agree with labels that were written by reading the documents.

``python -m tests.ingest.metadata_scores DATA`` prints precision and recall of every field and what
went wrong. ``labels.jsonl`` names 60 documents by file or record and says of each what its source
states: ``effective`` with its ``effective_basis`` (``stated`` in the text, or ``published``: the
day of promulgation, from which a rule counts that states none), ``expires`` and ``status`` as a
reader of the whole collection knows them, ``closed_by`` the document that ended it. An empty value
means that the source tells nothing.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from indexes.schema import Document, PassageMetadata
from ingest.parse import parse_file
from ingest.validity import with_validity
from ingest.versions import facts_of, link_versions

LABELS = Path(__file__).with_name("labels.jsonl")
TODAY = date(2026, 11, 30)
FIELDS = (
    *("title", "doc_number", "issuer", "level", "jurisdiction"),
    *("promulgated", "effective", "expires", "status"),
)


@dataclass(frozen=True, slots=True)
class FieldScore:
    """One field: ``right`` of ``said`` values that were given, of ``labelled`` that exist."""

    right: int
    said: int
    labelled: int
    wrong: tuple[str, ...]

    @property
    def precision(self) -> float:
        """Share of the given values that are right; 1 when none was given."""
        return self.right / self.said if self.said else 1.0

    @property
    def recall(self) -> float:
        """Share of the labelled values that were given; 1 when there is none."""
        return self.right / self.labelled if self.labelled else 1.0


def labels() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]


def scores(data: Path) -> dict[str, FieldScore]:
    """Field -> score over all labelled documents, their versions linked."""
    wanted = labels()
    found = _metadata(data, wanted)
    return {name: _score(name, wanted, found) for name in FIELDS}


def _score(
    name: str, wanted: Sequence[Mapping[str, Any]], found: Mapping[str, PassageMetadata]
) -> FieldScore:
    right = said = labelled = 0
    wrong = []
    for label in wanted:
        value = getattr(found[_key(label)], name) or ""
        expected = label[name] or ""
        said += bool(value)
        labelled += bool(expected)
        right += bool(value) and value == expected
        if value != expected:
            wrong.append(f"{_key(label)}: {value!r}, labelled {expected!r}")
    return FieldScore(right, said, labelled, tuple(wrong))


def _key(label: Mapping[str, Any]) -> str:
    return str(label.get("record") or label["file"])


def _metadata(data: Path, wanted: Sequence[Mapping[str, Any]]) -> dict[str, PassageMetadata]:
    """Key -> metadata after linking with the closing documents and the parts of the same law."""
    found: dict[str, PassageMetadata] = {}
    for domain in ("law", "fiscal", "local"):
        files = {
            file
            for label in wanted
            if label["domain"] == domain
            for file in (label.get("file"), label.get("closed_by"))
            if file
        }
        paths = {data / "corpus" / file for file in files}
        # Parts of one law in a folder of its own share what one of them states.
        paths |= {p for path in paths if not _dated(path) for p in path.parent.glob("*.md")}
        paths |= {data / "records" / f"{domain}.jsonl"} & set((data / "records").iterdir())
        documents = {
            _document_key(document): document
            for path in sorted(paths)
            for document in parse_file(path, domain, _root(data, path), lambda: TODAY)
            if isinstance(document, Document)
        }
        closed = link_versions([facts_of(d, k) for k, d in documents.items()], TODAY)
        for key, document in documents.items():
            linked = with_validity(document, closed[key]) if key in closed else document
            found[key] = linked.passages[0].metadata
    return found


@cache
def _dated(path: Path) -> bool:
    return re.search(r"\d{4}-\d\d-\d\d", path.name) is not None


def _root(data: Path, path: Path) -> Path:
    return data / ("corpus" if path.suffix == ".md" else "records")


def _document_key(document: Document) -> str:
    metadata = document.passages[0].metadata
    return metadata.record or metadata.file


def main(data: Path) -> None:
    for name, score in scores(data).items():
        print(
            f"{name:14} precision {score.precision:.3f} ({score.right}/{score.said})"
            f"  recall {score.recall:.3f} ({score.right}/{score.labelled})"
        )
        for line in score.wrong:
            print(f"    {line}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
