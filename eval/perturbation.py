"""What another wording of the same question (``eval.wordings``) costs in MRR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich import box
from rich.table import Table

from configs.errors import InputError
from eval.adapters import Retrieved, SearchFn
from eval.datasets import Question
from eval.metrics import measures, score
from eval.runner import run
from eval.significance import PairedResult, compare_paired
from eval.wordings import WORDINGS, reword

ORIGINAL = "original"


@dataclass(frozen=True, slots=True)
class Reworded:
    """One wording against the original, on the ``changed`` questions that the rule fits.

    ``result``: MRR reworded minus original, so a drop is negative; None where no question changed.
    ``mrr``: of all questions, those unchanged included.
    """

    changed: int
    mrr: float
    result: PairedResult | None


@dataclass(frozen=True, slots=True)
class Perturbation:
    """What rewording costs: ``mrr`` of the original wording, and every wording's figures."""

    queries: int
    top_k: int
    mrr: float
    wordings: Mapping[str, Reworded]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def table(self) -> Table:
        """One row a wording; the figures beside ``changed`` are of those questions alone."""
        title = f"{self.queries} questions, MRR@{self.top_k} {self.mrr:.3f} as they are worded"
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
        table.add_column("wording")
        for name in ("all", "changed", "before", "after", "difference", "95 % interval", "p"):
            table.add_column(name, justify="right", no_wrap=True)
        for name, one in self.wordings.items():
            cells = [f"{one.mrr:.3f}", str(one.changed)]
            if (found := one.result) is not None:
                gap = found.difference
                cells += [f"{found.second:.3f}", f"{found.first:.3f}", f"{gap.mean:+.3f}"]
                cells += [f"{gap.low:+.3f} to {gap.high:+.3f}", f"{found.p_value:.4f}"]
            table.add_row(name, *cells)
        return table


def perturb(
    questions: Sequence[Question],
    search: SearchFn,
    *,
    top_k: int = 10,
    seed: int = 0,
    progress: bool = False,
) -> Perturbation:
    """Search every answerable question as it is and in every wording of ``WORDINGS``.

    Raises InputError when there is no answerable question or ``top_k`` is out of range.
    """
    measures(top_k)
    asked = [question for question in questions if question.answerable]
    if not asked:
        raise InputError("no question has a gold answer; add questions that the corpus answers")
    once = _once(search)
    systems = {ORIGINAL: once}
    systems |= {wording: _reworded(once, wording, seed) for wording in WORDINGS}
    records = run(asked, systems, progress=progress)
    mrr = {
        name: {key: one["mrr"] for key, one in score(record.judged, top_k).items()}
        for name, record in records.items()
    }
    found = {}
    for wording in WORDINGS:
        changed = [q.key for q in asked if reword(q.query, wording, seed=seed) != q.query]
        after, before = ([mrr[name][key] for key in changed] for name in (wording, ORIGINAL))
        found[wording] = Reworded(
            len(changed),
            sum(mrr[wording].values()) / len(asked),
            compare_paired(after, before, seed=seed) if changed else None,
        )
    return Perturbation(len(asked), top_k, sum(mrr[ORIGINAL].values()) / len(asked), found)


def _reworded(search: SearchFn, wording: str, seed: int) -> SearchFn:
    def asked(question: Question, count: int) -> Retrieved:
        text = reword(question.query, wording, seed=seed)
        return search(question.model_copy(update={"query": text}), count)

    return asked


def _once(search: SearchFn) -> SearchFn:
    """The same search, asked once per text while a question is at hand."""
    kept: dict[str, dict[str, Retrieved]] = {}

    def asked(question: Question, count: int) -> Retrieved:
        if question.key not in kept:
            kept.clear()
        answers = kept.setdefault(question.key, {})
        if question.query not in answers:
            answers[question.query] = search(question, count)
        return answers[question.query]

    return asked
