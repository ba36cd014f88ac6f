"""A part of a long table is read, prompted and quoted with the header that it lacks (虚构示例)."""

from __future__ import annotations

from fusion.nodes import RankedPassage, from_node, to_node
from fusion.prompts import pack
from fusion.wording import excerpts
from indexes.schema import Passage, PassageMetadata

HEADER = "单位：万元\n| 企业类型 | 补贴标准 |\n| --- | --- |"
ROWS = "| 远洋渔船 | 三十 |\n| 近海渔船 | 二十 |"
ITEM = RankedPassage(
    Passage(
        "fiscal:渔船补贴办法@2020-01-01#s3",
        "fiscal",
        ROWS,
        PassageMetadata("渔船补贴办法（虚构示例）", "a.md", table_header=HEADER),
    ),
    1.0,
)


def test_the_embedded_text_has_the_header_and_the_content_stays_verbatim() -> None:
    assert ITEM.passage.embedding_text() == f"渔船补贴办法（虚构示例）\n{HEADER}\n{ROWS}"
    assert ITEM.passage.content == ROWS


def test_a_prompt_shows_the_header_above_the_rows() -> None:
    assert f"{HEADER}\n{ROWS}" in pack([ITEM], 10_000, len).context


def test_an_excerpt_of_rows_shows_the_header_and_cites_the_rows_alone() -> None:
    text, (citation,) = excerpts("近海渔船补贴多少", [ITEM], 3)
    assert f"：\n{HEADER}\n{ROWS}" in text
    assert citation.quote == ROWS


def test_a_node_keeps_the_header_and_other_passages_have_no_such_key() -> None:
    assert from_node(to_node(ITEM)).passage == ITEM.passage
    assert "table_header" not in PassageMetadata("甲", "a.md").to_flat()
