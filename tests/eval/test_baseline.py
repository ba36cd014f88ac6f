"""The BM25 peer and the paired comparison with it."""

from __future__ import annotations

from collections import Counter
from math import log

import pytest

from configs.errors import InputError
from eval.adapters import Retrieved
from eval.baseline import Bm25Baseline, plain_tokens
from eval.compare import compare, comparison_table, main
from eval.datasets import Gold, Question
from indexes.schema import Passage, PassageMetadata

pytest.importorskip("bm25s", reason="the extra 'eval' is not installed")

TEXTS = {
    "1": "虚构示例：申请人应当提交书面材料。",
    "2": "虚构示例：逾期缴纳的，每日加收滞纳金，滞纳金不超过本金。",
    "3": "虚构示例：本办法自公布之日起施行。",
}


def passage(article: str) -> Passage:
    metadata = PassageMetadata(title="示例办法", file="示例办法.md", article=article)
    return Passage(f"law:示例办法@1#a{article}", "law", TEXTS[article], metadata)


def question(key: str, query: str, *articles: str) -> Question:
    gold = tuple(Gold(title="示例办法", article=article) for article in articles)
    return Question(id=key, key=key, query=query, gold=gold, file="demo.jsonl")


@pytest.fixture(scope="module")
def baseline() -> Bm25Baseline:
    return Bm25Baseline(passage(article) for article in TEXTS)


def test_tokens_are_words_and_bigrams_without_punctuation() -> None:
    # 公务员 is one word of jieba's dictionary; no bigram spans the comma.
    tokens = plain_tokens("公务员，缴纳 5%")
    assert Counter(tokens) == {"公务员": 1, "缴纳": 2, "5%": 1, "公务": 1, "务员": 1}


def lucene_bm25(query: list[str], texts: list[list[str]]) -> list[float]:
    """The textbook formula of Lucene's BM25 without the constant factor k1 + 1."""
    average = sum(map(len, texts)) / len(texts)
    scores = []
    for tokens in texts:
        total = 0.0
        for token in query:
            holders = sum(token in other for other in texts)
            weight = log(1 + (len(texts) - holders + 0.5) / (holders + 0.5))
            count = tokens.count(token)
            total += weight * count / (count + 1.5 * (1 - 0.75 + 0.75 * len(tokens) / average))
        scores.append(total)
    return scores


def test_the_order_is_that_of_lucenes_formula(baseline: Bm25Baseline) -> None:
    query = "逾期缴纳申请材料怎么办"
    texts = [plain_tokens(f"示例办法\n{text}") for text in TEXTS.values()]
    scores = lucene_bm25(plain_tokens(query), texts)
    ranked = sorted(zip(scores, TEXTS, strict=True), reverse=True)
    expected = [article for value, article in ranked if value > 0]
    found = baseline.search(query, 10)
    assert [p.metadata.article for p in found] == expected
    assert len(expected) == 2


def test_a_query_without_known_words_finds_nothing(baseline: Bm25Baseline) -> None:
    assert baseline.search("quantum 量子纠缠", 10) == ()
    assert baseline.search("", 10) == ()


def test_no_more_than_asked_for_is_found(baseline: Bm25Baseline) -> None:
    assert len(baseline.search("虚构示例", 2)) == 2


def test_no_passages_are_an_input_error() -> None:
    with pytest.raises(InputError, match="no passages"):
        Bm25Baseline([])


def test_the_comparison_pairs_questions_and_leaves_out_unanswerable_ones(
    baseline: Bm25Baseline,
) -> None:
    asked = [
        question("a", "滞纳金", "2"),
        question("b", "书面材料", "1"),
        question("none", "天气"),
    ]

    def second_best(wanted: Question, count: int) -> Retrieved:
        right = wanted.gold[0].article if wanted.gold else None
        wrong = next(article for article in TEXTS if article != right)
        return Retrieved((passage(wrong), *([passage(right)] if right else [])))

    comparison = compare(asked, second_best, baseline)
    assert (comparison.queries, comparison.incomplete) == (2, 0)
    mrr = comparison.results["mrr"]
    assert (mrr.first, mrr.second) == (0.5, 1.0)
    assert (mrr.difference.low, mrr.difference.mean, mrr.difference.high) == (-0.5, -0.5, -0.5)


def test_the_comparison_says_how_often_a_domain_was_missing(baseline: Bm25Baseline) -> None:
    def half(wanted: Question, count: int) -> Retrieved:
        return Retrieved((), ("local",) if wanted.key == "a" else ())

    asked = [question("a", "滞纳金", "2"), question("b", "书面材料", "1")]
    comparison = compare(asked, half, baseline)
    assert comparison.incomplete == 1
    assert "1 of them not answered by all domains" in str(comparison_table(comparison).title)


def test_a_comparison_without_answerable_questions_is_an_input_error(
    baseline: Bm25Baseline,
) -> None:
    with pytest.raises(InputError, match="no question"):
        compare([question("none", "天气")], baseline, baseline)


def test_the_command_ends_with_one_line_when_the_questions_are_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--questions", "no-such-file.jsonl"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: no-such-file.jsonl: cannot be read")
    assert error.count("\n") == 1
