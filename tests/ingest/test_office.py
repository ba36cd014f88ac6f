"""Old word processor files, with a LibreOffice that the tests play. All texts are 虚构示例."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from configs.errors import InputError
from ingest.formats import office, read_document
from tests.ingest import office_files as make

_PLAYED = """#!/bin/sh
# The arguments end in: --outdir FOLDER FILE
for last; do before="$folder"; folder="$this"; this="$last"; done
{action}
"""


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    path = tmp_path / "旧 文件.doc"
    path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(100))
    return path


def _play(action: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A soffice on PATH that does ``action`` ($folder = output folder, $this = the file)."""
    program = folder / "bin" / "soffice"
    program.parent.mkdir()
    program.write_text(_PLAYED.format(action=action), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")


@pytest.mark.parametrize("suffix", [".doc", ".wps", ".rtf", ".odt"])
def test_an_old_file_is_converted_and_read(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notice = make.write_notice(tmp_path / "notice.docx")
    action = (
        f'mkdir -p "$folder"; cp "{notice}" "$folder/$(basename "$this" {suffix}).docx"; '
        f'echo "$@" > "{tmp_path}/arguments"'
    )
    _play(action, tmp_path, monkeypatch)
    source = tmp_path / f"旧 文件{suffix}"
    source.write_bytes(b"old")
    assert read_document(source).text == read_document(notice).text
    arguments = (tmp_path / "arguments").read_text(encoding="utf-8")
    assert "-env:UserInstallation=file://" in arguments  # never the user's own profile
    assert str(source) not in arguments  # a copy is converted
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        ["arguments", "bin", "notice.docx", source.name]
    )


def test_without_libreoffice_the_remedy_is_named(
    old_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InputError, match=r"旧 文件\.doc: .*LibreOffice.*save the file as \.docx"):
        read_document(old_file)


def test_a_file_that_libreoffice_cannot_open_is_refused(
    old_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _play("exit 0", tmp_path, monkeypatch)
    with pytest.raises(InputError, match=r"cannot open it .*password"):
        read_document(old_file)


def test_a_conversion_that_does_not_end_is_ended_with_its_children(
    old_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(office, "_SECONDS", 0.5)
    _play(f'sleep 60 & echo $! > "{tmp_path}/child"; wait', tmp_path, monkeypatch)
    with pytest.raises(InputError, match="took more than"):
        read_document(old_file)
    child = Path("/proc") / (tmp_path / "child").read_text(encoding="utf-8").strip() / "stat"
    # Killed: gone, or a zombie that nobody has collected yet.
    assert not child.exists() or child.read_text(encoding="utf-8").split()[2] == "Z"


def test_an_empty_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _play("exit 1", tmp_path, monkeypatch)
    path = tmp_path / "空.doc"
    path.touch()
    with pytest.raises(InputError, match="is empty"):
        read_document(path)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.doc", bytes(range(256)) * 8),
        ("a.wps", b"\x89PNG\r\n\x1a\n" + bytes(range(200, 256)) * 40),
        ("a.rtf", b"%PDF-1.7\n" + bytes(range(128, 256))),
    ],
)
def test_bytes_that_are_no_document_are_refused_before_they_become_garbage(
    name: str, data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _play("exit 1", tmp_path, monkeypatch)
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"no \.\w+ file by its content; save it again as \.docx"):
        read_document(path)


def test_a_web_page_under_the_name_of_a_word_file_is_read_as_a_web_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    path = tmp_path / "a.doc"
    path.write_text(
        "<html><head><title>虚构通知</title></head><body><p>每户补贴三百元。</p>"
        '<p style="display:none">不显示的字</p></body></html>',
        encoding="utf-8",
    )
    assert read_document(path).text.split("\n") == ["# 虚构通知", "每户补贴三百元。"]


@pytest.mark.slow
def test_the_real_libreoffice_reads_what_it_wrote(tmp_path: Path) -> None:
    program = shutil.which("soffice")
    if program is None:
        pytest.skip("LibreOffice is not installed")
    notice = make.write_notice(tmp_path / "notice.docx")
    source = tmp_path / "notice.odt"
    source.write_bytes(notice.read_bytes())  # LibreOffice goes by the content
    assert make.TITLE in read_document(source).text
