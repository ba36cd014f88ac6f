"""The written report: Markdown, HTML that needs nothing else, JSON."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from configs.errors import InputError
from eval.report_figures import figures, reliability
from eval.report_files import write_report
from eval.report_plots import draw
from eval.report_text import escape, markdown
from tests.eval.evaluations import evaluation

PLOTS = {"mrr.png", "gain.png", "reliability.png", "latency.png"}
PNG = b"\x89PNG\r\n\x1a\n"


def test_a_report_is_a_page_a_text_with_pictures_and_json(tmp_path: Path) -> None:
    written = write_report(evaluation(), tmp_path / "new" / "report")
    assert {path.name for path in written} == {"report.md", "report.html", "report.json", *PLOTS}
    folder = tmp_path / "new" / "report"
    assert all((folder / name).read_bytes().startswith(PNG) for name in PLOTS)
    shown = set(re.findall(r"!\[\w+\]\((\S+)\)", (folder / "report.md").read_text("utf-8")))
    assert shown == PLOTS


def test_the_page_loads_nothing_from_anywhere(tmp_path: Path) -> None:
    write_report(evaluation(), tmp_path)
    page = (tmp_path / "report.html").read_text("utf-8")
    sources = re.findall(r'src="([^"]{1,30})', page)
    assert len(sources) == len(PLOTS)
    assert all(source.startswith("data:image/png;base64,") for source in sources)
    assert "<link" not in page
    assert "<script" not in page
    assert "http" not in page


def test_the_text_of_a_question_cannot_break_the_page_or_a_table(tmp_path: Path) -> None:
    write_report(evaluation(), tmp_path)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "<td>税 | &lt;b&gt;怎么&lt;/b&gt; *交*？</td>" in page
    assert escape("a|b\n`c`") == r"a\|b \`c\`"


def test_json_tells_what_was_measured_and_every_question(tmp_path: Path) -> None:
    write_report(evaluation(), tmp_path)
    known = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert known["provenance"]["day"] == "2024-06-01"
    assert known["provenance"]["domains"]["law"]["passages"] == 1200
    assert known["overall"]["mrr"] == 0.375
    one = known["questions"][3]
    assert (one["key"], one["mrr"], one["rank"], one["hit"]) == ("d", 0.0, 40, False)
    assert one["rightly_answered"] is None


def test_the_same_evaluation_gives_the_same_files(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    write_report(evaluation(), first)
    write_report(evaluation(), second)
    for path in first.iterdir():
        assert path.read_bytes() == (second / path.name).read_bytes(), path.name


def test_failures_are_listed_worst_first_with_what_came_first_instead() -> None:
    found = evaluation()
    assert [(one.key, one.rank, one.first) for one in found.failures] == [
        ("c", None, "丙 art. 3"),
        ("d", 40, "丁"),
    ]
    text = markdown(found, found.figures(), ())
    rows = [line for line in text.splitlines() if line.endswith(r"demo.jsonl: d |")]
    assert rows == [
        r"| 虚构问题d？ | tax办法（虚构示例） art. 1 | 丁 | 40 | 0.100 | demo.jsonl: d |"
    ]


def test_confidence_is_held_against_hits_and_never_right_without_an_answer() -> None:
    # .9 for a, b (hits) and c (none); .1 for d (none) and the unanswerable one.
    (found,) = figures(evaluation().report).reliability
    assert found.points == (
        (pytest.approx(0.1), 0.0, 2),
        (pytest.approx(0.9), pytest.approx(2 / 3), 3),
    )
    assert found.error == pytest.approx(2 / 5 * 0.1 + 3 / 5 * (0.9 - 2 / 3))
    assert found.samples == 5


def test_a_perfect_confidence_has_no_calibration_error() -> None:
    assert reliability("x", [(1.0, True), (0.0, False)]).error == 0.0


def test_groups_are_all_questions_domains_and_kinds_of_which_there_are_several() -> None:
    data = evaluation().figures()
    assert [(g.kind, g.name, g.queries) for g in data.groups] == [
        ("all", "all", 4),
        ("domain", "law", 2),
        ("domain", "tax", 2),
        ("kind", "topic", 1),
        ("kind", "unlabelled", 3),
    ]
    assert data.groups[1].systems["fused"].mean == 0.75
    assert data.groups[2].systems["tax"].mean == 0.25
    gains = {(g.group, g.source): g.result.difference.mean for g in data.gains}
    assert gains[("all", "law")] == pytest.approx(0.375 - 0.25)
    assert gains[("tax", "tax")] == pytest.approx(0 - 0.25)


def test_names_without_a_font_are_drawn_as_numbers(recwarn: pytest.WarningsRecorder) -> None:
    found = evaluation()
    assert set(draw(found.report, found.figures(), None)) == PLOTS
    assert [w for w in recwarn if "Glyph" in str(w.message)] == []


def test_without_matplotlib_the_remedy_is_named_and_nothing_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'policy-fusion\[report\]'"):
        write_report(evaluation(), tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_a_directory_that_cannot_be_written_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be written"):
        write_report(evaluation(), tmp_path / "file" / "report")
