"""Which passages answer a question: the labels name articles and records, not passages.

So every chunking can be judged. A gold unit (one article of one title, or one record) counts once,
at the first passage that covers it: further parts and versions of it are neither gain nor loss
beyond the rank they take, and no metric can exceed 1.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import date
from functools import lru_cache

from eval.datasets import Gold, Question
from indexes.schema import Passage

_DATE_SUFFIX = re.compile(r"\((?:19|20)\d\d-\d\d-\d\d\)$")
_MARKS = re.compile(r"[\s《》〈〉<>「」“”\"]|中华人民共和国")


@lru_cache(maxsize=65_536)
def normalise_title(title: str) -> str:
    """A title for comparison: without 中华人民共和国, quotation marks, white space, date suffix;
    brackets and digits in ASCII width."""
    return _DATE_SUFFIX.sub("", _MARKS.sub("", unicodedata.normalize("NFKC", title)))


def gold_unit(gold: Gold) -> str:
    """The key of what this label asks for; labels of one article's versions share it."""
    if gold.record is not None:
        return f"record:{gold.record}"
    return f"article:{normalise_title(gold.title)}#{gold.article or '*'}"


def gold_units(question: Question) -> tuple[str, ...]:
    """The distinct gold units of a question, in label order."""
    return tuple(dict.fromkeys(gold_unit(gold) for gold in question.gold))


def covers(gold: Gold, passage: Passage, as_of: date | None = None) -> bool:
    """Whether the passage answers this label.

    A record is decided by its id alone (titles of records are not unique). An article is decided by
    number and title, or number and file; the domain does not matter, and neither does the version,
    unless ``as_of`` is given: then the passage is of the labelled file, or known to be in force on
    that day (where the label names no file: not known to be out of force).
    """
    metadata = passage.metadata
    if gold.record is not None:
        return metadata.record == gold.record
    if metadata.record or (gold.article is not None and metadata.article != gold.article):
        return False
    same_file = bool(gold.file and metadata.file) and _same_file(gold.file or "", metadata.file)
    if same_file:
        return True
    if normalise_title(metadata.title) != normalise_title(gold.title):
        return False
    if as_of is None:
        return True
    dated = metadata.effective is not None or not gold.file
    return dated and metadata.in_force_on(as_of)


def judge(question: Question, passages: Sequence[Passage]) -> tuple[str | None, ...]:
    """Per rank the gold unit that this passage is the first to cover, else None."""
    found: set[str] = set()
    judged: list[str | None] = []
    for passage in passages:
        new = (
            unit
            for gold in question.gold
            if (unit := gold_unit(gold)) not in found and covers(gold, passage, question.as_of)
        )
        first = next(new, None)
        judged.append(first)
        if first is not None:
            found.add(first)
    return tuple(judged)


def relevant(question: Question, passages: Sequence[Passage]) -> tuple[bool, ...]:
    """Per rank whether the passage covers any label; further parts and versions count too."""
    return tuple(
        any(covers(gold, passage, question.as_of) for gold in question.gold) for passage in passages
    )


def passage_name(passage: Passage) -> str:
    """Title and article (or record) of a passage, on one line."""
    meta = passage.metadata
    place = f" art. {meta.article}" if meta.article else ""
    return " ".join(f"{meta.title}{place}{f' ({meta.record})' if meta.record else ''}".split())


def gold_name(gold: Gold) -> str:
    """What a label asks for, written as ``passage_name`` writes it."""
    place = f" art. {gold.article}" if gold.article else ""
    return " ".join(f"{gold.title}{place}{f' ({gold.record})' if gold.record else ''}".split())


def _same_file(first: str, second: str) -> bool:
    """Whether one path is the tail of the other: corpora are ingested from different roots."""
    a, b = (path.replace("\\", "/").strip("/").split("/") for path in (first, second))
    shared = min(len(a), len(b))
    return a[-shared:] == b[-shared:]
