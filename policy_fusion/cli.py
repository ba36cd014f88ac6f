"""The command line. Results on stdout, everything else on stderr; heavy imports at first use.

Exit codes: 0 fine, 1 the work failed (all files bad, a doctor's problem), 2 a user's error,
130 interrupted.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer

from configs.errors import InputError, PolicyFusionError
from configs.settings import FusionMode, Settings, load_settings
from policy_fusion import __version__, cli_check, cli_eval, cli_history, cli_upkeep
from policy_fusion.cli_options import (
    Config,
    Json,
    Store,
    check_domains,
    chosen_settings,
    print_json,
    print_lines,
    print_table,
    tell,
)
from policy_fusion.cli_streams import leave, libraries_on_stderr, prepare

if TYPE_CHECKING:
    from fusion.engine import PolicyQueryEngine

# ClickException, wherever this version of typer keeps it.
_CLICK_ERROR = cast("type[Exception]", typer.BadParameter.__mro__[2])

_INTERRUPTED = 130

Question = Annotated[str, typer.Argument(metavar="QUESTION", help="The question, quoted.")]
Domains = Annotated[
    list[str] | None,
    typer.Option("--domain", metavar="DOMAIN", help="Ask this domain only; may come repeatedly."),
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of", metavar="DATE", help="Rules in force on YYYY-MM-DD (default today), or 'any'."
    ),
]
Place = Annotated[
    str | None,
    typer.Option(
        "--jurisdiction", metavar="PLACE", help="Rules of this place, its superiors and the state."
    ),
]
Mode = Annotated[
    str | None,
    typer.Option("--mode", metavar="MODE", help=f"Fusion: {', '.join(get_args(FusionMode))}."),
]
TopK = Annotated[int | None, typer.Option("--top-k", metavar="N", help="Number of passages.")]

app = typer.Typer(
    name="policy-fusion",
    help="Which rule applies, what it says, whether it is in force, and where it is written.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
def models(config: Config = None) -> None:
    """Build or fetch the embedding models of a profile and tell where they are."""
    settings = load_settings(config)
    with libraries_on_stderr():
        from indexes.bundled_model import ensure_bundled_model
        from indexes.embeddings import load_embedder

        lines = {}
        for domain in settings.domains.values():
            model = domain.embedding
            if model.provider == "bundled":
                directory = ensure_bundled_model(settings.models_dir, tell)
                lines[model.model] = f"{model.model}: {directory}"
            else:
                found = load_embedder(model, settings.models_dir).fingerprint
                lines[model.model] = f"{model.model}: {found.dimension} dimensions, {found.key}"
    print_lines(lines.values())


@app.command()
def ingest(
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="law, fiscal, local …")],
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files and folders.")],
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove what came from files that vanished below PATH.")
    ] = False,
    retry: Annotated[
        bool, typer.Option("--retry", help="Read only those files that are in quarantine.")
    ] = False,
    config: Config = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Bring documents into a domain; only what changed is written."""
    settings = chosen_settings(config, store)
    check_domains(settings, [domain])
    with libraries_on_stderr():
        from ingest.pipeline import ingest as run_ingest

        report = run_ingest(settings, domain, paths, prune=prune, retry=retry)
    if as_json:
        print_json(report.to_json())
    else:
        print_table(report.table())
    if report.all_failed:
        raise typer.Exit(1)


