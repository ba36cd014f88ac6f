"""What was read from each file: ``python -m ingest.inspection PATH… [--domain D] [--json]``.

Nothing is stored. A table for the eye, or one JSON object a line for programs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

from rich.console import Console
from rich.table import Table

from configs.errors import InputError
from indexes.schema import Document
from ingest.parse import SUPPORTED_SUFFIXES, BadRecord, parse_file
from ingest.walk import find_files

_TABLE_MARK = "| ---"
_COLUMNS = (
    *("file", "title", "发文字号", "level", "jurisdiction", "promulgated", "effective", "status"),
    *("articles", "passages", "tables", "warnings or reason"),
)


@dataclass(frozen=True, slots=True)
class Inspected:
    """One document as the parser read it; ``reason`` is set, and little else, when it was refused.

    Dates are ISO, ``""`` where unknown. ``articles``, ``passages``, ``tables`` are counts.
    """

    file: str
    title: str = ""
    doc_number: str = ""
    issuer: str = ""
    level: str = ""
    jurisdiction: str = ""
    promulgated: str = ""
    effective: str = ""
    expires: str = ""
    status: str = ""
    articles: int = 0
    passages: int = 0
    tables: int = 0
    warnings: tuple[str, ...] = ()
    reason: str = ""


def inspect_paths(
    paths: Sequence[Path], domain: str, clock: Callable[[], date]
) -> Iterator[Inspected]:
    """Every document of the files and folders, in the order of an ingest.

    ``clock`` gives the day on which rules are in force or not. Raises InputError for a path that
    does not exist.
    """
    found = find_files(paths, SUPPORTED_SUFFIXES)
    for file in found.files:
        name = file.path.relative_to(file.root).as_posix()
        try:
            for document in parse_file(file.path, domain, file.root, clock):
                if isinstance(document, BadRecord):
                    yield Inspected(name, reason=f"{document.key}: {document.reason}")
                else:
                    yield _inspected(name, document)
        except InputError as error:
            yield Inspected(name, reason=str(error))
    for skipped in found.skipped:
        yield Inspected(skipped.path, reason=skipped.reason)


def _inspected(name: str, document: Document) -> Inspected:
    facts = document.passages[0].metadata
    articles = {p.metadata.article for p in document.passages} - {None, ""}
    return Inspected(
        file=name,
        title=document.title,
        doc_number=facts.doc_number,
        issuer=facts.issuer,
        level=facts.level,
        jurisdiction=facts.jurisdiction,
        promulgated=facts.promulgated or "",
        effective=facts.effective or "",
        expires=facts.expires or "",
        status=facts.status,
        articles=len(articles),
        passages=len(document.passages),
        tables=sum(line.startswith(_TABLE_MARK) for line in document.text.split("\n")),
        warnings=document.warnings,
    )


def _table(rows: Sequence[Inspected]) -> Table:
    table = Table(show_lines=True)
    for column in _COLUMNS:
        table.add_column(column, overflow="fold")
    for row in rows:
        force = f"{row.effective}–{row.expires}" if row.expires else row.effective
        table.add_row(
            *(row.file, row.title, row.doc_number, row.level, row.jurisdiction),
            *(row.promulgated, force, row.status),
            *(str(n) if n else "" for n in (row.articles, row.passages, row.tables)),
            row.reason or "\n".join(row.warnings),
        )
    return table


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0, 1 when a file was refused, 2 when a path does not exist."""
    parser = argparse.ArgumentParser(prog="python -m ingest.inspection", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--domain", default="local", help="law, fiscal, local … (default: local)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args(arguments)
    rows = []
    try:
        for row in inspect_paths(options.paths, options.domain, date.today):
            rows.append(row)
            if options.json:
                print(json.dumps(asdict(row), ensure_ascii=False), flush=True)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    if not options.json:
        Console(width=None if sys.stdout.isatty() else 250).print(_table(rows))
    return 1 if any(row.reason for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
