"""Adapters by fold, so that what is fitted behind them (calibration, reranker) sees honest scores.

An adapter knows the questions it was trained on: their right passages score higher than those of a
new question will. Here every labelled question is searched with the adapter that never saw it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from configs.errors import InputError
from configs.settings import Settings
from eval.adapter_pairs import group
from eval.datasets import Question
from eval.training import FOLDS, assign_folds
from indexes.embeddings import FloatArray, ModelFingerprint, TextEmbedder, load_embedder
from indexes.query_adapter import AdaptedEmbedder, load_query_adapter


class HeldOutEmbedder:
    """A ``TextEmbedder`` that asks, per question, the embedder of the fold that holds it out.

    A text that is no labelled question goes to the first fold's.
    """

    def __init__(self, by_fold: Sequence[TextEmbedder], fold_of: Mapping[str, int]) -> None:
        self._by_fold, self._fold_of = tuple(by_fold), dict(fold_of)

    @property
    def fingerprint(self) -> ModelFingerprint:
        """The base's own."""
        return self._by_fold[0].fingerprint

    def embed_query(self, text: str) -> list[float]:
        """The unit vector by the adapter that was trained without this question."""
        return self._by_fold[self._fold_of.get(text.strip(), 0)].embed_query(text)

    def embed_texts(self, texts: Sequence[str]) -> FloatArray:
        """The base's unit vectors of passages."""
        return self._by_fold[0].embed_texts(texts)


def held_out_embedders(
    settings: Settings, directory: Path, questions: Sequence[Question], seed: int = 0
) -> dict[str, TextEmbedder]:
    """Per domain that ``directory`` has the files ``{domain}.{fold}.npz`` of: its embedder.

    ``questions`` and ``seed`` must be those of ``eval.adapters_training --held-out``. Raises
    InputError when there is no domain's file, or not one for each fold.
    """
    answerable = [q for q in questions if q.answerable]
    dealt = assign_folds([group(q) for q in answerable], FOLDS, seed)
    fold_of = {q.query.strip(): fold for q, fold in zip(answerable, dealt, strict=True)}
    found: dict[str, TextEmbedder] = {}
    for domain, config in settings.domains.items():
        files = [directory / f"{domain}.{fold}.npz" for fold in range(FOLDS)]
        there = [file.is_file() for file in files]
        if not any(there):
            continue
        if not all(there):
            raise InputError(
                f"{directory}: {sum(there)} of {FOLDS} adapters of domain {domain}; run "
                "`python -m eval.adapters_training --held-out` again"
            )
        plain = config.embedding.model_copy(update={"adapter": None})
        base = load_embedder(plain, settings.models_dir)
        adapted = [AdaptedEmbedder(base, load_query_adapter(str(f)), f.name) for f in files]
        found[domain] = HeldOutEmbedder(adapted, fold_of)
    if not found:
        raise InputError(
            f"{directory}: no adapters by fold; run `python -m eval.adapters_training --held-out`"
        )
    return found
