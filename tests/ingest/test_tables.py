"""Tables as passages of their own. All texts are 虚构示例."""

from __future__ import annotations

from ingest.packing import MAX_CHARS
from ingest.tables import pack_with_tables

HEAD = "| 企业类型 | 补贴标准 |\n| --- | --- |\n"
TEXT = "申请人应当在每年六月底之前提交材料，由受理窗口核对。" * 6


def _rows(count: int, words: str = "按照合同金额的比例给予一次性补贴") -> str:
    return "".join(f"| 第{n}类企业 | {words}{n}万元 |\n" for n in range(1, count + 1))


def _pieces(text: str) -> list[tuple[str, str]]:
    return [(text[p.start : p.end], p.header) for p in pack_with_tables(text, 0, len(text))]


def test_a_short_table_is_one_passage_with_its_caption_and_remark() -> None:
    table = "渔船补贴标准表\n单位：万元\n" + HEAD + _rows(3) + "注：表中金额含税。"
    pieces = _pieces(f"{TEXT}\n{table}\n")
    assert [content for content, _ in pieces] == [TEXT, table]
    assert {header for _, header in pieces} == {""}


def test_a_long_table_is_cut_between_rows_and_every_part_has_caption_unit_and_header() -> None:
    text = TEXT + "\n渔船补贴标准表\n单位：万元\n" + HEAD + _rows(40)
    first, *parts = _pieces(text)[1:]
    assert first[0].startswith("渔船补贴标准表\n单位：万元\n| 企业类型")
    assert first[1] == ""
    assert {header for _, header in parts} == {
        "渔船补贴标准表\n单位：万元\n| 企业类型 | 补贴标准 |\n| --- | --- |"
    }
    rows = [line for content, _ in (first, *parts) for line in content.split("\n")]
    assert rows[4:] == _rows(40).split("\n")[:-1]
    assert all(content.count("\n") >= 5 for content, _ in parts)
    assert all(len(content) + len(header) <= MAX_CHARS for content, header in parts)


def test_long_rows_stand_alone() -> None:
    text = HEAD + _rows(4, "对符合条件的企业按照合同金额的比例给予补贴并在网站公示，" * 12)
    pieces = _pieces(text)
    assert [content.count("万元") for content, _ in pieces] == [1, 1, 1, 1]
    assert [bool(header) for _, header in pieces] == [False, True, True, True]


def test_a_table_without_a_line_below_its_header_has_one_all_the_same() -> None:
    text = "| 名称 | 金额 |\n" + _rows(40)
    assert {header for _, header in _pieces(text)[1:]} == {"| 名称 | 金额 |"}


def test_the_sentence_that_announces_a_table_is_no_caption_but_stays_with_it() -> None:
    text = f"{TEXT}\n补贴标准如下：\n" + HEAD + _rows(40)
    pieces = _pieces(text)
    assert pieces[0][0].endswith("补贴标准如下：")
    assert pieces[1][0].startswith("| 企业类型")
    short = "补贴标准如下：\n" + HEAD + _rows(40)
    assert _pieces(short)[0][0].startswith("补贴标准如下：\n| 企业类型")
    assert _pieces(short)[1][1].startswith("| 企业类型")


def test_two_tables_keep_their_own_headers() -> None:
    text = "甲表\n" + HEAD + _rows(30) + "\n乙表\n| 地区 | 税额 |\n" + _rows(30)
    headers = [header.split("\n")[0] for _, header in _pieces(text)]
    assert [h for n, h in enumerate(headers) if h != headers[n - 1] or n == 0] == [
        *("", "甲表"),
        *("", "乙表"),
    ]


def test_text_without_a_table_is_packed_as_ever() -> None:
    assert _pieces("一段话。\n|不是表格\n又一段话。") == [("一段话。\n|不是表格\n又一段话。", "")]


def test_rows_that_stand_for_themselves_are_a_passage_each_with_the_header() -> None:
    text = (
        "渔船补贴标准表\n单位：万元\n" + HEAD + _rows(3) + "注：表中金额含税，由受理窗口负责解释。"
    )
    found = pack_with_tables(text, 0, len(text), rows_apart=True)
    assert [text[p.start : p.end].count("类企业") for p in found] == [1, 1, 1]
    assert text[found[0].start : found[0].end].startswith("渔船补贴标准表\n单位：万元\n| 企业类型")
    assert [p.header for p in found] == [
        "",
        *["渔船补贴标准表\n单位：万元\n| 企业类型 | 补贴标准 |\n| --- | --- |"] * 2,
    ]
    assert text[found[-1].start : found[-1].end].endswith("负责解释。"), "a short remark stays"
