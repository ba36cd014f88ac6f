"""The learned prior on domains shifts weights and silences nobody."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from configs.errors import ConfigError
from configs.settings import load_settings
from fusion.retriever import FusionRetriever
from fusion.router import DomainRouter, features, load_router
from fusion.two_stage import FusionPlan
from tests.fusion.fake_sources import LABELS, plan, sources

BUCKETS = 64


def router(floor: float = 0.6, gamma: float = 0.5) -> DomainRouter:
    """Says fiscal for a text with 税, law for others, by hand-set weights."""
    weights = np.zeros((3, BUCKETS))
    weights[0, features("税", BUCKETS)] = 9.0
    return DomainRouter(
        ("fiscal", "law", "local"), weights, np.array([-2.0, 0.0, -4.0]), floor, gamma
    )


def test_probabilities_are_logistic_in_the_share_of_known_grams() -> None:
    chances = router().probabilities("税")  # one gram: 9 / √1 - 2 = 7
    assert chances["fiscal"] == pytest.approx(1 / (1 + np.exp(-7)))
    assert chances["law"] == pytest.approx(0.5)


def test_the_likeliest_domain_keeps_its_weight_and_none_falls_below_the_floor() -> None:
    factors = router(floor=0.6, gamma=0.5).factors("税")
    highest = 1 / (1 + np.exp(-7))
    assert factors["fiscal"] == 1.0
    assert factors["law"] == pytest.approx((0.5 / highest) ** 0.5)  # .7075
    assert factors["local"] == 0.6  # (.018 / .999) ** .5 = .134


@given(st.text(max_size=60))
def test_factors_lie_between_the_floor_and_one_for_any_text(text: str) -> None:
    factors = router().factors(text).values()
    assert max(factors) == 1.0
    assert min(factors) >= 0.6


def test_width_case_and_white_space_do_not_matter() -> None:
    assert features("ＶＡＴ 税", BUCKETS).tolist() == features("vat税", BUCKETS).tolist()
    assert features(" \n", BUCKETS).tolist() == []


def test_a_domain_that_the_router_does_not_know_keeps_its_weight() -> None:
    settings = load_settings()
    known = FusionPlan.from_settings(settings)
    only_law = DomainRouter(("law",), np.zeros((1, BUCKETS)), np.zeros(1), 0.5, 1.0)
    routed, factors = only_law.applied(known, "虚构示例")
    assert factors == {"law": 1.0}
    assert {n: d.weight for n, d in routed.domains.items()} == {
        n: d.weight for n, d in known.domains.items()
    }


def test_the_file_gives_the_router_back_within_eight_bits() -> None:
    again = DomainRouter.from_json(router().to_json("虚构示例"))
    assert again.domains == ("fiscal", "law", "local")
    assert np.abs(again.weights - router().weights).max() <= 9.0 / 127 / 2
    assert again.factors("税")["law"] == pytest.approx(router().factors("税")["law"], abs=0.01)


def test_the_packaged_router_tells_a_tax_question_from_a_criminal_one() -> None:
    packaged = load_router("packaged")
    tax = packaged.probabilities("小规模纳税人的增值税优惠政策怎么享受？")
    crime = packaged.probabilities("邻居把我打成轻伤，他会被判几年？")
    assert max(tax, key=lambda name: tax[name]) == "fiscal"
    assert max(crime, key=lambda name: crime[name]) == "law"


@pytest.mark.parametrize("text", ["", "{}", '{"version": 9}', "no json"])
def test_a_damaged_file_is_a_configuration_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "router.json"
    file.write_text(text)
    with pytest.raises(ConfigError, match="cannot be read"):
        load_router(str(file))


def test_a_query_over_several_domains_says_in_its_trace_how_it_was_routed() -> None:
    fusing = FusionRetriever(sources(), plan(), labels=LABELS, router=router())
    assert fusing.search("购买新能源车每辆补贴").trace["routing"]["local"] >= 0.6
    assert "routing" not in fusing.search("购买新能源车每辆补贴", domains=["local"]).trace
