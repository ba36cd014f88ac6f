"""Which parts of a question the material says nothing about, so that the answer can admit it.

The words of a question are often not those of the law, so their absence says little. A part is
missing only where it names a term of the field (契税, 产假) that no passage has, or says a lot of
which every passage has next to nothing; and only beside a part that is covered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources

from fusion.nodes import RankedPassage
from fusion.overlap import containment, grams
from fusion.question_abroad import asks_abroad
from fusion.question_parts import QuestionPart, question_parts
from indexes.jurisdiction import ancestors, parts
from indexes.schema import NATIONAL

# Shares of bigrams in one passage, title and headings included. Set on 265 parts of questions that
# the passages answer and 712 parts of other questions (docs/answers.md).
_TERM_THERE = 0.5  # of a term: 车辆购置税 is there where 购置税 is
_WITHOUT_TERM = 0.3  # of a part whose terms are nowhere; with more it is met in other words
_IN_OTHER_WORDS = 0.12  # of a part that names no term …
_LONG = 8  # … and has so many bigrams of its own


def missing_parts(question: str, items: Sequence[RankedPassage]) -> tuple[str, ...]:
    """The words of the parts that no passage covers, in order; () where all or none is covered.

    Deterministic and careful: a part without a subject of its own (能免吗) is never missing.
    """
    asked = question_parts(question)
    if not asked or not items:
        return ()
    texts = [_text(item) for item in items]
    words = [grams(text) for text in texts]
    lacking = [part for part in asked if not _covered(part, items, texts, words)]
    return tuple(part.text for part in lacking) if len(lacking) < len(asked) else ()


def _covered(
    part: QuestionPart,
    items: Sequence[RankedPassage],
    texts: Sequence[str],
    words: Sequence[frozenset[str]],
) -> bool:
    if asks_abroad(part.text):
        return False
    if part.place:
        return _applies(part.place, items)
    wanted = frozenset(gram for gram in grams(part.content) if len(gram) > 1)
    terms = _terms().findall(part.text)
    if not terms:
        return len(wanted) < _LONG or _best(wanted, words) >= _IN_OTHER_WORDS
    if any(_abbreviates(term, text) for term in terms for text in texts):
        return True
    there = any(_best(grams(term), words) >= _TERM_THERE for term in terms)
    return there or _best(wanted, words) >= _WITHOUT_TERM


def _abbreviates(term: str, text: str) -> bool:
    """Whether a short term may stand for words of the text: 低保 for 最低生活保障."""
    return len(term) <= 3 and bool(re.search(".{0,4}".join(map(re.escape, term)), text))


def _applies(place: str, items: Sequence[RankedPassage]) -> bool:
    """Whether a rule of the place is there, or none of any place: then the national ones count."""
    applying = {*ancestors(place), *parts(place)} - {NATIONAL}
    local = {item.passage.metadata.jurisdiction_code for item in items} - {NATIONAL, ""}
    return not local or bool(local & applying)


def _best(wanted: frozenset[str], words: Sequence[frozenset[str]]) -> float:
    return max(containment(wanted, found) for found in words)


def _text(item: RankedPassage) -> str:
    meta = item.passage.metadata
    return "\n".join((meta.title, *meta.heading_path, item.passage.readable()))


@cache
def _terms() -> re.Pattern[str]:
    """The terms of the packaged dictionaries, the longest first."""
    folder = resources.files("configs").joinpath("dictionaries")
    lines = [
        line.split()[0]
        for file in folder.iterdir()
        if file.name.endswith(".txt")
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.startswith("#")
    ]
    return re.compile(
        "|".join(re.escape(t) for t in sorted(set(lines), key=lambda t: (-len(t), t)))
    )
