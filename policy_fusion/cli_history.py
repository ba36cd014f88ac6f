"""The commands of history and tuned weights: feedback, weights list, diff, rollback, cold-start."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from configs.errors import InputError
from configs.settings import Settings
from configs.weights_file import FusionWeights, Provenance
from configs.weights_folder import (
    add,
    current,
    difference,
    next_version,
    packaged_folder,
    rollback,
    versions,
)
from policy_fusion.cli_options import Config, Json, Store, chosen_settings, print_json, print_lines
from policy_fusion.cli_streams import libraries_on_stderr

Folder = Annotated[
    Path | None,
    typer.Option("--folder", metavar="DIR", help="Folder of versions (else the profile's)."),
]

weights_app = typer.Typer(help="Versions of the tuned fusion weights.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(feedback)
    app.add_typer(weights_app, name="weights")


def feedback(
    query_id: Annotated[str, typer.Argument(metavar="QUERY_ID", help="From an answer's JSON.")],
    passage_id: Annotated[str, typer.Argument(metavar="PASSAGE_ID", help="A passage it showed.")],
    verdict: Annotated[
        str, typer.Argument(metavar="VERDICT", help="clicked, cited, accepted or rejected.")
    ],
    client: Annotated[
        str, typer.Option("--client", metavar="ID", help="Who judges; caps their influence.")
    ] = "",
    config: Config = None,
    store: Store = None,
) -> None:
    """Say whether a passage that a query showed was of use."""
    settings = chosen_settings(config, store)
    if not settings.history.enabled:
        raise InputError("no history is kept; set history.enabled: true in the profile")
    with libraries_on_stderr():
        from fusion.history_recorder import open_history

        kept = open_history(settings).feedback(query_id, passage_id, verdict, client=client)
    print_lines([f"{kept.query_id} {kept.passage_id}: {kept.verdict}"])


@weights_app.command("list")
def list_versions(config: Config = None, folder: Folder = None, as_json: Json = False) -> None:
    """List the versions, the current one marked."""
    place = _folder(config, folder)
    found, now = versions(place), current(place)
    if as_json:
        print_json({"current": now, "versions": [w.model_dump(mode="json") for w in found]})
        return
    lines = [_line(weights, weights.version == now) for weights in found]
    print_lines(lines or [f"还没有版本 / no versions in {place}"])


@weights_app.command("diff")
def diff(
    old: Annotated[int, typer.Argument(metavar="OLD", help="Number of a version.")],
    new: Annotated[int, typer.Argument(metavar="NEW", help="Number of another.")],
    config: Config = None,
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """Show the parameters in which two versions differ."""
    place = _folder(config, folder)
    rows = difference(_version(place, old), _version(place, new))
    if as_json:
        print_json([{"key": key, "old": a, "new": b} for key, a, b in rows])
    else:
        print_lines([f"{key}: {a} -> {b}" for key, a, b in rows] or ["没有差别 / no difference"])


@weights_app.command("rollback")
def roll_back(
    to: Annotated[
        int | None, typer.Option("--to", metavar="N", help="Version (else the one before).")
    ] = None,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Make an earlier version the current one; nothing is removed."""
    place = _folder(config, folder)
    print_lines([f"当前版本 / current: {rollback(place, to):04}"])


@weights_app.command("cold-start")
def cold_start(
    write: Annotated[bool, typer.Option("--write", help="Keep them as a new version.")] = False,
    config: Config = None,
    store: Store = None,
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """Weights of the domains from the verdicts in the history, until labelled questions exist."""
    settings = chosen_settings(config, store)
    with libraries_on_stderr():
        from fusion.cold_start import cold_start_weights
        from fusion.history import domain_outcomes
        from fusion.history_recorder import open_history

        outcomes = domain_outcomes(open_history(settings).verdicts())
        weights = cold_start_weights({d: outcomes.get(d, (0.0, 0.0)) for d in settings.domains})
    if write:
        _add_cold_start(settings, weights, _folder(config, folder))
    if as_json:
        print_json({name: round(weight, 4) for name, weight in weights.items()})
        return
    print_lines(
        f"{name}: {weights[name]:.3f} ({outcomes.get(name, (0.0, 0.0))[1]:.1f} verdicts)"
        for name in settings.domains
    )


def _add_cold_start(settings: Settings, weights: dict[str, float], place: Path) -> None:
    domains = {
        name: domain.model_copy(update={"weight": round(weights[name], 4)})
        for name, domain in settings.domains.items()
    }
    add(
        place,
        FusionWeights.of(
            settings.model_copy(update={"domains": domains}),
            next_version(place),
            Provenance(created=date.today(), note="cold start from verdicts"),
            parent=current(place),
        ),
    )


def _folder(config: str | None, folder: Path | None) -> Path:
    if folder is not None:
        return folder.expanduser()
    named = chosen_settings(config, None).weights
    return Path(named).parent if named else packaged_folder()


def _version(folder: Path, number: int) -> FusionWeights:
    for weights in versions(folder):
        if weights.version == number:
            return weights
    raise InputError(f"{folder} has no version {number}; `policy-fusion weights list` shows them")


def _line(weights: FusionWeights, is_current: bool) -> str:
    source = weights.provenance
    gains = ", ".join(f"{n} {a:.3f} -> {b:.3f}" for n, (a, b) in source.held_out.items())
    mark = "*" if is_current else " "
    return f"{mark} {weights.version:04} {source.created} {source.note} {gains}".rstrip()
