"""The parser's metadata against labels that were written by reading the documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ingest.metadata_scores import FIELDS, FieldScore, labels, scores

LEAST = {"title": 0.95, "jurisdiction": 0.95, "effective": 0.95, "status": 0.95}
OTHERS = 0.9


@pytest.fixture(scope="module")
def found(shared_data: Path) -> dict[str, FieldScore]:
    return scores(shared_data)


def test_sixty_documents_are_labelled_twenty_a_domain() -> None:
    counts = [sum(label["domain"] == name for label in labels()) for name in ("law", "fiscal")]
    assert counts == [20, 20]
    assert len(labels()) == 60


@pytest.mark.parametrize("name", FIELDS)
def test_precision_and_recall_of_a_field(found: dict[str, FieldScore], name: str) -> None:
    score = found[name]
    least = LEAST.get(name, OTHERS)
    assert min(score.precision, score.recall) >= least, "\n".join(score.wrong)
