"""``python -m eval.accepted report.json accepted.json``: has a change made the search worse?

Compares a new report with the last accepted one, on the questions that both have, and prints one
line a problem. Exit status 0 without a problem, 1 with one, 2 for a user's error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from configs.errors import InputError, PolicyFusionError
from eval.datasets import Question, load_questions
from eval.failures import identity

TOLERANCE = 0.01
REGRESSION = "regression"
Identity = tuple[str, str | None, str | None]


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Asked(_Read):
    """One question of a report; ``mrr``, ``hit`` and ``rightly_answered`` are None if unknown."""

    key: str
    file: str
    domains: tuple[str, ...]
    query: str
    as_of: str | None = None
    jurisdiction: str | None = None
    mrr: Annotated[float, Field(ge=0, le=1)] | None
    hit: bool | None
    rightly_answered: bool | None = None

    @property
    def identity(self) -> Identity:
        """As in ``eval.failures``: keys change with the files that are read together."""
        return self.query, self.as_of, self.jurisdiction


class Report(_Read):
    """What of ``report.json`` is compared."""

    top_k: int
    questions: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One line a problem, and how many questions both reports have."""

    shared: int
    problems: tuple[str, ...]


def read_report(path: Path) -> Report:
    """Raises InputError for a file that is no report."""
    try:
        return Report.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); name a report.json of "
            "`policy-fusion eval --report`"
        ) from error
    except ValidationError as error:
        raise InputError(
            f"{path}: is no report; name a report.json of `policy-fusion eval --report`"
        ) from error


def compare_reports(
    new: Report,
    old: Report,
    *,
    tolerance: float = TOLERANCE,
    regression: frozenset[Identity] = frozenset(),
) -> Comparison:
    """The problems of ``new``: a file's, a domain's or all questions' MRR is lower by more than
    ``tolerance``; a regression question that passed fails; an accepted question is gone.

    Regression questions are those of ``regression`` and of files named ``regression*``. Raises
    InputError when nothing can be compared.
    """
    if new.top_k != old.top_k:
        raise InputError(
            f"the reports were cut at {new.top_k} and {old.top_k}; use the same --top-k"
        )
    before = {(one.file, one.identity): one for one in old.questions}
    both = ((one, before.get((one.file, one.identity))) for one in new.questions)
    pairs = [(now, then) for now, then in both if then is not None]
    if not pairs:
        raise InputError("the reports share no question; compare reports of the same files")
    problems = (
        *_gone(new, old),
        *_lower(pairs, tolerance),
        *(
            problem
            for now, then in pairs
            if now.identity in regression or Path(then.file).name.startswith(REGRESSION)
            for problem in _failing(now, then)
        ),
    )
    return Comparison(len(pairs), problems)


def accept(report: Path, accepted: Path) -> None:
    """Put the report in the place of the accepted one, whole or not at all."""
    read_report(report)
    try:
        accepted.parent.mkdir(parents=True, exist_ok=True)
        beside = accepted.with_name(f".{accepted.name}.new")
        beside.write_bytes(report.read_bytes())
        os.replace(beside, accepted)
    except OSError as error:
        raise InputError(f"{accepted}: cannot be written ({error.strerror})") from error


def _gone(new: Report, old: Report) -> Iterator[str]:
    there = {(one.file, one.identity) for one in new.questions}
    for file in sorted({one.file for one in old.questions}):
        own = (one for one in old.questions if one.file == file)
        lost = [one for one in own if (file, one.identity) not in there]
        if lost:
            yield f"file {file}: {len(lost)} accepted questions not asked (first: {lost[0].key})"


def _lower(pairs: Sequence[tuple[Asked, Asked]], tolerance: float) -> Iterator[str]:
    groups: dict[str, list[tuple[float, float]]] = {}
    for now, then in pairs:
        if now.mrr is None or then.mrr is None:
            continue
        names = ["all questions", f"file {then.file}", *(f"domain {d}" for d in then.domains)]
        for name in names:
            groups.setdefault(name, []).append((now.mrr, then.mrr))
    for name, values in groups.items():
        after, was = (sum(column) / len(values) for column in zip(*values, strict=True))
        if was - after > tolerance + 1e-12:  # a fall of exactly the tolerance is tolerated
            yield f"{name}: MRR fell {was:.4f} -> {after:.4f} ({len(values)} questions)"


def _failing(now: Asked, then: Asked) -> Iterator[str]:
    where = f"regression question {now.key} ({' '.join(now.query.split())})"
    if then.hit and now.hit is False:
        yield f"{where}: no right result any more"
    if then.rightly_answered and now.rightly_answered is False:
        yield f"{where}: wrongly answered or declined now"


def main(arguments: Sequence[str] | None = None) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m eval.accepted", description=__doc__)
    parser.add_argument("report", type=Path, help="the new report.json")
    parser.add_argument("accepted", type=Path, help="the last accepted one")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE, help="of MRR, default .01")
    parser.add_argument(
        "--regression", nargs="+", type=Path, default=(), metavar="FILE", help="question files"
    )
    parser.add_argument("--accept", action="store_true", help="replace the accepted one")
    options = parser.parse_args(arguments)
    try:
        return _main(options)
    except PolicyFusionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _main(options: argparse.Namespace) -> int:
    if not 0 <= options.tolerance <= 1:
        raise InputError(f"--tolerance is {options.tolerance}; give a number from 0 to 1")
    if options.accept:
        accept(options.report, options.accepted)
        print(f"accepted: {options.accepted}")
        return 0
    if not options.accepted.exists():
        raise InputError(f"{options.accepted}: no such file; make it with --accept")
    regression = frozenset(
        (query, day.isoformat() if day else None, place)
        for query, day, place in map(identity, _questions(options.regression))
    )
    found = compare_reports(
        read_report(options.report),
        read_report(options.accepted),
        tolerance=options.tolerance,
        regression=regression,
    )
    for problem in found.problems:
        print(f"worse: {problem}")
    if not found.problems:
        print(f"no worse than accepted ({found.shared} questions)")
    return 1 if found.problems else 0


def _questions(files: Sequence[Path]) -> Sequence[Question]:
    return load_questions(files) if files else ()


if __name__ == "__main__":
    sys.exit(main())
