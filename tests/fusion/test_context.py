"""What a model reads: nothing twice, the best first and last, never above the budget."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.postprocessor import LongContextReorder
from llama_index.core.schema import NodeWithScore, TextNode

from configs.settings import SynthesisConfig
from fusion.answer import PolicyAnswer, PolicyStream
from fusion.context import best_first_and_last, choose_context, similarity
from fusion.nodes import RankedPassage, RetrievalResult
from fusion.prompts import estimate_tokens, pack
from fusion.synthesizer import PolicySynthesizer
from indexes.schema import Passage
from tests.fusion.fake_llms import ScriptedLLM
from tests.fusion.fake_sources import passage

# 虚构示例: all of these rules are made up.
BOATS = "第三条　购买电动渔船的渔民，每艘补贴五万元，由县渔业部门在三十日内发放。"
NETS = "第八条　使用细目渔网的，没收渔网，处一千元罚款。"


def items(*passages: Passage, step: float = 0.1) -> tuple[RankedPassage, ...]:
    return tuple(RankedPassage(p, 0.9 - n * step) for n, p in enumerate(passages))


def chosen(found: tuple[RankedPassage, ...], limit: int = 6, trade_off: float = 0.7) -> list[int]:
    return list(choose_context(found, limit, trade_off=trade_off, same=0.8).chosen)


def test_of_passages_that_say_the_same_one_is_given() -> None:
    found = items(
        passage("law", "甲", "3", BOATS),
        passage("law", "乙", "8", NETS),
        passage("fiscal", "丙", "3", f"{BOATS}本条由县政府解释。"),
    )
    choice = choose_context(found, 6, trade_off=0.7, same=0.7)
    assert choice.chosen == (0, 1)
    assert choice.collapsed == {found[2].passage.id: found[0].passage.id}


def test_the_version_in_force_stands_for_an_older_one_with_the_same_words() -> None:
    old = passage("law", "甲", "3", BOATS, version="2010-01-01", status="amended")
    new = passage("law", "甲", "3", BOATS, version="2020-01-01")
    choice = choose_context(items(old, new), 6, trade_off=0.7, same=0.8)
    assert choice.chosen == (1,)
    assert choice.collapsed == {old.id: new.id}


def test_a_version_that_the_question_names_is_kept_for_the_newer_one() -> None:
    old = passage("law", "甲", "3", BOATS, version="2010-01-01", status="amended")
    new = passage("law", "甲", "3", BOATS, version="2020-01-01")
    named = RankedPassage(old, 1.0, {"reference": "甲第三条"})
    assert chosen((named, RankedPassage(new, 0.9))) == [0]


@pytest.mark.parametrize(
    "other",
    [
        passage("law", "乙", "3", BOATS.replace("五万", "六万")),
        passage("law", "乙", "3", BOATS.replace("三十日", "二十日")),
        passage("law", "乙", "3", BOATS, jurisdiction="上海市", jurisdiction_code="310000"),
    ],
)
def test_a_rule_with_another_figure_or_for_another_place_is_another_rule(other: Passage) -> None:
    assert chosen(items(passage("law", "甲", "3", BOATS), other)) == [0, 1]


def test_similarity_is_that_of_sets() -> None:
    assert similarity(frozenset("abc"), frozenset("bcd")) == 0.5  # two of four
    assert similarity(frozenset(), frozenset()) == 0.0


def test_mmr_trades_relevance_for_what_is_new() -> None:
    # The second shares 4 of 8 bigrams with the first (.5), the third none. Relevance 1, .9, .7.
    texts = ("甲乙丙丁戊己庚", "甲乙丙丁戊天地", "子丑寅卯辰巳午")
    found = tuple(
        RankedPassage(passage("law", f"法{n}", "", text), score)
        for n, (text, score) in enumerate(zip(texts, (1.0, 0.9, 0.7), strict=True))
    )
    # lambda .5: .45 - .25 = .20 against .35 - 0; lambda .9: .81 - .05 = .76 against .63.
    assert chosen(found, 2, 0.5) == [0, 2]
    assert chosen(found, 2, 0.9) == [0, 1]


def test_without_scores_the_rank_counts() -> None:
    found = tuple(RankedPassage(passage("law", f"法{n}", "", BOATS + str(n)), 0.0) for n in "123")
    assert chosen(found, 2, 1.0) == [0, 1]
    assert chosen((), 2) == []


def test_the_best_stand_first_and_last_and_the_worst_in_the_middle() -> None:
    assert best_first_and_last((1, 2, 3, 4, 5)) == (1, 3, 5, 4, 2)
    assert best_first_and_last((1, 2, 3, 4)) == (1, 3, 4, 2)
    assert best_first_and_last(()) == ()


@pytest.mark.parametrize("size", [1, 3, 5, 7])
def test_an_odd_number_stands_as_llama_index_would_put_it(size: int) -> None:
    nodes = [NodeWithScore(node=TextNode(text=f"{n}"), score=1.0 / (1 + n)) for n in range(size)]
    theirs = LongContextReorder().postprocess_nodes(nodes)
    assert [node.text for node in theirs] == [str(n) for n in best_first_and_last(range(size))]


# -- the budget --------------------------------------------------------------------------------

SENTENCES = st.lists(
    st.text("税率免征[1]|\n（一）；", min_size=1, max_size=60), min_size=1, max_size=8
)


def ugly(text: str) -> int:
    """A tokenizer that merges: the whole counts less, or more, than its parts."""
    return len(text.replace("税率", "税")) + 7 * text.count("\n\n")


@pytest.mark.parametrize("count", [len, estimate_tokens, ugly])
@given(
    texts=st.lists(SENTENCES, min_size=1, max_size=7),
    budget=st.integers(-5, 900),
    beside=st.integers(0, 3),
)
def test_the_context_never_exceeds_the_budget(
    count: object, texts: list[list[str]], budget: int, beside: int
) -> None:
    assert callable(count)
    contents = ["。".join(text) + "。" for text in texts]
    found = items(*(passage("law", f"法{n}", "1", text) for n, text in enumerate(contents)))
    ranked = range(max(1, len(found) - beside))
    packed = pack(found, budget, count, ranked, range(len(ranked), len(found)))
    assert packed.context == "" or count(packed.context) <= budget
    heads = re.findall(r"^\[(\d+)\] \[来源：《法(\d+)》", packed.context, re.MULTILINE)
    assert sorted(int(n) for n, _ in heads) == list(packed.markers)
    assert all(int(n) - 1 == int(title) for n, title in heads)  # every marker is its passage's
    assert packed.shortened == ("……（以下从略）" in packed.context)


def test_a_long_passage_without_a_sentence_that_fits_is_left_out_and_the_next_one_tried() -> None:
    long = passage("law", "长", "1", "税" * 5000 + "。")
    packed = pack(items(long, passage("law", "短", "2", NETS)), 300, len)
    assert packed.markers == (2,)
    assert NETS in packed.context


def test_neighbours_are_given_whole_or_not_at_all() -> None:
    long = passage("law", "长", "1", "税率为百分之三。" * 100)
    found = items(passage("law", "甲", "3", BOATS), long)
    assert pack(found, 500, len).shortened
    packed = pack(found, 500, len, (0,), (1,))
    assert (packed.markers, packed.shortened) == ((1,), False)


# -- in the answer -----------------------------------------------------------------------------


def result(*passages: Passage, beside: tuple[Passage, ...] = ()) -> RetrievalResult:
    extra = tuple(RankedPassage(p, 0.0, {"neighbour": {"why": "next"}}) for p in beside)
    return RetrievalResult("每艘渔船补贴多少", items(*passages, step=0.05), (), beside=extra)


FOUR = tuple(
    passage("law", f"法{n}", str(n), f"第{n}条　每艘{kind}渔船补贴{n}万元。")
    for n, kind in ((1, "竹"), (2, "木"), (3, "铁"), (4, "水泥"))
)


def test_markers_name_the_ranked_passage_wherever_its_block_stands() -> None:
    model = ScriptedLLM(pieces=("木渔船补贴2万元。[2]铁渔船补贴3万元。[3]",))
    made = PolicySynthesizer(llm=model).answer(result(*FOUR))
    assert isinstance(made, PolicyAnswer)
    heads = [int(n) for n in re.findall(r"^\[(\d)\] \[来源", model.prompts[0], re.MULTILINE)]
    assert heads == [1, 3, 4, 2]
    assert [(c.marker, c.id) for c in made.citations] == [(2, FOUR[1].id), (3, FOUR[2].id)]
    assert [made.source_nodes[c.marker - 1].node_id for c in made.citations] == [
        c.id for c in made.citations
    ]
    assert made.unverified == ()


def test_a_passage_that_was_not_given_cannot_be_cited() -> None:
    model = ScriptedLLM(pieces=("竹渔船补贴1万元。[1][4]",))
    made = PolicySynthesizer(SynthesisConfig(max_passages=2), model).answer(result(*FOUR))
    assert isinstance(made, PolicyAnswer)
    assert str(made) == "竹渔船补贴1万元。[1]"
    assert made.trace["synthesis"]["invented_markers"] == 1


def test_neighbours_follow_the_results_as_sources_and_can_be_cited() -> None:
    near = passage("law", "法1", "9", "第9条　由县渔业部门发放。")
    model = ScriptedLLM(pieces=("由县渔业部门发放。[5]",))
    synthesizer = PolicySynthesizer(llm=model)
    made = synthesizer.answer(result(*FOUR, beside=(near,)))
    assert isinstance(made, PolicyAnswer)
    assert [node.node_id for node in made.source_nodes] == [p.id for p in (*FOUR, near)]
    assert [(c.marker, c.id) for c in made.citations] == [(5, near.id)]
    stream = synthesizer.answer(result(*FOUR, beside=(near,)), streaming=True)
    assert isinstance(stream, PolicyStream)
    assert stream.source_nodes[4].node_id == near.id  # at once
    assert str(stream) == str(made)


def test_a_neighbour_that_is_ranked_too_low_to_be_given_is_given_under_its_own_marker() -> None:
    model = ScriptedLLM(pieces=("水泥渔船补贴4万元。[4]",))
    found = result(*FOUR, beside=(FOUR[3],))
    made = PolicySynthesizer(SynthesisConfig(max_passages=2), model).answer(found)
    assert isinstance(made, PolicyAnswer)
    assert [(c.marker, c.id) for c in made.citations] == [(4, FOUR[3].id)]
    assert len(made.source_nodes) == 4


def test_without_a_model_neighbours_are_no_sources() -> None:
    near = passage("law", "法1", "9", "第9条　由县渔业部门发放。")
    made = PolicySynthesizer().answer(result(*FOUR, beside=(near,)))
    assert near.id not in [node.node_id for node in made.source_nodes]
