"""Tables of Word and PDF files: header rows, captions, notes. All tables are 虚构示例."""

from __future__ import annotations

from ingest.formats.grid import table_lines, with_one_header


def lines(*rows: tuple[str, ...]) -> list[str]:
    return table_lines(with_one_header(rows))


def test_a_header_of_several_rows_becomes_one_so_that_every_row_can_carry_it() -> None:
    assert lines(
        ("类别", "补贴（万元）", "补贴（万元）", "备注"),
        ("类别", "企业", "企业", "备注"),
        ("类别", "大型", "小型", "备注"),
        ("制造业", "10", "5", ""),
    ) == [
        "| 类别 | 补贴（万元） 企业 大型 | 补贴（万元） 企业 小型 | 备注 |",
        "| --- | --- | --- | --- |",
        "| 制造业 | 10 | 5 |  |",
    ]


def test_rows_of_data_are_never_taken_for_a_header() -> None:
    only_wide = (("标准", "标准", "街道"), ("一级", "二级", "甲"))
    only_deep = (("街道", "标准"), ("街道", "10"), ("街道", "20"))
    figures = (("10", "10", "甲街"), ("20", "30", "甲街"), ("5", "5", "乙街"))
    all_header = (("街道", "标准", "标准"), ("街道", "一级", "二级"))
    for rows in (only_wide, only_deep, figures, all_header):
        assert with_one_header(rows) == list(rows)


def test_a_merged_first_row_is_the_caption_and_merged_last_rows_are_notes() -> None:
    assert lines(
        ("补贴标准表", "补贴标准表", "补贴标准表"),
        ("街道", "标准（元）", "标准（元）"),
        ("街道", "一级", "二级"),
        ("甲街", "300", "200"),
        ("注：按月发放。", "注：按月发放。", "注：按月发放。"),
    ) == [
        "补贴标准表",
        "| 街道 | 标准（元） 一级 | 标准（元） 二级 |",
        "| --- | --- | --- |",
        "| 甲街 | 300 | 200 |",
        "注：按月发放。",
    ]


def test_a_table_whose_rows_are_single_cells_is_text() -> None:
    assert lines(("申请条件", "申请条件"), ("在本市工作。", "在本市工作。")) == [
        "申请条件",
        "在本市工作。",
    ]
