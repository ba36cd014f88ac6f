"""Which files a walk finds, and what it says of the others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from configs.errors import InputError
from ingest.walk import find_files
from tests.ingest.documents import write

MD = {".md"}


def names(root: Path) -> list[str]:
    return [found.path.relative_to(root).as_posix() for found in find_files([root], MD).files]


def reasons(root: Path) -> dict[str, str]:
    return {Path(item.path).name: item.reason for item in find_files([root], MD).skipped}


def test_files_come_sorted_whatever_the_case_of_their_suffix(tmp_path: Path) -> None:
    for name in ("b/2.md", "a.MD", "c.md"):
        write(tmp_path / name, "x")
    assert names(tmp_path) == ["a.MD", "b/2.md", "c.md"]


def test_hidden_and_unsupported_files_are_skipped_with_a_reason(tmp_path: Path) -> None:
    for name in ("a.md", ".hidden.md", ".git/b.md", "c.docx"):
        write(tmp_path / name, "x")
    assert names(tmp_path) == ["a.md"]
    assert reasons(tmp_path) == {
        ".hidden.md": "hidden", ".git": "hidden", "c.docx": "type '.docx' is not supported",
    }  # fmt: skip


def test_lock_files_of_open_word_documents_are_skipped(tmp_path: Path) -> None:
    for name in ("通知.md", "~$通知.md"):
        write(tmp_path / name, "x")
    assert names(tmp_path) == ["通知.md"]
    assert reasons(tmp_path) == {"~$通知.md": "lock file of an open Word document"}


def test_links_are_followed_only_inside_and_only_where_nothing_else_leads(tmp_path: Path) -> None:
    root = tmp_path / "root"
    outside = write(tmp_path / "outside.md", "x")
    write(root / "a.md", "x")
    write(root / ".data" / "mounted.md", "x")
    (root / "out.md").symlink_to(outside)
    (root / "twice.md").symlink_to(root / "a.md")
    (root / "nowhere.md").symlink_to(root / "gone.md")
    (root / "mounted.md").symlink_to(root / ".data" / "mounted.md")
    (root / "loop").symlink_to(root)
    assert names(root) == ["a.md", "mounted.md"]
    told = reasons(root)
    assert "leads out" in told["out.md"]
    assert "own name" in told["twice.md"]
    assert "nowhere" in told["nowhere.md"]
    assert told["loop"] == "link to a folder"


def test_a_name_that_is_not_utf8_is_skipped(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "x")
    raw = os.path.join(os.fsencode(tmp_path), "法".encode("gbk") + b".md")
    with open(raw, "wb") as file:
        file.write(b"x")
    assert names(tmp_path) == ["a.md"]
    assert [item.reason for item in find_files([tmp_path], MD).skipped] == [
        "the name is not UTF-8; rename it"
    ]


def test_overlapping_paths_give_each_file_once_with_the_first_root(tmp_path: Path) -> None:
    file = write(tmp_path / "sub" / "a.md", "x")
    walk = find_files([tmp_path, file.parent, file], MD)
    assert [(f.path, f.root) for f in walk.files] == [(file.resolve(), tmp_path.resolve())]


def test_a_single_file_of_another_type_and_an_empty_folder_are_errors(tmp_path: Path) -> None:
    file = write(tmp_path / "d" / "a.docx", "x")
    with pytest.raises(InputError, match=r"'\.docx' are not supported"):
        find_files([file], MD)
    with pytest.raises(InputError, match="no supported file"):
        find_files([file.parent], MD)
    with pytest.raises(InputError, match="no such file"):
        find_files([tmp_path / "gone"], MD)
    with pytest.raises(InputError, match="no path"):
        find_files([], MD)


def test_only_what_lay_below_a_folder_of_the_call_counts_as_vanished(tmp_path: Path) -> None:
    root = tmp_path / "root"
    kept = write(root / "a.md", "x")
    hidden = write(root / ".b.md", "x")
    walk = find_files([root], MD)
    gone, elsewhere = str(root / "gone.md"), str(tmp_path / "rooted" / "gone.md")
    known = [str(kept), str(hidden), gone, elsewhere]
    assert walk.vanished(known) == (gone,)


def test_nothing_in_a_folder_that_cannot_be_listed_counts_as_vanished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.md", "x")
    closed = tmp_path / "closed"
    closed.mkdir()
    real = os.scandir

    def scandir(path: str) -> object:
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    walk = find_files([tmp_path], MD)
    assert walk.vanished([str(closed / "b.md"), str(tmp_path / "c.md")]) == (
        str(tmp_path / "c.md"),
    )
    assert [item.reason for item in walk.skipped] == ["cannot be listed (Permission denied)"]
