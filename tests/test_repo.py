"""What a stranger meets first: README, Makefile, examples, pins; and the house rules."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import click
import pytest
import typer.main
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from configs.settings import Settings
from indexes.schema import Document
from indexes.tokenizer import Tokenizer
from ingest.parse import parse_file

REPO = Path(__file__).resolve().parents[1]
READMES = ("README.md", "README.zh-CN.md")
DOMAINS = ("law", "fiscal", "local")
PACKAGES = {
    "configs": set(),
    "indexes": {"configs"},
    "ingest": {"configs", "indexes"},
    "fusion": {"configs", "indexes"},
    "eval": {"configs", "indexes", "fusion"},
    "policy_fusion": {"configs", "indexes", "ingest", "fusion", "eval"},
}
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
MARK = "虚构示例"
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def blocks(readme: str, *languages: str) -> list[str]:
    text = (REPO / readme).read_text(encoding="utf-8")
    return [body for language, body in FENCE.findall(text) if language in languages]


def commands(readme: str) -> list[str]:
    """The command lines of the shell blocks, without prompt and comment, continuations joined."""
    text = "\n".join(blocks(readme, "bash", "sh", "console")).replace("\\\n", " ")
    lines = (shlex.join(shlex.split(line, comments=True)) for line in text.splitlines())
    return [line for line in lines if line]


def make_targets() -> set[str]:
    text = (REPO / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):(?!=)", text, re.MULTILINE))


def python_files() -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((REPO / package).rglob("*.py"))


def tracked() -> list[Path]:
    if shutil.which("git") is None or not (REPO / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPO, capture_output=True, check=True)
    names = listed.stdout.decode("utf-8").split("\0")
    return [path for name in names if name and (path := REPO / name).is_file()]


def make(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    given = [f"{name}={value}" for name, value in variables.items()]
    return subprocess.run(
        ["make", *arguments, *given],
        cwd=REPO, env=environment, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("readme", READMES)
def test_every_make_target_a_readme_names_exists(readme: str) -> None:
    named = [shlex.split(line)[1:] for line in commands(readme) if line.startswith("make ")]
    targets = {word for words in named for word in words if "=" not in word}
    assert {"demo", "test", "ingest", "eval", "doctor"} <= targets
    assert targets <= make_targets()


@pytest.mark.parametrize("readme", READMES)
def test_every_make_variable_a_readme_sets_is_one_the_makefile_reads(readme: str) -> None:
    lines = [line for line in commands(readme) if line.startswith("make ")]
    named = {word.partition("=")[0] for line in lines for word in shlex.split(line) if "=" in word}
    known = re.findall(r"^([A-Z_]+) \?=", (REPO / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert named <= set(known)


@pytest.mark.parametrize("readme", READMES)
def test_every_command_and_option_a_readme_names_is_one_the_command_line_has(readme: str) -> None:
    from policy_fusion.cli import app

    root = typer.main.get_command(app)
    assert isinstance(root, click.Group) or hasattr(root, "commands")
    lines = [shlex.split(line) for line in commands(readme) if line.startswith("policy-fusion ")]
    assert lines
    for words in lines:
        command = root.commands[words[1]]
        known = {name for p in command.params for name in (*p.opts, *p.secondary_opts)} | {"--help"}
        used = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert used <= known, shlex.join(words)


def test_both_readmes_name_the_same_commands_and_code() -> None:
    english, chinese = READMES
    assert commands(english) == commands(chinese)
    assert [code_only(b) for b in blocks(english, "python")] == [
        code_only(b) for b in blocks(chinese, "python")
    ]


def code_only(block: str) -> str:
    return ast.unparse(ast.parse(block))


@pytest.mark.parametrize("readme", READMES)
def test_what_a_readme_imports_can_be_imported(readme: str) -> None:
    for block in blocks(readme, "python"):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and node.module == "policy_fusion":
                module = __import__("policy_fusion")
                for alias in node.names:
                    assert hasattr(module, alias.name)


@pytest.mark.parametrize("readme", READMES)
def test_every_configuration_a_readme_shows_is_a_valid_one(readme: str) -> None:
    default = yaml.safe_load((REPO / "configs" / "default.yaml").read_text("utf-8"))
    for block in blocks(readme, "yaml"):
        Settings.model_validate(default | yaml.safe_load(block))


@pytest.mark.parametrize("readme", READMES)
def test_every_file_a_readme_links_to_exists(readme: str) -> None:
    text = (REPO / readme).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) if "://" not in link]
    assert links
    assert [link for link in links if not (REPO / link).exists()] == []


@needs_make
def test_make_alone_lists_every_target() -> None:
    listed = make()
    assert listed.returncode == 0
    shown = set(re.findall(r"^  make ([a-z-]+) ", listed.stdout, re.MULTILINE))
    phony = re.search(r"^\.PHONY: (.+)$", (REPO / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert phony is not None
    assert shown == set(phony[1].split())


@needs_make
def test_make_says_which_python_it_needs_when_it_is_given_an_old_one(tmp_path: Path) -> None:
    old = tmp_path / "python3.9"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    failed = make("venv", PYTHON=str(old), VENV=str(tmp_path / "venv"))
    assert failed.returncode != 0
    assert "Python 3.11 or newer" in failed.stderr
    assert not (tmp_path / "venv").exists()


@needs_make
def test_make_ingest_without_a_domain_says_so_before_installing_anything(tmp_path: Path) -> None:
    failed = make("ingest", VENV=str(tmp_path / "venv"))
    assert failed.returncode != 0
    assert "make ingest DOMAIN=law" in failed.stderr
    assert not (tmp_path / "venv").exists()


@needs_make
def test_a_second_make_runs_no_pip(tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    venv.mkdir()
    for stamp in (".created", ".torch", ".installed", ".dev"):
        (venv / stamp).touch()
    planned = make("--dry-run", "demo", "test", VENV=str(venv))
    assert planned.returncode == 0
    assert "examples/demo.py" in planned.stdout
    assert " pip " not in planned.stdout


@needs_make
def test_make_eval_writes_a_report_where_it_is_told_to(tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    venv.mkdir()
    for stamp in (".created", ".torch", ".installed"):
        (venv / stamp).touch()
    without = make("--dry-run", "eval", VENV=str(venv))
    assert "--report" not in without.stdout
    assert " pip " not in without.stdout
    planned = make("--dry-run", "eval", VENV=str(venv), REPORT="my report")
    assert '--report "my report"' in planned.stdout
    assert ".[report]" in planned.stdout


def test_the_ci_script_can_be_run_and_ends_with_the_tests() -> None:
    script = REPO / ".ci" / "run"
    lines = [line for line in script.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert os.access(script, os.X_OK)
    assert "set -euo pipefail" in lines
    assert lines[-1] == "make test"


def test_the_pinned_versions_are_ones_the_project_accepts() -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))["project"]
    lines = (REPO / "constraints.txt").read_text("utf-8").splitlines()
    pins = {
        canonicalize_name(requirement.name): requirement
        for line in lines
        if not line.startswith("#")
        for requirement in [Requirement(line)]
    }
    assert all(re.fullmatch(r"==[^+*]+", str(pin.specifier)) for pin in pins.values())
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    for text in wanted:
        requirement = Requirement(text)
        pin = pins[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(str(pin.specifier).removeprefix("==")), text


def test_imports_run_one_way() -> None:
    wrong = []
    for path in python_files():
        package = path.relative_to(REPO).parts[0]
        for module in imported(path):
            top = module.partition(".")[0]
            if top in PACKAGES and top != package and top not in PACKAGES[package]:
                wrong.append(f"{path.relative_to(REPO)} imports {module}")
    assert wrong == []


def test_the_fusion_arithmetic_needs_no_framework() -> None:
    names = ("types", "weights", "normalisers", "calibration", "two_stage")
    pure = [REPO / "fusion" / f"{name}.py" for name in names]
    pure += sorted((REPO / "fusion" / "modes").glob("*.py"))
    for path in pure:
        third_party = {
            top
            for module in imported(path)
            if (top := module.partition(".")[0]) not in sys.stdlib_module_names
        }
        assert third_party <= set(PACKAGES), path.name


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            yield node.module


def test_no_module_grows_beyond_four_hundred_lines() -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in python_files()}
    assert {str(path): n for path, n in lengths.items() if n > 400} == {}


def test_no_tracked_file_names_a_registry_a_hub_or_a_place_on_somebodys_disk() -> None:
    hosts = "pypi.org pythonhosted.org huggingface.co hf-mirror.com pytorch.org tsinghua.edu aliyun"
    names = "|".join(re.escape(host) for host in hosts.split())
    forbidden = re.compile(rf"{names}|(?<![\w./~])/(?:work|root|opt|home|Users)/\w")
    found = []
    for path in tracked():
        if path.resolve() == Path(__file__).resolve():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # weights and other binary files
        found += [f"{path.relative_to(REPO)}: {m[0]}" for m in forbidden.finditer(text)]
    assert found == []


def test_no_tracked_text_holds_what_an_unfinished_merge_leaves() -> None:
    marks = re.compile(r"^(?:<{7}|\|{7}|>{7}) ", re.MULTILINE)
    texts = {path: path.read_bytes().decode("utf-8", errors="ignore") for path in tracked()}
    assert [str(path.relative_to(REPO)) for path, text in texts.items() if marks.search(text)] == []


def test_every_example_document_says_that_it_is_fictitious() -> None:
    for domain in DOMAINS:
        files = sorted((REPO / "examples" / domain).iterdir())
        assert len(files) >= 10
        for path in files:
            lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
            heads = lines if path.suffix == ".jsonl" else lines[:1]
            assert all(MARK in line for line in heads), path.name


def test_the_answers_of_the_example_questions_are_in_the_example_documents() -> None:
    articles, records = set(), set()
    for domain in DOMAINS:
        for path in sorted((REPO / "examples" / domain).iterdir()):
            for document in parse_file(path, domain, None, lambda: date(2024, 6, 1)):
                assert isinstance(document, Document)
                for passage in document.passages:
                    meta = passage.metadata
                    articles.add((f"{domain}/{meta.file}", meta.title, meta.article))
                    records.add((domain, meta.record, meta.title))
    lines = (REPO / "examples" / "questions.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    for question in questions:
        for gold in question["gold"]:
            if "record" in gold:
                assert (gold["domain"], gold["record"], gold["title"]) in records
            else:
                assert (gold["file"], gold["title"], gold["article"]) in articles
    kinds = [question["kind"] for question in questions]
    assert len(questions) >= 30
    assert sum(not question["gold"] for question in questions) == kinds.count("unanswerable") >= 3
    crossing = [q for q in questions if len({gold["domain"] for gold in q["gold"]}) > 1]
    assert crossing


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_words_of_a_dictionary_stay_whole(domain: str) -> None:
    words = (REPO / "configs" / "dictionaries" / f"{domain}.txt").read_text("utf-8").split()
    assert len(words) == len(set(words)) >= 150
    tokenizer = Tokenizer.from_dictionary(f"{domain}.txt")
    assert [word for word in words if word not in tokenizer.tokens(word)] == []


def test_a_dictionary_makes_a_difference() -> None:
    text = "申请拒不支付劳动报酬罪的追诉时效"
    assert "拒不支付劳动报酬罪" in Tokenizer.from_dictionary("law.txt").tokens(text)
    assert "拒不支付劳动报酬罪" not in Tokenizer().tokens(text)
