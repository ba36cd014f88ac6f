"""Everything is fitted without the fold that it is judged on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from configs.settings import Settings
from eval import nested as module
from eval.heldout import FUSED, RERANKED
from eval.nested import candidates_of, nested
from eval.recording import History, Recorded
from fusion.two_stage import FusionPlan
from indexes.schema import Passage, PassageMetadata
from tests.eval.test_tuning import DOMAINS, profile, rows

PRINTS = dict.fromkeys(DOMAINS, "model")


def read(ids: Sequence[str]) -> Mapping[str, Passage]:
    return {
        id: Passage(
            id,
            id.split(":")[0],
            "渔船应当登记。",
            PassageMetadata(title="规则（虚构示例）", article=id.rsplit("a", 1)[1], file="规则.md"),
        )
        for id in ids
    }


def labelled(count: int) -> tuple[Recorded, ...]:
    """Recorded questions whose gold is the article of their relevant passage."""
    made = []
    for row in rows(count, lift=(0.3, 0.6)):
        gold = row.question.gold[0].model_copy(update={"title": "规则（虚构示例）", "article": "3"})
        asked = row.question.model_copy(update={"gold": (gold,)})
        made.append(replace(row, question=asked))
    return tuple(made)


def test_candidates_are_the_fused_lists_of_all_domains_or_one() -> None:
    row = labelled(1)[0]
    plan = FusionPlan.from_settings(profile())
    every = candidates_of(row, plan, read, 50)
    one = candidates_of(row, plan, read, 50, "law")
    assert len(every.units) > len(one.units) > 0
    assert len(candidates_of(row, plan, read, 5).units) == 5
    assert candidates_of(row, plan, lambda ids: {}, 5).units == ()


def test_nothing_is_fitted_on_the_fold_it_is_judged_on(monkeypatch: pytest.MonkeyPatch) -> None:
    # Questions of one answer would fall into one fold; each row here stands for itself.
    monkeypatch.setattr(module, "group_questions", lambda qs: [q.key for q in qs])
    seen: list[set[str]] = []
    fitted: list[set[str]] = []

    def tune(
        history: History, train: Sequence[Recorded], settings: Settings, **_: object
    ) -> Settings:
        seen.append({row.question.key for row in train})
        return settings

    real = module.fit

    def fit(examples: Sequence[module.Example], seed: int = 0) -> object:
        fitted.append({one.question.key for one in examples})
        return real(examples, seed)

    monkeypatch.setattr(module, "tune", tune)
    monkeypatch.setattr(module, "fit", fit)
    history = History(labelled(40), PRINTS)
    found = nested(history, profile(), read)
    assert len(seen) == 5
    assert seen == fitted
    every = {row.question.key for row in history.rows}
    left_out = [every - one for one in seen]
    assert set().union(*left_out) == every
    assert sum(map(len, left_out)) == len(every), "each question is left out exactly once"
    assert set(found.values) == {FUSED, RERANKED, *DOMAINS}
    ranks = [1 + one.units.index(unit) if (unit := _gold(one)) else 99 for one in _lists(history)]
    assert found.values[FUSED] == tuple(1 / rank if rank <= 10 else 0.0 for rank in ranks)
    assert sum(found.values[FUSED]) > 10


def _lists(history: History) -> list[module.Example]:
    plan = FusionPlan.from_settings(profile())
    return [candidates_of(row, plan, read, profile().rerank.top_n) for row in history.rows]


def _gold(one: module.Example) -> str | None:
    return next((unit for unit in one.units if unit is not None), None)
