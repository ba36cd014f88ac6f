"""Other wordings of a question, and what they cost."""

from __future__ import annotations

import pytest

from configs.errors import InputError
from eval.adapters import Retrieved
from eval.datasets import Question
from eval.perturbation import perturb
from eval.wordings import WORDINGS, reword
from indexes.schema import Passage, PassageMetadata
from tests.eval.evaluations import question


def test_there_are_at_least_five_wordings_and_each_is_repeatable() -> None:
    text = "公司拖欠工资，员工可以要求赔偿3000元吗？"
    assert len(WORDINGS) >= 5
    for wording in WORDINGS:
        assert reword(text, wording, seed=1) == reword(text, wording, seed=1) != text


def test_seeds_choose_among_the_forms() -> None:
    assert len({reword("怎么申请补贴？", "polite", seed=seed) for seed in range(20)}) > 1


def test_polite_frames_the_question() -> None:
    said = reword("怎么申请补贴？", "polite")
    assert "怎么申请补贴？" in said
    assert not said.startswith("怎么")
    assert not said.endswith("？")


def test_colloquial_speaks_as_people_do() -> None:
    said = reword("用人单位拖欠劳动报酬如何处理？", "colloquial")
    assert said.endswith("咋办？")
    assert "拖欠工资" in said


def test_keywords_leaves_out_what_a_search_box_does_not_need() -> None:
    assert reword("请问公积金可以怎么提取？", "keywords") == "公积金 提取"


def test_keywords_of_nothing_but_function_words_stay() -> None:
    assert reword("请问可以吗？", "keywords") == "请问可以吗？"


def test_script_is_traditional_and_wide_without_a_mark() -> None:
    assert reword("补贴领8000元，对吗？", "script") == "補貼領８０００元，對嗎"


def test_slip_changes_one_character_and_no_name_in_quotes() -> None:
    said = reword("《税收征收办法》管哪些费", "slip")
    assert said == "《税收征收办法》管哪些废"


@pytest.mark.parametrize("wording", ["colloquial", "slip"])
def test_a_named_statute_keeps_its_terms(wording: str) -> None:
    assert "处罚" in reword("示例处罚条例第三条规定", wording)


def test_order_puts_the_last_clause_first_and_leaves_single_clauses_alone() -> None:
    assert reword("车退了，税怎么退？", "order") == "税怎么退，车退了？"
    assert reword("税怎么退？", "order") == "税怎么退？"


def passage(article: str) -> Passage:
    metadata = PassageMetadata(title="law办法（虚构示例）", file="law.md", article=article)
    return Passage(f"law:{article}", "law", "虚构示例", metadata)


def strict_search(asked: Question, count: int) -> Retrieved:
    """Right first for the original wording, second for any other."""
    known = asked.query in ("税怎么退？", "车退了，税怎么退？")
    order = ("1", "9") if known else ("9", "1")
    return Retrieved(tuple(map(passage, order)))


def test_the_drop_is_told_per_wording_on_the_questions_that_change() -> None:
    questions = [
        question("a", "law", query="税怎么退？"),
        question("b", "law", query="车退了，税怎么退？"),
        question("none"),
    ]
    found = perturb(questions, strict_search)
    assert (found.queries, found.mrr) == (2, 1.0)
    assert set(found.wordings) == set(WORDINGS)
    polite, order = found.wordings["polite"], found.wordings["order"]
    assert polite.changed == 2
    assert polite.result is not None
    assert polite.result.difference.mean == -0.5
    assert (polite.mrr, order.mrr) == (0.5, 0.75)
    assert order.changed == 1


def test_a_wording_is_searched_once_a_question() -> None:
    asked: list[str] = []

    def search(one: Question, count: int) -> Retrieved:
        asked.append(one.query)
        return strict_search(one, count)

    perturb([question("a", "law", query="税怎么退？")], search)
    own = [text for text in asked if text != "预热"]
    assert sorted(own) == sorted(set(own))


def test_only_unanswerable_questions_are_an_input_error() -> None:
    with pytest.raises(InputError, match="no question has a gold answer"):
        perturb([question("none")], strict_search)
