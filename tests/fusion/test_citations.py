"""Markers: rewritten, invented ones removed, each tied to words of its passage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusion.citations import MarkerFilter, cite_answer
from fusion.nodes import RankedPassage
from tests.fusion.fake_sources import passage


def filtered(text: str, passages: int = 3, size: int = 1000) -> tuple[str, int]:
    markers = MarkerFilter(passages)
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    return "".join(map(markers.feed, pieces)) + markers.flush(), markers.invented


@pytest.mark.parametrize(
    ("given_text", "shown", "invented"),
    [
        ("每辆一万元。[1]", "每辆一万元。[1]", 0),
        ("每辆一万元[9]。", "每辆一万元。", 1),
        ("依据【2】和［3］。", "依据[2]和[3]。", 0),
        ("依据[1, 2、7]。", "依据[1][2]。", 1),
        ("依据[1-3]。", "依据[1][2][3]。", 0),
        ("依据[0]。", "依据。", 1),
        ("示财税[2016]36号[1]", "示财税[2016]36号[1]", 0),
        ("没写完[1", "没写完[1", 0),
        ("数组 a[i] 与 [附件]", "数组 a[i] 与 [附件]", 0),
    ],
)
def test_markers(given_text: str, shown: str, invented: int) -> None:
    assert filtered(given_text) == (shown, invented)


@given(st.text(alphabet="[]【】123，,- 税。", max_size=60), st.integers(1, 7))
def test_pieces_of_any_size_give_the_same_text_as_the_whole(text: str, size: int) -> None:
    assert filtered(text, size=size) == filtered(text)


def test_a_citation_quotes_the_words_that_its_sentence_is_nearest_to() -> None:
    content = "甲方支付租金。乙方负责维修。"
    items = [RankedPassage(passage("law", "租赁规则（虚构示例）", "7", content), 0.5)]
    (found,) = cite_answer("维修由乙方负责。[1]另有约定的除外。", items)
    assert found.quote == "乙方负责维修。"
    assert content[found.start : found.end] == found.quote
    assert (found.marker, found.article, found.domain) == (1, "7", "law")
    assert found.file == "租赁规则（虚构示例）.md"


def test_a_marker_before_the_full_stop_belongs_to_its_sentence() -> None:
    content = "甲方支付租金。乙方负责维修。"
    items = [RankedPassage(passage("law", "甲", "7", content), 0.5)] * 2
    found = cite_answer("租金由甲方支付[1]。维修由乙方负责[2]。", items)
    assert [c.quote for c in found] == ["甲方支付租金。", "乙方负责维修。"]
