"""Tables of web pages and of HTML in Markdown (虚构示例)."""

from __future__ import annotations

from pathlib import Path

from ingest.formats import read_document

_SUBSIDY = """<table border="1">
<tr><td colspan="4">虚构县水泵补贴标准</td></tr>
<tr><td rowspan="2">类别</td><td rowspan="2">型号</td><td colspan="2">补贴（元）</td></tr>
<tr><td>农户</td><td>合作社</td></tr>
<tr><td rowspan="2">潜水泵</td><td>甲型</td><td>300</td><td>200</td></tr>
<tr><td>乙型</td><td colspan="2">150|上限</td></tr>
<tr><td>减<br>压<br>泵</td><td><p>丙型</p><p>限一台</p></td><td>90</td><td></td></tr>
<tr><td colspan="4">注：以发票为准。</td></tr></table>"""
_EXPECTED = [
    "虚构县水泵补贴标准",
    "| 类别 | 型号 | 补贴（元） 农户 | 补贴（元） 合作社 |",
    "| --- | --- | --- | --- |",
    "| 潜水泵 | 甲型 | 300 | 200 |",
    "| 潜水泵 | 乙型 | 150｜上限 | 150｜上限 |",
    "| 减压泵 | 丙型 限一台 | 90 |  |",
    "注：以发票为准。",
]
_TEXT = "<p>虚构县对购买节能水泵的农户给予补贴，标准见下表，由县农业农村局在九十日内发放。</p>"


def _lines(folder: Path, content: str) -> list[str]:
    path = folder / "表.html"
    path.write_text(f"<html><body><div id='zoom'>{_TEXT}{content}</div></body></html>")
    return read_document(path).text.split("\n")[1:]


def test_merged_cells_stand_in_every_row_and_column_that_they_cover(tmp_path: Path) -> None:
    assert _lines(tmp_path, _SUBSIDY) == _EXPECTED


def test_a_table_that_lays_out_the_page_is_no_data_table(tmp_path: Path) -> None:
    foot = "<tr><td>页脚</td><td></td></tr>"
    layout = f"<table><tr><td>左栏很短</td><td>{_SUBSIDY}</td></tr>{foot}</table>"
    assert _lines(tmp_path, layout) == ["左栏很短", *_EXPECTED, "页脚"]
    single = "<table><tr><td><p>第一段。</p><p>第二段。</p></td></tr></table>"
    assert _lines(tmp_path, single) == ["第一段。", "第二段。"]


def test_the_head_of_an_empty_form_stays_on_one_line(tmp_path: Path) -> None:
    form = "<table><tr><th>姓名</th><th>开户行</th></tr><tr><td></td><td> </td></tr></table>"
    assert _lines(tmp_path, form) == ["姓名 开户行"]


def test_a_group_may_hold_cells_without_a_row(tmp_path: Path) -> None:
    table = (
        "<table><thead><th>税目</th><th>税率</th></thead><tr><td>盐</td><td>3%</td></tr></table>"
    )
    assert _lines(tmp_path, table) == ["| 税目 | 税率 |", "| --- | --- |", "| 盐 | 3% |"]


def test_spans_that_reach_outside_are_cut(tmp_path: Path) -> None:
    table = """<table><tr><td rowspan="99">甲</td><td>乙</td></tr><tr><td>丙</td></tr>
<tr><td rowspan="0" colspan="x">丁</td></tr></table>"""
    assert _lines(tmp_path, table) == ["| 甲 | 乙 |", "| --- | --- |", "| 甲 | 丙 |", "| 甲 | 丁 |"]


def test_a_header_repeated_on_the_next_page_is_kept_once(tmp_path: Path) -> None:
    row, head = "<tr><td>{}</td><td>{}</td></tr>", "<tr><td>项</td><td>元</td></tr>"
    table = f"<table>{head}{row.format('甲', 1)}{head}{row.format('乙', 2)}</table>"
    assert _lines(tmp_path, table)[2:] == ["| 甲 | 1 |", "| 乙 | 2 |"]


def test_html_tables_in_markdown_become_tables_of_the_dialect(tmp_path: Path) -> None:
    path = tmp_path / "虚构税法.md"
    path.write_text(f"# 虚构税法\n\n<style>\n.a {{ x: y }}\n</style>\n\n{_SUBSIDY}\n\n完。\n")

    text = read_document(path).text

    assert [line for line in text.split("\n") if line] == ["# 虚构税法", *_EXPECTED, "完。"]
