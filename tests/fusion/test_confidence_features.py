"""What tells an answered question from one that the material does not answer."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from configs.errors import ConfigError
from fusion.answerability import Answerability
from fusion.confidence import confidence_of
from fusion.confidence_features import CONFIDENCE_FEATURES, confidence_features
from fusion.nodes import RankedPassage, RetrievalResult
from tests.fusion.fake_sources import LAW, passage

SHANGHAI = passage(
    "local",
    *("上海市示例补贴办法", "3", "每辆补贴一万元。"),
    jurisdiction="上海市",
    jurisdiction_code="310000",
)
BEIJING = passage(
    "local",
    *("北京市示例补贴办法", "3", "按规定给予补贴。"),
    jurisdiction="北京市",
    jurisdiction_code="110000",
)


def named(question: str, items: Sequence[RankedPassage]) -> dict[str, float]:
    return dict(zip(CONFIDENCE_FEATURES, confidence_features(question, items), strict=True))


def with_cosine(item: object, score: float, cosine: float) -> RankedPassage:
    row = {"source": "dense", "rank": 1, "raw": cosine, "calibrated": 0.5, "weight": 1.0}
    trace = {"signals": {"sources": [row], "score": 0.5, "scale": 1.0}}
    return RankedPassage(item, score, trace)  # type: ignore[arg-type]


def test_scores_and_cosines_are_read_from_the_list() -> None:
    items = [with_cosine(SHANGHAI, 0.8, 0.9), with_cosine(BEIJING, 0.5, 0.7)]
    items.append(with_cosine(LAW[0], 0.2, 0.6))
    seen = named("补贴多少", items)
    assert seen["rerank_best"] == pytest.approx(math.log(4))
    assert seen["rerank_gap"] == pytest.approx(math.log(4) - math.log(0.25))
    assert seen["rerank_mean"] == pytest.approx(0.0)
    assert seen["dense_spread"] == pytest.approx(0.2)
    assert seen["one_domain"] == pytest.approx(2 / 3)
    assert seen["one_title"] == pytest.approx(1 / 3)


def test_a_place_without_rules_is_seen() -> None:
    items = [RankedPassage(SHANGHAI, 0.5), RankedPassage(BEIJING, 0.4)]
    seen = named("上海补贴", items)
    assert (seen["place_met"], seen["place_missed"]) == (1.0, 0.0)
    seen = named("成都市补贴", items)
    assert (seen["names_place"], seen["place_met"], seen["place_missed"]) == (1.0, 0.0, 1.0)
    assert named("补贴", items)["names_place"] == 0.0


def test_a_figure_that_is_asked_for_and_missing_is_seen() -> None:
    with_figure = [RankedPassage(SHANGHAI, 0.5)]
    without = [RankedPassage(BEIJING, 0.5)]
    assert named("补贴多少钱", with_figure)["figure_missing"] == 0.0
    assert named("补贴多少钱", without)["figure_missing"] == 1.0
    assert named("如何申请补贴", without)["figure_missing"] == 0.0
    assert named("今年补贴多少", without)["asks_today"] == 1.0


def test_nothing_found_needs_no_model_and_is_no_confidence() -> None:
    with pytest.raises(ValueError, match="no passages"):
        confidence_features("问", [])
    assert Answerability.load().confidence("问", []) == 0.0


def test_the_packaged_judge_is_read_and_gives_a_probability() -> None:
    found = Answerability.load().confidence("补贴多少钱", [RankedPassage(SHANGHAI, 0.9)])
    assert 0.0 < found < 1.0


def test_a_missing_weights_file_is_refused_with_the_remedy(tmp_path: object) -> None:
    with pytest.raises(ConfigError, match=r"make tune.*synthesis\.confidence: agreement"):
        Answerability.load(f"{tmp_path}/none.json")


def test_a_named_article_is_certain_and_a_judgement_goes_before_agreement() -> None:
    item = RankedPassage(LAW[0], 0.1)
    judged = RetrievalResult("问", (item,), (), confidence=0.7)
    assert confidence_of(judged, judged.passages) == 0.7
    unjudged = RetrievalResult("问", (item,), ())
    assert confidence_of(unjudged, unjudged.passages) == 0.1
    read = RankedPassage(LAW[0], 0.1, {"reference": "劳动规则第四十七条"})
    assert confidence_of(judged, (read,)) == 1.0
