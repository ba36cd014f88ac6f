"""Options and output that the commands share."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from configs.errors import InputError
from configs.settings import Settings, load_settings
from policy_fusion.cli_streams import discard_stdout

Config = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="YAML profile, or default / huggingface."),
]
Store = Annotated[
    str | None, typer.Option("--store", metavar="DIR", help="Store directory (else the profile's).")
]
Json = Annotated[bool, typer.Option("--json", help="JSON on stdout, nothing else there.")]


def chosen_settings(config: str | None, store: str | None) -> Settings:
    """The profile, with the store that ``--store`` names. Raises ConfigError, InputError."""
    settings = load_settings(config)
    if store is None:
        return settings
    if not store.strip():
        raise InputError("--store is empty; name a directory")
    return settings.with_store(Path(store).expanduser())


def check_domains(settings: Settings, domains: Iterable[str]) -> None:
    """Raises InputError for a domain that the profile does not have."""
    for domain in domains:
        if domain not in settings.domains:
            known = ", ".join(settings.domains)
            raise InputError(f"domain {domain!r} is not known; use one of {known}")


def print_json(value: Any) -> None:
    """Data on stdout."""
    _print(json.dumps(value, ensure_ascii=False, indent=2))


def print_lines(lines: Iterable[str]) -> None:
    """Lines on stdout."""
    _print("\n".join(lines))


def print_table(table: Any) -> None:
    """A rich renderable on stdout, as plain text."""
    from policy_fusion.cli_output import table_text

    _print(table_text(table))


def _print(text: str) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError as error:
        discard_stdout()
        raise typer.Exit(141) from error  # as a shell reports SIGPIPE


def tell(text: str) -> None:
    """A line on stderr."""
    print(text, file=sys.stderr, flush=True)
