"""The pure parts of the scale benchmark."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.scale import covering, quality, recall, sampled, title_places
from benchmarks.scale_corpus import (
    BLOCK,
    Block,
    Corpus,
    blended,
    blocks,
    copy_id,
    exchanged,
    neighbour_cosines,
)
from benchmarks.scale_report import table
from benchmarks.scale_worker import nearest
from configs.errors import InputError
from eval.datasets import Gold, Question
from indexes.schema import Passage, PassageMetadata

TEXT = "虚构示例：申请人应当提交材料。受理机关应当登记。"


def passage(number: int, title: str = "虚构示例办法") -> Passage:
    metadata = PassageMetadata(title=title, file=f"{title}.md", article=str(number))
    return Passage(f"fiscal:{title}@2024-01-01#a{number}", "fiscal", f"{number}{TEXT}", metadata)


def corpus(count: int = 50, dimension: int = 8) -> Corpus:
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((count, dimension)).astype(np.float32) + 2.0
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    passages = [passage(n) for n in range(1, count + 1)]
    return Corpus.of(passages, ["fiscal/a.md"] * count, vectors, "fake", seed=0)


def members(total: int, size: int, always: list[int]) -> set[tuple[int, int]]:
    return {
        (block.copy, place) for block in blocks(total, size, always, 0) for place in block.places
    }


# -- which passages a size holds --------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 10, 4999, 5000, 5001, 12_345])
def test_a_size_holds_as_many_distinct_passages_as_it_says(size: int) -> None:
    assert len(members(5000, size, [7, 4321])) == size


def test_every_size_holds_the_answers_and_the_passages_of_smaller_sizes() -> None:
    sizes = [members(5000, size, [7, 4321]) for size in (10, 3000, 5000, 12_000)]
    assert {(0, 7), (0, 4321)} <= sizes[0]
    for smaller, larger in pairwise(sizes):
        assert smaller < larger


def test_copies_come_only_when_all_real_passages_are_in() -> None:
    assert max(copy for copy, _ in members(5000, 5000, [7])) == 0
    assert members(5000, 5003, [7]) - members(5000, 5000, [7]) == {(1, 0), (1, 1), (1, 2)}
    assert max(copy for copy, _ in members(5000, 15_001, [7])) == 3


def test_a_block_is_one_batch_and_stays_in_document_order() -> None:
    for block in blocks(5000, 12_000, [7], 0):
        assert 0 < len(block.places) <= BLOCK
        assert list(block.places) == sorted(block.places)


def test_a_size_too_small_for_the_answers_is_refused() -> None:
    with pytest.raises(InputError, match="size 1 cannot hold the 2 passages"):
        list(blocks(5000, 1, [7, 8], 0))


# -- copies -----------------------------------------------------------------------------------


def test_real_passages_keep_text_and_vector_and_change_only_the_domain() -> None:
    given = corpus()
    real = given.passage(0, 4, "law")
    assert real.id == "law:fiscal·虚构示例办法@2024-01-01#a5"
    assert (real.source, real.content) == ("law", given.passages[4].content)
    assert np.array_equal(given.vectors_of(Block(0, 0, (4, 9))), given.vectors[[4, 9]])


def test_a_copy_has_an_id_title_and_file_of_its_own_and_is_the_same_each_time() -> None:
    given = corpus()
    first, second = given.passage(1, 4, "law"), given.passage(2, 4, "law")
    assert first == given.passage(1, 4, "law")
    assert len({first.id, second.id, given.passage(0, 4, "law").id}) == 3
    assert first.metadata.title == "虚构示例办法（副本1）"
    assert first.metadata.file == "副本1/虚构示例办法.md"
    assert first.id == copy_id("fiscal:虚构示例办法@2024-01-01#a5", 1, "law")


def test_a_copy_never_answers_a_question_of_its_original() -> None:
    given = corpus()
    question = Question(id="q", query="?", gold=(Gold(title="虚构示例办法", article="5"),))
    assert covering(given, question, title_places(given)) == [4]
    copies = Corpus.of(
        [given.passage(1, p, "law") for p in range(50)],
        given.documents,
        given.vectors,
        "fake",
        seed=0,
    )
    assert covering(copies, question, title_places(copies)) == []


def test_vectors_of_copies_do_not_depend_on_where_the_size_ends() -> None:
    given = corpus()
    short, long = (given.vectors_of(Block(1, 0, tuple(range(n)))) for n in (10, 50))
    assert np.array_equal(short, long[:10])
    assert not np.array_equal(long, given.vectors_of(Block(2, 0, tuple(range(50)))))


def test_a_copy_lies_at_the_wanted_cosine_from_its_original() -> None:
    # mean (.8, 0), original (.8, .6): a cosine of .82 keeps (.82 - .64) / .36 = .5 of the rest;
    # noise (0, 0.6) gives (.8, .3 + .6 * sqrt(.75)) before normalising.
    real, mean = np.array([[0.8, 0.6]], np.float32), np.array([0.8, 0.0], np.float32)
    noise = np.array([[0.0, 0.6]], np.float32)
    found = blended(real, mean, noise, np.array([0.82], np.float32))
    expected = np.array([0.8, 0.3 + 0.6 * 0.75**0.5])
    assert found[0] == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)
    assert blended(real, mean, noise, np.array([1.0], np.float32)) == pytest.approx(real, abs=1e-6)


def test_many_copies_have_on_average_the_wanted_cosine() -> None:
    rng = np.random.default_rng(1)
    spread = 0.6 / 300**0.5
    real = spread * rng.standard_normal((500, 301)).astype(np.float32)
    real[:, 0] = 0.8
    real /= np.linalg.norm(real, axis=1, keepdims=True)
    mean = np.zeros(301, np.float32)
    mean[0] = 0.8
    noise = spread * rng.standard_normal((500, 301)).astype(np.float32)
    noise[:, 0] = 0.0
    found = blended(real, mean, noise, np.full(500, 0.93, np.float32))
    assert float((found * real).sum(axis=1).mean()) == pytest.approx(0.93, abs=0.005)


def test_exchanged_text_keeps_the_number_of_sentences_and_takes_some_of_the_other() -> None:
    own, other = "甲一。甲二；甲三！甲四？", "乙一。乙二。"
    found = [exchanged(own, other, random.Random(seed)) for seed in range(20)]
    assert all(len(text) == 12 for text in found)
    assert any("甲" in text and "乙" in text for text in found)


def test_a_text_of_one_sentence_exchanges_clauses() -> None:
    found = {exchanged("甲一，甲二。", "乙一，乙二。", random.Random(seed)) for seed in range(60)}
    assert "甲一，乙二。" in found
    assert exchanged("甲一。", "", random.Random(0)) == "甲一。"


def test_neighbours_leave_out_the_passage_itself_and_other_versions_of_it() -> None:
    # Two equal vectors and one at a cosine of .6 to both.
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.6, 0.8]], np.float32)
    assert sorted(neighbour_cosines(vectors, 3, 0).tolist()) == pytest.approx([0.6] * 4)


# -- figures ----------------------------------------------------------------------------------


def test_nearest_keeps_the_highest_of_all_blocks() -> None:
    rng = np.random.default_rng(0)
    every = rng.random((3, 450), dtype=np.float32)
    best = np.zeros((3, 0), np.float32)
    for start in range(0, 450, 60):
        best = nearest(best, every[:, start : start + 60])
    assert np.array_equal(np.sort(best), np.sort(every)[:, -100:])


def test_recall_counts_hits_as_near_as_the_exact_last_one() -> None:
    # Exact second best .8: the first question has both, the second (.79) one of two.
    assert recall([[0.9, 0.8, 0.1], [0.9, 0.79, 0.1]], [0.8, 0.8], 2) == 0.75


def test_recall_takes_rounding_for_a_tie_and_a_short_list_for_a_loss() -> None:
    assert recall([[0.9, 0.8 - 1e-7]], [0.8], 2) == 1.0
    assert recall([[0.9]], [0.8], 2) == 0.5


def test_quality_counts_an_article_once_at_its_first_passage() -> None:
    question = {"key": "q", "gold": ["u", "v"], "units": {"a": ["u"], "b": ["u"], "c": ["v"]}}
    # First answer at rank 2: MRR 1/2; of two units only u is found.
    assert quality([question], [["x", "a", "b"]]) == {"mrr@10": 0.5, "recall@100": 0.5}
    assert quality([question], [["c", "a"]]) == {"mrr@10": 1.0, "recall@100": 1.0}


def test_only_questions_that_few_passages_answer_are_drawn() -> None:
    given = corpus()
    whole = Question(id="w", query="?", gold=(Gold(title="虚构示例办法"),), key="w")
    one = Question(id="o", query="?", gold=(Gold(title="虚构示例办法", article="3"),), key="o")
    none = Question(id="n", query="?", gold=(), key="n")
    assert sampled(given, [whole, one, none], 5) == [(one, [2])]
    with pytest.raises(InputError, match="answers none"):
        sampled(given, [whole, none], 5)


def test_the_table_has_a_column_for_each_size() -> None:
    part = {"seconds": 1.0, "cpu_seconds": 0.5, "bytes": 2e6, "peak_mb": 3.0, "written_mb": 4.0}
    signals = ("dense", "keyword", "dense_filtered", "keyword_filtered", "both")
    times = {signal: [1.0, 2.0] for signal in signals}
    values = {"mrr@10": 0.5, "recall@100": 0.75}
    row = {
        "real": 1000,
        "build": dict.fromkeys(("dense", "keyword", "catalog", "cache"), part),
        "answer": {
            "open_seconds": 0.1,
            "memory_mb": {"after": {"peak": 5.0, "own": 4.0}},
            "scan": {"seconds": 1.0},
            "ms": times,
            "cpu_ms": dict.fromkeys(times, 1.0),
        },
        "quality": dict.fromkeys(("dense", "keyword", "fused"), values),
        "hnsw_recall": {"10": 1.0, "100": 0.5},
    }
    lines = table([{**row, "size": 1000}, {**row, "size": 10_000}]).splitlines()
    assert lines[0] == "| passages | 1,000 | 10,000 |"
    assert {line.count("|") for line in lines} == {4}
    assert "| HNSW recall@10 / @100 | 1.000 / 0.500 | 1.000 / 0.500 |" in lines
