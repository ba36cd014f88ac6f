"""Reading labelled questions."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from configs.errors import InputError
from eval.datasets import load_questions


def write(path: Path, *lines: Any) -> Path:
    text = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(text), encoding="utf-8")
    return path


def question(**changes: Any) -> dict[str, Any]:
    gold = [{"domain": "law", "title": "示例法", "article": "3-1", "file": "law/示例法.md"}]
    return {"id": "q1", "query": "虚构示例问题？", "gold": gold} | changes


def test_a_line_becomes_a_frozen_question_with_typed_fields(tmp_path: Path) -> None:
    line = question(kind="version", as_of="2020-05-20", jurisdiction="上海市", note="more")
    (read,) = load_questions([write(tmp_path / "a.jsonl", line, "")])
    assert (read.id, read.key, read.file, read.kind) == ("q1", "q1", "a.jsonl", "version")
    assert read.as_of == date(2020, 5, 20)
    assert read.jurisdiction == "上海市"
    assert read.gold[0].article == "3-1"
    assert read.domains == {"law"}
    with pytest.raises(ValueError, match="frozen"):
        read.id = "other"  # type: ignore[misc]


def test_a_byte_order_mark_and_windows_line_ends_are_no_error(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(question()).encode() + b"\r\n\r\n")
    assert [read.id for read in load_questions([path])] == ["q1"]


def test_an_empty_gold_list_is_an_unanswerable_question(tmp_path: Path) -> None:
    (read,) = load_questions([write(tmp_path / "a.jsonl", question(gold=[]))])
    assert not read.answerable


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{not json", "not valid JSON"),
        ("[1]", "the line"),
        ({"id": "q", "query": "x"}, "gold: Field required"),
        (question(query="  "), "query"),
        (question(as_of="May 2020"), "as_of"),
        (question(as_of=20200520), "as_of"),
        (question(gold=[{"domain": "law", "title": "t", "article": "第三条"}]), "gold.0.article"),
        (question(gold=[{"title": "t", "article": "3", "record": "r"}]), "give one of them"),
        (question(gold=[{"domain": "law"}]), "gold.0.title"),
    ],
)
def test_a_bad_line_is_named_by_file_and_number(tmp_path: Path, line: Any, problem: str) -> None:
    path = write(tmp_path / "bad.jsonl", question(), "", line)
    with pytest.raises(InputError) as caught:
        load_questions([path])
    assert str(caught.value).startswith(f"{path}:3: ")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_no_questions_at_all_are_input_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.jsonl: cannot be read"):
        load_questions([tmp_path / "none.jsonl"])
    with pytest.raises(InputError, match="no questions"):
        load_questions([write(tmp_path / "empty.jsonl", "")])


def test_ids_that_recur_in_other_files_get_keys_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    first = write(tmp_path / "a.jsonl", question(), question(id="q2"))
    second = write(tmp_path / "b.jsonl", question(), question())
    third = write(tmp_path / "sub" / "a.jsonl", question())
    read = load_questions([first, second, third])
    assert [q.key for q in read] == ["q1", "q2", "b.jsonl:q1", "b.jsonl:q1~2", f"{third}:q1"]
    assert read[-1].file == str(third)


def test_a_file_named_twice_is_read_once_and_a_directory_means_its_files(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", question())
    write(tmp_path / "b.jsonl", question(id="q2"))
    (tmp_path / "readme.txt").write_text("no question", encoding="utf-8")
    assert [q.id for q in load_questions([path, tmp_path, path])] == ["q1", "q2"]


@pytest.mark.parametrize(
    ("name", "count", "unanswerable"),
    [
        ("stard", 944, 0),
        ("exact", 218, 0),
        ("policy", 585, 0),
        ("fiscal", 73, 0),
        ("local", 78, 22),
    ],
)
def test_the_real_data_sets_load(
    shared_data: Path, name: str, count: int, unanswerable: int
) -> None:
    questions = load_questions([shared_data / "eval" / f"{name}.dev.jsonl"])
    assert len(questions) == count
    assert sum(not question.answerable for question in questions) == unanswerable


def test_the_real_data_sets_load_together(shared_data: Path) -> None:
    questions = load_questions([shared_data / "eval"])
    assert len({question.key for question in questions}) == len(questions) >= 1898
