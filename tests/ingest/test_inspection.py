"""``python -m ingest.inspection`` (虚构示例)."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from configs.errors import InputError
from ingest.inspection import inspect_paths, main

_NOTICE = """# 虚构县人民政府关于发放水泵补贴的通知
虚府规〔2031〕4号
各镇人民政府：
补贴标准如下。
| 型号 | 元 |
| --- | --- |
| 甲 | 300 |
本通知自2031年3月1日起施行。
虚构县人民政府
2031年2月2日
"""


def test_each_file_is_one_line_and_a_refused_one_says_why(tmp_path: Path) -> None:
    (tmp_path / "通知.md").write_text(_NOTICE)
    (tmp_path / "坏.html").write_text("<html></html>")

    rows = {row.file: row for row in inspect_paths([tmp_path], "local", lambda: date(2031, 2, 3))}

    notice = rows["通知.md"]
    assert (notice.doc_number, notice.promulgated, notice.effective, notice.status) == (
        *("虚府规〔2031〕4号", "2031-02-02", "2031-03-01", "not_yet"),
    )
    assert (notice.tables, notice.reason) == (1, "")
    assert "text" in rows["坏.html"].reason


def test_json_lines_and_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "通知.md").write_text(_NOTICE)
    assert main([str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["doc_number"] == "虚府规〔2031〕4号"
    (tmp_path / "空.txt").write_text("")
    assert main([str(tmp_path)]) == 1
    assert "虚府规〔2031〕4号" in capsys.readouterr().out
    assert main([str(tmp_path / "没有")]) == 2
    with pytest.raises(InputError):
        list(inspect_paths([tmp_path / "没有"], "local", date.today))
