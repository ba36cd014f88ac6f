"""Overlap of words between a question and a text, without a tokenizer.

Character bigrams stand for Chinese words, whole tokens for Latin letters and digits.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from indexes.tokenizer import normalise

_RUN = re.compile(r"[㐀-鿿豈-﫿]+|[a-z0-9]+(?:[.\-][a-z0-9]+)*")


def grams(text: str) -> frozenset[str]:
    """The bigrams of each run of Chinese characters (a lone character counts), and other tokens."""
    found: set[str] = set()
    for run in _RUN.findall(normalise(text)):
        if len(run) < 2 or run[0].isascii():
            found.add(run)
        else:
            found.update(run[i : i + 2] for i in range(len(run) - 1))
    return frozenset(found)


def containment(question: frozenset[str], text: frozenset[str]) -> float:
    """The share of the question's grams that the text has, 0–1; 0 for an empty question."""
    return len(question & text) / len(question) if question else 0.0


def rarity(texts: Iterable[frozenset[str]]) -> Mapping[str, float]:
    """``log(1 + N / df)`` of every gram over these N texts (inverse document frequency)."""
    sets = list(texts)
    counts = Counter(gram for text in sets for gram in text)
    return {gram: math.log(1 + len(sets) / count) for gram, count in counts.items()}
