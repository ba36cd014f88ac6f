"""Questions that failed: listed for a reader, and kept as a question file to be run again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from configs.errors import InputError
from eval.datasets import Question, load_questions
from eval.relevance import gold_name
from eval.report import EvalReport


@dataclass(frozen=True, slots=True)
class Failure:
    """A question without a hit among the first ``top_k``.

    ``gold``: what would have answered it; ``first``: what came first instead ("" for nothing);
    ``rank`` of the first hit, None where it is not among 100; ``confidence`` in [0, 1] or None.
    """

    key: str
    file: str
    query: str
    gold: tuple[str, ...]
    first: str
    rank: int | None
    confidence: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def failures(report: EvalReport) -> tuple[Failure, ...]:
    """The worst first: those not found at all, the surest of them first; then the lowest ranks."""
    found = [
        Failure(
            key=question.key,
            file=question.file,
            query=question.query,
            gold=tuple(dict.fromkeys(gold_name(gold) for gold in question.gold)),
            first=report.firsts.get(question.key, ""),
            rank=report.ranks.get(question.key),
            confidence=report.confidences.get(question.key),
        )
        for question in report.failed
    ]
    return tuple(sorted(found, key=_order))


def identity(question: Question) -> tuple[str, date | None, str | None]:
    """What makes two labelled questions the same one: text, day and place."""
    return question.query, question.as_of, question.jurisdiction


def append_questions(questions: Iterable[Question], path: Path) -> int:
    """Append those that the question file does not have yet; the number of them.

    Their ids are the keys of the run. A new file (and folder) is made where there is none. Raises
    InputError for a file that holds something else, or cannot be written.
    """
    old = load_questions([path]) if path.exists() and path.stat().st_size else ()
    known, taken = {identity(question) for question in old}, {question.id for question in old}
    lines = []
    for question in questions:
        if identity(question) in known:
            continue
        known.add(identity(question))
        name, number = question.key, 2
        while name in taken:
            name, number = f"{question.key}~{number}", number + 1
        taken.add(name)
        kept = question.model_copy(update={"id": name})
        lines.append(kept.model_dump_json(exclude={"key", "file"}, exclude_defaults=True))
    if lines:
        _append(path, lines)
    return len(lines)


def _append(path: Path, lines: list[str]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        gap = "\n" if old and not old.endswith("\n") else ""
        with path.open("a", encoding="utf-8", newline="\n") as target:
            target.write(gap + "".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); name another") from error


def _order(failure: Failure) -> tuple[bool, float, float, str]:
    sure = failure.confidence if failure.confidence is not None else 0.0
    return failure.rank is not None, -(failure.rank or 0), -sure, failure.key
