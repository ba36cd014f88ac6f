"""Archives: each member a document, each bad member a reason, nothing ever outside."""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
from datetime import date
from pathlib import Path

import pytest

from configs.errors import InputError
from indexes.schema import Document
from ingest import archive
from ingest.parse import parse_file
from ingest.readers import BadRecord
from tests.ingest.documents import run_ingest, statute, stored, texts

FISH = statute("渔业条例（虚构示例）", ["渔船应当登记。"])
TREE = statute("林业条例（虚构示例）", ["林地应当保护。"])


def packed(path: Path, members: dict[str, str | bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in members.items():
            package.writestr(name, content)
    return path


def zip_bytes(members: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in members.items():
            package.writestr(name, content)
    return buffer.getvalue()


def parsed(path: Path) -> tuple[list[Document], dict[str, str]]:
    """Documents, and the reasons of bad members by key."""
    items = list(parse_file(path, "law", path.parent, lambda: date(2025, 1, 1)))
    bad = {item.key: item.reason for item in items if isinstance(item, BadRecord)}
    return [item for item in items if isinstance(item, Document)], bad


def test_every_member_is_a_document_named_by_archive_and_member(tmp_path: Path) -> None:
    records = '{"id": "7", "title": "通告（虚构示例）", "text": "休渔。"}\n{"id": 1}\n'
    path = packed(tmp_path / "法规.zip", {"渔/渔业条例.md": FISH, "r.jsonl": records})
    documents, bad = parsed(path)
    metas = [document.passages[0].metadata for document in documents]
    assert [(m.title, m.file, m.record) for m in metas] == [
        ("渔业条例（虚构示例）", "法规.zip/渔/渔业条例.md", "渔/渔业条例.md"),
        ("通告（虚构示例）", "法规.zip/r.jsonl", "r.jsonl#7"),
    ]
    assert documents[0].passages[0].id == "law:渔业条例（虚构示例）@2020-01-01#a1"
    assert list(bad) == ["r.jsonl, line 2"]


def test_a_nested_archive_is_read_and_a_deeper_one_named(tmp_path: Path) -> None:
    deep = zip_bytes({"c.md": TREE})
    inner = zip_bytes({"b.md": FISH, "deep.zip": deep})
    documents, bad = parsed(packed(tmp_path / "a.zip", {"inner.zip": inner}))
    assert [d.passages[0].metadata.file for d in documents] == ["a.zip/inner.zip/b.md"]
    assert list(bad) == ["inner.zip/deep.zip"]


def test_names_in_gbk_without_the_flag_are_read(tmp_path: Path) -> None:
    name = "渔业条例.md".encode("gbk")
    placeholder = "x" * len(name)
    path = packed(tmp_path / "a.zip", {placeholder: FISH})
    path.write_bytes(path.read_bytes().replace(placeholder.encode(), name))
    documents, bad = parsed(path)
    assert bad == {}
    assert documents[0].passages[0].metadata.file == "a.zip/渔业条例.md"


def test_names_that_climb_and_links_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "d" / "a.zip"
    packed(path, {"../外.md": FISH, "/绝对.md": FISH, "C:\\盘.md": FISH, "好.md": TREE})
    with zipfile.ZipFile(path, "a") as package:
        link = zipfile.ZipInfo("链.md")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        package.writestr(link, "../../etc/hosts")
    documents, bad = parsed(path)
    assert [d.title for d in documents] == ["林业条例（虚构示例）"]
    assert set(bad) == {"../外.md", "/绝对.md", "C:\\盘.md", "链.md"}
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a.zip", "d"]


def test_members_with_a_password_or_a_wrong_checksum_cost_only_themselves(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", {"密.md": FISH, "好.md": TREE, "坏.md": b"x" * 99})
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(signature) + offset
        flags = struct.unpack_from("<H", data, at)[0] | 1
        struct.pack_into("<H", data, at, flags)
    last = data.rindex(b"PK\x01\x02") + 16  # the checksum of the last member
    data[last] ^= 0xFF
    path.write_bytes(data)
    documents, bad = parsed(path)
    assert [d.title for d in documents] == ["林业条例（虚构示例）"]
    assert "password" in bad["密.md"]
    assert "damaged" in bad["坏.md"]


def test_bombs_are_found_while_reading_whatever_the_headers_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "FREE_BYTES", 1000)
    path = packed(tmp_path / "a.zip", {"弹.txt": b"0" * 3_000_000, "好.md": TREE})
    documents, bad = parsed(path)
    assert len(documents) == 1
    assert "bomb" in bad["弹.txt"]
    monkeypatch.setattr(archive, "MAX_BYTES", 2_000_000)
    monkeypatch.setattr(archive, "MAX_RATIO", 10_000)
    documents, bad = parsed(packed(tmp_path / "b.zip", {"好.md": TREE, "弹.txt": b"0" * 3_000_000}))
    assert len(documents) == 1
    assert "unpacks to more than" in bad["(rest of the archive)"]
    monkeypatch.setattr(archive, "MAX_MEMBERS", 2)
    _, bad = parsed(packed(tmp_path / "c.zip", {f"{n}.md": FISH for n in range(3)}))
    assert "more than 2 files" in bad["(rest of the archive)"]


def test_unsupported_members_are_told_and_litter_is_not(tmp_path: Path) -> None:
    members = {"好.md": TREE, "图.jpg": "x", "__MACOSX/._好.md": "x", "a/Thumbs.db": "x"}
    documents, bad = parsed(packed(tmp_path / "a.zip", dict(members)))
    told = {archive.UNSUPPORTED: "types that are not supported: 1 .jpg"}
    assert (len(documents), bad) == (1, told)


def test_unsupported_members_are_told_once_with_their_number_and_kinds(tmp_path: Path) -> None:
    inner = zip_bytes({"3.jpg": "x", "LIESMICH": "x"})
    members = {"好.md": TREE, "1.jpg": "x", "2.JPG": "x", "a/b.exe": "x", "内.zip": inner}
    documents, bad = parsed(packed(tmp_path / "a.zip", members))
    reason = "types that are not supported: 1 .exe, 3 .jpg, 1 without a type"
    assert (len(documents), bad) == (1, {archive.UNSUPPORTED: reason})


def test_a_retry_leaves_out_an_archive_of_which_only_such_members_are_set_aside(
    tmp_path: Path,
) -> None:
    store, root = tmp_path / "store", tmp_path / "d"
    packed(root / "甲.zip", {"好.md": TREE, "图.jpg": "x"})
    packed(root / "乙.zip", {"好.md": FISH, "图.jpg": "x", "空.md": ""})
    first = run_ingest(store, root)
    assert sorted(entry.key for entry in first.quarantined) == sorted(
        [archive.UNSUPPORTED, archive.UNSUPPORTED, "空.md"]
    )
    again = run_ingest(store, root, retry=True)
    assert {Path(entry.path).name for entry in again.quarantined} == {"乙.zip"}
    assert again.unchanged == 1


def test_what_is_no_archive_or_holds_nothing_is_named(tmp_path: Path) -> None:
    (tmp_path / "坏.zip").write_bytes(b"PK\x03\x04" + os.urandom(50))
    with pytest.raises(InputError, match="damaged"):
        parsed(tmp_path / "坏.zip")
    with pytest.raises(InputError, match="no supported file"):
        parsed(packed(tmp_path / "空.zip", {}))


def test_members_are_followed_by_their_names_through_later_ingests(tmp_path: Path) -> None:
    store, root = tmp_path / "store", tmp_path / "d"
    packed(root / "a.zip", {"渔.md": FISH, "林.md": TREE, "图.jpg": "x"})
    report = run_ingest(store, root)
    assert (report.added, report.documents) == (1, 2)
    assert [(q.key, q.kind) for q in report.quarantined] == [(archive.UNSUPPORTED, "record")]
    assert run_ingest(store, root).unchanged == 1
    packed(root / "a.zip", {"渔.md": FISH})
    assert run_ingest(store, root).changed == 1
    assert texts(store) == {"第一条 渔船应当登记。"}
    assert {p.metadata.file for p in stored(store).values()} == {"a.zip/渔.md"}
