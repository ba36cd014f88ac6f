"""What a model writes is held against the passages it cites. All rules are 虚构示例."""

from __future__ import annotations

from typing import Any

import pytest

from fusion.answer import PolicyAnswer, PolicyStream
from fusion.named_titles import invented_titles
from fusion.nodes import RankedPassage, RetrievalResult
from fusion.serialize import answer_json
from fusion.synthesizer import PolicySynthesizer
from fusion.verification import resolving, verify
from indexes.schema import Passage
from tests.fusion.fake_llms import ScriptedLLM
from tests.fusion.fake_sources import FISCAL, LAW, LOCAL, passage

QUESTION = "我工作3年，购买新能源车每辆补贴多少"
ITEMS = tuple(RankedPassage(p, 0.9) for p in (LOCAL[0], LAW[0], FISCAL[0]))


def verdicts(text: str, items: tuple[RankedPassage, ...] = ITEMS) -> list[str]:
    return [sentence.verdict for sentence in verify(text, items, QUESTION).sentences]


def answer(*pieces: str, passages: tuple[Passage, ...] = (LOCAL[0], LAW[0])) -> PolicyAnswer:
    items = tuple(RankedPassage(p, 0.9) for p in passages)
    found = RetrievalResult(QUESTION, items, ())
    made = PolicySynthesizer(llm=ScriptedLLM(pieces=pieces)).answer(found)
    assert isinstance(made, PolicyAnswer)
    return made


@pytest.mark.parametrize(
    "text",
    [
        "每辆补贴10000元。[1]",
        "自2024年1月1日起每辆补贴1万元，2025年起失效。[1]",
        "依照第三条，每辆补贴一万元。[1]",
        "每满1年支付1个月工资。[2]",
        "工作3年的，按年限支付。[2]",
        "每辆补贴1万元，每满一年支付一个月工资。[1][2]",
        "示财税〔2023〕1号规定免征增值税。[3]",
    ],
)
def test_what_the_cited_passage_or_its_source_line_says_is_verified(text: str) -> None:
    assert verdicts(text) == ["verified"]


@pytest.mark.parametrize(
    "text",
    [
        "每辆补贴2万元。[1]",
        "每满一年支付(9)个月工资。[2]",
        "每辆补贴一万元。[2]",
        "自2024年2月1日起每辆补贴一万元。[1]",
        "依照第四条，每辆补贴一万元。[1]",
        "每辆补贴13%。[1]",
        "示财税〔2023〕2号规定免征增值税。[3]",
        "每辆补贴三万元。",
    ],
)
def test_a_number_date_or_article_of_no_cited_passage_is_unsupported(text: str) -> None:
    assert verdicts(text) == ["unsupported"]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("按《示例伪造法》每辆补贴一万元。[1]", "unsupported"),
        ("《中华人民共和国{title}》规定每辆补贴一万元。[1]", "verified"),
        ("《{title}（2024年修正）》规定每辆补贴一万元。[1]", "verified"),
        ("《{title}》规定每辆补贴一万元。[2]", "unsupported"),
    ],
)
def test_a_document_that_the_sources_do_not_name_is_unsupported(text: str, verdict: str) -> None:
    assert verdicts(text.format(title=LOCAL[0].metadata.title)) == [verdict]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("请登录https://www.shili.gov.cn/sb?id=3查询。[1]", "verified"),
        ("请登录www.shili.gov.cn查询，电话010-12345678。[1]", "verified"),
        ("材料发至sl@shili.gov.cn。[1]", "verified"),
        ("请登录https://www.shili.gov.cn/sb?id=4查询。[1]", "unsupported"),
        ("请登录www.chengxu-shili.com查询。[1]", "unsupported"),
        ("请登录[官网](http://shili.example.com/a)查询。[1]", "unsupported"),
        ("请登录www.chengxu-shili.com查询。", "unsupported"),
        ("材料发至other@shili.gov.cn。[1]", "unsupported"),
        ("电话010-12345670。[1]", "unsupported"),
    ],
)
def test_an_address_or_telephone_number_must_stand_in_the_cited_passage(
    text: str, verdict: str
) -> None:
    told = "请登录 http://www.shili.gov.cn/sb?id=3 查询，电话（010）12345678，邮箱sl@shili.gov.cn"
    items = (RankedPassage(passage("local", "示例通知", "", told), 0.9),)
    assert verdicts(text, items) == [verdict]


SOURCE = "来源：《示例劳动合同法》（2012-12-28起施行）\n第三条 依照示例工会法办理。"


