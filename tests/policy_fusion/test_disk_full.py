"""A disk that fills up in the middle of an ingest: one line, nothing lost, completed later."""

from __future__ import annotations

import errno
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.disk_full import is_disk_full
from tests.policy_fusion.commands import PROFILE, REPO, call, environment


def write_rules(folder: Path, first: int, last: int) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(first, last):
        articles = "\n".join(
            f"第{n}条 虚构示例第{number}号规定的第{n}项内容。" for n in range(1, 31)
        )
        (folder / f"示例规定{number}.md").write_text(f"# 示例规定{number}\n{articles}\n", "utf-8")


def ingest(limit: int, folder: Path, store: Path) -> subprocess.CompletedProcess[str]:
    arguments = ["ingest", "law", folder, "--store", store, "--config", PROFILE, "--json"]
    return subprocess.run(
        [sys.executable, "-m", "tests.policy_fusion.filling", str(limit), *map(str, arguments)],
        cwd=REPO, env=environment(), capture_output=True, encoding="utf-8",
        check=False, timeout=280,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("room", [20_000, 120_000, 400_000])
def test_a_disk_that_fills_up_costs_nothing_that_is_stored(tmp_path: Path, room: int) -> None:
    folder, store = tmp_path / "rules", tmp_path / "store"
    limits = ["--store", store, "--config", PROFILE, "--json"]
    write_rules(folder, 1, 3)
    assert call("ingest", "law", folder, *limits).returncode == 0
    write_rules(folder, 3, 40)
    largest = max(path.stat().st_size for path in store.rglob("*") if path.is_file())
    failed = ingest(largest + room, folder, store)
    assert failed.returncode != 0
    last = failed.stderr.strip().splitlines()[-1]
    assert "disk is full" in last
    assert "Traceback" not in failed.stderr
    found = json.loads(call("search", "虚构示例第1号规定", *limits).stdout)
    assert any(item["title"] == "示例规定1" for item in found["results"])
    assert call("ingest", "law", folder, *limits).returncode == 0
    assert call("verify", "law", *limits).returncode == 0
    counts = json.loads(call("doctor", *limits).stdout)
    assert "problem" not in json.dumps(counts.get("problems", []))


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), True),
        (sqlite3.OperationalError("database or disk is full"), True),
        (RuntimeError("Query error: (code: 778) disk I/O error"), True),
        (OSError(errno.EACCES, "Permission denied"), False),
        (sqlite3.DatabaseError("file is not a database"), False),
    ],
)
def test_a_full_disk_is_told_from_other_faults(error: Exception, full: bool) -> None:
    assert is_disk_full(error) is full
    wrapped = RuntimeError("the write failed")
    wrapped.__cause__ = error
    assert is_disk_full(wrapped) is full
