"""What is evaluated: anything that answers a question with ranked passages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Protocol

from configs.errors import InputError, SourceUnavailableError
from eval.datasets import Question
from fusion.history import asked_by
from indexes.schema import Passage

if TYPE_CHECKING:
    from configs.settings import FusionMode
    from fusion.nodes import RetrievalResult


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Passages best first, and the domains that were asked but gave no answer.

    ``confidence`` in [0, 1] that they hold the answer; None where a system has none.
    """

    passages: tuple[Passage, ...]
    failed: tuple[str, ...] = ()
    confidence: float | None = None


SearchFn = Callable[[Question, int], Retrieved]
"""A system: a question and the number of passages wanted -> what it found."""


class Engine(Protocol):
    """The part of ``PolicyQueryEngine`` that an evaluation needs."""

    @property
    def domains(self) -> Sequence[str]:
        """The domains that are asked by default."""
        ...

    def search(
        self,
        query: str,
        *,
        as_of: date | None,
        jurisdiction: str | None,
        domains: Sequence[str] | None,
        mode: FusionMode | None,
        top_k: int,
    ) -> RetrievalResult:
        """The ``top_k`` best passages with coverage."""
        ...


def engine_search(
    engine: Engine, domains: Sequence[str] | None = None, mode: FusionMode | None = None
) -> SearchFn:
    """The engine as a system over these domains (None: all), told a question's date and place.

    An engine that could ask no domain at all found nothing, and every domain failed. Raises
    InputError naming the question that the engine rejects.
    """
    asked = tuple(engine.domains if domains is None else domains)

    def search(question: Question, count: int) -> Retrieved:
        try:
            with asked_by(origin="eval"):  # a history that is kept must not take it for users'
                result = engine.search(
                    question.query,
                    as_of=question.as_of,
                    jurisdiction=question.jurisdiction,
                    domains=domains,
                    mode=mode,
                    top_k=count,
                )
        except SourceUnavailableError:
            return Retrieved((), asked)
        except InputError as error:
            raise InputError(f"{question.file}: question {question.key}: {error}") from error
        failed = tuple(entry.source for entry in result.coverage if not entry.ok)
        found = tuple(ranked.passage for ranked in result.passages)
        return Retrieved(found, failed, result.confidence)

    return search
