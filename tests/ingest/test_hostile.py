"""Input that means harm, or looks like it: the batch goes on, and nothing stored is lost."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from configs.settings import IngestConfig, Settings
from ingest.ledger import Ledger
from ingest.report import IngestReport
from tests.ingest.documents import run_ingest, settings, statute, texts, write
from tests.ingest.hostile import misbehave
from tests.ingest.test_archive import packed

FISH = statute("渔业条例（虚构示例）", ["渔船应当登记。"])
KEPT = "第一条 渔船应当登记。"
LIMITS = IngestConfig(parse_workers=2, parse_seconds=10, parse_memory_mb=400, max_file_mb=20)
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "' + "ha" * 1000 + '">'
    + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 50}">'
        for before, name in zip("abcdef", "bcdefg", strict=True)
    )
    + "]>"
)  # fmt: skip
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY g SYSTEM "file://{}">]>'
SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    '<row r="1"><c r="A1" t="inlineStr"><is><t>&g;</t></is></c></row></sheetData></worksheet>'
)


def config(store: Path, **limits: object) -> Settings:
    ingest = LIMITS.model_copy(update=limits)
    return settings(store).model_copy(update={"ingest": ingest})


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "d" / "渔业条例.md", FISH)
    return tmp_path / "d"


def reasons(report: IngestReport) -> dict[str, str]:
    return {Path(q.path).name: q.reason for q in report.quarantined}


def workbook(path: Path, head: str) -> None:
    """A workbook whose only sheet's XML begins with ``head`` and refers to the entity g."""
    plain = path.with_suffix(".tmp")
    openpyxl.Workbook().save(plain)
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            evil = name == "xl/worksheets/sheet1.xml"
            target.writestr(name, head + SHEET if evil else source.read(name))
    plain.unlink()


def test_files_that_hang_or_eat_memory_lose_no_stored_version_and_stop_nobody(
    store: Path, root: Path
) -> None:
    for name in ("hang.md", "eat.md", "crash.md"):
        write(root / name, statute(f"{name}办法（虚构示例）", [f"{name}的旧文。"]))
    run_ingest(store, root)
    for name in ("hang.md", "eat.md", "crash.md"):
        write(root / name, statute(f"{name}办法（虚构示例）", [f"{name}的新文。"]))
    for n in range(6):
        write(root / f"{n}.md", statute(f"第{n}号办法（虚构示例）", [f"第{n}号。"]))
    strict = config(store, parse_seconds=2.0)
    report = run_ingest(store, root, config=strict, parse=misbehave)
    told = reasons(report)
    assert told.keys() == {"hang.md", "eat.md", "crash.md"}
    assert "longer than 2 s" in told["hang.md"]
    assert "400 MB of memory" in told["eat.md"]
    old = {f"第一条 {name}的旧文。" for name in told}
    new = {f"第一条 {name}的新文。" for name in told}
    others = {f"第一条 第{n}号。" for n in range(6)} | {KEPT}
    assert texts(store) == old | others
    report = run_ingest(store, root, retry=True)
    assert (report.changed, report.unchanged, report.quarantined) == (3, 0, ())
    assert texts(store) == new | others


def test_a_file_that_is_mostly_a_hole_is_not_read(
    store: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (root / "洞.txt").open("wb") as file:
        file.truncate(500 * 10**6)
    with (root / "小洞.xlsx").open("wb") as file:
        file.truncate(10 * 10**6)
    told = reasons(run_ingest(store, root, config=config(store)))
    assert told["洞.txt"] == "is 500 MB, more than the 20 MB allowed (max_file_mb); split it"
    assert "no Excel file" in told["小洞.xlsx"]
    assert texts(store) == {KEPT}


def test_entities_of_a_workbook_neither_explode_nor_read_other_files(
    store: Path, root: Path, tmp_path: Path
) -> None:
    secret = write(tmp_path / "secret.txt", "机密内容")
    workbook(root / "笑.xlsx", LAUGHS)
    workbook(root / "外.xlsx", OUTSIDE.format(secret))
    told = reasons(run_ingest(store, root, config=config(store)))
    assert told.keys() == {"笑.xlsx", "外.xlsx"}
    assert texts(store) == {KEPT}


def test_archives_that_explode_climb_or_lock_cost_only_themselves(store: Path, root: Path) -> None:
    packed(root / "弹.zip", {"0.txt": b"0" * 30_000_000})
    packed(root / "爬.zip", {"../../逃.md": FISH, "林.md": statute("林业条例", ["林地。"])})
    report = run_ingest(store, root, config=config(store))
    told = {(Path(q.path).name, q.key): q.reason for q in report.quarantined}
    assert told.keys() == {("弹.zip", "0.txt"), ("爬.zip", "../../逃.md")}
    assert "bomb" in told["弹.zip", "0.txt"]
    assert texts(store) == {KEPT, "第一条 林地。"}
    assert list(root.parent.rglob("逃.md")) == []


NAMES = (
    "换\n行.md",
    "引'\"号.md",
    "-rf.md",
    "表情😀.md",
    "空 格\t制表.md",
    "$(touch x);`id`.md",
    "%s{0}\\n.md",
    "#井@号.md",
    "长" * 65 + ".md",
    "a" * 197 + ".md",
)


def test_names_with_any_character_are_only_names(store: Path, root: Path) -> None:
    for n, name in enumerate(NAMES):
        write(root / name, statute(f"第{n}号办法（虚构示例）", [f"第{n}号。"]))
    invalid = os.fsencode(root) + b"/\xff\xfe.md"
    with open(invalid, "w", encoding="utf-8") as file:
        file.write(FISH)
    report = run_ingest(store, root, config=config(store))
    assert report.quarantined == ()
    assert texts(store) == {f"第一条 第{n}号。" for n in range(len(NAMES))} | {KEPT}
    assert [s.reason for s in report.skipped] == ["the name is not UTF-8; rename it"]
    assert run_ingest(store, root, config=config(store)).unchanged == len(NAMES) + 1
    with Ledger(store) as ledger:
        assert {Path(path).name for path in ledger.files("law")} == {*NAMES, "渔业条例.md"}


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_links_out_of_the_folder_are_not_followed(
    store: Path, root: Path, tmp_path: Path, link: Callable[[Path, Path], None]
) -> None:
    outside = write(tmp_path / "外" / "机密.md", statute("机密办法（虚构示例）", ["机密。"]))
    link(outside, root / "链.md")
    (root / "环").symlink_to(root, target_is_directory=True)
    report = run_ingest(store, root, config=config(store))
    followed = link is os.link  # a hard link is a file of the folder like any other
    assert ("第一条 机密。" in texts(store)) == followed
    assert len(report.skipped) == (1 if followed else 2)
