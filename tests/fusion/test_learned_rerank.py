"""Features by hand, and the learned reranker over them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from configs.errors import ConfigError
from configs.settings import RerankConfig
from fusion.boosted import Trees
from fusion.features import FEATURE_NAMES, Question, features
from fusion.learned_rerank import LearnedReranker
from fusion.list_features import LIST_FEATURE_NAMES, RERANK_FEATURES, feature_rows
from fusion.nodes import RankedPassage, to_node
from fusion.rerank import build_reranker
from fusion.retriever import FusionRetriever
from tests.fusion.fake_sources import FISCAL, LAW, LOCAL, passage, plan, sources


def named(question: str, item: Any, trace: Any = None) -> dict[str, float]:
    return dict(zip(FEATURE_NAMES, features(question, item, trace or {}), strict=True))


class ByHand:
    """Stands for the trees: a weighted sum of named features."""

    def __init__(self, **weights: float) -> None:
        self._weights = [weights.get(name, 0.0) for name in RERANK_FEATURES]

    def predict(self, rows: Any, **_: Any) -> Any:
        return rows @ self._weights


def model(**weights: float) -> Trees:
    return Trees(ByHand(**weights), "by hand")


# -- features ----------------------------------------------------------------------------------


def test_the_signals_come_from_the_trace() -> None:
    found = FusionRetriever(sources(), plan()).search("经济补偿按什么支付")
    best = found.passages[0]
    rows = {row["source"]: row for row in best.trace["signals"]["sources"]}
    seen = named("经济补偿按什么支付", best.passage, best.trace)
    assert seen["dense_raw"] == rows["dense"]["raw"]
    assert seen["keyword_score"] == rows["keyword"]["calibrated"]
    assert (seen["dense_rank"], seen["keyword_rank"], seen["both_signals"]) == (1.0, 1.0, 1.0)
    assert 0 < seen["domain_score"] <= 1


def test_a_signal_that_did_not_return_the_passage_counts_nothing() -> None:
    row = {"source": "dense", "rank": 2, "raw": 0.5, "calibrated": 0.7}
    missing = {"source": "keyword", "rank": None, "raw": None, "calibrated": 0.01}
    trace = {"signals": {"score": 0.2, "scale": 0.5, "sources": [row, missing]}}
    seen = named("问", LAW[0], trace)
    assert (seen["dense_rank"], seen["dense_score"]) == (0.5, 0.7)
    assert (seen["keyword_rank"], seen["keyword_score"], seen["both_signals"]) == (0, 0, 0)
    assert seen["domain_score"] == pytest.approx(0.4)


def test_an_article_that_the_question_names_is_seen_in_any_writing() -> None:
    for question in ("劳动规则第四十七条怎么说", "劳动规则第47条怎么说"):
        assert named(question, LAW[0])["article_match"] == 1.0
        assert named(question, LAW[1])["article_match"] == 0.0
        assert named(question, LAW[1])["article_conflict"] == 1.0
    inserted = passage("law", "甲", "120-1", "内容")
    assert named("第一百二十条之一", inserted)["article_match"] == 1.0
    assert named("第一百二十条", inserted)["article_match"] == 0.0
    assert named("没有条号", LAW[0])["article_conflict"] == 0.0


def test_a_document_number_is_seen_with_any_brackets() -> None:
    assert named("示财税[2023]1号还有效吗", FISCAL[0])["doc_number_match"] == 1.0
    assert named("示财税〔2023〕1号还有效吗", FISCAL[0])["doc_number_match"] == 1.0
    assert named("示财税〔2023〕2号还有效吗", FISCAL[0])["doc_number_match"] == 0.0
    assert named("示财税〔2023〕1号", LAW[0])["doc_number_match"] == 0.0


def test_places() -> None:
    shanghai = named("上海市新能源车补贴", LOCAL[0])
    assert (shanghai["place_match"], shanghai["place_conflict"]) == (1.0, 0.0)
    beijing = named("北京市新能源车补贴", LOCAL[0])
    assert (beijing["place_match"], beijing["place_conflict"]) == (0.0, 1.0)
    province = passage("local", "甲", "1", "文", jurisdiction="广东省", jurisdiction_code="440000")
    below = named("深圳市的规定", province)
    assert (below["place_match"], below["place_superior"], below["place_conflict"]) == (0, 1, 0)
    assert named("北京市的规定", LAW[0])["place_conflict"] == 0.0
    assert (named("问", LAW[0])["national"], named("问", LOCAL[0])["national"]) == (1.0, 0.0)


def test_overlaps_by_hand() -> None:
    item = passage("law", "《契税规则》", "2", "契税税率为百分之三。", heading_path=("税率",))
    seen = named("契税税率", item)  # 契税 税税 税率
    assert seen["content_overlap"] == 1.0
    assert seen["question_in_title"] == pytest.approx(1 / 3)
    assert seen["content_only"] == pytest.approx(2 / 3)
    assert seen["title_overlap"] == pytest.approx(1 / 3)  # 契税 of 契税 税规 规则
    assert seen["heading_overlap"] == 1.0
    assert seen["title_in_question"] == 0.0
    assert named("契税规则的税率", item)["title_in_question"] == 1.0
    assert seen["length"] == pytest.approx(math.log(11) / 10)


def test_standing_by_hand() -> None:
    old = passage("law", "甲", "1", "文", "2005-07-01", level="行政法规", status="repealed")
    seen = named("问", old)
    assert (seen["level"], seen["in_force"], seen["repealed"]) == (0.8, 0.0, 1.0)
    assert seen["effective_year"] == 0.5
    assert named("问", passage("law", "甲", "", "文", effective=None))["is_article"] == 0.0


def test_a_question_read_once_gives_the_same_features() -> None:
    question = "上海市劳动规则第四十七条"
    assert features(Question.read(question), LAW[0], {}) == features(question, LAW[0], {})


# -- the model ---------------------------------------------------------------------------------


def test_the_score_is_the_logistic_of_the_trees_sum() -> None:
    for weight, score in ((2.0, 1 / (1 + math.exp(-2))), (1e9, 1.0), (-1e9, 0.0)):
        ranked, _ = LearnedReranker(model(in_force=weight)).rerank("问", [RankedPassage(LAW[0], 0)])
        assert ranked[0].score == pytest.approx(score)
    assert LearnedReranker(model()).rerank("问", [])[0] == ()


def test_the_head_is_reordered_and_the_rest_stays_below() -> None:
    items = [RankedPassage(p, 0.9 - n / 10) for n, p in enumerate((LAW[1], LAW[0], FISCAL[0]))]
    ranker = LearnedReranker(model(article_match=4.0), top_n=2)
    ranked, note = ranker.rerank("劳动规则第四十七条", items)
    assert [item.passage.id for item in ranked] == [LAW[0].id, LAW[1].id, FISCAL[0].id]
    assert ranked[0].score == pytest.approx(1 / (1 + math.exp(-4)))
    assert ranked[2].score <= ranked[1].score == 0.5
    assert note == {"kind": "learned", "reranked": 2, "left": 0}
    assert ranker.rerank("劳动规则第四十七条", items) == (ranked, note)


def test_a_passage_scores_the_same_in_any_list() -> None:
    ranker = LearnedReranker(model(content_overlap=2.0))
    alone, _ = ranker.rerank("经济补偿", [RankedPassage(LAW[0], 0.1)])
    both, _ = ranker.rerank("经济补偿", [RankedPassage(p, 0.1) for p in (LAW[1], LAW[0])])
    assert {item.passage.id: item.score for item in both}[LAW[0].id] == alone[0].score


def test_it_is_a_llama_index_postprocessor_of_any_nodes() -> None:
    ranker = LearnedReranker(model(article_match=4.0))
    ours = to_node(RankedPassage(LAW[0], 0.1, {"signals": {}}))
    foreign = NodeWithScore(node=TextNode(text="别的内容", id_="x"), score=0.9)
    ranked = ranker.postprocess_nodes([foreign, ours], QueryBundle("第四十七条"))
    assert [node.node_id for node in ranked] == [LAW[0].id, "x"]
    assert (foreign.score, ours.score) == (0.9, 0.1)


def test_the_packaged_trees_are_read_and_say_what_they_were_fitted_on() -> None:
    found = build_reranker(RerankConfig(kind="learned", top_n=7))
    assert isinstance(found, LearnedReranker)
    assert found.top_n == 7
    ranked, note = found.rerank("劳动规则第四十七条", [RankedPassage(LAW[0], 0.1)])
    assert 0.0 < ranked[0].score < 1.0
    assert note["reranked"] == 1


def test_a_missing_weights_file_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"make tune.*rerank\.kind: none"):
        LearnedReranker.load(tmp_path / "none.json")


def test_a_passage_is_also_judged_by_how_it_stands_in_its_list() -> None:
    def signals(raw: dict[str, float]) -> dict[str, object]:
        rows = [
            {"source": n, "rank": 1, "raw": r, "calibrated": 0.5, "weight": 1.0}
            for n, r in raw.items()
        ]
        return {"signals": {"sources": rows, "score": 0.5, "scale": 1.0}}

    items = [
        RankedPassage(LAW[0], 0.8, signals({"dense": 0.90, "keyword": 0.2})),
        RankedPassage(LAW[1], 0.4, signals({"dense": 0.95, "keyword": 0.1})),
        RankedPassage(FISCAL[0], 0.0, signals({"keyword": 0.4})),
    ]
    rows = [row[-len(LIST_FEATURE_NAMES) :] for row in feature_rows("问", items)]
    third = pytest.approx(1 / 3)
    two_thirds = pytest.approx(2 / 3)
    # score share, cosine gap, keyword share, domain share, cosines above, keyword scores above
    assert list(rows[0]) == [1.0, pytest.approx(-0.05), 0.5, two_thirds, third, third]
    assert list(rows[1]) == [0.5, 0.0, 0.25, two_thirds, 0.0, two_thirds]
    assert list(rows[2]) == [0.0, pytest.approx(-0.95), 1.0, third, two_thirds, 0.0]
    assert feature_rows("问", []) == []
