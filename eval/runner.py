"""Runs labelled questions through the fused engine and through every source alone.

Every (question, system) pair is searched once, ``RECALL_DEPTH`` results deep; all figures come
from these runs. Latency is the wall time of a whole search. Engines remember query embeddings, so
only the system that meets a question first is timed: the fused engine on every other question,
the single sources in turn on the rest. No figure profits from another system's work.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from configs.errors import InputError
from eval.adapters import Engine, Retrieved, SearchFn, engine_search
from eval.datasets import Question, load_questions
from eval.metrics import RECALL_DEPTH, Judged, measures, score
from eval.relevance import gold_units, judge, passage_name
from eval.report import FUSED, EvalReport, SystemRun, build_report

if TYPE_CHECKING:
    from configs.settings import FusionMode

_WARM_UP = Question(id="warm-up", query="预热", gold=())


@dataclass(slots=True)
class Record:
    """What one system did so far: judged rankings, timed searches, domains that did not answer.

    ``firsts``: question key -> name of the passage that came first; ``confidences``: question key
    -> how sure the system was.
    """

    judged: dict[str, Judged] = field(default_factory=dict)
    latencies_ms: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    incomplete: int = 0
    firsts: dict[str, str] = field(default_factory=dict)
    confidences: dict[str, float] = field(default_factory=dict)

    def add(self, question: Question, found: Retrieved) -> None:
        self.judged[question.key] = Judged(gold_units(question), judge(question, found.passages))
        self.failures.update(found.failed)
        self.incomplete += bool(found.failed)
        if found.passages:
            self.firsts[question.key] = passage_name(found.passages[0])
        if found.confidence is not None:
            self.confidences[question.key] = found.confidence


def evaluate(
    files: Sequence[Path],
    engine: Engine,
    *,
    top_k: int = 10,
    progress: bool = True,
    mode: FusionMode | None = None,
    limit: int | None = None,
    seed: int = 0,
    ask_unanswerable: bool = False,
    clock: Callable[[], float] = time.perf_counter,
) -> EvalReport:
    """Evaluate the engine on these question files.

    ``mode``: another fusion mode than the configured one; ``limit``: a random sample (``seed``) of
    so many answerable questions. ``ask_unanswerable``: also learn how sure the engine is of
    questions without an answer (a sample of the same share); no other figure changes. Raises
    InputError for an unreadable file, a bad line, a ``top_k`` outside of 1 to ``RECALL_DEPTH``, or
    when there is no answerable question.
    """
    measures(top_k)  # refuse an impossible cut before the searches, not after
    questions = load_questions(files)
    answerable = sample([q for q in questions if q.answerable], limit, seed)
    if not answerable:
        raise InputError("no question has a gold answer; add questions that the corpus answers")
    systems = {FUSED: engine_search(engine, None, mode)}
    systems |= {name: engine_search(engine, (name,), mode) for name in engine.domains}
    records = run(answerable, systems, progress=progress, clock=clock)
    runs = {
        name: SystemRun(
            values=score(record.judged, top_k),
            latencies_ms=tuple(record.latencies_ms),
            failures=dict(record.failures),
            incomplete=record.incomplete,
            firsts=dict(record.firsts),
            ranks={key: one.rank for key, one in record.judged.items()},
            confidences=dict(record.confidences),
        )
        for name, record in records.items()
    }
    rest = [q for q in questions if not q.answerable]
    asked = sample_unanswerable(questions, limit, seed) if ask_unanswerable else ()
    sure = {question.key: systems[FUSED](question, RECALL_DEPTH).confidence for question in asked}
    return build_report(
        answerable,
        runs,
        unanswerable=len(rest),
        unanswerable_confidences=tuple(value for value in sure.values() if value is not None),
        top_k=top_k,
        seed=seed,
    )


def run(
    questions: Sequence[Question],
    systems: Mapping[str, SearchFn],
    *,
    progress: bool = False,
    clock: Callable[[], float] = time.perf_counter,
) -> Mapping[str, Record]:
    """Judge every system on every question; ``systems`` begins with the one timed most often."""
    records = {name: Record() for name in systems}
    for search in systems.values():
        search(_WARM_UP, RECALL_DEPTH)  # models and indexes are opened outside of the timing
    names = tuple(systems)
    for number, question in enumerate(tqdm(questions, unit="question", disable=not progress)):
        for place, name in enumerate(_order(names, number)):
            start = clock()
            found = systems[name](question, RECALL_DEPTH)
            elapsed_ms = (clock() - start) * 1000.0
            if place == 0:
                records[name].latencies_ms.append(elapsed_ms)
            records[name].add(question, found)
    return records


def sample(questions: Sequence[Question], limit: int | None, seed: int) -> list[Question]:
    """At most ``limit`` of the questions (None: all), drawn with ``seed``, in their order.

    Raises InputError when ``limit`` is below 1.
    """
    if limit is not None and limit < 1:
        raise InputError(f"limit is {limit}; it must be at least 1")
    if limit is None or limit >= len(questions):
        return list(questions)
    chosen = random.Random(seed).sample(range(len(questions)), limit)
    return [questions[i] for i in sorted(chosen)]


def sample_unanswerable(
    questions: Sequence[Question], limit: int | None, seed: int
) -> list[Question]:
    """The same share of the unanswerable questions as ``limit`` is of the answerable ones; at
    least one where there are any."""
    rest = [question for question in questions if not question.answerable]
    answerable = len(questions) - len(rest)
    if limit is None or limit >= answerable or not rest:
        return rest
    return sample(rest, max(1, round(len(rest) * limit / answerable)), seed)


def _order(names: Sequence[str], number: int) -> list[str]:
    """The systems in the order in which question ``number`` meets them; see the module."""
    rest = len(names) - 1
    first = 0 if number % 2 == 0 or rest == 0 else 1 + (number // 2) % rest
    return [names[first], *(name for name in names if name != names[first])]
