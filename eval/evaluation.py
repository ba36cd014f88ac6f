"""One evaluation with all that was asked for beside the search: what a report is written from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eval.answers import AnswerReport
from eval.datasets import Question
from eval.failures import Failure, failures
from eval.perturbation import Perturbation
from eval.provenance import Provenance
from eval.report import FUSED, NO_KIND, EvalReport
from eval.report_figures import Figures, figures


@dataclass(frozen=True, slots=True)
class Evaluation:
    """``answers`` and ``wordings`` are None where they were not measured."""

    report: EvalReport
    provenance: Provenance
    answers: AnswerReport | None = None
    wordings: Perturbation | None = None

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The questions without a hit, the worst first."""
        return failures(self.report)

    @property
    def failed(self) -> tuple[Question, ...]:
        """The questions without a hit and, where answers were measured, those that were answered
        without an answer in the documents, or not answered with one."""
        wrong = self.answers.wrongly_answered if self.answers else ()
        return tuple({q.key: q for q in (*self.report.failed, *wrong)}.values())

    def figures(self, *, seed: int = 0) -> Figures:
        """What the plots show."""
        scores = self.answers.scores if self.answers else {}
        answered = {key: one.confidence for key, one in scores.items()}
        return figures(self.report, answered=answered, seed=seed)

    def extras(self) -> dict[str, Any]:
        """Plain values of what was measured beside the search."""
        found: dict[str, Any] = {}
        if self.answers is not None:
            found["answers"] = self.answers.to_dict()
        if self.wordings is not None:
            found["wordings"] = self.wordings.to_dict()
        return found

    def to_dict(self, data: Figures) -> dict[str, Any]:
        """``report.json`` with these figures; docs/evaluation.md explains every key."""
        return {
            "provenance": self.provenance.to_dict(),
            **self.report.to_dict(),
            "figures": data.to_dict(),
            **self.extras(),
            "failures": [one.to_dict() for one in self.failures],
            "questions": [self._question(question) for question in self._asked()],
        }

    def _asked(self) -> tuple[Question, ...]:
        more = self.answers.questions if self.answers else ()
        return tuple({q.key: q for q in (*self.report.questions, *more)}.values())

    def _question(self, question: Question) -> dict[str, Any]:
        key, report = question.key, self.report
        values = report.values[FUSED].get(key)
        return {
            "key": key,
            "file": question.file,
            "kind": question.kind or NO_KIND,
            "domains": sorted(question.domains),
            "query": question.query,
            "as_of": question.as_of.isoformat() if question.as_of else None,
            "jurisdiction": question.jurisdiction,
            "mrr": values["mrr"] if values else None,
            "rank": report.ranks.get(key),
            "hit": report.hit(key) if values else None,
            "rightly_answered": self.answers.rightly_answered(key) if self.answers else None,
        }
