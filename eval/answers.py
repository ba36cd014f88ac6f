"""What whole answers are worth: citations, abstention, cited sentences, key points.

Every question is answered as an application would have it answered (``engine.query``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from tqdm import tqdm

from configs.errors import InputError, SourceUnavailableError
from eval.cited_sentences import cited_statements
from eval.datasets import Question
from eval.key_points import count_covered
from eval.relevance import covers, gold_unit, gold_units, relevant
from eval.significance import Interval, bootstrap_mean
from fusion.answer import PolicyAnswer
from fusion.history import asked_by
from fusion.nodes import RankedPassage, from_node

if TYPE_CHECKING:
    from configs.settings import FusionMode


class AnsweringEngine(Protocol):
    """The part of ``PolicyQueryEngine`` that answers."""

    def query(
        self,
        str_or_query_bundle: str,
        *,
        as_of: date | None,
        jurisdiction: str | None,
        mode: FusionMode | None,
    ) -> Any:
        """A PolicyAnswer."""
        ...


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """One answer. ``answered``: it does not say 资料不足. ``confidence`` in [0, 1].

    ``precision``: share of the cited passages that are right, None without a citation; ``recall``:
    share of the gold articles and records that are cited; both None for an unanswerable question.
    ``statements`` of which ``cited``; ``key_points`` of which ``covered``.
    """

    answered: bool
    confidence: float
    precision: float | None
    recall: float | None
    statements: int
    cited: int
    key_points: int
    covered: int


@dataclass(frozen=True, slots=True)
class Abstention:
    """Counts: ``declined`` of unanswerable and answerable questions, ``answered`` of both.

    An abstention is right where the documents hold no answer (empty gold).
    """

    declined_unanswerable: int
    declined_answerable: int
    answered_unanswerable: int
    answered_answerable: int

    @property
    def precision(self) -> float | None:
        """Share of the abstentions that are right; None without one."""
        return _share(
            self.declined_unanswerable, self.declined_unanswerable + self.declined_answerable
        )

    @property
    def recall(self) -> float | None:
        """Share of the unanswerable questions that were declined; None without one."""
        return _share(
            self.declined_unanswerable, self.declined_unanswerable + self.answered_unanswerable
        )

    @property
    def f1(self) -> float | None:
        """Harmonic mean of both; None without an unanswerable question."""
        if self.recall is None:
            return None
        right, wrong = self.declined_unanswerable, self.declined_answerable
        return _share(2 * right, 2 * right + wrong + self.answered_unanswerable)


@dataclass(frozen=True, slots=True)
class AnswerReport:
    """``scores``: question key -> its answer's; intervals are None where nothing was measured.

    ``citation_precision``: over answers to answerable questions with a citation;
    ``citation_recall``: over all answerable questions, a declined one counts 0;
    ``fully_cited``: over answers, 1 if each sentence is cited; ``cited_sentences``: share of all
    statements; ``key_points``: over questions with key points, the share covered.
    """

    questions: tuple[Question, ...] = field(repr=False)
    scores: Mapping[str, AnswerScore] = field(repr=False)
    abstention: Abstention
    citation_precision: Interval | None
    citation_recall: Interval | None
    fully_cited: Interval | None
    cited_sentences: float | None
    key_points: Interval | None
    latency_p50_ms: float
    latency_p95_ms: float
    unavailable: int

    @property
    def wrongly_answered(self) -> tuple[Question, ...]:
        """Declined though answerable, or answered though not."""
        return tuple(q for q in self.questions if not self.rightly_answered(q.key))

    def rightly_answered(self, key: str) -> bool | None:
        """Whether the question was answered or declined as it should be; None: not asked."""
        question = next((q for q in self.questions if q.key == key), None)
        return None if question is None else self.scores[key].answered == question.answerable

    def lines(self) -> list[str]:
        """The figures for a terminal, one a line."""
        counts = self.abstention
        lines = [
            f"answers: {len(self.questions)} questions; declined {counts.declined_unanswerable} "
            f"rightly, {counts.declined_answerable} wrongly; abstention precision "
            f"{_text(counts.precision)}, recall {_text(counts.recall)}, F1 {_text(counts.f1)}"
        ]
        for name in _INTERVALS:
            one: Interval | None = getattr(self, name)
            shown = "–" if one is None else f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]"
            lines.append(f"{name.replace('_', ' ')}: {shown}")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "questions": len(self.questions),
            "abstention": {
                **asdict(self.abstention),
                "precision": self.abstention.precision,
                "recall": self.abstention.recall,
                "f1": self.abstention.f1,
            },
            **{name: _plain(getattr(self, name)) for name in _INTERVALS},
            "cited_sentences": self.cited_sentences,
            "latency_ms": {"p50": self.latency_p50_ms, "p95": self.latency_p95_ms},
            "unavailable": self.unavailable,
            "per_question": {key: asdict(one) for key, one in self.scores.items()},
        }


_INTERVALS = ("citation_precision", "citation_recall", "fully_cited", "key_points")


def measure_answers(
    questions: Sequence[Question],
    engine: AnsweringEngine,
    *,
    mode: FusionMode | None = None,
    seed: int = 0,
    progress: bool = False,
    clock: Callable[[], float] = time.perf_counter,
) -> AnswerReport:
    """Answer all questions. Raises InputError for none, or naming one that the engine rejects.

    A question for which no domain could be asked counts as declined.
    """
    if not questions:
        raise InputError("there are no questions to answer; name a file of questions")
    scores: dict[str, AnswerScore] = {}
    times_ms, unavailable = [], 0
    for question in tqdm(questions, unit="answer", disable=not progress):
        start = clock()
        answer = _ask(question, engine, mode)
        times_ms.append((clock() - start) * 1000.0)
        unavailable += answer is None
        scores[question.key] = score_answer(question, answer)
    return _report(tuple(questions), scores, times_ms, unavailable, seed)


def score_answer(question: Question, answer: PolicyAnswer | None) -> AnswerScore:
    """Of one answer; None: no domain could be asked."""
    if answer is None:
        recall = 0.0 if question.answerable else None
        return AnswerScore(False, 0.0, None, recall, 0, 0, len(question.key_points), 0)
    items = [from_node(node) for node in answer.source_nodes]
    cited = [items[c.marker - 1] for c in answer.citations] if answer.sufficient else []
    statements = cited_statements(answer, items, question.query) if answer.sufficient else []
    text = str(answer.response or "") if answer.sufficient else ""
    return AnswerScore(
        answered=answer.sufficient,
        confidence=answer.confidence,
        precision=_precision(question, cited),
        recall=_recall(question, cited),
        statements=len(statements),
        cited=sum(statements),
        key_points=len(question.key_points),
        covered=count_covered(question.key_points, text),
    )


def _ask(
    question: Question, engine: AnsweringEngine, mode: FusionMode | None
) -> PolicyAnswer | None:
    try:
        with asked_by(origin="eval"):  # a history that is kept must not take it for users'
            answer = engine.query(
                question.query,
                as_of=question.as_of,
                jurisdiction=question.jurisdiction,
                mode=mode,
            )
    except SourceUnavailableError:
        return None
    except InputError as error:
        raise InputError(f"{question.file}: question {question.key}: {error}") from error
    return cast(PolicyAnswer, answer)


def _precision(question: Question, cited: Sequence[RankedPassage]) -> float | None:
    if not question.answerable or not cited:
        return None
    right = relevant(question, [item.passage for item in cited])
    return sum(right) / len(right)


def _recall(question: Question, cited: Sequence[RankedPassage]) -> float | None:
    if not question.answerable:
        return None
    found = {
        gold_unit(gold)
        for gold in question.gold
        if any(covers(gold, item.passage, question.as_of) for item in cited)
    }
    return len(found) / len(gold_units(question))


def _report(
    questions: tuple[Question, ...],
    scores: Mapping[str, AnswerScore],
    times_ms: Sequence[float],
    unavailable: int,
    seed: int,
) -> AnswerReport:
    done = list(scores.values())
    pairs = [(scores[q.key].answered, q.answerable) for q in questions]
    said = [one for one in done if one.answered and one.statements]
    statements = sum(one.statements for one in said)
    p50, p95 = np.percentile(times_ms, [50, 95])
    return AnswerReport(
        questions=questions,
        scores=scores,
        abstention=Abstention(
            pairs.count((False, False)),
            pairs.count((False, True)),
            pairs.count((True, False)),
            pairs.count((True, True)),
        ),
        citation_precision=_interval([o.precision for o in done], seed),
        citation_recall=_interval([o.recall for o in done], seed),
        fully_cited=_interval([float(o.cited == o.statements) for o in said], seed),
        cited_sentences=_share(sum(one.cited for one in said), statements),
        key_points=_interval([_share(one.covered, one.key_points) for one in done], seed),
        latency_p50_ms=float(p50),
        latency_p95_ms=float(p95),
        unavailable=unavailable,
    )


def _interval(values: Sequence[float | None], seed: int) -> Interval | None:
    known = [value for value in values if value is not None]
    return bootstrap_mean(known, seed=seed) if known else None


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _plain(interval: Interval | None) -> dict[str, float] | None:
    return None if interval is None else asdict(interval)
