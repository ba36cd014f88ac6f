"""Spreadsheets as a clerk sees them on the screen. All tables are made up (虚构示例)."""

from __future__ import annotations

import zipfile
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from configs.errors import InputError
from indexes.schema import Document
from ingest.formats import sheet
from ingest.formats.cell_text import shown
from ingest.parse import parse_file


def subsidies(path: Path) -> Path:
    """Title row, unit row, two header rows with merged cells, merged villages, a note."""
    book = openpyxl.Workbook()
    page = book.active
    assert page is not None
    page.title = "标准"
    for row in (
        ["虚构县征地补偿标准表（虚构示例）"],
        ["单位：元/亩"],
        ["区片", "补偿标准", None, "施行日期"],
        [None, "耕地", "林地", None],
        ["一区", 52000, 31200.5, date(2024, 3, 1)],
        [None, 48000, 0.125, None],
        ["注：青苗费另计。"],
    ):
        page.append(row)
    for merged in ("A1:D1", "A2:D2", "A3:A4", "B3:C3", "D3:D4", "A5:A6", "D5:D6"):
        page.merge_cells(merged)
    for place in ("B5", "B6", "C5"):
        page[place].number_format = "#,##0.00"
    page["C6"].number_format = "0.0%"
    page["D5"].number_format = 'yyyy"年"m"月"d"日"'
    book.save(path)
    return path


def test_a_table_of_standards_keeps_title_unit_header_and_shown_values(tmp_path: Path) -> None:
    reading = sheet.read(subsidies(tmp_path / "标准.xlsx"))
    assert [line for line in reading.text.splitlines() if line] == [
        "# 虚构县征地补偿标准表（虚构示例）",
        "单位：元/亩",
        "| 区片 | 补偿标准 耕地 | 补偿标准 林地 | 施行日期 |",
        "| --- | --- | --- | --- |",
        "| 一区 | 52,000.00 | 31,200.50 | 2024年3月1日 |",
        "| 一区 | 48,000.00 | 12.5% | 2024年3月1日 |",
        "注：青苗费另计。",
    ]
    assert reading.warnings == ()


def test_a_sheet_becomes_a_document_with_its_title(tmp_path: Path) -> None:
    path = subsidies(tmp_path / "2.xlsx")
    (document,) = parse_file(path, "local", tmp_path, lambda: date(2025, 1, 1))
    assert isinstance(document, Document)
    assert document.title == "虚构县征地补偿标准表（虚构示例）"
    assert "48,000.00" in "".join(p.content for p in document.passages)


