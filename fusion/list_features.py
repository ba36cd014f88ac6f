"""All features of a candidate list: those of each passage alone, and how it stands in its list.

A cosine of .88 says little by itself (the model's similarities lie close together); that nothing
else in the list comes near it says much.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from fusion.features import FEATURE_NAMES, Question, features
from fusion.nodes import RankedPassage

LIST_FEATURE_NAMES = (
    "score_share",  # fused score as a share of the list's best
    "dense_gap",  # cosine minus the list's best cosine, 0 or below
    "keyword_share",  # keyword score as a share of the list's best
    "domain_share",  # share of the list that comes from the same domain
    "dense_above",  # share of the list with a higher cosine
    "keyword_above",  # share of the list with a higher keyword score
)
RERANK_FEATURES = (*FEATURE_NAMES, *LIST_FEATURE_NAMES)

_DENSE, _KEYWORD = FEATURE_NAMES.index("dense_raw"), FEATURE_NAMES.index("keyword_raw")


def feature_rows(query: str | Question, items: Sequence[RankedPassage]) -> list[tuple[float, ...]]:
    """One row of ``RERANK_FEATURES`` per item, in order; ``items`` in fused order.

    Depends on nothing but the arguments; the list features change with the length of the list.
    """
    question = query if isinstance(query, Question) else Question.read(query)
    alone = [
        features(question, item.passage, item.trace, rank)
        for rank, item in enumerate(items, start=1)
    ]
    standing = _standing(alone, items)
    return [(*row, *more) for row, more in zip(alone, standing, strict=True)]


def _standing(
    rows: Sequence[tuple[float, ...]], items: Sequence[RankedPassage]
) -> list[tuple[float, ...]]:
    dense = [row[_DENSE] for row in rows]
    keyword = [row[_KEYWORD] for row in rows]
    scores = [max(0.0, item.score) for item in items]
    domains = Counter(item.passage.source for item in items)
    best_dense, ordered_dense = max(dense, default=0.0), sorted(dense)
    best_keyword, ordered_keyword = max(keyword, default=0.0), sorted(keyword)
    best, size = max(scores, default=0.0), len(items)
    return [
        (
            scores[i] / best if best > 0 else 0.0,
            dense[i] - best_dense,
            keyword[i] / best_keyword if best_keyword > 0 else 0.0,
            domains[item.passage.source] / size,
            (size - bisect_right(ordered_dense, dense[i])) / size,
            (size - bisect_right(ordered_keyword, keyword[i])) / size,
        )
        for i, item in enumerate(items)
    ]
