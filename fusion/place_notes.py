"""Passages whose place is not sure to be the question's: cited with a warning.

The place of a report or a bare notice is often only guessed from its text, so it may answer for
another place (see ``QuestionPlace.admits``); whoever acts on it has to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fusion.markers import without_markers
from fusion.question_place import QuestionPlace
from indexes.schema import Passage


def place_notes(placed: QuestionPlace | None, passages: Iterable[Passage]) -> Mapping[str, str]:
    """Passage id -> the line that its marked place is none of the question's, where that is so."""
    if placed is None:
        return {}
    asked = "、".join(placed.names)
    return {
        passage.id: without_markers(
            f"注意：《{passage.metadata.title.strip('《》')}》标注的地区是"
            f"{passage.metadata.jurisdiction}，不是{asked}，请核对其是否适用。"
        )
        for passage in passages
        if passage.metadata.jurisdiction_code not in placed.codes
    }
