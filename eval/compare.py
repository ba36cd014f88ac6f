"""``python -m eval.compare``: the engine against plain BM25 over the same passages, in pairs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from configs.errors import InputError, PolicyFusionError
from eval.adapters import SearchFn, engine_search
from eval.baseline import store_baseline
from eval.datasets import Question, load_questions
from eval.metrics import measures, score
from eval.runner import run, sample
from eval.significance import PairedResult, compare_paired

ENGINE, BASELINE = "engine", "BM25"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Metric -> both means, the difference with its interval, the p-value; on the same questions.

    ``incomplete``: questions for which the first system could not ask all of its domains.
    """

    queries: int
    results: Mapping[str, PairedResult]
    incomplete: int


def compare(
    questions: Sequence[Question],
    first: SearchFn,
    second: SearchFn,
    *,
    top_k: int = 10,
    seed: int = 0,
    progress: bool = False,
) -> Comparison:
    """First minus second in every metric.

    Unanswerable questions are left out; raises InputError when nothing remains.
    """
    answerable = [question for question in questions if question.answerable]
    if not answerable:
        raise InputError("no question has a gold answer; add questions that the corpus answers")
    metrics = measures(top_k)  # refuse an impossible cut before the searches, not after
    records = run(answerable, {ENGINE: first, BASELINE: second}, progress=progress)
    values = {name: score(record.judged, top_k) for name, record in records.items()}
    keys = [question.key for question in answerable]
    results = {
        metric: compare_paired(
            [values[ENGINE][key][metric] for key in keys],
            [values[BASELINE][key][metric] for key in keys],
            seed=seed,
        )
        for metric in metrics
    }
    return Comparison(len(keys), results, records[ENGINE].incomplete)


def comparison_table(comparison: Comparison) -> Table:
    """One row a metric; the interval is that of the difference."""
    title = f"{ENGINE} against {BASELINE}, {comparison.queries} questions"
    if comparison.incomplete:
        title += f"; {comparison.incomplete} of them not answered by all domains"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("metric")
    for heading in (ENGINE, BASELINE, "difference", "95 % interval", "p"):
        table.add_column(heading, justify="right", no_wrap=True)
    for metric, result in comparison.results.items():
        gap = result.difference
        table.add_row(
            metric,
            f"{result.first:.3f}",
            f"{result.second:.3f}",
            f"{gap.mean:+.3f}",
            f"{gap.low:+.3f} to {gap.high:+.3f}",
            f"{result.p_value:.4f}",
        )
    return table


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0, or 1 after one line on standard error."""
    parser = argparse.ArgumentParser(prog="python -m eval.compare", description=__doc__)
    parser.add_argument("--questions", nargs="+", type=Path, required=True, metavar="FILE")
    parser.add_argument("--config", default=None, help="profile (default: configs/default.yaml)")
    parser.add_argument("--store", default=None, help="store directory instead of the profile's")
    parser.add_argument("--top-k", type=int, default=10)
    parser.add_argument("--limit", type=int, default=None, help="a random sample of questions")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    try:
        _main(options)
    except PolicyFusionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _main(options: argparse.Namespace) -> None:
    from configs.settings import load_settings
    from fusion.engine import PolicyQueryEngine

    asked = [q for q in load_questions(options.questions) if q.answerable]
    questions = sample(asked, options.limit, options.seed)
    settings = load_settings(options.config)
    if options.store is not None:
        settings = settings.with_store(options.store)
    baseline = store_baseline(settings)
    with PolicyQueryEngine.from_config(settings) as engine:
        comparison = compare(
            questions,
            engine_search(engine),
            baseline,
            top_k=options.top_k,
            seed=options.seed,
            progress=True,
        )
    Console().print(comparison_table(comparison))


if __name__ == "__main__":
    sys.exit(main())
