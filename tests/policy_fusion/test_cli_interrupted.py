"""An ingest that is interrupted or killed, and what one finds before, meanwhile and after."""

from __future__ import annotations

import multiprocessing
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from configs.errors import SourceUnavailableError
from configs.settings import load_settings
from fusion.engine import PolicyQueryEngine
from indexes.writer import DomainWriter
from policy_fusion.cli import run
from tests.fakes import FakeEmbedder
from tests.ingest.documents import run_ingest, statute, stored, write
from tests.policy_fusion import killing
from tests.policy_fusion.commands import PROFILE, start

FILES = 16
ARTICLES = 5


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.policy_fusion.killing"])
    return context


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    for n in range(FILES):
        articles = [f"第{n}号岛的第{i}款义务是植树{n * i}株。" for i in range(ARTICLES)]
        write(folder / f"{n:02}.md", statute(f"第{n}号岛条例（虚构示例）", articles))
    return folder


def wanted() -> set[str]:
    return {
        f"law:第{n}号岛条例（虚构示例）@2020-01-01#a{i + 1}"
        for n in range(FILES)
        for i in range(ARTICLES)
    }


def found_titles(store: Path) -> set[str]:
    """Titles that a search (beside the ingest, in another process than its) shows."""
    settings = load_settings(PROFILE).with_store(store)
    embedders = dict.fromkeys(settings.domains, FakeEmbedder())
    with PolicyQueryEngine.from_config(settings, embedders=embedders) as engine:
        try:
            found = engine.search("植树义务", domains=["law"], top_k=200)
        except SourceUnavailableError:
            return set()  # nothing was written yet
        return {item.passage.metadata.title for item in found.passages}


def passages_by_document(store: Path) -> dict[str, int]:
    counts: dict[str, int] = {}
    for passage in stored(store).values():
        counts[passage.metadata.title] = counts.get(passage.metadata.title, 0) + 1
    return counts


def test_ctrl_c_is_one_line_and_exit_130(root: Path, tmp_path: Path) -> None:
    process = start(
        "ingest", "law", root, "--config", PROFILE, "--store", tmp_path / "s", FAKE_SECONDS="60"
    )
    assert process.stderr is not None
    _wait_until(process, (tmp_path / "s" / "ledger.sqlite").exists)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    assert err == "已中断/interrupted\n"


def test_killed_at_any_moment_an_ingest_is_completed_by_the_next(
    root: Path, tmp_path: Path, processes: ForkServerContext
) -> None:
    store = tmp_path / "s"
    arguments = [
        "ingest",
        "law",
        str(root),
        "--config",
        str(PROFILE),
        "--store",
        str(store),
        "--json",
    ]
    for delay in (0.0, 0.06, 0.12):
        before = committed(store)
        child = processes.Process(target=killing.command, args=(arguments, 0.15, 7))
        child.start()
        _wait_until(child, lambda before=before: committed(store) > before)
        time.sleep(delay)
        child.kill()
        child.join(60)
        assert child.exitcode == -signal.SIGKILL
        counts = passages_by_document(store)
        assert 0 < len(counts) < FILES
        assert set(counts.values()) == {ARTICLES}, "a document is there in part"
        assert found_titles(store) <= set(counts)
    child = processes.Process(target=killing.command, args=(arguments, 0.15, 7))
    child.start()
    seen = found_titles(store)  # while the ingest runs
    child.join(120)
    assert child.exitcode == 0
    assert set(stored(store)) == wanted()
    assert seen <= found_titles(store) == {f"第{n}号岛条例（虚构示例）" for n in range(FILES)}
    with DomainWriter.open(
        load_settings(PROFILE).with_store(store), "law", FakeEmbedder()
    ) as writer:
        assert writer.verify() == []
    again = run_ingest(store, root, config=load_settings(PROFILE).with_store(store))
    assert (again.unchanged, again.passages) == (FILES, 0)


def test_a_second_ingest_into_the_same_store_is_told_to_wait(
    root: Path, tmp_path: Path, processes: ForkServerContext, capfd: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "s"
    arguments = ["ingest", "law", str(root), "--config", str(PROFILE), "--store", str(store)]
    first = processes.Process(target=killing.command, args=(arguments, 60.0, 2000))
    first.start()
    _wait_until(first, (store / "ledger.sqlite").exists)
    try:
        assert run(arguments) == 2
    finally:
        first.kill()
        first.join(60)
    error = capfd.readouterr().err
    assert error.count("\n") == 1
    assert "another ingest is writing" in error


def committed(store: Path) -> int:
    """Files that the ledger lists as done."""
    if not (store / "ledger.sqlite").exists():
        return 0
    try:
        with closing(sqlite3.connect(store / "ledger.sqlite")) as db:
            return int(db.execute("SELECT COUNT(*) FROM files").fetchone()[0])
    except sqlite3.OperationalError:  # its tables are just being made
        return 0


def _wait_until(
    process: BaseProcess | subprocess.Popen[str],
    reached: Callable[[], bool],
    seconds: float = 200.0,
) -> None:
    deadline = time.monotonic() + seconds
    while not reached():
        ended = process.exitcode if isinstance(process, BaseProcess) else process.poll()
        assert ended is None, f"ended early with {ended}"
        assert time.monotonic() < deadline
        time.sleep(0.01)