@pytest.mark.parametrize(
    ("title", "invented"),
    [
        ("示例劳动合同法", False),
        ("示例劳合法", False),  # an abbreviation
        ("示例劳动合同法（2012年修正）", False),
        ("示例工会法", False),  # named without title marks
        ("劳动合同法", True),  # only the end of another name
        ("示例劳动合同法实施条例", True),
        ("示例保障法", True),
        ("旧示例劳合法", True),
    ],
)
def test_titles_may_be_short_but_not_of_another_document(title: str, invented: bool) -> None:
    found = invented_titles(f"依《{title}》办理。", [SOURCE])
    assert found == ({title} if invented else frozenset())


def test_headings_and_connectives_need_no_marker_and_statements_do() -> None:
    text = "## 补贴\n根据上述规定：\n每辆补贴一万元。[1]\n个人可以申请补贴。"
    assert verdicts(text) == ["lead", "lead", "verified", "lead", "uncited"]


def test_the_sentences_together_are_the_text() -> None:
    text = "甲：\n每辆补贴一万元[1]。每满一年，支付一个月工资。[2]\n\n完"
    assert "".join(s.text for s in verify(text, ITEMS, QUESTION).sentences) == text


def test_an_unsupported_sentence_is_left_out_and_the_answer_says_so() -> None:
    made = answer("每辆补贴一万元。[1]", "每人限购五辆。[1]")
    assert str(made) == (
        "每辆补贴一万元。[1]\n注意：略去1句，其中的数字、日期、条号、文件名或联系方式在所引资料中没有。"
    )
    assert made.trace["synthesis"]["dropped_sentences"] == ["每人限购五辆。[1]"]
    assert made.unverified == ()
    assert [c.marker for c in made.citations] == [1]


def test_where_nothing_is_left_excerpts_stand_in_its_place() -> None:
    made = answer("每辆补贴五万元。[1]")
    assert "五万" not in str(made)
    assert "注意：语言模型的回答与所引资料不符，以下为检索到的原文摘录。" in str(made)
    assert f"{LOCAL[0].content}[1]" in str(made)


def test_a_sentence_without_a_marker_stays_and_is_listed() -> None:
    made = answer("每辆补贴一万元。[1]个人可以向商务部门申请。")
    assert str(made) == "每辆补贴一万元。[1]个人可以向商务部门申请。"
    assert made.unverified == ("个人可以向商务部门申请。",)
    assert answer_json(made)["unverified"] == ["个人可以向商务部门申请。"]
    assert made.trace["synthesis"]["uncited_sentences"] == 1


def test_in_a_stream_the_sentence_is_shown_already_and_disowned_at_the_end() -> None:
    found = RetrievalResult(QUESTION, ITEMS, ())
    model = ScriptedLLM(pieces=("每辆补贴", "五万元。[", "1]每满一年支付一个月工资。[2]"))
    made = PolicySynthesizer(llm=model).answer(found, streaming=True)
    assert isinstance(made, PolicyStream)
    assert made.unverified == ()
    text = "".join(made.response_gen)
    assert text.startswith("每辆补贴五万元。[1]每满一年支付一个月工资。[2]\n注意：下列句子")
    assert text.endswith("请勿采信：\n- 每辆补贴五万元。[1]")
    assert made.unverified == ("每辆补贴五万元。[1]",)
    assert made.trace["synthesis"]["unsupported_sentences"] == 1


@pytest.mark.parametrize("pieces", [(), ("每辆补贴一万元。[1][2]",)])
def test_every_quote_stands_verbatim_in_the_passage_of_its_marker(pieces: tuple[str, ...]) -> None:
    made = answer(*pieces)
    assert made.citations
    for citation in made.citations:
        node = made.source_nodes[citation.marker - 1]
        assert citation.id == node.node_id
        assert node.node.get_content()[citation.start : citation.end] == citation.quote


def test_an_extracted_answer_passes_unchanged() -> None:
    items = tuple(RankedPassage(p, 0.9) for p in (LOCAL[0], LAW[0]))
    made: Any = PolicySynthesizer().answer(RetrievalResult(QUESTION, items, ()))
    assert made.unverified == ()
    assert set(verdicts(str(made), items)) == {"verified"}


def test_a_citation_that_does_not_resolve_falls_away() -> None:
    (good, *_) = answer("每辆补贴一万元。[1]").citations
    items = (RankedPassage(LOCAL[0], 0.9),)
    other = passage("local", "另一办法（虚构示例）", "3", LOCAL[0].content)
    assert resolving((good,), items) == (good,)
    assert resolving((good,), (RankedPassage(other, 0.9),)) == ()
    assert resolving((good,), ()) == ()
    changed = Passage(good.id, "local", "每" + LOCAL[0].content, LOCAL[0].metadata)
    assert resolving((good,), (RankedPassage(changed, 0.9),)) == ()
