"""Citations, abstention, cited sentences, key points of whole answers."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from configs.errors import InputError, SourceUnavailableError
from eval.answers import AnswerReport, measure_answers
from eval.datasets import Question
from fusion.answer import PolicyAnswer
from fusion.citations import cite
from fusion.nodes import RankedPassage, to_node
from indexes.schema import Passage, PassageMetadata
from tests.eval.evaluations import question

TITLE = "law办法（虚构示例）"


def item(article: str, content: str) -> RankedPassage:
    metadata = PassageMetadata(title=TITLE, file="law.md", article=article)
    return RankedPassage(Passage(f"law:{article}", "law", content, metadata), 0.9)


RULES = [item("1", "补贴八千元。一次发放。"), item("2", "逾期不予受理。")]


def answer(text: str, *markers: int, sufficient: bool = True) -> PolicyAnswer:
    citations = tuple(cite(n, RULES[n - 1], 0, len(RULES[n - 1].passage.content)) for n in markers)
    return PolicyAnswer(
        response=text,
        source_nodes=[to_node(rule) for rule in RULES],
        citations=citations,
        sufficient=sufficient,
        confidence=0.8 if sufficient else 0.1,
    )


class FakeEngine:
    """Gives the answers by question; None: no domain could be asked."""

    def __init__(self, **answers: PolicyAnswer | None) -> None:
        self.answers = answers
        self.calls: list[dict[str, Any]] = []

    def query(self, str_or_query_bundle: str, **options: Any) -> PolicyAnswer:
        self.calls.append(options)
        found = self.answers[str_or_query_bundle]
        if found is None:
            raise SourceUnavailableError("every domain is down; try again")
        return found


def asked(key: str, *domains: str, **more: Any) -> Question:
    return question(key, *domains, query=key, **more)


def measure(engine: FakeEngine, *questions: Question) -> AnswerReport:
    return measure_answers(questions, engine, clock=iter(range(100)).__next__)


def test_citations_are_held_against_the_gold_articles() -> None:
    engine = FakeEngine(
        both=answer("补贴八千元。[1]逾期不予受理。[2]", 1, 2), wrong=answer("逾期不予受理。[2]", 2)
    )
    found = measure(engine, asked("both", "law"), asked("wrong", "law"))
    both, wrong = found.scores["both"], found.scores["wrong"]
    assert (both.precision, both.recall) == (0.5, 1.0)
    assert (wrong.precision, wrong.recall) == (0.0, 0.0)
    assert found.citation_precision is not None
    assert found.citation_precision.mean == 0.25
    assert found.citation_recall is not None
    assert found.citation_recall.mean == 0.5


def test_abstention_is_right_where_the_gold_is_empty() -> None:
    said, declined = answer("补贴八千元。[1]", 1), answer("资料不足：没有。", sufficient=False)
    engine = FakeEngine(a=said, b=declined, c=declined, d=declined, e=said)
    questions = (asked("a", "law"), asked("b", "law"), asked("c"), asked("d"), asked("e"))
    found = measure(engine, *questions)
    counts = found.abstention
    assert (counts.declined_unanswerable, counts.declined_answerable) == (2, 1)
    assert (counts.answered_unanswerable, counts.answered_answerable) == (1, 1)
    assert counts.precision == pytest.approx(2 / 3)
    assert counts.recall == pytest.approx(2 / 3)
    assert counts.f1 == pytest.approx(2 / 3)
    assert [q.key for q in found.wrongly_answered] == ["b", "e"]
    assert found.rightly_answered("c") is True
    assert found.rightly_answered("not asked") is None


def test_without_unanswerable_questions_there_is_no_recall_of_abstention() -> None:
    engine = FakeEngine(a=answer("资料不足：没有。", sufficient=False))
    counts = measure(engine, asked("a", "law")).abstention
    assert (counts.precision, counts.recall, counts.f1) == (0.0, None, None)


def test_what_a_declined_answer_shows_is_neither_cited_nor_said() -> None:
    engine = FakeEngine(a=answer("资料不足：没有。\n补贴八千元。[1]", 1, sufficient=False))
    found = measure(engine, asked("a", "law", key_points=("8000元",)))
    score = found.scores["a"]
    assert (score.precision, score.recall, score.statements) == (None, 0.0, 0)
    assert (score.key_points, score.covered) == (1, 0)
    assert found.citation_precision is None


def test_a_quotation_of_two_sentences_is_cited_by_the_marker_at_its_end() -> None:
    text = f"《{TITLE}》第1条：补贴八千元。一次发放。[1]"
    found = measure(FakeEngine(a=answer(text, 1)), asked("a", "law")).scores["a"]
    assert (found.statements, found.cited) == (2, 2)


def test_a_sentence_of_ones_own_without_a_marker_is_not_cited() -> None:
    text = "补贴八千元。[1]\n逾期也可以补办手续。\n注意：某来源超时，以下回答可能不完整。"
    found = measure(FakeEngine(a=answer(text, 1)), asked("a", "law"))
    assert (found.scores["a"].statements, found.scores["a"].cited) == (2, 1)
    assert found.fully_cited is not None
    assert found.fully_cited.mean == 0.0
    assert found.cited_sentences == 0.5


def test_key_points_are_looked_for_in_the_answer() -> None:
    engine = FakeEngine(a=answer("补贴八千元。[1]", 1))
    found = measure(engine, asked("a", "law", key_points=("8000元", "分期发放")))
    assert found.key_points is not None
    assert found.key_points.mean == 0.5


def test_day_and_place_are_passed_on_and_a_missing_source_counts_as_declined() -> None:
    engine = FakeEngine(a=None)
    found = measure(engine, asked("a", "law", as_of=date(2020, 5, 1), jurisdiction="上海市"))
    assert engine.calls == [{"as_of": date(2020, 5, 1), "jurisdiction": "上海市", "mode": None}]
    assert found.unavailable == 1
    assert found.abstention.declined_answerable == 1
    assert found.latency_p50_ms == 1000.0


def test_no_questions_are_an_input_error() -> None:
    with pytest.raises(InputError, match="no questions"):
        measure(FakeEngine())
