"""A passage of a doubtful place is not cited without a word. All texts are 虚构示例."""

from __future__ import annotations

from fusion.nodes import RankedPassage, RetrievalResult
from fusion.place_notes import place_notes
from fusion.question_place import read_question_place
from fusion.synthesizer import PolicySynthesizer
from indexes.schema import Passage, PassageMetadata

QUESTION = "海淀养犬要办什么证"


def notice(id: str, place: str, code: str) -> Passage:
    meta = PassageMetadata(
        "养犬登记解读（虚构示例）", "a.md", jurisdiction=place, jurisdiction_code=code
    )
    return Passage(id, "local", "养犬要办理养犬登记证。", meta)


OTHER = notice("local:o@1#s1", "广东省", "440000")
OWN = notice("local:d@1#s1", "海淀区", "110108")
SUPERIOR = notice("local:b@1#s1", "北京市", "110000")
NATIONAL = notice("local:n@1#s1", "全国", "100000")
UNKNOWN = notice("local:u@1#s1", "", "")


def test_only_a_passage_marked_with_another_place_is_told_of() -> None:
    placed = read_question_place(QUESTION)
    notes = place_notes(placed, (OTHER, OWN, SUPERIOR, NATIONAL, UNKNOWN))
    assert dict(notes) == {
        OTHER.id: "注意：《养犬登记解读（虚构示例）》标注的地区是广东省，"
        "不是海淀区，请核对其是否适用。"
    }


def test_a_question_without_a_place_leads_to_no_note() -> None:
    assert place_notes(read_question_place("养犬要办什么证"), (OTHER, OWN)) == {}


def test_the_answer_says_so_beside_the_citation_and_only_then() -> None:
    for passage, told in ((OTHER, True), (OWN, False)):
        notes = place_notes(read_question_place(QUESTION), (passage,))
        found = RetrievalResult(QUESTION, (RankedPassage(passage, 0.9),), (), place_notes=notes)
        answer = PolicySynthesizer().answer(found)
        assert [c.id for c in answer.citations] == [passage.id]
        assert ("标注的地区是广东省" in str(answer)) == told
