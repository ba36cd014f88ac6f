"""A new report against the last accepted one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval.accepted import main


def one(key: str, mrr: float | None, **more: Any) -> dict[str, Any]:
    hit = None if mrr is None else mrr > 0
    values = {"file": "q.jsonl", "domains": ["law"], "query": f"虚构{key}", "hit": hit}
    return {"key": key, "mrr": mrr, **values, **more}


def report(path: Path, *questions: dict[str, Any], top_k: int = 10) -> Path:
    path.write_text(json.dumps({"top_k": top_k, "questions": questions}), "utf-8")
    return path


def compare(new: Path, old: Path, *options: str) -> int:
    return main([str(new), str(old), *options])


def test_a_report_that_is_no_worse_passes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = report(tmp_path / "old.json", one("a", 0.5), one("b", 1.0))
    new = report(tmp_path / "new.json", one("a", 1.0), one("b", 0.5), one("more", 0.0))
    assert compare(new, old) == 0
    assert capsys.readouterr().out == "no worse than accepted (2 questions)\n"


def test_a_domain_that_falls_is_found_though_the_mean_rises(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = report(tmp_path / "old.json", one("a", 0.5), one("b", 0.0, domains=["tax"], file="t"))
    new = report(tmp_path / "new.json", one("a", 0.25), one("b", 1.0, domains=["tax"], file="t"))
    assert compare(new, old) == 1
    assert capsys.readouterr().out.splitlines() == [
        "worse: file q.jsonl: MRR fell 0.5000 -> 0.2500 (1 questions)",
        "worse: domain law: MRR fell 0.5000 -> 0.2500 (1 questions)",
    ]


def test_a_fall_of_the_tolerance_is_tolerated_and_more_is_not(tmp_path: Path) -> None:
    old = report(tmp_path / "old.json", one("a", 0.5))
    new = report(tmp_path / "new.json", one("a", 0.4))
    assert compare(new, old, "--tolerance", "0.1") == 0
    assert compare(new, old, "--tolerance", "0.09") == 1


def test_a_regression_question_must_not_fail_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rest = [one(str(i), 1.0) for i in range(200)]
    was = one("r", 1.0, file="regression-2024.jsonl", domains=["tax"], rightly_answered=True)
    old = report(tmp_path / "old.json", was, *rest)
    now = {**was, "mrr": 1.0, "rightly_answered": False}
    assert compare(report(tmp_path / "new.json", now, *rest), old) == 1
    assert capsys.readouterr().out == (
        "worse: regression question r (虚构r): wrongly answered or declined now\n"
    )
    lost = {**was, "hit": False, "rightly_answered": None}
    assert compare(report(tmp_path / "new.json", lost, *rest), old) == 1
    assert "r (虚构r): no right result any more" in capsys.readouterr().out


def test_a_regression_question_that_failed_before_may_fail(tmp_path: Path) -> None:
    was = one("r", 0.0, file="regression.jsonl")
    old = report(tmp_path / "old.json", was)
    assert compare(report(tmp_path / "new.json", was), old) == 0


def test_a_question_file_names_the_regression_set(tmp_path: Path) -> None:
    rest = [one(str(i), 1.0) for i in range(200)]
    old = report(tmp_path / "old.json", one("r", 0.2), *rest)
    new = report(tmp_path / "new.json", one("r", 0.0), *rest)
    line = {"id": "other", "query": "虚构r", "gold": [{"title": "示例法"}]}
    file = tmp_path / "failed.jsonl"
    file.write_text(json.dumps(line), "utf-8")
    assert compare(new, old) == 0
    assert compare(new, old, "--regression", str(file)) == 1


def test_accepted_questions_must_be_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = report(tmp_path / "old.json", one("a", 0.5), one("b", 0.0))
    assert compare(report(tmp_path / "new.json", one("a", 0.5)), old) == 1
    assert "file q.jsonl: 1 accepted questions not asked (first: b)" in capsys.readouterr().out


def test_accept_replaces_the_accepted_report(tmp_path: Path) -> None:
    new, old = report(tmp_path / "new.json", one("a", 0.1)), tmp_path / "ci" / "accepted.json"
    assert compare(new, old, "--accept") == 0
    assert old.read_bytes() == new.read_bytes()
    assert [path.name for path in old.parent.iterdir()] == ["accepted.json"]


@pytest.mark.parametrize(
    ("content", "message"),
    [("{}", "is no report"), (None, "make it with --accept")],
)
def test_what_cannot_be_compared_is_a_users_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, message: str
) -> None:
    new, old = report(tmp_path / "new.json", one("a", 0.1)), tmp_path / "old.json"
    if content is not None:
        old.write_text(content)
    assert compare(new, old) == 2
    assert message in capsys.readouterr().err


def test_reports_of_other_depth_or_other_questions_are_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = report(tmp_path / "new.json", one("a", 0.1))
    assert compare(new, report(tmp_path / "old.json", one("a", 0.1), top_k=5)) == 2
    assert "same --top-k" in capsys.readouterr().err
    assert compare(new, report(tmp_path / "old.json", one("b", 0.1))) == 2
    assert "share no question" in capsys.readouterr().err
