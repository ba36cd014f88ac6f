"""Which parts of a question the material says nothing about, so that the answer can admit it.

A part counts as covered when one passage has enough of its words; the words of a question are often
not those of the law, so only a part that is met nowhere, beside one that is, counts as missing.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusion.nodes import RankedPassage
from fusion.overlap import containment, grams
from fusion.question_parts import QuestionPart, question_parts
from indexes.jurisdiction import ancestors, parts
from indexes.schema import NATIONAL

COVERED = 0.2
"""Share of a part's bigrams, in one passage with its title and headings, that covers it."""

_JUDGED = 3  # bigrams below which a part says too little of its own (能免吗)


def missing_parts(question: str, items: Sequence[RankedPassage]) -> tuple[str, ...]:
    """The words of the parts that no passage covers, in order; () where all or none is covered.

    Deterministic and careful: a part without a subject of its own is never missing.
    """
    asked = question_parts(question)
    if not asked or not items:
        return ()
    lacking = [part for part in asked if not _covered(part, items)]
    return tuple(part.text for part in lacking) if len(lacking) < len(asked) else ()


def coverage_of_part(part: QuestionPart, items: Sequence[RankedPassage]) -> float:
    """The highest share (0–1) of the part's bigrams in one passage; 1.0 where it has too few."""
    wanted = frozenset(gram for gram in grams(part.content) if len(gram) > 1)
    if len(wanted) < _JUDGED:
        return 1.0
    return max((containment(wanted, _words(item)) for item in items), default=0.0)


def _covered(part: QuestionPart, items: Sequence[RankedPassage]) -> bool:
    if not part.place:
        return coverage_of_part(part, items) >= COVERED
    applying = {*ancestors(part.place), *parts(part.place)} - {NATIONAL}
    local = {item.passage.metadata.jurisdiction_code for item in items} - {NATIONAL, ""}
    # Without a rule of any place, the national ones may answer for all of them.
    return not local or bool(local & applying)


def _words(item: RankedPassage) -> frozenset[str]:
    meta = item.passage.metadata
    return grams("\n".join((meta.title, *meta.heading_path, item.passage.readable())))