def test_hidden_sheets_rows_and_columns_are_left_out_and_told(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    page = book.active
    assert page is not None
    page.title = "甲"
    for row in (["项目", "旧价", "价格"], ["虚构甲", 1, 2], ["虚构乙", 3, 4]):
        page.append(row)
    page.row_dimensions[2].hidden = True
    page.column_dimensions["B"].hidden = True
    second = book.create_sheet("乙")
    second.append(["名称", "金额"])
    second.append(["虚构丙", 5])
    book.create_sheet("草稿").append(["秘密"])
    book["草稿"].sheet_state = "hidden"
    book.create_sheet("空表")
    book.save(tmp_path / "价.xlsx")
    reading = sheet.read(tmp_path / "价.xlsx")
    assert [line for line in reading.text.splitlines() if line] == [
        *("甲", "| 项目 | 价格 |", "| --- | --- |", "| 虚构乙 | 4 |"),
        *("乙", "| 名称 | 金额 |", "| --- | --- |", "| 虚构丙 | 5 |"),
    ]
    assert reading.warnings == (
        "1 hidden rows of sheet '甲' are left out",
        "1 hidden columns of sheet '甲' are left out",
        "the hidden sheet '草稿' is left out",
    )


def test_formulas_without_a_stored_result_are_told(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    page = book.active
    assert page is not None
    for row in (["甲", "乙"], [1, 2], ["=A2+1", "=SUM(A2:B2)"]):
        page.append(row)
    book.save(tmp_path / "式.xlsx")  # openpyxl stores formulas, never results
    assert "2 formulas" in sheet.read(tmp_path / "式.xlsx").warnings[0]


def test_both_libraries_read_the_same_plain_values(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    page = book.active
    assert page is not None
    values = [["名称", "数"], ["虚构|甲", 12], ["乙\n二", 0.5], ["丙", 1e-7], ["丁", True]]
    for row in values:
        page.append(row)
    page.merge_cells("A6:B6")
    page["A6"] = "注"
    path = tmp_path / "值.xlsx"
    book.save(path)
    (one,), _ = sheet._openpyxl(path)
    (other,), _ = sheet._calamine(path)
    assert one.cells == {**other.cells, (6, 2): "注"}
    assert one.cells[2, 1] == "虚构｜甲"
    assert one.cells[4, 2] == "0.0000001"
    assert list(one.merged) == list(other.merged)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "gb18030", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_csv_of_any_encoding_and_delimiter(tmp_path: Path, encoding: str, delimiter: str) -> None:
    rows = [["区县", "低保标准", "备注"], ["虚构甲区", "1200", "城乡"], ["虚构乙县", "980", "农村"]]
    text = "\r\n".join(delimiter.join(row) for row in rows)
    path = tmp_path / "低保.csv"
    path.write_bytes(text.encode(encoding))
    assert sheet.read(path).text.strip().splitlines() == [
        "| 区县 | 低保标准 | 备注 |",
        "| --- | --- | --- |",
        "| 虚构甲区 | 1200 | 城乡 |",
        "| 虚构乙县 | 980 | 农村 |",
    ]


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (1234.5, "General", "1234.5"),
        (1234.0, "General", "1234"),
        (1234.5, "#,##0.00", "1,234.50"),
        (-3.0, "#,##0;(#,##0)", "(3)"),
        (0.175, "0.0%", "17.5%"),
        (0.13, "0%", "13%"),
        (80, '0"元/月"', "80元/月"),
        (80, '"¥"#,##0', "¥80"),
        (80, "[$￥-804]#,##0.0", "￥80.0"),
        (42, "000000", "000042"),
        (2.50, "0.##", "2.5"),
        (0.5, "# ?/?", "0.5"),
        (datetime(2024, 3, 1), "yyyy/m/d", "2024-03-01"),
        (datetime(2024, 3, 1), 'yyyy"年"m"月"', "2024年3月"),
        (datetime(2024, 3, 1, 8, 30), "yyyy-mm-dd hh:mm", "2024-03-01 08:30"),
        (time(8, 30), "h:mm", "08:30"),
        (True, "General", "TRUE"),
        ("a|b\nc", "@", "a｜b c"),
        (None, "General", ""),
    ],
)
def test_values_look_as_they_do_on_the_screen(value: Any, number_format: str, text: str) -> None:
    assert shown(value, number_format) == text


def test_a_stray_cell_far_away_and_merged_whole_rows_cost_nothing(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    page = book.active
    assert page is not None
    for row in (["虚构标准表"], ["项目", "金额"], ["甲", 1]):
        page.append(row)
    page.merge_cells("A1:XFD1")
    page["XFD1048576"] = "x"
    book.save(tmp_path / "远.xlsx")
    text = sheet.read(tmp_path / "远.xlsx").text
    assert "| 甲 | 1 |" in text
    assert len(text) < 1000


def test_what_is_no_readable_workbook_is_named(tmp_path: Path) -> None:
    def refused(name: str, content: bytes, reason: str) -> None:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=reason):
            sheet.read(tmp_path / name)

    refused("密.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000), "password")
    refused("坏.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000), "damaged")
    refused("坏.xlsx", b"PK\x03\x04" + bytes(100), "damaged")
    refused("网页.xls", b"<html><table></table></html>", "no Excel file")
    refused("空.csv", b"  \n", "blank space only")
    refused("无.csv", b"", "empty")
    openpyxl.Workbook().save(tmp_path / "空.xlsx")
    with pytest.raises(InputError, match="no visible cell"):
        sheet.read(tmp_path / "空.xlsx")
    with zipfile.ZipFile(tmp_path / "假.xlsx", "w") as package:
        package.writestr("a.txt", "x")
    with pytest.raises(InputError, match="damaged"):
        sheet.read(tmp_path / "假.xlsx")


def test_a_row_of_a_sheet_is_a_passage_that_keeps_its_header_and_unit(tmp_path: Path) -> None:
    path = tmp_path / "虚构县低保标准（虚构示例）.csv"
    path.write_text(
        "区县,标准（元/月）\n虚构甲区,1200\n虚构乙县,980\n虚构丙县,860\n", encoding="utf-8"
    )
    (document,) = parse_file(path, "local", tmp_path, lambda: date(2025, 1, 1))
    assert [p.content.splitlines()[-1] for p in document.passages] == [
        "| 虚构甲区 | 1200 |",
        "| 虚构乙县 | 980 |",
        "| 虚构丙县 | 860 |",
    ]
    for passage in document.passages:
        assert "标准（元/月）" in passage.readable()
