"""Failed questions kept as a question file."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from configs.errors import InputError
from eval.datasets import load_questions
from eval.failures import append_questions
from tests.eval.evaluations import evaluation, question


def test_failed_questions_can_be_read_again_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "new" / "failed.jsonl"
    asked = question(
        "x", "law", as_of=date(2020, 5, 1), jurisdiction="上海市", kind="k", key_points=("3元",)
    )
    assert append_questions([asked, question("none")], path) == 2
    read, none = load_questions([path])
    assert read == asked.model_copy(update={"file": "failed.jsonl"})
    assert not none.answerable


def test_only_what_failed_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "failed.jsonl"
    assert append_questions(evaluation().failed, path) == 2
    assert [one.id for one in load_questions([path])] == ["c", "d"]


def test_a_question_is_appended_once_whatever_its_id(tmp_path: Path) -> None:
    path = tmp_path / "failed.jsonl"
    append_questions([question("x", "law")], path)
    before = path.read_bytes()
    again = question("x", "law").model_copy(update={"id": "y", "key": "other.jsonl:y"})
    assert append_questions([again, again], path) == 0
    assert path.read_bytes() == before


def test_the_same_text_of_another_day_is_another_question_with_another_id(tmp_path: Path) -> None:
    path = tmp_path / "failed.jsonl"
    append_questions([question("x", "law")], path)
    assert append_questions([question("x", "law", as_of=date(2020, 5, 1))], path) == 1
    assert [one.id for one in load_questions([path])] == ["x", "x~2"]


def test_a_file_without_a_last_line_end_is_not_glued_to(tmp_path: Path) -> None:
    path = tmp_path / "failed.jsonl"
    append_questions([question("x", "law")], path)
    path.write_text(path.read_text("utf-8").rstrip("\n"), "utf-8")
    append_questions([question("y", "law")], path)
    assert [one.id for one in load_questions([path])] == ["x", "y"]


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no questions\n")
    with pytest.raises(InputError, match="not valid JSON"):
        append_questions([question("x", "law")], path)
    assert path.read_text() == "no questions\n"
