"""``python -m eval.judging export|import``: people grade results without knowing who found them.

Export searches every question with the fused engine and with each source alone (``--baseline``:
with plain BM25 too), pools the first results, shuffles them by seed and writes a sheet without
names of systems; the key that tells them stays with you. Import reads the sheets of the judges and
tells their agreement and the nDCG of every system (Järvelin & Kekäläinen 2002, graded gains, by
ir-measures). Grades: 0 irrelevant, 1 related, 2 answers in part, 3 answers.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from configs.errors import InputError, PolicyFusionError
from eval.adapters import SearchFn
from eval.datasets import Question
from eval.judging_grades import Grading, Key, Pooled, grade, read_key
from eval.judging_sheets import read_grades, write_sheet
from indexes.schema import Passage


@dataclass(frozen=True, slots=True)
class Export:
    """``rows`` of the sheet, in the order of its columns; ``key``: who found what."""

    rows: tuple[tuple[str, ...], ...]
    key: Key


def pool(
    questions: Sequence[Question],
    systems: Mapping[str, SearchFn],
    *,
    depth: int = 10,
    seed: int = 0,
) -> Export:
    """The first ``depth`` results of all systems, each passage once, shuffled within a question.

    Codes say nothing of rank or system. Raises InputError for a depth below 1.
    """
    if depth < 1:
        raise InputError(f"depth is {depth}; it must be at least 1")
    rows: list[tuple[str, ...]] = []
    pooled: list[Pooled] = []
    for number, question in enumerate(questions, start=1):
        found = {name: search(question, depth).passages[:depth] for name, search in systems.items()}
        passages = {p.id: p for one in found.values() for p in one}
        order = sorted(passages)
        random.Random(f"{seed}/{question.key}").shuffle(order)
        codes = {id_: f"q{number:04}-{place:02}" for place, id_ in enumerate(order, start=1)}
        rows += [_row(codes[id_], question, passages[id_]) for id_ in order]
        rankings = {name: tuple(codes[p.id] for p in one) for name, one in found.items()}
        pooled.append(
            Pooled(
                key=question.key,
                query=question.query,
                passages={code: id_ for id_, code in codes.items()},
                rankings=rankings,
            )
        )
    return Export(tuple(rows), Key(depth=depth, seed=seed, questions=tuple(pooled)))


def table(found: Grading) -> Table:
    """One row a system, best first."""
    title = f"nDCG@{found.depth} on {found.questions} questions, {found.graded} graded results"
    shown = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    shown.add_column("system")
    for name in ("nDCG", "95 % interval"):
        shown.add_column(name, justify="right", no_wrap=True)
    for name, one in sorted(found.ndcg.items(), key=lambda pair: -pair[1].mean):
        shown.add_row(name, f"{one.mean:.3f}", f"{one.low:.3f} to {one.high:.3f}")
    return shown


def agreement_line(found: Grading) -> str:
    """The judges' agreement in one line."""
    one = found.agreement
    kappa = "undefined (one grade for everything)" if one.kappa is None else f"{one.kappa:.3f}"
    weighted = "" if one.weighted is None else f", quadratic weights {one.weighted:.3f}"
    return (
        f"{one.judges} judges, {one.items} results graded by all: {one.measure.title()}'s kappa "
        f"{kappa}{weighted}; identical grades {one.identical:.0%}; "
        f"{found.ungraded} results without a grade count as irrelevant"
    )


def _row(code: str, question: Question, passage: Passage) -> tuple[str, ...]:
    meta = passage.metadata
    day = question.as_of.isoformat() if question.as_of else ""
    return (
        code, question.query, day, question.jurisdiction or "",
        meta.title, meta.article, passage.readable(), "", "",
    )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0, or 2 after one line on standard error."""
    parser = argparse.ArgumentParser(prog="python -m eval.judging", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="export|import")
    export = commands.add_parser("export", help="write a sheet to be graded, and its key")
    export.add_argument("--questions", nargs="+", type=Path, required=True, metavar="FILE")
    export.add_argument("--sheet", type=Path, required=True, help=".csv or .xlsx, for the judges")
    export.add_argument("--key", type=Path, required=True, help="JSON, not for the judges")
    export.add_argument("--config", default=None, help="profile (default: configs/default.yaml)")
    export.add_argument("--store", default=None, help="store directory instead of the profile's")
    export.add_argument("--depth", type=int, default=10, help="results of each system")
    export.add_argument("--limit", type=int, default=None, help="a random sample of questions")
    export.add_argument("--seed", type=int, default=0)
    export.add_argument("--baseline", action="store_true", help="pool plain BM25's results too")
    export.set_defaults(run=_export)
    read = commands.add_parser("import", help="read the sheets of two or more judges")
    read.add_argument("sheets", nargs="+", type=Path, metavar="SHEET")
    read.add_argument("--key", type=Path, required=True)
    read.add_argument("--out", type=Path, default=None, help="write grades and figures as JSON")
    read.set_defaults(run=_import)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except PolicyFusionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _export(options: argparse.Namespace) -> None:
    from configs.settings import load_settings
    from eval.adapters import engine_search
    from eval.baseline import store_baseline
    from eval.datasets import load_questions
    from eval.report import FUSED
    from eval.runner import sample
    from fusion.engine import PolicyQueryEngine

    questions = sample(load_questions(options.questions), options.limit, options.seed)
    settings = load_settings(options.config)
    if options.store is not None:
        settings = settings.with_store(options.store)
    with PolicyQueryEngine.from_config(settings) as engine:
        systems: dict[str, SearchFn] = {FUSED: engine_search(engine)}
        systems |= {name: engine_search(engine, (name,)) for name in engine.domains}
        if options.baseline:
            systems["bm25"] = store_baseline(settings)
        found = pool(questions, systems, depth=options.depth, seed=options.seed)
    write_sheet(options.sheet, found.rows)
    _write(options.key, found.key.model_dump_json(indent=2))
    print(f"{options.sheet}: {len(found.rows)} results of {len(questions)} questions to grade")
    print(f"{options.key}: the key; keep it from the judges")


def _import(options: argparse.Namespace) -> None:
    names = [str(sheet) for sheet in options.sheets]
    if len(set(names)) != len(names):
        raise InputError("a sheet was named twice; give one sheet of each judge")
    sheets = {name: read_grades(sheet) for name, sheet in zip(names, options.sheets, strict=True)}
    found = grade(read_key(options.key), sheets)
    Console().print(table(found))
    print(agreement_line(found))
    if options.out is not None:
        _write(options.out, json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
        print(f"written: {options.out}")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); name another") from error


if __name__ == "__main__":
    sys.exit(main())
