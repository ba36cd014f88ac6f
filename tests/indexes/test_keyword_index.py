from __future__ import annotations

import math
from datetime import date
from pathlib import Path

import bm25s
import numpy as np
import pytest
from scipy.stats import kendalltau

from configs.errors import SourceUnavailableError, StoreMismatchError
from configs.settings import KeywordConfig
from indexes.keyword_index import KeywordIndex
from indexes.schema import Filters, Passage
from indexes.tokenizer import Tokenizer
from tests.indexes.passages import passage

TEXTS = {
    "1": "用人单位解除劳动合同的，应当向劳动者支付经济补偿。",
    "2": "住房公积金可以用于购买自住住房。",
    "3": "有前款规定情形，依照第一百二十条之一的规定处罚。",
    "4": "本办法自2024年起施行，文号为示府办规〔2024〕3号。",
}


@pytest.fixture
def index(tmp_path: Path) -> KeywordIndex:
    return KeywordIndex(tmp_path / "law", Tokenizer(), KeywordConfig(), create=True)


def fill(index: KeywordIndex, passages: list[Passage]) -> None:
    index.add([p.id for p in passages], passages)
    index.commit()


def first(index: KeywordIndex, query: str) -> str:
    return index.search(query, 10)[0].id


def test_what_people_look_up_is_found(index: KeywordIndex) -> None:
    fill(index, [passage(text, article=number) for number, text in TEXTS.items()])
    assert first(index, "经济补偿").endswith("#a1")
    assert first(index, "第120条之一").endswith("#a3")
    assert first(index, "示府办规〔2024〕3号").endswith("#a4")
    assert first(index, "２０２４").endswith("#a4")
    assert first(index, "經濟補償").endswith("#a1")


def test_an_empty_index_an_unknown_word_and_a_large_k_give_what_there_is(
    index: KeywordIndex,
) -> None:
    assert index.search("经济补偿", 10) == ()
    assert index.idf_mass("经济补偿") >= 0.0
    fill(index, [passage(TEXTS["1"])])
    assert index.search("zzz", 10) == ()
    assert index.search("，。", 10) == ()
    assert len(index.search("经济补偿", 10_000)) == 1
    assert index.search("经济补偿", 0) == ()


def test_operators_and_brackets_in_a_query_are_only_text(index: KeywordIndex) -> None:
    fill(index, [passage(text, article=number) for number, text in TEXTS.items()])
    for query in ('经济补偿 AND body:"', "-经济补偿 +(", "id:*", "[a TO z]", "经济补偿^9 OR *:*"):
        ids = {hit.id for hit in index.search(query, 10)}
        assert ids <= {p for p in index.all_ids() if p.endswith("#a1")}


def test_a_score_is_the_share_of_what_the_query_could_reach(index: KeywordIndex) -> None:
    # One term, in one of two bodies of equal length, once: tf part = 1 / (1 + k1) x (k1 + 1).
    # df = 1, N = 2: idf = ln(1 + 1.5/1.5) = ln 2; BM25 = ln 2 x 2.2/2.2; mass = ln 2 x 2.2.
    fill(index, [passage("alpha", article="1"), passage("beta", article="2")])
    (hit,) = index.search("alpha", 10)
    assert index.idf_mass("alpha") == pytest.approx(math.log(2) * 2.2)
    assert hit.score == pytest.approx(1 / 2.2, rel=1e-4)


def test_an_unknown_half_of_the_question_lowers_the_score(index: KeywordIndex) -> None:
    fill(index, [passage(f"alpha {n}", article=str(n)) for n in range(4)])
    whole = index.search("alpha", 1)[0].score
    half = index.search("alpha gamma", 1)[0].score
    assert 0 < half < whole / 2


def test_a_title_boost_moves_the_passage_whose_title_matches(tmp_path: Path) -> None:
    passages = [
        passage("渔业 渔业 渔业", title="甲办法", article="1"),
        passage("其他事项", title="渔业办法", article="2"),
    ]
    order = {}
    for boost in (0.0, 5.0):
        index = KeywordIndex(
            tmp_path / f"b{boost}", Tokenizer(), KeywordConfig(title_boost=boost), create=True
        )
        fill(index, passages)
        order[boost] = [hit.id for hit in index.search("渔业", 10)]
    assert order[0.0] == [passages[0].id, passages[1].id]
    assert order[5.0] == [passages[1].id, passages[0].id]


def test_the_article_itself_comes_before_those_that_mention_it(index: KeywordIndex) -> None:
    passages = [
        passage("第三条 依照第八条、第八条之一办理。", article="3"),
        passage("第八条 本条规定办理的期限、方式、费用和其他事项。", article="8"),
        passage("第九条 依照第八条办理。", article="9"),
    ]
    fill(index, passages)
    assert first(index, "示例条例第八条") == passages[1].id


