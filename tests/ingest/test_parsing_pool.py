"""What the parsing processes promise: order, limits, and that one file costs only itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from configs.settings import IngestConfig
from indexes.schema import Document
from ingest import parsing_pool
from ingest.parse import parse_file
from ingest.parsing import FEW, FileParser
from ingest.parsing_pool import ParsingPool
from ingest.parsing_worker import Failure, ParsedItem, ParseTask
from ingest.readers import BadRecord
from tests.ingest.documents import statute, write, write_records
from tests.ingest.hostile import heavy_imports, misbehave

CONFIG = IngestConfig(parse_workers=2, parse_seconds=20, parse_memory_mb=400)


def task(path: Path) -> ParseTask:
    return ParseTask(path, "law", path.parent, date(2025, 1, 1))


def notice(folder: Path, name: str) -> Path:
    return write(folder / name, statute(f"{name}条例（虚构示例）", ["渔船应当登记。"]))


def told(items: Iterator[ParsedItem]) -> list[str]:
    """Titles of documents, reasons of failures."""
    return [
        item.title if isinstance(item, Document) else item.reason
        for item in items
        if not isinstance(item, BadRecord)
    ]


def test_results_come_in_the_order_of_the_files(tmp_path: Path) -> None:
    large = {str(n): f"第{n}号：" + "渔船应当登记。" * 50 for n in range(400)}
    tasks = [task(write_records(tmp_path / "0.jsonl", large))]
    tasks += [task(notice(tmp_path, f"{n}.md")) for n in range(1, 9)]
    with ParsingPool(tasks, CONFIG, parse_file) as pool:
        first = [item.key for item in pool.items(0) if isinstance(item, Document)]
        rest = [told(pool.items(n)) for n in range(1, 9)]
    assert first == [f"0.jsonl#{n}" for n in range(400)]
    assert rest == [[f"{n}.md条例（虚构示例）"] for n in range(1, 9)]


def test_look_ahead_is_bounded_and_the_file_in_turn_is_never_stuck_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsing_pool, "AHEAD_BYTES", 1)
    tasks = [
        task(write_records(tmp_path / f"{n}.jsonl", {str(i): "虚构。" * 2000 for i in range(30)}))
        for n in range(4)
    ]
    with ParsingPool(tasks, CONFIG, parse_file) as pool:
        counts = [sum(1 for _ in pool.items(n)) for n in range(4)]
    assert counts == [30] * 4


def test_a_file_that_hangs_crashes_or_eats_memory_costs_only_itself(tmp_path: Path) -> None:
    names = ["a.md", "hang.md", "b.md", "crash.md", "eat.md", "exit.md", "late.md", "z.md"]
    tasks = [task(notice(tmp_path, name)) for name in names]
    config = CONFIG.model_copy(update={"parse_seconds": 2.0})
    with ParsingPool(tasks, config, misbehave) as pool:
        found = {name: told(pool.items(n)) for n, name in enumerate(names)}
    assert found["a.md"] == ["a.md条例（虚构示例）"]
    assert found["hang.md"] == ["took longer than 2 s to read: split it or save it again"]
    assert found["b.md"] == ["b.md条例（虚构示例）"]
    assert "crash" in found["crash.md"][0]
    assert found["eat.md"] == [
        "needs more than 400 MB of memory to read: split it or save it again"
    ]
    assert "crash" in found["exit.md"][0]
    assert found["late.md"][0] == "late.md条例（虚构示例）"
    assert "crash" in found["late.md"][1], "half a file is told to be incomplete"
    assert found["z.md"] == ["z.md条例（虚构示例）"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_whose_process_crashed_is_read_again_in_a_new_one(
    tmp_path: Path, workers: int
) -> None:
    names = ["a.md", "once1.md", "b.md", "once2.md", "crash.md", "once3.md"]
    tasks = [task(notice(tmp_path, name)) for name in names]
    config = CONFIG.model_copy(update={"parse_workers": workers})
    with ParsingPool(tasks, config, misbehave) as pool:
        found = {name: told(pool.items(n)) for n, name in enumerate(names)}
    assert "crash" in found.pop("crash.md")[0]
    assert found == {name: [f"{name}条例（虚构示例）"] for name in found}


def test_a_worker_loads_no_model_library(tmp_path: Path) -> None:
    with ParsingPool([task(tmp_path / "x.md")], CONFIG, heavy_imports) as pool:
        (item,) = pool.items(0)
    assert isinstance(item, BadRecord)
    assert item.key == "none"


def test_closing_ends_a_file_that_hangs_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsing_pool.tempfile, "tempdir", str(tmp_path))
    tasks = [task(notice(tmp_path / "d", name)) for name in ("a.md", "hang.md")]
    pool = ParsingPool(tasks, CONFIG, misbehave)
    with pool:
        assert told(pool.items(0)) == ["a.md条例（虚构示例）"]
        processes = [worker.process for worker in pool._workers]
    assert processes
    assert all(process.poll() is not None for process in processes)
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


@dataclass
class Where:
    """Which processes parsed which files."""

    here: list[str]
    away: list[str]


def places(paths: list[Path], sizes: list[int]) -> Where:
    where = Where([], [])
    with FileParser([task(path) for path in paths], sizes, CONFIG, heavy_imports) as parser:
        for n, path in enumerate(paths):
            (item,) = parser.items(n)
            assert not isinstance(item, Failure | Document)
            here = item.reason == str(os.getpid())
            (where.here if here else where.away).append(path.name)
    return where


def test_a_few_small_plain_files_are_parsed_here_everything_else_away() -> None:
    few = [Path("a.md"), Path("b.txt"), Path("c.pdf"), Path("d.jsonl"), Path("e.md")]
    assert places(few, [9, 9, 9, 9, 2**21]) == Where(
        ["a.md", "b.txt", "d.jsonl"], ["c.pdf", "e.md"]
    )
    many = [Path(f"{n}.md") for n in range(FEW)]
    assert places(many, [9] * FEW).here == []


def test_limits_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="parse_seconds"):
        IngestConfig(parse_seconds=0)
    with pytest.raises(ValueError, match="parse_memory_mb"):
        IngestConfig(parse_memory_mb=1)