@app.command()
def search(
    question: Question,
    top_k: TopK = None,
    domain: Domains = None,
    as_of: AsOf = None,
    jurisdiction: Place = None,
    mode: Mode = None,
    config: Config = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Find the passages that fit a question, best first."""
    settings = chosen_settings(config, store)
    wanted = _request(settings, question, as_of, jurisdiction, domain, mode, top_k)
    with libraries_on_stderr(), _engine(settings) as engine:
        from fusion.serialize import result_json

        result = result_json(engine.search(question, **wanted))
    if as_json:
        print_json(result)
        return
    from policy_fusion.cli_output import result_lines

    print_lines(result_lines(result))


@app.command()
def ask(
    question: Question,
    top_k: TopK = None,
    domain: Domains = None,
    as_of: AsOf = None,
    jurisdiction: Place = None,
    mode: Mode = None,
    config: Config = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Answer a question, with citations."""
    settings = chosen_settings(config, store)
    wanted = _request(settings, question, as_of, jurisdiction, domain, mode, top_k)
    with libraries_on_stderr(), _engine(settings) as engine:
        from fusion.answer import PolicyAnswer
        from fusion.serialize import answer_json

        answer = answer_json(cast(PolicyAnswer, engine.query(question, **wanted)))
    if as_json:
        print_json(answer)
        return
    from policy_fusion.cli_output import answer_lines

    print_lines(answer_lines(answer))


app.command("query", help="The same as ask.")(ask)


@app.command("eval")
def evaluate(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Questions, JSON lines.")],
    top_k: Annotated[int, typer.Option("--top-k", metavar="N", help="Depth of MRR and nDCG.")] = 10,
    mode: Mode = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", help="A random sample of so many.")
    ] = None,
    report: Annotated[
        str | None, typer.Option("--report", metavar="DIR", help="Write md, html and json there.")
    ] = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="Also judge whole answers: citations, abstention.")
    ] = False,
    perturb: Annotated[
        bool, typer.Option("--perturb", help="Also ask every question in other wordings.")
    ] = False,
    failed: Annotated[
        str | None, typer.Option("--failed", metavar="FILE", help="Append failed questions to it.")
    ] = None,
    config: Config = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Measure retrieval on labelled questions: fused, per domain and each source alone."""
    settings = chosen_settings(config, store)
    _check_top_k(top_k)
    options = cli_eval.EvalOptions(
        files=tuple(Path(file) for file in files),
        top_k=top_k,
        mode=_check_mode(mode),
        limit=limit,
        answers=answers,
        perturb=perturb,
        report=Path(report) if report else None,
        failed=Path(failed) if failed else None,
        profile=config,
        as_json=as_json,
    )
    cli_eval.run_eval(settings, options, _engine)


cli_upkeep.register(app)
cli_history.register(app)
cli_check.register(app)


@app.command()
def doctor(config: Config = None, store: Store = None, as_json: Json = False) -> None:
    """Check models, stores, their agreement and missing metadata; exit 1 on a problem."""
    settings = chosen_settings(config, store)
    with libraries_on_stderr():
        from policy_fusion.doctor import examine

        report = examine(settings)
    if as_json:
        print_json(report.to_json())
    else:
        print_table(report.table())
    if not report.ok:
        raise typer.Exit(1)


def _engine(settings: Settings) -> PolicyQueryEngine:
    from fusion.engine import PolicyQueryEngine

    return PolicyQueryEngine.from_config(settings)


def _request(
    settings: Settings,
    question: str,
    as_of: str | None,
    jurisdiction: str | None,
    domains: Sequence[str] | None,
    mode: str | None,
    top_k: int | None,
) -> dict[str, Any]:
    """The arguments of a question, checked before any model is loaded."""
    try:
        question.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError("the question is not UTF-8; set the terminal to UTF-8") from error
    check_domains(settings, domains or ())
    if top_k is not None:
        _check_top_k(top_k)
    limits: dict[str, Any] = {
        "as_of": as_of,
        "jurisdiction": jurisdiction,
        "domains": domains or None,
        "mode": _check_mode(mode),
    }
    with libraries_on_stderr():
        from fusion.request import parse_request, question_of

        parse_request(question_of(question), today=date.today, top_k=top_k or 1, **limits)
    return {**limits, "top_k": top_k}


def _check_mode(mode: str | None) -> FusionMode | None:
    if mode is not None and mode not in get_args(FusionMode):
        raise InputError(
            f"mode {mode!r} is not known; use one of {', '.join(get_args(FusionMode))}"
        )
    return cast("FusionMode | None", mode)


def _check_top_k(top_k: int) -> None:
    if not 1 <= top_k <= 10_000:
        raise InputError(f"--top-k is {top_k}; give a number from 1 to 10000")


def _fail(message: str) -> None:
    tell(f"错误/error: {' '.join(message.split())}")


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    prepare()
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = app(args=given or ["--help"], prog_name="policy-fusion", standalone_mode=False)
    except PolicyFusionError as error:
        _fail(str(error))
        return 2
    except _CLICK_ERROR as error:
        _fail(cast(Any, error).format_message())
        return 2
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}{error.strerror or error}; check the path, its permissions and free space")
        return 2
    except sqlite3.DatabaseError as error:
        _fail(f"the store is damaged or no store ({error}); run `policy-fusion doctor` on it")
        return 2
    except Exception as error:
        if os.environ.get("POLICY_FUSION_DEBUG"):
            raise
        _fail(f"{type(error).__name__}: {error}; POLICY_FUSION_DEBUG=1 shows where it happened")
        return 1
    if code == _INTERRUPTED:
        tell("已中断/interrupted")
    return code if isinstance(code, int) else 0


def main() -> None:
    """Entry point of the ``policy-fusion`` script."""
    leave(run())


if __name__ == "__main__":
    main()
