"""Only what an answer cites is a marker in it, whatever titles and questions hold. 虚构示例."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from fusion.citations import cite
from fusion.hierarchy import conflict_note, rank_note
from fusion.markers import without_markers
from fusion.nodes import RankedPassage
from fusion.resolved import ResolvedReference
from fusion.version_notes import OtherVersion, Successor, version_block
from fusion.wording import missing_note, reference_notes
from indexes.schema import Passage
from tests.fusion.fake_sources import LAW, LOCAL

HOSTILE = "示例[1]办法【2】之［3-4］"
MARKER = re.compile(r"\[\d[\d,\- ]*\]|【\d+】|［\d")


def hostile(passage: Passage, level: str, content: str) -> RankedPassage:
    meta = replace(passage.metadata, title=HOSTILE, level=level)
    return RankedPassage(replace(passage, content=content, metadata=meta), 0.9)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("甲[1]乙", "甲〔1〕乙"), ("【2】", "〔2〕"), ("示财税[2016]36号", "示财税[2016]36号")],
)
def test_what_looks_like_a_marker_gets_other_brackets(text: str, shown: str) -> None:
    assert without_markers(text) == shown


def test_notes_on_missing_and_other_documents_hold_no_markers() -> None:
    gone = ResolvedReference("x", HOSTILE, "3", missing="document", successor=HOSTILE)
    passage = hostile(LAW[0], "法律", "第一条 见[5]。").passage
    old = OtherVersion(passage, "repealed", Successor("law", "k", HOSTILE, "2024-01-01", False))
    for text in (*reference_notes([gone]), missing_note([HOSTILE]), version_block([old])):
        assert text
        assert not MARKER.search(text)


def test_remarks_on_ranks_and_conflicts_hold_only_the_markers_of_the_answer() -> None:
    one = hostile(LAW[0], "法律", "养鱼登记费每年一百元。")
    two = hostile(LOCAL[0], "地方性法规", "养鱼登记费每年八十元。")
    cited = [(cite(n, item, 0, 11), item) for n, item in ((7, one), (8, two))]
    for text in (rank_note(cited), conflict_note("养鱼登记费每年多少", cited)):
        assert text is not None
        assert set(MARKER.findall(text)) == {"[7]", "[8]"}
