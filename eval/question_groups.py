"""Questions that must stay on one side of a split: the same answer, or nearly the same words."""

from __future__ import annotations

from collections.abc import Sequence

from eval.datasets import Question
from eval.relevance import gold_units

SIMILAR = 0.7
"""Lower, questions of one template ("what does article 5 of … say?") would all chain together."""


def group_questions(questions: Sequence[Question], similar: float = SIMILAR) -> list[str]:
    """A group name per question.

    Two questions share one when their gold units are the same, or when the Jaccard similarity of
    their character trigrams (Broder 1997, shingles) is at least ``similar`` (0-1); groups chain.
    """
    parent = list(range(len(questions)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    def join(a: int, b: int) -> None:
        first, second = sorted((root(a), root(b)))
        parent[second] = first

    owner: dict[frozenset[str], int] = {}
    for i, question in enumerate(questions):
        units = frozenset(gold_units(question))
        if units:
            join(owner.setdefault(units, i), i)
    for a, b in _near_duplicates([q.query for q in questions], similar):
        join(a, b)
    return [questions[root(i)].key for i in range(len(questions))]


def _near_duplicates(texts: Sequence[str], similar: float) -> list[tuple[int, int]]:
    shingles = [{text[i : i + 3] for i in range(max(1, len(text) - 2))} for text in texts]
    holders: dict[str, list[int]] = {}
    pairs = []
    for i, own in enumerate(shingles):
        shared: dict[int, int] = {}
        for shingle in own:
            for j in holders.setdefault(shingle, []):
                shared[j] = shared.get(j, 0) + 1
            holders[shingle].append(i)
        pairs += [
            (j, i) for j, n in shared.items() if n >= similar * (len(own) + len(shingles[j]) - n)
        ]
    return pairs