def test_filters_leave_only_what_they_admit(index: KeywordIndex) -> None:
    passages = [
        passage("补贴", article="1", code="310000"),
        passage("补贴", article="2", code="110000"),
        passage("补贴", article="3", effective="2020-01-01", expires="2024-06-01"),
        passage("补贴", article="4", effective="2024-06-01"),
    ]
    fill(index, passages)

    def found(filters: Filters) -> set[str]:
        return {hit.id for hit in index.search("补贴", 10, filters)}

    for filters in (
        Filters(),
        Filters(jurisdictions=frozenset({"310000", "100000"})),
        Filters(jurisdictions=frozenset()),
        Filters(as_of=date(2024, 5, 31)),
        Filters(as_of=date(2024, 6, 1)),
        Filters(jurisdictions=frozenset({"100000"}), as_of=date(2019, 1, 1)),
    ):
        assert found(filters) == {p.id for p in passages if filters.admits(p.metadata)}


def test_a_filter_does_not_change_scores(index: KeywordIndex) -> None:
    fill(index, [passage("补贴申请", article="1", code="310000"), passage("申请", article="2")])
    plain = {hit.id: hit.score for hit in index.search("补贴申请", 10)}
    narrow = index.search("补贴申请", 10, Filters(jurisdictions=frozenset({"310000"})))
    assert narrow[0].score == pytest.approx(plain[narrow[0].id])


def test_deleting_and_adding_again_shows_the_new_words_only(index: KeywordIndex) -> None:
    fill(index, [passage("旧的渔业规定")])
    index.delete_ids([passage().id])
    fill(index, [passage("新的林业规定")])
    assert index.search("渔业", 10) == ()
    assert len(index.search("林业", 10)) == index.count() == 1


def test_what_was_not_committed_is_not_there_after_a_rollback(index: KeywordIndex) -> None:
    index.add(["x"], [passage("渔业")])
    index.rollback()
    index.commit()
    assert index.count() == 0


def test_a_reader_sees_a_commit_after_reload(index: KeywordIndex, tmp_path: Path) -> None:
    reader = KeywordIndex(tmp_path / "law", Tokenizer(), KeywordConfig())
    fill(index, [passage("渔业")])
    assert reader.search("渔业", 10) == ()
    reader.reload()
    assert len(reader.search("渔业", 10)) == 1
    assert reader.present([passage().id, "absent"]) == {passage().id}
    with pytest.raises(RuntimeError):
        reader.commit()


def test_an_absent_index_and_one_of_another_format_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailableError):
        KeywordIndex(tmp_path / "law", Tokenizer(), KeywordConfig())
    KeywordIndex(tmp_path / "law", Tokenizer(), KeywordConfig(), create=True).close()
    (tmp_path / "law" / "policy-fusion.txt").write_text("0 old\n", encoding="utf-8")
    with pytest.raises(StoreMismatchError):
        KeywordIndex(tmp_path / "law", Tokenizer(), KeywordConfig())


def test_a_question_of_ten_thousand_characters_is_answered(index: KeywordIndex) -> None:
    fill(index, [passage(text, article=number) for number, text in TEXTS.items()])
    hits = index.search("".join(TEXTS.values()) * 120, 10)
    assert len(hits) == 4
    assert all(0 < hit.score <= 1 for hit in hits)


def test_order_agrees_with_an_independent_bm25(index: KeywordIndex) -> None:
    rng = np.random.default_rng(7)
    words = [f"w{n}" for n in range(60)]
    chance = 1 / np.arange(1, 61)
    bodies = [
        list(rng.choice(words, size=int(rng.integers(5, 39)), p=chance / chance.sum()))
        for _ in range(200)
    ]
    fill(index, [passage(" ".join(b), title="", article=str(n)) for n, b in enumerate(bodies)])
    other = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    # The number of the article itself is one token more in every passage.
    other.index([["own", *map(str, body)] for body in bodies], show_progress=False)
    for query in (["w3", "w20"], ["w1", "w7", "w40"], ["w50"]):
        expected = other.get_scores(query)
        mass = index.idf_mass(" ".join(query))
        hits = {
            int(h.id.split("#a")[1]): h.score * mass for h in index.search(" ".join(query), 200)
        }
        assert set(hits) == set(np.flatnonzero(expected))
        numbers = sorted(hits)
        # Lengths up to 39 are stored exactly, so the two differ by bm25s dropping (k1 + 1) only.
        ours = np.array([hits[n] for n in numbers])
        theirs = expected[numbers]
        np.testing.assert_allclose(ours / 2.2, theirs, rtol=2e-3)
        assert kendalltau(ours.round(3), (theirs * 2.2).round(3)).statistic > 0.99
