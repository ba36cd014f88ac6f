"""A rule that carries out a repealed law is not cited without a word. All rules are 虚构示例."""

from __future__ import annotations

from datetime import date

import pytest

from fusion.nodes import RankedPassage, RetrievalResult
from fusion.repealed_basis import basis_notes
from fusion.synthesizer import PolicySynthesizer
from indexes.schema import Passage, PassageMetadata
from indexes.succession import Succession, Version

OLD = "最高法院关于适用《示例旧合同法》若干问题的解释"


def meta(title: str, start: str, end: str | None = None) -> PassageMetadata:
    return PassageMetadata(
        title, f"{title}.md", jurisdiction_code="100000", effective=start, expires=end
    )


CODE = meta("示例法典", "2021-01-01")
RULES = [
    meta(OLD, "2009-05-13"),
    meta("示例省实施《示例活着法》办法", "2010-01-01"),
    meta("关于适用《示例旧合同法》效力过渡的规定", "2021-01-01"),  # made with the repeal
    meta("示例合同通知", "2010-01-01"),
]
KNOWN = Succession(
    [
        Version("law", m.title, f"law:{m.title}@1#a1", m)
        for m in (CODE, meta("示例活着法", "2000-01-01"), *RULES)
    ],
    {("law", "示例法典"): frozenset({"示例旧合同法", "示例活着法"})},
)


@pytest.mark.parametrize(("day", "told"), [("2021-01-01", {OLD}), ("2020-12-31", set())])
def test_only_a_rule_whose_law_is_repealed_on_the_day_is_told_of(day: str, told: set[str]) -> None:
    assert set(basis_notes(KNOWN, RULES, date.fromisoformat(day))) == told


def test_an_answer_that_cites_such_a_rule_says_so() -> None:
    passage = Passage("law:o@1#a1", "law", "第一条 违约金过高的，可以请求减少。", RULES[0])
    found = RetrievalResult(
        "违约金过高可以减少吗",
        (RankedPassage(passage, 0.9),),
        (),
        basis_notes=basis_notes(KNOWN, RULES, date(2024, 6, 1)),
    )
    assert (
        f"注意：《{OLD}》所依据的《示例旧合同法》已由《示例法典》废止（2021-01-01），"
        "请核对其是否仍然有效。"
    ) in str(PolicySynthesizer().answer(found))
