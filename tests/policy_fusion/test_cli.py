"""The command line as scripts and people meet it: streams, exit codes, the JSON contract."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from policy_fusion.cli import run
from tests.fakes import FakeEmbedder
from tests.ingest.documents import statute, write
from tests.policy_fusion.commands import FAKE, PROFILE, REPO, call, environment, start

QUESTION = "禁渔期可以捕捞吗"
RESULT_KEYS = {
    *("id", "source", "title", "doc_number", "article", "heading_path", "effective", "status"),
    *("jurisdiction", "score", "content", "file", "trace"),
}
CITATION_KEYS = {"marker", "id", "title", "article", "quote", "file", "doc_number", "effective"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    articles = ["渔船应当登记。", "禁渔期不得捕捞，违者处二千元罚款。"]
    write(folder / "渔业条例.md", statute("渔业条例（虚构示例）", articles))
    write(folder / "林业条例.md", statute("林业条例（虚构示例）", ["林地应当保护。"]))
    write(folder / "图片.png", "x")
    return folder


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    directory = tmp_path_factory.mktemp("store")
    done = call("ingest", "law", root, "--config", PROFILE, "--store", directory, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["added"], report["passages"], report["skipped"]) == (2, 3, 1)
    return directory


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


Here = Callable[..., Done]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Here:
    """One command in this process, with the fake model."""
    for module in ("ingest.pipeline", "fusion.opening"):
        monkeypatch.setattr(f"{module}.load_embedder", lambda *_: FakeEmbedder())

    def command(*arguments: object) -> Done:
        code = run([str(argument) for argument in arguments])
        return Done(code, *capfd.readouterr())

    return command


def read(done: Done | subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_help_and_version_load_no_framework() -> None:
    code = (
        "import sys, policy_fusion.cli as c; r = c.run(['--help']) + c.run(['--version'])\n"
        "heavy = {'torch', 'llama_index', 'chromadb', 'transformers', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "sys.exit(r)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPO, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in ("ingest", "search", "ask", "eval", "doctor"))


def test_search_prints_the_json_that_programs_rely_on(here: Here, store: Path) -> None:
    found = read(
        here("search", QUESTION, "--config", PROFILE, "--store", store, "--top-k", 2, "--json")
    )
    assert set(found) >= {"query", "results", "coverage"}
    assert found["query"] == QUESTION
    assert [set(item) >= RESULT_KEYS for item in found["results"]] == [True, True]
    best = found["results"][0]
    assert (best["title"], best["article"], best["file"]) == (
        "渔业条例（虚构示例）", "2", "渔业条例.md",
    )  # fmt: skip
    scores = [item["score"] for item in found["results"]]
    assert scores == sorted(scores, reverse=True)
    assert {entry["source"]: entry["status"] for entry in found["coverage"]} == {
        "law": "ok", "fiscal": "skipped", "local": "skipped",
    }  # fmt: skip


def test_ask_adds_the_answer_and_its_citations(here: Here, store: Path) -> None:
    found = read(
        here("ask", QUESTION, "--config", PROFILE, "--store", store, "--json", "--domain", "law")
    )
    assert set(found) >= {"answer", "sufficient", "confidence", "citations", "results", "coverage"}
    assert found["sufficient"] is True
    assert 0.0 <= found["confidence"] <= 1.0
    quoted = [item for item in found["citations"] if item["article"] == "2"]
    assert quoted
    assert set(quoted[0]) >= CITATION_KEYS
    assert "二千元" in quoted[0]["quote"]
    assert f"[{quoted[0]['marker']}]" in found["answer"]
    assert found["results"][quoted[0]["marker"] - 1]["id"] == quoted[0]["id"]


def test_people_read_the_answer_with_numbered_sources(here: Here, store: Path) -> None:
    done = here("query", QUESTION, "--config", PROFILE, "--store", store)
    assert done.returncode == 0, done.stderr
    assert "二千元" in done.stdout
    assert "《渔业条例（虚构示例）》 第2条" in done.stdout
    assert "2020-01-01 起施行 · 现行有效 · 渔业条例.md" in done.stdout
    assert "! fiscal 财税政策: skipped" in done.stdout
    assert "Traceback" not in done.stderr


def test_search_for_people_shows_title_article_and_words(here: Here, store: Path) -> None:
    done = here("search", QUESTION, "--config", PROFILE, "--store", store, "--domain", "law")
    assert done.stdout.startswith("1. 《渔业条例（虚构示例）》 第2条")
    assert "禁渔期不得捕捞" in done.stdout


def test_a_date_before_the_rules_finds_nothing(here: Here, store: Path) -> None:
    found = read(
        here(
            "search",
            QUESTION,
            "--config",
            PROFILE,
            "--store",
            store,
            "--as-of",
            "2019-12-31",
            "--json",
        )
    )
    assert found["results"] == []
    done = here("search", QUESTION, "--config", PROFILE, "--store", store, "--as-of", "2019-12-31")
    assert "nothing found" in done.stdout


@pytest.mark.parametrize("locale", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}])
def test_chinese_comes_out_as_utf8_under_any_locale(store: Path, locale: dict[str, str]) -> None:
    done = call(
        "search", QUESTION, "--config", PROFILE, "--store", store, "--domain", "law", **locale
    )
    assert done.returncode == 0, done.stderr
    assert "渔业条例（虚构示例）" in done.stdout
    failed = call("search", "", "--config", PROFILE, "--store", store, **locale)
    assert failed.stderr.startswith("错误/error: ")


def test_what_libraries_print_does_not_reach_stdout(root: Path, tmp_path: Path) -> None:
    done = call(
        "ingest",
        "law",
        root,
        "--config",
        PROFILE,
        "--store",
        tmp_path / "s",
        "--json",
        FAKE_NOISE="1",
    )
    assert read(done)["added"] == 2
    assert "native noise" in done.stderr
    assert "Loading weights" in done.stderr


def test_a_closed_pipe_is_no_error(store: Path) -> None:
    process = start("search", QUESTION, "--config", PROFILE, "--store", store, "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=60) == 141


def test_started_without_a_stdout_it_works_all_the_same(root: Path, tmp_path: Path) -> None:
    command = [*FAKE, "ingest", "law", str(root), "--store", str(tmp_path / "s")]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command],
        cwd=REPO, env=environment(), stderr=subprocess.PIPE, encoding="utf-8", check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


USER_ERRORS = {
    "no question": (["search"], "Missing argument"),
    "empty question": (["search", "  "], "question is empty"),
    "long question": (["ask", "长" * 10_001], "10001 characters"),
    "not UTF-8": (["search", "\udcff劳动"], "not UTF-8"),
    "bad date": (["search", "甲", "--as-of", "2024-02-30"], "2024-02-30"),
    "unknown domain": (["search", "甲", "--domain", "lawn"], "law, fiscal, local"),
    "unknown mode": (["search", "甲", "--mode", "best"], "weighted_geometric_mean"),
    "unknown place": (["ask", "甲", "--jurisdiction", "亚特兰蒂斯"], "亚特兰蒂斯"),
    "no passage wanted": (["search", "甲", "--top-k", "0"], "--top-k is 0"),
    "negative number": (["search", "甲", "--top-k", "-3"], "--top-k is -3"),
    "no number": (["ask", "甲", "--top-k", "many"], "--top-k"),
    "unknown option": (["ask", "甲", "--colour"], "--colour"),
    "unknown command": (["answer", "甲"], "answer"),
    "no such profile": (["doctor", "--config", "missing.yaml"], "missing.yaml"),
    "empty store": (["doctor", "--store", ""], "--store is empty"),
    "ingest elsewhere": (["ingest", "lawn", "."], "lawn"),
    "ingest nothing": (["ingest", "law", "/no/such/folder"], "no such file or folder"),
    "a file as store": (["ingest", "law", "{root}", "--store", "{root}/图片.png"], "as a store"),
    "ingest a picture": (["ingest", "law", "{root}/图片.png"], ".png"),
}


@pytest.mark.parametrize("case", USER_ERRORS)
def test_a_users_error_is_one_line_and_exit_2(
    case: str, root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments, told = USER_ERRORS[case]
    assert run([part.format(root=root) for part in arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("错误/error: ")
    assert err.count("\n") == 1
    assert told in err


def test_a_store_with_nothing_in_it_says_how_to_fill_it(here: Here, tmp_path: Path) -> None:
    done = here("search", QUESTION, "--store", tmp_path / "none")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "policy-fusion ingest" in done.stderr
    assert not (tmp_path / "none").exists()


def test_a_damaged_store_is_told_on_one_line(here: Here, tmp_path: Path) -> None:
    (tmp_path / "catalog.sqlite").write_text("no database, but long enough to be one " * 40)
    done = here("search", QUESTION, "--store", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "damaged" in done.stderr


def test_an_unexpected_failure_is_one_line_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("disk\non fire")

    monkeypatch.setattr("policy_fusion.cli_options.load_settings", broken)
    monkeypatch.delenv("POLICY_FUSION_DEBUG", raising=False)
    assert run(["doctor"]) == 1
    error = capsys.readouterr().err
    assert "disk on fire" in error
    assert error.count("\n") == 1


def test_one_bad_file_is_told_and_costs_nothing_else(here: Here, tmp_path: Path) -> None:
    root = tmp_path / "documents"
    write(root / "海岛条例.md", statute("海岛条例（虚构示例）", ["海岛应当保护。"]))
    write(root / "空.md", "")
    done = here("ingest", "law", root, "--config", PROFILE, "--store", tmp_path / "s")
    assert done.returncode == 0, done.stderr
    empty = [line for line in done.stdout.splitlines() if "空.md" in line]
    assert len(empty) == 1
    assert empty[0].startswith("quarantined: ")
    assert empty[0].endswith(")"), "the reason stands on the same line"
    write(root / "海岛条例.md", "")
    failed = here("ingest", "local", root, "--config", PROFILE, "--store", tmp_path / "s", "--json")
    assert failed.returncode == 1
    assert json.loads(failed.stdout)["quarantined"] == 2


def test_eval_prints_figures_per_source_and_fused(here: Here, store: Path, tmp_path: Path) -> None:
    questions = [
        {"id": "1", "query": QUESTION, "gold": [gold("渔业条例（虚构示例）", "2")]},
        {"id": "2", "query": "林地怎样保护", "gold": [gold("林业条例（虚构示例）", "1")]},
    ]
    lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in questions)
    file = write(tmp_path / "questions.jsonl", lines)
    found = read(here("eval", file, "--config", PROFILE, "--store", store, "--json"))
    assert found["queries"] == 2
    assert set(found) >= {"overall", "per_domain", "single_source", "fused", "latency_ms"}
    assert set(found["latency_ms"]) >= {"p50", "p95"}
    metrics = {"mrr", "hit_rate@1", "hit_rate@5", "hit_rate@10", "ndcg@10", "recall@100"}
    for part in (found["overall"], found["fused"], found["single_source"]["law"]):
        assert set(part) >= metrics
    assert found["fused"]["recall@100"] == 1.0
    table = here("eval", file, "--config", PROFILE, "--store", store)
    assert "MRR@10" in table.stdout
    bad = here("eval", tmp_path / "none.jsonl", "--config", PROFILE, "--store", store)
    assert (bad.returncode, bad.stdout) == (2, "")


def test_eval_writes_a_report_judges_answers_and_keeps_what_failed(
    here: Here, store: Path, tmp_path: Path
) -> None:
    questions = [
        {"id": "1", "query": QUESTION, "gold": [gold("渔业条例（虚构示例）", "2")]},
        {"id": "2", "query": "林地怎样保护", "gold": [gold("没有这个条例（虚构示例）", "1")]},
        {"id": "3", "query": "怎样登月", "gold": []},
    ]
    lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in questions)
    file = write(tmp_path / "questions.jsonl", lines)
    folder, failed = tmp_path / "report", tmp_path / "failed.jsonl"
    options = ("--answers", "--perturb", "--report", folder, "--failed", failed)
    found = read(here("eval", file, *options, "--config", PROFILE, "--store", store, "--json"))
    assert found["answers"]["questions"] == 3
    assert set(found["wordings"]["wordings"]) >= {"polite", "colloquial", "keywords", "order"}
    known = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert known["provenance"]["domains"]["law"]["passages"] == 3
    assert [one["key"] for one in known["failures"]] == ["2"]
    assert {path.suffix for path in folder.iterdir()} == {".md", ".html", ".json", ".png"}
    assert '"id":"2"' in failed.read_text(encoding="utf-8")


def gold(title: str, article: str) -> dict[str, str]:
    return {"domain": "law", "title": title, "article": article}


def test_the_front_door_gives_every_public_name() -> None:
    code = (
        "import sys, policy_fusion as p\n"
        "assert 'torch' not in sys.modules and 'llama_index' not in sys.modules\n"
        "missing = [n for n in p.__all__ if getattr(p, n).__name__ != n]\n"
        "assert not missing, missing\n"
        "assert set(p.__all__) <= set(dir(p))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=REPO, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    import policy_fusion

    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = policy_fusion.Nothing
