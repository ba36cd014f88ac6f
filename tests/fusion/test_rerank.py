"""The cross-encoder: within its budget, without touching what it was given."""

from __future__ import annotations

import copy
import itertools
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import PrivateAttr

from configs.errors import ConfigError
from configs.settings import RerankConfig
from fusion.engine import PolicyQueryEngine
from fusion.nodes import RankedPassage
from fusion.rerank import CrossEncoderReranker, build_reranker, reorder
from fusion.retriever import FusionRetriever
from fusion.synthesizer import PolicySynthesizer
from tests.fusion.fake_sources import LAW, LOCAL, TODAY, passage, plan, sources

SCORES = {"法0": 0.1, "法1": 0.9, "法2": 0.5, "法3": 0.95, "法4": 0.2}
ITEMS = tuple(
    RankedPassage(passage("law", title, "1", f"{title}的内容。"), 0.8 - n / 10)
    for n, title in enumerate(SCORES)
)


class Clock:
    """Seconds that pass only when somebody works."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class ByTitle(BaseNodePostprocessor):
    """As SentenceTransformerRerank does: overwrites scores, sorts; ``pair_s`` seconds a pair."""

    _clock: Clock = PrivateAttr()
    _pair_s: float = PrivateAttr()
    _batches: list[int] = PrivateAttr(default_factory=list)

    def __init__(self, clock: Clock, pair_s: float = 0.0) -> None:
        super().__init__()
        self._clock, self._pair_s = clock, pair_s

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        self._clock.now += self._pair_s * len(nodes)
        self._batches.append(len(nodes))
        for node in nodes:
            node.score = next((s for t, s in SCORES.items() if t in node.text), 0.3)
        return sorted(nodes, key=lambda node: -node.get_score())


def reranker(pair_s: float = 0.0, **options: Any) -> tuple[CrossEncoderReranker, ByTitle]:
    clock = Clock()
    model = ByTitle(clock, pair_s)
    config = RerankConfig.model_validate({"kind": "cross_encoder", "model": "m", **options})
    return CrossEncoderReranker(config, lambda: model, clock=clock), model


def titles(items: tuple[RankedPassage, ...]) -> list[str]:
    return [item.passage.metadata.title for item in items]


def test_the_model_s_scores_order_the_head() -> None:
    ranked, note = reranker()[0].rerank("问", ITEMS)
    assert titles(ranked) == ["法3", "法1", "法2", "法4", "法0"]
    assert [item.score for item in ranked] == [0.95, 0.9, 0.5, 0.2, 0.1]
    assert (note["reranked"], note["left"]) == (5, 0)
    assert ranked[0].trace["rerank"]["fused_rank"] == 4
    assert ranked[0].trace["rerank"]["fused_score"] == pytest.approx(0.5)


def test_nothing_that_was_given_is_changed() -> None:
    before = copy.deepcopy([(item.passage, item.score, dict(item.trace)) for item in ITEMS])
    reranker()[0].rerank("问", ITEMS)
    assert [(item.passage, item.score, dict(item.trace)) for item in ITEMS] == before


def test_what_the_budget_does_not_reach_keeps_its_order_below_and_is_counted() -> None:
    slow, model = reranker(pair_s=0.4, budget_ms=1300, batch_size=2)
    ranked, note = slow.rerank("问", ITEMS)
    # 0.4 s for the first pair; 0.9 s are left, enough for two more at 0.4 s each.
    assert model._batches == [1, 2]
    assert titles(ranked) == ["法1", "法2", "法0", "法3", "法4"]
    assert (note["reranked"], note["left"]) == (3, 2)
    assert ranked[3].trace["rerank"]["score"] is None
    scores = [item.score for item in ranked]
    assert scores == sorted(scores, reverse=True)


def test_the_time_of_a_pair_is_remembered_so_that_a_hopeless_budget_is_not_begun() -> None:
    slow, model = reranker(pair_s=5.0, budget_ms=1000)
    slow.warm_up()
    ranked, note = slow.rerank("问", ITEMS)
    assert model._batches == [1]
    assert titles(ranked) == titles(ITEMS)
    assert (note["reranked"], note["left"]) == (0, 5)


def test_only_the_first_top_n_are_scored() -> None:
    ranked, note = reranker(top_n=2)[0].rerank("问", ITEMS)
    assert titles(ranked) == ["法1", "法0", "法2", "法3", "法4"]
    assert note["reranked"] == 2


def test_a_lone_bad_hit_keeps_its_bad_score() -> None:
    ranked, _ = reranker()[0].rerank("问", ITEMS[:1])
    assert ranked[0].score == 0.1


def test_a_model_that_cannot_be_loaded_or_fails_leaves_the_fused_order_and_says_why() -> None:
    def broken() -> BaseNodePostprocessor:
        raise OSError("no such model")

    config = RerankConfig(kind="cross_encoder", model="m")
    failing = CrossEncoderReranker(config, broken)
    failing.warm_up()
    ranked, note = failing.rerank("问", ITEMS)
    assert ranked == ITEMS
    assert note["error"] == "OSError: no such model"


def test_equal_scores_keep_the_fused_order() -> None:
    ranked = reorder(ITEMS, dict.fromkeys(range(5), 0.5), "learned")
    assert titles(ranked) == titles(ITEMS)


@pytest.mark.parametrize("kind", ["none", "cross_encoder"])
def test_the_profile_chooses(kind: str) -> None:
    config = RerankConfig.model_validate({"kind": kind, "model": "somewhere"})
    assert (build_reranker(config) is None) == (kind == "none")


def test_a_cross_encoder_without_a_name_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"rerank\.model"):
        build_reranker(RerankConfig(kind="cross_encoder"))


def test_the_engine_reranks_before_it_cuts_to_top_k() -> None:
    class LocalFirst(ByTitle):
        def _postprocess_nodes(
            self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
        ) -> list[NodeWithScore]:
            for node in nodes:
                node.score = 0.9 if node.node_id == LOCAL[0].id else 0.1
            return nodes

    config = RerankConfig(kind="cross_encoder", model="m", top_n=10)
    engine = PolicyQueryEngine(
        FusionRetriever(sources(), plan()),
        PolicySynthesizer(),
        reranker=CrossEncoderReranker(config, lambda: LocalFirst(Clock())),
        clock=lambda: TODAY,
    )
    found = engine.search("经济补偿按什么支付", top_k=1)
    assert [item.passage.id for item in found.passages] == [LOCAL[0].id]
    assert found.trace["rerank"]["kind"] == "cross_encoder"
    assert found.passages[0].trace["rerank"]["fused_rank"] > 1
    assert LAW[0].id != found.passages[0].passage.id


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder with random weights, as a directory: the real class without a download."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    torch.manual_seed(0)
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("reranker")
    characters = sorted(set("".join(item.passage.embedding_text() for item in ITEMS) + "问预热"))
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters]
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys(words))}
    BertTokenizerFast(vocab=vocabulary).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        num_labels=1,
    )
    model = BertForSequenceClassification(config)
    torch.nn.init.constant_(model.classifier.bias, 3.0)  # so that logits lie outside of 0-1
    model.save_pretrained(folder)
    return folder


def test_the_real_postprocessor_gives_probabilities_from_a_local_directory(
    tiny_model: Path,
) -> None:
    import torch
    from sentence_transformers import CrossEncoder

    config = RerankConfig(
        kind="cross_encoder", model=str(tiny_model), max_length=64, budget_ms=60_000
    )
    real = build_reranker(config)
    assert real is not None
    real.warm_up()
    ranked, note = real.rerank("问", ITEMS)
    assert note["reranked"] == 5
    peer = CrossEncoder(str(tiny_model), max_length=64, device="cpu", local_files_only=True)
    pairs = [("问", item.passage.embedding_text()) for item in ITEMS]
    logits = peer.predict(pairs, activation_fn=torch.nn.Identity())
    assert max(abs(float(x)) for x in logits) > 1
    expected = {
        item.passage.id: 1 / (1 + 2.718281828459045 ** -float(x))
        for item, x in zip(ITEMS, logits, strict=True)
    }
    for item in ranked:
        assert item.score == pytest.approx(expected[item.passage.id], abs=1e-4)
    scores: list[float] = [item.score for item in ranked]
    assert all(a >= b for a, b in itertools.pairwise(scores))
