"""Whether an answer says what it must: key points found by words or by the numbers they state."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from fusion.citations import sentences
from fusion.facts import facts, missing_facts

_MARKER = re.compile(r"\[\d{1,3}\]")


def covered(point: str, answer: str) -> bool:
    """Whether the answer has the point's words (white space, punctuation and width apart), or one
    of its sentences states all numbers, dates, articles and 发文字号 of the point in any form.

    A point of a number with words is held for said where the number is: the words of a question
    are seldom those of the law. A point without a number needs its words.
    """
    answer = _MARKER.sub("", answer)
    if _has(_plain(answer), _plain(point)):
        return True
    stated = facts(point)
    return bool(stated) and any(
        not missing_facts(stated, facts(sentence)) for sentence in sentences(answer)
    )


def count_covered(points: Sequence[str], answer: str) -> int:
    """How many of the points the answer covers."""
    return sum(covered(point, answer) for point in points)


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    # The point of 1.5 is kept: without it 1.5 would be found in 15.
    return re.sub(r"(?<!\d)\.|\.(?!\d)|[^\w.%‰]|_", "", folded)


def _has(text: str, point: str) -> bool:
    """Whether ``point`` stands in ``text``, not as a part of a longer number."""
    before = r"(?<![\d.])" if point[:1].isdecimal() else ""
    after = r"(?![\d.])" if point[-1:].isdecimal() else ""
    return bool(point) and re.search(before + re.escape(point) + after, text) is not None
