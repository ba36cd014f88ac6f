"""Following a folder: what is written, changed and deleted in it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from configs.errors import InputError
from ingest.report import IngestReport
from ingest.watch import is_remote, watch
from tests.fakes import FakeEmbedder
from tests.ingest.documents import settings, statute, texts, write


@pytest.fixture
def stop() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize("poll", [False, True])
def test_new_changed_and_deleted_files_are_followed(
    tmp_path: Path, stop: threading.Event, poll: bool
) -> None:
    root, store, told = tmp_path / "d", tmp_path / "store", list[str]()
    root.mkdir()
    steps = [
        lambda: write(root / "林.md", statute("林业条例（虚构示例）", ["林地。"])),
        lambda: write(root / "林.md", statute("林业条例（虚构示例）", ["林地应当保护。"])),
        (root / "渔.md").unlink,
    ]
    write(root / "渔.md", statute("渔业条例（虚构示例）", ["渔船。"]))
    reports: list[IngestReport] = []
    for report in watch(
        settings(store), "law", root, poll=poll, tell=told.append,
        embedder=FakeEmbedder(), stop=stop, debounce_ms=100,
    ):  # fmt: skip
        reports.append(report)
        if not steps:
            break
        # A polling watcher takes its first look a moment after it starts.
        threading.Timer(0.5, steps.pop(0)).start()
    counts = [(r.added, r.changed, r.removed) for r in reports]
    assert counts == [(1, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    assert texts(store) == {"第一条 林地应当保护。"}
    assert told == []


def test_an_empty_folder_is_told_and_followed(tmp_path: Path, stop: threading.Event) -> None:
    root, told = tmp_path / "d", list[str]()
    root.mkdir()

    def tell(text: str) -> None:
        told.append(text)
        file = root / "渔.md"
        threading.Timer(0.5, write, (file, statute("渔业条例", ["渔船。"]))).start()

    reports = watch(
        settings(tmp_path / "store"), "law", root, tell=tell,
        embedder=FakeEmbedder(), stop=stop, debounce_ms=100,
    )  # fmt: skip
    assert next(reports).added == 1
    assert len(told) == 1
    assert "no supported file" in told[0]


def test_a_path_that_is_no_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        next(watch(settings(tmp_path), "law", tmp_path / "x", tell=print, embedder=FakeEmbedder()))


def test_network_drives_are_known_by_the_mount_that_holds_the_folder(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "d / ext4 rw 0 0\n"
        "srv:/x /mnt/law\\040office nfs4 rw 0 0\n"
        "d /mnt/law\\040office/own ext4 rw 0 0\n"
    )
    assert is_remote(Path("/mnt/law office/2024"), mounts)
    assert not is_remote(Path("/mnt/law office/own/a"), mounts)
    assert not is_remote(Path("/mnt/law officers"), mounts)
    assert not is_remote(Path("/x"), tmp_path / "none")
