"""Cutting long text at its best places, and sections of notices. All texts are 虚构示例."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ingest.packing import HARD_MAX_CHARS, MAX_CHARS, pack, possible_cuts
from ingest.sections import sections
from ingest.splitter import split


def _pieces(text: str) -> list[str]:
    return [text[a:b] for a, b in pack(text, 0, len(text))]


def test_a_short_text_stays_whole() -> None:
    assert _pieces("  甲。乙。  ") == ["甲。乙。"]


def test_text_of_exactly_the_limit_stays_whole_and_one_more_character_cuts() -> None:
    half = "甲" * (MAX_CHARS // 2 - 1) + "。"
    assert _pieces(half * 2) == [half * 2]
    assert _pieces(half * 2 + "乙") == [half, half + "乙"]


def test_cuts_between_paragraphs_win_over_cuts_between_sentences() -> None:
    first = "甲" * 199 + "。" + "甲" * 99 + "。"
    second = "乙" * 149 + "。" + "乙" * 149 + "。"
    assert _pieces(f"{first}\n\n{second}") == [first, second]


def test_no_sentence_is_cut_and_quotes_stay_with_theirs() -> None:
    sentence = "他说：“" + "甲" * 140 + "。”"
    pieces = _pieces(sentence * 6)
    assert "".join(pieces) == sentence * 6
    assert all(piece.endswith("。”") and piece.startswith("他说") for piece in pieces)


def test_a_full_stop_inside_brackets_is_no_place_to_cut() -> None:
    text = "甲（乙。丙）丁。戊。"
    assert sorted(possible_cuts(text, 0, len(text))) == [8]


def test_a_sentence_longer_than_the_limit_stays_whole() -> None:
    long = "甲，" * 300 + "乙。"
    assert long in _pieces("丙。" + long + "丁。")


def test_text_without_any_sentence_end_is_cut_all_the_same() -> None:
    pieces = _pieces("甲" * (HARD_MAX_CHARS * 2 + 10))
    assert [len(piece) for piece in pieces] == [HARD_MAX_CHARS, HARD_MAX_CHARS, 10]


def test_rows_of_tables_stay_whole() -> None:
    row = "| 甲。乙。丙 | " + "丁" * 90 + " |"
    text = "\n".join([row] * 12)
    assert all(line == row for piece in _pieces(text) for line in piece.split("\n"))
    html = "<tr>\n<td>甲。</td>\n<td>" + "乙。" * 60 + "</td>\n</tr>\n"
    for piece in _pieces("<table>\n" + html * 6 + "</table>"):
        assert piece.count("<tr>") == piece.count("</tr>")


@given(st.text(alphabet="甲乙丙一二（）。；：，\n \u3000“”1.、|", max_size=1500))
def test_the_pieces_give_the_text_back(text: str) -> None:
    spans = pack(text, 0, len(text))
    position = 0
    for start, end in spans:
        assert position <= start < end
        assert text[position:start].strip() == ""
        assert end - start <= HARD_MAX_CHARS
        position = end
    assert text[position:].strip() == ""


NOTICE = (
    "各区人民政府： 现就有关事项通知如下： 一、补贴范围 （一）对象。"
    + "在本市缴纳社会保险的职工可以申领。" * 30
    + " （二）条件。"
    + "申请人应当符合示例条件。" * 40
    + " 二、申领程序 1.提出申请。"
    + "向受理窗口提交材料。" * 40
    + " 2.审核。"
    + "窗口应当在二、三日内审核并在1.5小时内告知。" * 25
)


def _titles(text: str) -> list[tuple[str, ...]]:
    return [section.titles for section in sections(text, 0, len(text))]


def test_sections_in_one_long_line_are_cut_at_their_marks() -> None:
    starts = [NOTICE[s.start : s.end][:7] for s in sections(NOTICE, 0, len(NOTICE))]
    assert "一、补贴范围 " in starts
    assert "二、申领程序 " in starts


def test_the_titles_of_the_open_sections_are_the_heading_path() -> None:
    titles = _titles(NOTICE)
    assert titles[0] == ()
    assert ("一、补贴范围", "（二）条件") in titles
    assert ("二、申领程序", "2.审核") in titles
    assert all("三日" not in title for path in titles for title in path)


def test_items_that_count_on_over_sections_keep_their_titles() -> None:
    text = (
        "一、甲部分\n（一）子一。" + "内容。" * 200 + "\n二、乙部分\n（二）子二。" + "内容。" * 200
    )
    assert ("二、乙部分", "（二）子二") in _titles(text)


def test_short_sections_share_a_passage() -> None:
    text = "通知如下：\n" + "\n".join(f"{n}、事项内容很短。" for n in "一二三四五")
    assert len(sections(text, 0, len(text))) == 1


def test_a_comma_is_allowed_in_a_title_on_its_own_line_but_no_sentence_is_a_title() -> None:
    assert _titles("一、落实政策，助力企业\n内容。" + "正文。" * 100)[0] == (
        "一、落实政策，助力企业",
    )
    assert _titles("一、对生产企业，按照规定免征。" + "正文。" * 100)[0] == ()


@given(
    st.lists(
        st.sampled_from(
            [
                *(
                    "第一条 甲。",
                    "第二条 乙。",
                    "第三条规定的情形",
                    "第二条之一 丙。",
                    "# 第一章 总则",
                ),
                *(
                    "## 二、标题",
                    "附件1",
                    "附：",
                    "目录",
                    "（一）甲；",
                    "一、乙",
                    "总则",
                    "正文。",
                    "",
                ),
                *(
                    "| a | b |",
                    "<!-- x -->",
                    "“第九条 引用。",
                    "长" * 600 + "。",
                    "第一条 甲。 第二条 乙。",
                ),
            ]
        ),
        max_size=25,
    ),
    st.sampled_from(["\n", "\n\n", " "]),
)
def test_passages_and_headings_give_any_document_back(lines: list[str], joint: str) -> None:
    text = joint.join(lines)
    spans = split(text)
    position = 0
    for span in spans:
        assert position <= span.start < span.end
        content = text[span.start : span.end]
        assert content == content.strip()
        position = span.end
    assert len({span.locator for span in spans}) == len(spans)
    kept = "".join(text[s.start : s.end] for s in spans)
    # Every word of the text lines is in a passage; only headings may lie outside.
    if joint != " ":  # else a heading of Markdown takes in what follows it on its line
        assert kept.count("正文。") == text.count("正文。")
    assert kept.count("长" * 600) == text.count("长" * 600)
    for run in _runs(spans):
        assert run == sorted(set(run))


def _runs(spans: tuple[object, ...]) -> list[list[tuple[int, int]]]:
    runs: dict[str, list[tuple[int, int]]] = {}
    for span in spans:
        match = re.fullmatch(r"(?:x(\d+)-)?a(\d+)(?:-(\d+))?(?:p(\d+))?", span.locator)  # type: ignore[attr-defined]
        if match and (match[4] in (None, "1")):
            number = (int(match[2]), int(match[3] or 0))
            runs.setdefault(match[1] or "1", []).append(number)
    return list(runs.values())
