"""A query adapter is trained on some questions and judged on others."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from configs.errors import InputError
from configs.settings import CalibrationConfig
from eval.adapter_pairs import AdapterPairs, collect_pairs, hard_negatives, ranks
from eval.adapters_training import (
    SHARES,
    AdapterTrial,
    LinearMap,
    choose_share,
    cross_validate,
    fit_map,
    mrr,
    recall,
    report,
    to_adapter,
)
from eval.datasets import Gold, Question
from eval.held_out import held_out_embedders
from eval.training import FOLDS, assign_folds
from indexes.writer import DocumentChange, DomainWriter
from tests.fakes import FakeEmbedder
from tests.indexes.passages import document, store_settings

SIZE = 16


def unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def two_passages(queries: list[list[float]], admitted: list[list[bool]]) -> AdapterPairs:
    return AdapterPairs(
        passages=np.eye(2, dtype=np.float32),
        queries=np.array(queries, dtype=np.float32),
        gold=(((1,),),) * len(queries),
        admitted=np.array(admitted),
        folds=np.arange(len(queries)),
    )


SCALE = CalibrationConfig(kind="platt", slope=500.0, intercept=-503.0)


def shifted_pairs(seed: int = 0, own: int = 150, others: int = 30) -> AdapterPairs:
    """Near passages, as e5's are; every question is its passage plus one and the same step. The
    questions of another domain, at the end, lie elsewhere."""
    rng = np.random.default_rng(seed)
    axes = np.eye(SIZE)
    passages = unit(axes[1] + rng.normal(0, 0.02, (200, SIZE)))
    mine = passages[:own] + 0.1 * axes[0] + rng.normal(0, 0.004, (own, SIZE))
    elsewhere = axes[1] + 0.15 * axes[2] + rng.normal(0, 0.02, (others, SIZE))
    gold: list[tuple[tuple[int, ...], ...]] = [((row,),) for row in range(own)]
    return AdapterPairs(
        passages=passages,
        queries=unit(np.concatenate([mine, elsewhere])),
        gold=(*gold, *[()] * others),
        admitted=np.ones((own + others, 200), dtype=bool),
        folds=np.arange(own + others) % FOLDS,
    )


def test_rank_follows_the_share_of_the_move_and_what_is_admitted() -> None:
    pairs = two_passages([[0.8, 0.6], [0.8, 0.6]], [[True, True], [False, True]])
    moves = np.array([[0.0, 0.4], [0.0, 0.4]], dtype=np.float32)
    # (.8, .6) prefers passage 0; half of the move gives (.8, .8), a tie; all of it (.8, 1.0)
    found = ranks(pairs, [0, 1], moves, (0.0, 0.25, 1.0))
    assert found == {0.0: [(2,), (1,)], 0.25: [(2,), (1,)], 1.0: [(1,), (1,)]}


def test_hard_negatives_are_near_admitted_and_wrong() -> None:
    passages = unit(np.array([[1.0, 0.0], [1.0, 0.1], [1.0, 0.2], [1.0, 0.3], [0.0, 1.0]]))
    pairs = AdapterPairs(
        passages=passages,
        queries=unit(np.array([[1.0, 0.0], [1.0, 0.0]])),
        gold=(((0,),), ()),
        admitted=np.array([[True, False, True, True, True], [True, False, False, False, False]]),
        folds=np.array([0, 1]),
    )
    found = hard_negatives(pairs, [0, 1], 2)
    assert sorted(found[0].tolist()) == [2, 3]
    assert found[1].tolist() == [0]  # another domain's question: the nearest is wrong as well


def test_scores_keep_the_scale_of_the_calibration() -> None:
    pairs = shifted_pairs()
    fitted = fit_map(pairs, range(len(pairs.gold)), SCALE)
    moved = unit(pairs.queries + fitted.moves(pairs.queries))
    before, after = pairs.queries @ pairs.passages.T, moved @ pairs.passages.T
    own = pairs.own()
    right = [after[row, row] - before[row, row] for row in own]
    assert np.mean(right) > 0
    others = np.arange(len(own), len(pairs.gold))
    assert after[others].max(axis=1).mean() < before[others].max(axis=1).mean()


def test_reciprocal_rank_takes_the_best_unit_and_recall_counts_all() -> None:
    assert mrr([(4, 2), (11,)]) == [0.5, 0.0]
    assert recall([(4, 120), (11,)], 100) == [0.5, 1.0]


def test_of_equal_shares_the_smallest_is_chosen() -> None:
    assert choose_share({1.0: [(1,)], 0.3: [(1,)], 0.15: [(2,)]}) == 0.3


def test_training_undoes_a_step_common_to_all_questions_on_unseen_ones() -> None:
    trial = cross_validate(shifted_pairs(), SCALE)
    assert len(trial.base) == 150
    assert np.mean(mrr(trial.adapted)) > np.mean(mrr(trial.base)) + 0.05
    assert trial.share in SHARES
    assert sorted(trial.maps) == list(range(FOLDS))
    table, better = report(trial)
    assert better
    assert "MRR@10" in table


def test_training_gives_the_same_map_for_the_same_seed_only() -> None:
    pairs, rows = shifted_pairs(), range(40)
    first, again, other = (fit_map(pairs, rows, SCALE, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.matrix, again.matrix)
    assert np.array_equal(first.shift, again.shift)
    assert not np.array_equal(first.matrix, other.matrix)


def test_no_gain_is_no_gain() -> None:
    same = [(1,), (3,), (20,)] * 5
    assert report(AdapterTrial(same, same, {}, 0.3))[1] is False


def test_a_share_scales_the_whole_move() -> None:
    whole = LinearMap(np.eye(2, dtype=np.float32), np.array([0.0, 2.0], dtype=np.float32))
    query = np.array([[1.0, 0.0]], dtype=np.float32)
    assert whole.moves(query) == pytest.approx(np.array([[1.0, 2.0]]))
    assert whole.scaled(0.5).moves(query) == pytest.approx(np.array([[0.5, 1.0]]))


def question(number: int, title: str, article: str, **extra: object) -> Question:
    gold = (Gold(domain="law", title=title, article=article),)
    return Question(
        id=str(number), key=str(number), query=f"虚构示例第{number}问", gold=gold, **extra
    )


def test_pairs_hold_the_questions_that_the_domain_can_answer_on_their_day(tmp_path: Path) -> None:
    settings, embedder = store_settings(tmp_path), FakeEmbedder()
    old = document("甲法", {"1": "旧的渔业条文。"}, effective="2000-01-01", expires="2020-01-01")
    new = document("乙法", {"1": "林业。", "2": "草原。"}, effective="2000-01-01")
    with DomainWriter.open(settings, "law", embedder) as writer:
        writer.apply([DocumentChange(d.key, d) for d in (old, new)])
    embedder.texts.clear()
    asked = [
        question(0, "乙法", "2"),
        question(1, "甲法", "1"),  # no longer in force today
        question(2, "甲法", "1", as_of=date(2010, 1, 1)),
        question(3, "丙法", "1"),  # not in this domain
    ]
    folds = {"0": 0, "1": 1, "2": 2, "3": 3}
    pairs = collect_pairs(settings, "law", embedder, asked, folds, date(2024, 6, 1))
    assert embedder.texts == []  # every passage's vector was in the cache
    assert embedder.queries == [q.query for q in asked]
    assert pairs.own() == [0, 2]
    assert pairs.folds.tolist() == [0, 1, 2, 3]
    assert pairs.admitted.sum(axis=1).tolist() == [2, 2, 3, 2]
    goal = [pairs.passages[unit[0]] for units in pairs.gold for unit in units]
    texts = [new.passages[1].embedding_text(), old.passages[0].embedding_text()]
    assert np.stack(goal) == pytest.approx(np.stack([embedder._vector(t) for t in texts]))
    with pytest.raises(InputError, match="1 questions have their answer there"):
        collect_pairs(settings, "law", embedder, asked[:2], folds, date(2024, 6, 1))


def test_every_question_is_searched_by_the_adapter_that_never_saw_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = FakeEmbedder()
    monkeypatch.setattr("eval.held_out.load_embedder", lambda config, models_dir: base)
    settings = store_settings(tmp_path)
    asked = [question(n, "甲法", str(n + 1)) for n in range(12)]
    with pytest.raises(InputError, match="no adapters by fold"):
        held_out_embedders(settings, tmp_path, asked)
    directions = np.eye(64, dtype=np.float32)
    for fold in range(FOLDS):
        # an adapter that sends every question along the axis of its fold
        fitted = LinearMap(np.zeros((64, 64), dtype=np.float32), 1e4 * directions[fold])
        to_adapter(fitted, base, "虚构示例").save(tmp_path / f"law.{fold}.npz")
    found = held_out_embedders(settings, tmp_path, asked)
    assert set(found) == {"law"}
    folds = assign_folds([f"article:甲法#{n + 1}" for n in range(12)], FOLDS, 0)
    for one, fold in zip(asked, folds, strict=True):
        assert int(np.argmax(found["law"].embed_query(one.query))) == fold
    (tmp_path / "law.3.npz").unlink()
    with pytest.raises(InputError, match="4 of 5 adapters of domain law"):
        held_out_embedders(settings, tmp_path, asked)
