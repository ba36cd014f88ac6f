"""The plain peer of the field: one BM25 over everything, to compare the engine with.

bm25s (Lù 2024) in Lucene's variant, k1 = 1.5, b = .75; jieba words + character bigrams of title and
passage; no fields, no weights, no dates, no places. Needs the extra ``eval``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import rjieba

from configs.errors import InputError
from configs.settings import Settings
from eval.adapters import Retrieved
from eval.datasets import Question
from indexes.catalog import PassageCatalog
from indexes.schema import Passage
from indexes.store_layout import StoreLayout

_HAN = re.compile(r"[〇㐀-䶿一-鿿]+")
_WORD = re.compile(r"\w")


def plain_tokens(text: str) -> list[str]:
    """jieba's words without punctuation, then the bigrams of every run of Chinese characters."""
    words = [word for word in rjieba.cut(text) if _WORD.search(word)]
    runs = _HAN.findall(text)
    return words + [run[i : i + 2] for run in runs for i in range(len(run) - 1)]


def store_baseline(settings: Settings) -> Bm25Baseline:
    """Over all passages of a profile's store. Raises InputError as ``Bm25Baseline``."""
    catalog = PassageCatalog(StoreLayout(Path(settings.store.dir)).catalog)
    try:
        rows = chain.from_iterable(catalog.passages(domain) for domain in settings.domains)
        return Bm25Baseline(passage for _, passage in rows)
    finally:
        catalog.close()


class Bm25Baseline:
    """A ``SearchFn`` over these passages, pooled whatever their domain; built in memory."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        """Raises InputError when bm25s is not installed or there are no passages."""
        try:
            import bm25s
        except ImportError as error:
            raise InputError(
                "the BM25 baseline needs bm25s; run `pip install 'policy-fusion[eval]'`"
            ) from error
        self._vocabulary: dict[str, int] = {}
        self._passages = tuple(passages)
        if not self._passages:
            raise InputError("the BM25 baseline has no passages; ingest documents first")
        ids = [self._learn(f"{p.metadata.title}\n{p.content}") for p in self._passages]
        self._index: Any = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
        tokenized = bm25s.tokenization.Tokenized(ids=ids, vocab=self._vocabulary)
        self._index.index(tokenized, show_progress=False)

    def __call__(self, question: Question, count: int) -> Retrieved:
        """The best ``count`` passages with a score above 0."""
        return Retrieved(self.search(question.query, count))

    def search(self, query: str, count: int) -> tuple[Passage, ...]:
        """The best ``count`` passages with a score above 0, best first."""
        known = [token for token in plain_tokens(query) if token in self._vocabulary]
        if not known:
            return ()
        places, scores = self._index.retrieve(
            [known], k=min(count, len(self._passages)), show_progress=False
        )
        found: Sequence[tuple[int, float]] = list(zip(places[0], scores[0], strict=True))
        return tuple(self._passages[int(place)] for place, value in found if value > 0)

    def _learn(self, text: str) -> list[int]:
        learnt = self._vocabulary
        return [learnt.setdefault(token, len(learnt)) for token in plain_tokens(text)]
