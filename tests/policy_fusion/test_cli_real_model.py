"""The command line with the bundled model, as users run it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from configs.errors import ModelMissingError
from indexes.bundled_model import ensure_bundled_model
from tests.ingest.documents import statute, write
from tests.policy_fusion.commands import REPO, environment

pytestmark = pytest.mark.slow


def call(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "policy_fusion.cli", *map(str, arguments)],
        cwd=REPO, env=environment(LC_ALL="C"), capture_output=True, encoding="utf-8",
        check=False, timeout=240,
    )  # fmt: skip


def test_from_a_folder_to_a_cited_answer_with_nothing_else_on_stdout(tmp_path: Path) -> None:
    try:
        ensure_bundled_model()
    except ModelMissingError as error:
        pytest.skip(str(error))
    articles = ["渔船应当在下水前三十日内登记。", "禁渔期不得捕捞，违者处二千元罚款。"]
    write(tmp_path / "d" / "渔业条例.md", statute("渔业条例（虚构示例）", articles))
    done = call("ingest", "law", tmp_path / "d", "--store", tmp_path / "s", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["passages"] == 2
    question = "休渔的时候打鱼要罚多少钱"  # no word of the rule but 罚
    done = call("ask", question, "--store", tmp_path / "s", "--domain", "law", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["results"][0]["article"] == "2"
    assert answer["coverage"][0]["status"] == "ok"
    assert answer["coverage"][0]["notes"] == []
    assert "Traceback" not in done.stderr
