"""The commands that look after a store: quarantine, verify, rebuild, watch."""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from configs.settings import Settings
from policy_fusion.cli_options import (
    Config,
    Json,
    Store,
    check_domains,
    chosen_settings,
    print_json,
    print_lines,
    tell,
)
from policy_fusion.cli_streams import libraries_on_stderr

if TYPE_CHECKING:
    from ingest.report import IngestReport

OneDomain = Annotated[
    str | None, typer.Argument(metavar="[DOMAIN]", help="Only this domain (default: all).")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    for command in (quarantine, verify, rebuild, watch):
        app.command()(command)


def quarantine(
    domain: OneDomain = None, config: Config = None, store: Store = None, as_json: Json = False
) -> None:
    """List what could not be ingested, with the reasons."""
    settings, domains = _chosen(domain, config, store)
    from ingest.ledger import LEDGER_NAME, Ledger

    entries = {name: list[dict[str, str]]() for name in domains}
    if (Path(settings.store.dir) / LEDGER_NAME).is_file():
        with Ledger(Path(settings.store.dir)) as ledger:
            entries = {name: [asdict(e) for e in ledger.quarantined(name)] for name in domains}
    if as_json:
        print_json(entries)
        return
    lines = []
    for name, found in entries.items():
        for entry in found:
            place = f"{entry['path']}#{entry['key']}" if entry["key"] else entry["path"]
            lines.append(" ".join(f"{name} {entry['kind']}: {place}: {entry['reason']}".split()))
    print_lines(lines or ["没有隔离的文件 / nothing is in quarantine"])


def verify(
    domain: OneDomain = None, config: Config = None, store: Store = None, as_json: Json = False
) -> None:
    """Compare ledger, catalog, vector store and keyword index; exit 1 when they differ."""
    settings, domains = _chosen(domain, config, store)
    with libraries_on_stderr():
        from ingest.verify import verify as compare

        names = domains if domain else _ingested(settings, domains)
        reports = [compare(settings, name) for name in names]
    if as_json:
        print_json([report.to_json() for report in reports])
    else:
        lines = []
        for report in reports:
            told = f"{report.documents:,} documents, {report.passages:,} passages"
            lines.append(f"{report.domain}: {told}, {'ok' if report.ok else 'not ok'}")
            lines += [f"  {difference.line()}" for difference in report.differences]
        print_lines(lines or ["库中没有内容 / nothing is ingested"])
    if not all(report.ok for report in reports):
        raise typer.Exit(1)


def rebuild(domain: OneDomain = None, config: Config = None, store: Store = None) -> None:
    """Make vector store and keyword index anew from the catalog, without reading any file.

    Searches go on in the old indexes until the new ones are complete.
    """
    settings, domains = _chosen(domain, config, store)
    with libraries_on_stderr():
        from ingest.rebuild import rebuild as run_rebuild

        names = domains if domain else _ingested(settings, domains)
        lines = [f"{name}: {run_rebuild(settings, name):,} passages rebuilt" for name in names]
    print_lines(lines or ["库中没有内容 / nothing is ingested"])


def watch(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to follow.")],
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="law, fiscal, local …")],
    poll: Annotated[
        bool, typer.Option("--poll", help="Look through the folder at intervals (network drives).")
    ] = False,
    config: Config = None,
    store: Store = None,
) -> None:
    """Ingest a folder and follow its changes until Ctrl-C; deleted files are removed."""
    settings = chosen_settings(config, store)
    check_domains(settings, [domain])
    # Interrupted amid an ingest: the next one completes it.
    with contextlib.suppress(KeyboardInterrupt), libraries_on_stderr():
        from ingest.watch import watch as follow

        for report in follow(settings, domain, folder, poll=poll, tell=tell):
            tell(_summary(report))
    tell("已停止 / stopped")


def _summary(report: IngestReport) -> str:
    counts = {
        "added": report.added,
        "changed": report.changed + report.reparsed,
        "removed": report.removed,
        "unchanged": report.unchanged,
        "quarantined": len(report.quarantined),
    }
    return f"{report.domain}: " + ", ".join(f"{n} {name}" for name, n in counts.items() if n)


def _chosen(
    domain: str | None, config: str | None, store: str | None
) -> tuple[Settings, tuple[str, ...]]:
    settings = chosen_settings(config, store)
    if domain is None:
        return settings, tuple(settings.domains)
    check_domains(settings, [domain])
    return settings, (domain,)


def _ingested(settings: Settings, domains: tuple[str, ...]) -> tuple[str, ...]:
    from indexes.catalog import PassageCatalog
    from indexes.store_layout import StoreLayout

    layout = StoreLayout(Path(settings.store.dir))
    catalog = PassageCatalog(layout.catalog)
    try:
        return tuple(name for name in domains if catalog.count(name))
    finally:
        catalog.close()
