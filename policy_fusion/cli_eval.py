"""The eval command's work: search, and on demand answers, other wordings and a written report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from configs.settings import FusionMode, Settings
from policy_fusion.cli_options import print_json, print_lines, print_table, tell
from policy_fusion.cli_streams import libraries_on_stderr

if TYPE_CHECKING:
    from eval.evaluation import Evaluation
    from fusion.engine import PolicyQueryEngine


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """What the command line asks for; ``report``: a directory, ``failed``: a question file."""

    files: tuple[Path, ...]
    top_k: int
    mode: FusionMode | None
    limit: int | None
    answers: bool
    perturb: bool
    report: Path | None
    failed: Path | None
    profile: str | None
    as_json: bool


def run_eval(
    settings: Settings,
    options: EvalOptions,
    engine_of: Callable[[Settings], PolicyQueryEngine],
    *,
    clock: Callable[[], date] = date.today,
) -> None:
    """Measure, write what is to be written, and print the figures."""
    with libraries_on_stderr():
        if options.report is not None:
            from eval.report_files import check_report_packages

            check_report_packages()
        with engine_of(settings) as engine:
            found = _measure(settings, options, engine, clock)
    if options.as_json:
        print_json({**found.report.to_dict(), **found.extras()})
    else:
        print_table(found.report.table())
        if found.answers is not None:
            print_lines(found.answers.lines())
        if found.wordings is not None:
            print_table(found.wordings.table())
    if options.failed is not None:
        from eval.failures import append_questions

        added = append_questions(found.failed, options.failed)
        tell(f"{options.failed}: {added} questions added, {len(found.failed)} failed")
    if options.report is not None:
        with libraries_on_stderr():
            from eval.report_files import write_report

            write_report(found, options.report)
        tell(f"written: {options.report / 'report.html'} (also report.md, report.json)")


def _measure(
    settings: Settings,
    options: EvalOptions,
    engine: PolicyQueryEngine,
    clock: Callable[[], date],
) -> Evaluation:
    from eval.adapters import engine_search
    from eval.answers import measure_answers
    from eval.datasets import load_questions
    from eval.evaluation import Evaluation
    from eval.perturbation import perturb
    from eval.provenance import provenance
    from eval.runner import evaluate, sample_unanswerable

    report = evaluate(
        options.files,
        engine,
        top_k=options.top_k,
        mode=options.mode,
        limit=options.limit,
        ask_unanswerable=options.report is not None,
    )
    answers = wordings = None
    if options.answers:
        unanswerable = sample_unanswerable(load_questions(options.files), options.limit, seed=0)
        asked = (*report.questions, *unanswerable)
        answers = measure_answers(asked, engine, mode=options.mode, progress=True)
    if options.perturb:
        search = engine_search(engine, None, options.mode)
        wordings = perturb(report.questions, search, top_k=options.top_k, progress=True)
    origin = provenance(settings, options.profile, clock=clock)
    return Evaluation(report, origin, answers, wordings)
