"""Blind scoring sheets: what judges see, what their grades say."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import openpyxl
import pytest

from configs.errors import InputError
from eval.adapters import Retrieved, SearchFn
from eval.agreement import agreement, fleiss
from eval.datasets import Question
from eval.judging import main, pool
from eval.judging_grades import Key, Pooled, grade
from eval.judging_sheets import COLUMNS, read_grades, write_sheet
from indexes.schema import Passage, PassageMetadata
from tests.eval.evaluations import question


def system(*names: str) -> SearchFn:
    def search(asked: Question, count: int) -> Retrieved:
        found = [
            Passage(name, "law", f"虚构示例{name}", PassageMetadata(title="示例法", file="a.md"))
            for name in names
        ]
        return Retrieved(tuple(found))

    return search


SYSTEMS = {"fused": system("p", "q", "r"), "law": system("r", "s", "t")}


def test_results_are_pooled_once_without_system_or_rank() -> None:
    asked = question("a", "law", as_of=date(2020, 5, 1), jurisdiction="上海市")
    found = pool([asked], SYSTEMS, depth=2)
    sheet = [dict(zip(COLUMNS, row, strict=True)) for row in found.rows]
    assert len(sheet) == 4  # p, q, r, s: depth two, r found by one of them only
    assert {row["text"] for row in sheet} == {f"虚构示例{n}" for n in "pqrs"}
    assert (sheet[0]["as_of"], sheet[0]["place"], sheet[0]["grade"]) == ("2020-05-01", "上海市", "")
    shown = " ".join(cell for row in found.rows for cell in row)
    assert "fused" not in shown
    (pooled,) = found.key.questions
    assert [pooled.passages[code] for code in pooled.rankings["law"]] == ["r", "s"]


def test_the_order_is_shuffled_by_the_seed() -> None:
    wide = {"fused": system(*"abcdefgh")}
    orders = [
        [row[6] for row in pool([question("a", "law")], wide, seed=seed).rows] for seed in (0, 0, 1)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert orders[0] != sorted(orders[0])


@pytest.mark.parametrize("name", ["sheet.csv", "sheet.xlsx"])
def test_a_sheet_that_was_filled_in_is_read_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / "to judge" / name
    rows = [("q1-01", "问", "", "", "题", "1", "=1+1", "3", ""), ("q1-02", *[""] * 8)]
    write_sheet(path, rows)
    assert read_grades(path) == {"q1-01": 3}


def test_a_text_is_never_a_formula(tmp_path: Path) -> None:
    rows = [("q1-01", "", "", "", "", "", "=1+1", "", "")]
    write_sheet(tmp_path / "s.xlsx", rows)
    write_sheet(tmp_path / "s.csv", rows)
    cell = openpyxl.load_workbook(tmp_path / "s.xlsx").active["G2"]
    assert (cell.data_type, cell.value) == ("s", "=1+1")
    with (tmp_path / "s.csv").open(encoding="utf-8-sig", newline="") as file:
        assert list(csv.reader(file))[1][6] == "'=1+1"


def test_sheets_as_chinese_spreadsheets_save_them_are_read(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes("备注;grade;code\n好;2.0;q1-01\n".encode("gb18030"))
    assert read_grades(path) == {"q1-01": 2}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("code,grade\nq1,4\n", "row 2: grade '4' is none of 0 irrelevant"),
        ("code,grade\nq1,1.5\n", "row 2: grade '1.5'"),
        ("code,grade\nq1,好\n", "row 2: grade '好'"),
        ("code,grade\nq1,1\nq1,1\n", "row 3 repeats q1"),
        ("a,b\n", "no columns 'code' and 'grade'"),
        ("", "no columns"),
    ],
)
def test_a_bad_sheet_is_named_with_its_row(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "s.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=problem):
        read_grades(path)


def test_two_judges_agree_by_cohens_kappa() -> None:
    # Observed 3/4; chance (2*3 + 2*1) / 16 = 1/2; kappa (3/4 - 1/2) / (1/2) = 1/2.
    found = agreement([(0, 0), (0, 0), (1, 1), (1, 0)])
    assert found.measure == "cohen"
    assert found.kappa == pytest.approx(0.5)
    assert found.weighted == pytest.approx(0.5)
    assert found.identical == 0.75


def test_fleiss_kappa_is_that_of_a_worked_example() -> None:
    # Three judges, two items: 000 and 011. Agreement 1 and 1/3, mean 2/3; shares 4/6 and 2/6,
    # chance 20/36; kappa (2/3 - 5/9) / (4/9) = 1/4.
    assert fleiss([(0, 0, 0), (0, 1, 1)]) == pytest.approx(0.25)
    assert agreement([(0, 0, 0), (0, 1, 1)]).measure == "fleiss"


def test_agreement_on_one_grade_alone_is_undefined() -> None:
    assert agreement([(2, 2), (2, 2)]).kappa is None


@pytest.mark.parametrize("ratings", [[], [(1,)], [(1, 2), (1, 2, 3)]])
def test_agreement_needs_two_judges_of_the_same_items(ratings: list[Sequence[int]]) -> None:
    with pytest.raises(InputError, match="two or more judges"):
        agreement(ratings)


KEY = Key(
    depth=2,
    seed=0,
    questions=(
        Pooled(
            key="a",
            query="虚构",
            passages={"c1": "p", "c2": "q", "c3": "r"},
            rankings={"fused": ("c1", "c2"), "law": ("c2", "c3")},
        ),
    ),
)


def test_the_mean_grade_half_up_is_the_relevance_and_gives_ndcg() -> None:
    found = grade(KEY, {"a": {"c1": 3, "c2": 0, "c3": 0}, "b": {"c1": 2, "c2": 1}})
    assert found.relevance == {"a": {"p": 3, "q": 1, "r": 0}}
    # Ideal 3 + 1/log2(3); fused has just that, law 1 + 0.
    assert found.ndcg["fused"].mean == pytest.approx(1.0)
    assert found.ndcg["law"].mean == pytest.approx(1 / (3 + 1 / 1.5849625))
    assert (found.graded, found.ungraded, found.agreement.items) == (3, 0, 2)


@pytest.mark.parametrize(
    ("sheets", "problem"),
    [
        ({"a": {"c1": 1}}, "one sheet is not enough"),
        ({"a": {"c1": 1}, "b": {"x9": 1}}, "b: x9 is not of this key"),
        ({"a": {"c1": 1}, "b": {"c2": 1}}, "graded by all judges"),
        ({"a": {"c1": 0}, "b": {"c1": 0}}, "above 0"),
    ],
)
def test_sheets_that_say_nothing_are_an_input_error(
    sheets: dict[str, dict[str, int]], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        grade(KEY, sheets)


def test_the_command_imports_two_sheets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "key.json").write_text(KEY.model_dump_json(), "utf-8")
    for name, first in (("a.csv", 3), ("b.csv", 2)):
        (tmp_path / name).write_text(f"code,grade\nc1,{first}\nc2,1\nc3,0\n", "utf-8")
    sheets = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    out = tmp_path / "grades.json"
    code = main(["import", *sheets, "--key", str(tmp_path / "key.json"), "--out", str(out)])
    assert code == 0
    shown = capsys.readouterr().out
    assert "2 judges, 3 results graded by all: Cohen's kappa" in shown
    assert out.exists()
    assert main(["import", sheets[0], "--key", str(tmp_path / "key.json")]) == 2
    assert "one sheet is not enough" in capsys.readouterr().err
