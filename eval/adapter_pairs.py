"""What a query adapter is trained and judged on: a domain's vectors, questions, right answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import numpy.typing as npt

from configs.errors import InputError
from configs.settings import Settings
from eval.datasets import Question
from eval.relevance import covers, gold_unit, gold_units
from indexes.catalog import PassageCatalog
from indexes.embedding_cache import EmbeddingCache
from indexes.embeddings import TextEmbedder
from indexes.jurisdiction import allowed_codes
from indexes.schema import OPEN_END, Passage, date_int
from indexes.store_layout import StoreLayout

Floats = npt.NDArray[np.float32]
Gold = tuple[tuple[int, ...], ...]
"""Per gold unit the passages that cover it."""


@dataclass(frozen=True, slots=True, eq=False)
class AdapterPairs:
    """``passages`` (m, d) and ``queries`` (n, d): the base's unit vectors; ``gold``: per question
    its units as rows of ``passages``, none where another domain answers it; ``admitted`` (n, m):
    what date and place let through; ``folds`` (n,): the fold in which a question is held out."""

    passages: Floats
    queries: Floats
    gold: tuple[Gold, ...]
    admitted: npt.NDArray[np.bool_]
    folds: npt.NDArray[np.int64]

    def own(self, questions: Iterable[int] | None = None) -> list[int]:
        """Those (default: all) that this domain answers."""
        asked = range(len(self.gold)) if questions is None else questions
        return [question for question in asked if self.gold[question]]

    def right(self, question: int) -> list[int]:
        """Every row that answers a question."""
        return sorted({row for unit in self.gold[question] for row in unit})


def group(question: Question) -> str:
    """Questions of one group stay in one fold; the same rule as the reranker's."""
    return min(gold_units(question))


def collect_pairs(
    settings: Settings,
    domain: str,
    embedder: TextEmbedder,
    questions: Sequence[Question],
    folds: Mapping[str, int],
    today: date,
) -> AdapterPairs:
    """Answerable questions of any domain, all passages of this one (vectors from the cache).

    ``folds``: question key -> fold. Raises InputError unless at least two folds have a question
    that this domain answers.
    """
    layout = StoreLayout(Path(settings.store.dir))
    catalog = PassageCatalog(layout.catalog)
    cache = EmbeddingCache(layout.embeddings)
    try:
        passages = [passage for _, passage in catalog.passages(domain)]
        vectors = cache.embed(embedder, [p.embedding_text() for p in passages])
    finally:
        cache.close()
        catalog.close()
    finder = _GoldFinder(passages)
    admitted = [finder.admitted(question, today) for question in questions]
    gold = tuple(finder.units(q, mask) for q, mask in zip(questions, admitted, strict=True))
    dealt = [folds[question.key] for question in questions]
    own = [fold for fold, units in zip(dealt, gold, strict=True) if units]
    if len(set(own)) < 2:
        raise InputError(
            f"domain {domain}: {len(own)} questions have their answer there, too few to hold some "
            "out; give more labelled questions of this domain"
        )
    queries = np.array([embedder.embed_query(q.query) for q in questions], dtype=np.float32)
    return AdapterPairs(vectors, queries, gold, np.stack(admitted), np.array(dealt))


class _GoldFinder:
    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._places: dict[tuple[str, str], list[int]] = {}
        for row, passage in enumerate(passages):
            meta = passage.metadata
            self._places.setdefault(("record", meta.record), []).append(row)
            self._places.setdefault(("article", meta.article), []).append(row)
        found = [p.metadata for p in passages]
        self._from = np.array([date_int(m.effective, 0) for m in found])
        self._until = np.array([date_int(m.expires, OPEN_END) for m in found])
        self._codes = np.array([m.jurisdiction_code for m in found])

    def admitted(self, question: Question, today: date) -> npt.NDArray[np.bool_]:
        """The passages that the engine's filters let through for this question."""
        day = date_int(question.as_of or today, 0)
        mask: npt.NDArray[np.bool_] = (self._from <= day) & (day < self._until)
        if question.jurisdiction:
            mask &= np.isin(self._codes, sorted(allowed_codes(question.jurisdiction)))
        return mask

    def units(self, question: Question, admitted: npt.NDArray[np.bool_]) -> Gold:
        """The admitted rows of every gold unit that has any."""
        rows: dict[str, set[int]] = {}
        for gold in question.gold:
            if gold.record is not None:
                near: Sequence[int] = self._places.get(("record", gold.record), ())
            elif gold.article is not None:
                near = self._places.get(("article", gold.article), ())
            else:
                near = range(len(self._passages))
            covering = (
                row
                for row in near
                if admitted[row] and covers(gold, self._passages[row], question.as_of)
            )
            rows.setdefault(gold_unit(gold), set()).update(covering)
        return tuple(tuple(sorted(found)) for found in rows.values() if found)


def hard_negatives(
    pairs: AdapterPairs, questions: Sequence[int], count: int
) -> dict[int, npt.NDArray[np.int64]]:
    """Per question the (at most) ``count`` admitted wrong passages nearest to the base's query."""
    found: dict[int, npt.NDArray[np.int64]] = {}
    for start in range(0, len(questions), 32):
        chosen = np.asarray(questions[start : start + 32])
        scores = pairs.queries[chosen] @ pairs.passages.T
        scores[~pairs.admitted[chosen]] = -np.inf
        for row, question in zip(scores, chosen.tolist(), strict=True):
            row[pairs.right(question)] = -np.inf
            most = min(count, int(np.isfinite(row).sum()))
            nearest = np.argpartition(-row, most - 1)[:most] if most else np.array([], int)
            found[question] = nearest
    return found


def ranks(
    pairs: AdapterPairs, questions: Sequence[int], moves: Floats, shares: Sequence[float]
) -> dict[float, list[tuple[int, ...]]]:
    """Per share s and question the rank of each gold unit when the query is ``q + s * move``.

    ``moves``: (len(questions), d). The query's length does not change an order, so two products
    serve all shares.
    """
    result: dict[float, list[tuple[int, ...]]] = {share: [] for share in shares}
    for start in range(0, len(questions), 32):
        chosen = np.asarray(questions[start : start + 32])
        plain = pairs.queries[chosen] @ pairs.passages.T
        moved = moves[start : start + 32] @ pairs.passages.T
        plain[~pairs.admitted[chosen]] = -np.inf
        for share in shares:
            scores = plain + np.float32(share) * moved
            for row, place in enumerate(chosen.tolist()):
                best = [scores[row][list(unit)].max() for unit in pairs.gold[place]]
                result[share].append(tuple(int((scores[row] > b).sum()) + 1 for b in best))
    return result
