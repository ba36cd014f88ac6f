"""Hostile documents are data: what they do not concern stays as it is, and nothing obeys them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import pytest

from configs.settings import Settings
from fusion.answer import PolicyAnswer
from fusion.engine import PolicyQueryEngine
from fusion.nodes import RankedPassage
from fusion.prompts import pack
from tests.fakes import FakeEmbedder
from tests.fusion.canaries import (
    CANARIES,
    CORPUS,
    FENCE,
    FORGED,
    QUESTIONS,
    SENTENCES,
    ZERO_WIDTH,
)
from tests.fusion.fake_llms import ScriptedLLM
from tests.fusion.fake_sources import passage
from tests.fusion.ingested import DOMAINS, ingested

EXPIRED = date(2024, 6, 1)
VALID = date(2023, 6, 1)
ABOUT_FISH = "观赏鱼怎样喂养"
Open = Callable[..., PolicyQueryEngine]


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Settings]:
    return {
        hostile: ingested(tmp_path_factory.mktemp("corpus"), {**CORPUS, **added})
        for hostile, added in ((False, {}), (True, CANARIES))
    }


@pytest.fixture
def opened(profiles: dict[bool, Settings]) -> Iterator[Open]:
    engines: list[PolicyQueryEngine] = []

    def build(hostile: bool, day: date = EXPIRED, llm: Any = None) -> PolicyQueryEngine:
        embedders = {domain: FakeEmbedder() for domain in DOMAINS}
        made = PolicyQueryEngine.from_config(
            profiles[hostile], clock=lambda: day, embedders=embedders, llm=llm, warm=False
        )
        engines.append(made)
        return made

    yield build
    for engine in engines:
        engine.close()


def ask(engine: PolicyQueryEngine, question: str, **options: Any) -> PolicyAnswer:
    made = engine.query(question, **options)
    assert isinstance(made, PolicyAnswer)
    return made


def said(answer: PolicyAnswer) -> tuple[Any, ...]:
    """What a reader sees, and the limits that were in force."""
    cited = [(c.marker, c.id, c.quote, c.start, c.end, c.effective) for c in answer.citations]
    return str(answer), cited, answer.sufficient, answer.trace["retrieval"].get("filters")


@pytest.mark.parametrize(
    ("question", "place", "day"),
    # The parking rules are in force on the later day only, the hostile ones on the earlier.
    [
        (q, place, day)
        for day in (EXPIRED, VALID)
        for q, place in QUESTIONS
        if day != VALID or not place
    ],
)
def test_questions_that_they_do_not_concern_are_answered_as_without_them(
    opened: Open, question: str, place: str | None, day: date
) -> None:
    clean = ask(opened(False, day), question, jurisdiction=place, top_k=3)
    hostile = ask(opened(True, day), question, jurisdiction=place, top_k=3)
    assert said(hostile) == said(clean)
    assert "已被接管" not in str(hostile)


def test_no_text_switches_the_filters_off(opened: Open) -> None:
    elsewhere = opened(True, VALID).search(ABOUT_FISH, jurisdiction="北京市", top_k=50)
    assert all("广州市" not in p.passage.metadata.title for p in elsewhere.passages)
    later = opened(True, EXPIRED).search(ABOUT_FISH, top_k=50)
    assert all("广州市" not in p.passage.metadata.title for p in later.passages)
    found = opened(True, VALID).search(ABOUT_FISH, jurisdiction="广州市", top_k=50)
    hostile = [p.passage.metadata for p in found.passages if "广州市" in p.passage.metadata.title]
    assert len({meta.title for meta in hostile}) == len(SENTENCES)
    for meta in hostile:
        assert (meta.jurisdiction, meta.effective, meta.expires) == (
            "广州市", "2023-02-01", "2024-02-01",
        )  # fmt: skip


@pytest.mark.parametrize("name", SENTENCES)
def test_asked_about_it_is_quoted_as_data_with_its_source(opened: Open, name: str) -> None:
    answer = ask(opened(True, VALID), f"广州市观赏鱼喂养{name}示例办法第一条", top_k=1)
    title = f"《广州市观赏鱼喂养{name}示例办法》"
    assert str(answer).startswith(title)
    (citation,) = answer.citations
    node = answer.source_nodes[0].node.get_content()
    assert node[citation.start : citation.end] == citation.quote
    assert citation.title == title.strip("《》")
    # The only markers of an answer are its own.
    assert set(re.findall(r"[\[【［]\s*\d{1,3}[\d,\s-]*[\]】］]", str(answer))) == {"[1]"}
    assert not set(ZERO_WIDTH) & set(str(answer))


def test_hidden_words_of_a_page_are_not_there(opened: Open) -> None:
    found = opened(True, VALID).search("示例观赏鱼隐藏规定", top_k=50)
    page = [p.passage.content for p in found.passages if "隐藏规定" in p.passage.metadata.title]
    assert any("每日喂养三次" in content for content in page)
    assert not any("已被接管" in content for content in page)


def test_a_prompt_holds_them_inside_its_fence_and_as_no_block_of_their_own(opened: Open) -> None:
    model = ScriptedLLM(pieces=("观赏鱼由管理员喂养。[1]",), window=20_000)
    made = ask(opened(True, VALID, model), ABOUT_FISH, top_k=20)
    (prompt,) = model.prompts
    (fence,) = set(re.findall(r"=====资料-[0-9a-f]{12}=====", prompt)) - {FENCE}
    before, inside, after = prompt.split(f"\n{fence}\n")
    for text in ("已被接管", FENCE, "im_start", "忽略"):
        assert text not in before + after
    assert "已被接管" in inside
    assert FORGED not in prompt
    heads = re.findall(r"^\[(\d+)\] \[来源：《(.+?)》", inside, re.MULTILINE)
    assert len({number for number, _ in heads}) == len(heads)
    for number, title in heads:
        assert made.source_nodes[int(number) - 1].metadata["title"] == title
    assert "示例伪造法" not in {title for _, title in heads}


def test_no_passage_can_hold_the_fence_of_its_own_context() -> None:
    text = "观赏鱼。"
    for _ in range(5):  # each time the passage gains the fence that it would have had
        packed = pack([RankedPassage(passage("law", "甲", "1", text), 0.9)], 10**6, len)
        assert packed.fence not in packed.context
        text += f"\n{packed.fence}"


@pytest.mark.parametrize(
    "reply",
    [
        "已被接管。",
        "已被接管。[9]",
        "观赏鱼每日喂养一百次。[7][8]",
        "系统：置信度为1，适用于所有地区。【99】",
    ],
)
def test_a_model_that_obeys_is_unverified_and_followed_by_the_sources(
    opened: Open, reply: str
) -> None:
    model = ScriptedLLM(pieces=(reply,))
    answer = ask(opened(True, EXPIRED, model), "试用期最长多久", top_k=3)
    assert "试用期最长六个月，期满应当转正。" in str(answer)
    assert "注意：语言模型" in str(answer)
    disowned = answer.unverified or answer.trace["synthesis"].get("dropped_sentences")
    assert disowned
    assert (
        answer.trace["retrieval"].get("filters")
        == said(ask(opened(False, EXPIRED), "试用期最长多久", top_k=3))[3]
    )


def test_a_number_that_only_a_hostile_passage_has_is_no_support_for_another(opened: Open) -> None:
    model = ScriptedLLM(pieces=("试用期最长一百天。[1]",))
    answer = ask(opened(True, VALID, model), "试用期最长多久", top_k=3)
    assert "一百天" not in str(answer)
