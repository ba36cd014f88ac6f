"""The command that checks the statute references of a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from configs.errors import InputError, SourceUnavailableError
from configs.settings import Settings
from policy_fusion.cli_options import (
    Config,
    Json,
    Store,
    chosen_settings,
    print_json,
    print_lines,
    print_table,
)
from policy_fusion.cli_streams import libraries_on_stderr

if TYPE_CHECKING:
    from fusion.reference_check import CheckedReference

_PROBLEMS = {
    "no_document": "资料中没有该文件",
    "no_article": "没有该条",
    "not_in_force": "所问日期不具效力",
    "misquoted": "引文与条文不符",
    "nearly_quoted": "引文与条文有出入",
}


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(check)


def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="md, txt, docx, pdf, html …")],
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="DATE", help="In force on YYYY-MM-DD (default today), any"),
    ] = None,
    allow_unknown: Annotated[
        bool, typer.Option("--allow-unknown", help="A document that the store lacks is no error.")
    ] = False,
    config: Config = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Check every statute reference of a document against the store; exit 1 on a wrong one."""
    settings = chosen_settings(config, store)
    with libraries_on_stderr():
        checked = check_file(settings, Path(file), as_of)
    forgiven = {"no_document"} if allow_unknown else set()
    wrong = [item for item in checked if set(item.problems) - forgiven]
    if as_json:
        print_json(
            {
                "file": file,
                "references": [asdict(item) for item in checked],
                "wrong": len(wrong),
            }
        )
    elif checked:
        print_table(_table(checked))
        print_lines([f"{len(checked)} 处引用，{len(wrong)} 处有问题 / references, wrong ones"])
    else:
        print_lines(["没有发现法规引用 / no statute references found"])
    if wrong:
        raise typer.Exit(1)


def check_file(settings: Settings, path: Path, as_of: str | None) -> tuple[CheckedReference, ...]:
    """The references of a file, checked. Raises InputError, ConfigError, SourceUnavailableError."""
    from fusion.reference_check import check_references
    from fusion.request import parse_date
    from fusion.statute_book import StatuteBook
    from indexes.catalog import PassageCatalog
    from indexes.names import load_aliases
    from indexes.store_layout import StoreLayout
    from ingest.cleaning import clean
    from ingest.formats import read_document

    day = parse_date(as_of, date.today)
    if not path.is_file():
        raise InputError(f"{path}: no such file; name one document")
    text = clean(read_document(path).text)
    catalog = PassageCatalog(StoreLayout(Path(settings.store.dir)).catalog)
    try:
        catalogs = {name: catalog for name in settings.domains if catalog.count(name)}
        if not catalogs:
            raise SourceUnavailableError(
                f"{settings.store.dir}: nothing is ingested here; "
                "run `policy-fusion ingest DOMAIN PATH`"
            )
        book = StatuteBook(catalogs, load_aliases(settings.references.aliases))
        return check_references(text, book, day)
    finally:
        catalog.close()


def _table(checked: Sequence[CheckedReference]) -> Any:
    from rich.table import Table

    table = Table("行", "引用 / reference", "结果 / finding", show_lines=False)
    for item in checked:
        table.add_row(str(item.line), _escaped(item.text), _escaped("\n".join(_findings(item))))
    return table


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _findings(item: CheckedReference) -> Iterator[str]:
    """What a clerk must know of one reference, a line each."""
    from fusion.wording import article_name

    if not item.problems:
        yield "存在，引文一致" if item.quote and item.quote.status == "verbatim" else "存在"
    for problem in item.problems:
        line = f"✗ {_PROBLEMS[problem]}"
        if problem == "no_article" and item.nearest:
            line += f"，最接近的是{article_name(item.nearest)}"
        if problem == "no_document" and item.nearest:
            line += f"，是否指《{item.nearest}》"
        if problem == "not_in_force":
            dates = ((item.effective, "起施行"), (item.expires, "起失效"))
            known = "，".join(f"{day}{word}" for day, word in dates if day)
            line += f"（{known}）" if known else ""
            line += f"，后继：{item.successor}" if item.successor else ""
        yield line
    if item.quoted_from:
        yield f"  引文见{item.quoted_from}"
    if item.quote and item.quote.difference:
        yield f"  {item.quote.difference}"
