"""Encodings, binary files, front matter and JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from configs.errors import InputError
from ingest.formats import read_document
from ingest.readers import BadRecord, Record, decode, front_matter, read_records, read_text

TEXT = "第一条 为了检验读取（虚构示例），制定本办法。\n第二条 本办法适用于示例。\n"


@pytest.mark.parametrize(
    "encoding",
    [
        *("utf-8", "utf-8-sig", "gb18030", "gbk", "utf-16", "utf-16-le", "utf-16-be"),
        *("utf-32", "utf-32-le", "utf-32-be"),
    ],
)
def test_text_is_read_in_the_encodings_that_offices_use(encoding: str) -> None:
    assert decode(TEXT.encode(encoding), "a.txt") == TEXT


@pytest.mark.parametrize("mark", [b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff"])
def test_the_byte_order_mark_of_utf_32_is_not_taken_for_that_of_utf_16(mark: bytes) -> None:
    order = "utf-32-le" if mark[0] else "utf-32-be"
    assert decode(mark + TEXT.encode(order), "a.txt") == TEXT


@pytest.mark.parametrize("text", [" \n\t ", "　　\r\n", "\u00a0", "\u200b\ufeff\n\u3000"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_file_of_blanks_is_said_to_be_blank(text: str, encoding: str) -> None:
    with pytest.raises(InputError, match=r"a\.txt: holds blank space only; put its text in"):
        decode(text.encode(encoding), "a.txt")


def test_big5_is_read_when_it_is_no_plausible_gb18030() -> None:
    text = "第一條 為了檢驗讀取，制定本辦法。適用於示例的機關、團體與個人。\n" * 5
    assert decode(text.encode("big5"), "a.txt") == text


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\x00\x00\x00"])
def test_empty_files_are_refused(data: bytes) -> None:
    with pytest.raises(InputError, match=r"a\.txt: the file is empty"):
        decode(data, "a.txt")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"%PDF-1.7 ...", "a PDF"),
        (b"PK\x03\x04....", "a Word, Excel or zip"),
        (b"\xd0\xcf\x11\xe0....", "an old Word or Excel"),
        (b"{\\rtf1 ...", "an RTF"),
    ],
)
def test_other_kinds_of_files_are_named(data: bytes, kind: str) -> None:
    with pytest.raises(InputError, match=kind):
        decode(data, "a.txt")


@pytest.mark.parametrize(
    "data", [TEXT.encode() + b"\x00", bytes(range(256)) * 8, b"\x80\x81\xfe\xff" * 100]
)
def test_binary_data_is_refused_with_a_remedy(data: bytes) -> None:
    with pytest.raises(InputError, match="save it as UTF-8"):
        decode(data, "a.txt")


def test_damaged_utf8_is_refused_and_not_taken_for_gb18030() -> None:
    data = (TEXT * 20).encode()
    broken = data[:500] + b"\xff" + data[501:]
    line = data[:500].count(b"\n") + 1
    with pytest.raises(InputError, match=f"damaged UTF-8 at line {line}"):
        decode(broken, "a.txt")


def test_a_missing_file_gives_one_line_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_text(tmp_path / "没有.txt")
    assert "没有.txt" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_front_matter_is_read_as_strings_with_its_end() -> None:
    text = "---\ntitle: 示例办法\neffective: 2024-06-01\ntags: [甲, 乙]\nempty:\n---\n正文"
    fields, end = front_matter(text)
    assert fields == {"title": "示例办法", "effective": "2024-06-01", "tags": "甲、乙"}
    assert text[end:] == "正文"


@pytest.mark.parametrize("text", ["---\na: [\n---\n正文", "---\n- 甲\n---\n正文", "正文\n---\n"])
def test_broken_front_matter_counts_as_text(text: str) -> None:
    assert front_matter(text) == ({}, 0)


def _jsonl(path: Path, lines: list[object]) -> Path:
    file = path / "a.jsonl"
    shown = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("\n".join(shown), encoding="utf-8")
    return file


def test_a_bad_line_is_reported_and_the_others_go_on(tmp_path: Path) -> None:
    good = {"id": "a", "title": "甲", "text": "内容。", "meta": {"issuer": "某局"}}
    file = _jsonl(tmp_path, [good, "{broken", "", "[1]", {"id": "b"}, {"id": 7, "text": "乙。"}])
    found = list(read_records(file))
    bad = [item for item in found if isinstance(item, BadRecord)]
    assert [item.key for item in bad] == ["line 2", "line 4", "line 5"]
    assert [item for item in found if isinstance(item, Record)] == [
        Record(1, "a", "甲", "内容。", {"issuer": "某局"}),
        Record(6, "7", "", "乙。", {}),
    ]


@pytest.mark.parametrize(
    "record",
    [
        {"id": "", "text": "甲"},
        {"id": True, "text": "甲"},
        {"id": "a", "text": "  "},
        {"id": "a", "text": None},
        {"id": "a", "text": ["甲"]},
        {"text": "甲"},
    ],
)
def test_records_without_usable_id_or_text_are_bad(tmp_path: Path, record: object) -> None:
    (found,) = read_records(_jsonl(tmp_path, [record]))
    assert isinstance(found, BadRecord)


def test_of_records_with_one_id_the_last_counts_and_tells_of_the_others(tmp_path: Path) -> None:
    records = [
        {"id": i, "text": t} for i, t in (("a", "旧"), ("b", "乙"), ("a", "中"), ("a", "新"))
    ]
    found = [r for r in read_records(_jsonl(tmp_path, list(records))) if isinstance(r, Record)]
    assert [(r.id, r.text, r.line, r.replaces) for r in found] == [
        ("b", "乙", 2, ()),
        ("a", "新", 4, (1, 3)),
    ]


def test_line_separators_inside_a_string_do_not_end_the_record(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"id": "a", "text": "甲\u2028乙\u0085丙"}\n', encoding="utf-8")
    (record,) = read_records(file)
    assert isinstance(record, Record)
    assert record.text == "甲\u2028乙\u0085丙"


def test_half_characters_are_dropped_since_no_store_can_hold_them(tmp_path: Path) -> None:
    (record,) = read_records(_jsonl(tmp_path, ['{"id": "a", "text": "甲\\ud83d乙"}']))
    assert isinstance(record, Record)
    assert record.text == "甲乙"


@pytest.mark.parametrize(
    "head", ["<!DOCTYPE html>\n<html>", "\n<HTML lang='zh'>", "<?xml version='1.0'?><html>"]
)
def test_a_web_page_under_the_name_of_a_text_is_refused_with_the_remedy(
    head: str, tmp_path: Path
) -> None:
    path = tmp_path / "网页.txt"
    path.write_text(f"{head}<body><p>虚构示例。</p></body></html>", encoding="utf-8")
    with pytest.raises(InputError, match=r"is a web page by its content; rename it to \.html"):
        read_document(path)
