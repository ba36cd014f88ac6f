"""Recording, fusing as arrays, tuning, calibrating, routing: on small lists made by hand."""

from __future__ import annotations

import itertools
import random
from datetime import date
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from configs.errors import InputError
from configs.settings import CalibrationConfig, FusionMode, Settings, load_settings
from configs.weights_folder import current, versions
from eval import tuning
from eval.calibrating import Judgements, calibration_error, choose, fit
from eval.datasets import Gold, Question
from eval.fusion_search import file_weights, inequality
from eval.gate import HeldOutPair
from eval.question_groups import group_questions
from eval.recording import History, Recorded, load, save, units_of
from eval.routing import fit_router
from eval.signal_arrays import SignalArrays, calibrated, reciprocal_ranks
from eval.single_sources import best_single, singles
from fusion.calibration import calibrate
from fusion.two_stage import FusionPlan, fuse_two_stage
from indexes.schema import Hit, Passage, PassageMetadata

DOMAINS = ("fiscal", "law", "local")


def question(number: int, domain: str = "law", text: str = "", file: str = "a.jsonl") -> Question:
    gold = (Gold(domain=domain, title=f"规则{number}（虚构示例）", article="1"),)
    return Question(
        id=f"{file}{number}",
        key=f"{file}{number}",
        query=text or f"问题{number}",
        gold=gold,
        file=file,
    )


def rows(
    count: int, seed: int = 0, file: str = "a.jsonl", lift: tuple[float, float] = (0.0, 0.6)
) -> tuple[Recorded, ...]:
    """Random lists; the relevant passage scores higher in its domain by something in ``lift``."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        home = rng.choice(DOMAINS)
        signals = {}
        for domain in DOMAINS:
            ids = [f"{domain}:d@1#a{i}" for i in range(12)]
            lifted = {f"{home}:d@1#a3": rng.uniform(*lift)}
            signals[domain] = {
                name: tuple(
                    Hit(i, round(rng.random() + lifted.get(i, 0.0), 2)) for i in rng.sample(ids, 8)
                )
                for name in ("dense", "keyword")
            }
        units = {f"{home}:d@1#a3": ("unit",)}
        made.append(Recorded(question(number, home, file=file), signals, units, (0.6, 0.8)))  # type: ignore[arg-type]
    return tuple(made)


def profile(mode: FusionMode = "weighted_geometric_mean", **fusion: object) -> Settings:
    settings = load_settings()
    changed = settings.fusion.model_copy(update={"mode": mode, **fusion})
    domains = {
        name: domain.model_copy(
            update={
                "dense": domain.dense.model_copy(update={"calibration": CalibrationConfig()}),
                "keyword": domain.keyword.model_copy(update={"calibration": CalibrationConfig()}),
            }
        )
        for name, domain in settings.domains.items()
    }
    return settings.model_copy(update={"fusion": changed, "domains": domains})


@pytest.mark.parametrize(
    ("inner", "outer"), list(itertools.product(get_args(FusionMode), get_args(FusionMode)))
)
def test_arrays_rank_as_the_engine_does_in_every_mode(inner: FusionMode, outer: FusionMode) -> None:
    settings = profile(outer, inner_mode=inner, candidates=11)
    made = rows(40)
    plan = FusionPlan.from_settings(settings)
    expected = []
    for row in made:
        order = [item.id for item in fuse_two_stage(plan, row.signals)][:10]
        places = [place for place, id_ in enumerate(order, start=1) if id_ in row.units]
        expected.append(1 / places[0] if places else 0.0)
    found = reciprocal_ranks(SignalArrays.of(made, DOMAINS), settings)
    assert found.tolist() == pytest.approx(expected)
    assert 0 < sum(expected) < 40


def test_depths_and_zero_weights_count_in_arrays_too() -> None:
    settings = load_settings()
    law = settings.domains["law"]
    domains = {
        **settings.domains,
        "fiscal": settings.domains["fiscal"].model_copy(update={"weight": 0.0}),
        "law": law.model_copy(
            update={"keyword": law.keyword.model_copy(update={"weight": 0.0, "depth": 3})}
        ),
    }
    changed = settings.model_copy(update={"domains": domains})
    made = [row for row in rows(40) if next(iter(row.units)).startswith("fiscal")]
    assert reciprocal_ranks(SignalArrays.of(made, DOMAINS), changed).sum() == 0


@pytest.mark.parametrize(
    "config",
    [
        CalibrationConfig(),
        CalibrationConfig(kind="platt", slope=9.0, intercept=-4.0),
        CalibrationConfig(kind="isotonic", x=(0.2, 0.5, 0.9), y=(0.1, 0.1, 0.7)),
    ],
)
def test_arrays_calibrate_as_the_engine_does(config: CalibrationConfig) -> None:
    raw = np.linspace(-1, 2, 31)
    assert calibrated(config, raw).tolist() == pytest.approx([calibrate(config, x) for x in raw])


def test_a_record_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    history = History(rows(5), {"law": "e5-1", "fiscal": "e5-1", "local": "e5-1"})
    save(history, tmp_path / "r.gz")
    assert load(tmp_path / "r.gz") == history
    (tmp_path / "r.gz").write_bytes((tmp_path / "r.gz").read_bytes()[:200])
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path / "r.gz")


def test_only_passages_that_cover_a_label_have_units() -> None:
    asked = question(1)
    right = PassageMetadata(title="规则1（虚构示例）", file="a.md", article="1")
    wrong = PassageMetadata(title="规则1（虚构示例）", file="a.md", article="2")
    passages = {"r": Passage("r", "law", "x", right), "w": Passage("w", "law", "x", wrong)}
    assert units_of(asked, passages) == {"r": ("article:规则1(虚构示例)#1",)}


def test_questions_with_the_same_answer_or_nearly_the_same_words_stay_together() -> None:
    made = [
        question(1, text="购买新能源车可以领多少补贴"),
        question(2, text="购买新能源车可以领多少补贴呢"),  # 11 of 12 trigrams
        question(3, text="公司不交社保怎么办"),
        question(3, text="单位拒缴保险去哪里投诉", file="b.jsonl"),
        question(4, text="离婚后孩子归谁"),
    ]
    names = group_questions(made)
    assert names[0] == names[1]
    assert names[2] == names[3]
    assert len(set(names)) == 3


def test_every_file_weighs_the_same() -> None:
    weights = file_weights([*rows(3), *rows(1, file="b.jsonl")])
    assert weights.tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])


def test_equal_weights_cost_nothing_and_unequal_ones_something() -> None:
    settings = profile()
    domains = {
        name: domain.model_copy(
            update={
                "weight": 1.0,
                "dense": domain.dense.model_copy(update={"weight": 0.5}),
                "keyword": domain.keyword.model_copy(update={"weight": 0.5}),
            }
        )
        for name, domain in settings.domains.items()
    }
    assert inequality(settings.model_copy(update={"domains": domains})) == 0
    assert inequality(settings) > 0


def pair(before: list[float], after: list[float], homes: list[str]) -> HeldOutPair:
    made = tuple(Recorded(question(i, home), {}, {}) for i, home in enumerate(homes))
    return HeldOutPair(made, np.array(before), np.array(after))


def test_the_gate_lets_a_clear_gain_pass() -> None:
    assert pair([0.2] * 40, [0.5] * 40, ["law"] * 40).verdict().accepted


def test_the_gate_stops_a_gain_that_may_be_luck() -> None:
    verdict = pair([0.2] * 4, [0.5] * 4, ["law"] * 4).verdict()  # p = 2 / 2⁴ at best
    assert not verdict.accepted
    assert "beyond doubt" in verdict.reason


def test_the_gate_stops_a_gain_that_one_domain_pays_for() -> None:
    homes = ["law"] * 60 + ["local"] * 10
    verdict = pair([0.2] * 70, [0.5] * 60 + [0.15] * 10, homes).verdict()
    assert not verdict.accepted
    assert "local would lose 0.050" in verdict.reason


def test_a_perfect_calibration_has_no_error_and_a_bold_one_has_its_boldness() -> None:
    relevant = np.array([True, False] * 50)
    assert calibration_error(np.full(100, 0.5), relevant) == 0
    assert calibration_error(np.full(100, 0.9), relevant) == pytest.approx(0.4)
    assert calibration_error(np.full(100, 0.9), relevant, equal_mass=True) == pytest.approx(0.4)


def judged(count: int, slope: float, seed: int = 0) -> Judgements:
    rng = np.random.default_rng(seed)
    scores = rng.uniform(-1, 1, count)
    relevant = rng.random(count) < 1 / (1 + np.exp(-slope * scores))
    return Judgements(scores, relevant, tuple(str(i) for i in range(count)))


def test_much_history_gives_the_curve_that_made_it_and_little_the_prior() -> None:
    prior = CalibrationConfig(kind="platt", slope=1.0, intercept=0.0)
    assert fit(judged(20_000, 6.0), prior, "platt").slope == pytest.approx(6.0, rel=0.05)
    assert fit(judged(6, 6.0), prior, "platt").slope < 6.0
    nothing = Judgements(np.array([0.1, 0.2]), np.array([False, False]), ("a", "b"))
    assert choose(nothing, prior).config == prior


def test_the_kind_of_curve_is_chosen_on_held_out_hits() -> None:
    prior = CalibrationConfig(kind="platt", slope=1.0, intercept=0.0)
    assert choose(judged(4000, 6.0), prior).config.kind == "platt"
    scores = np.linspace(0, 1, 4000)
    step = Judgements(scores, (scores > 0.9) | (np.arange(4000) % 10 == 0), tuple(map(str, scores)))
    assert choose(step, prior).config.kind == "isotonic"


def test_single_sources_use_one_domain_or_one_signal() -> None:
    alone = singles(load_settings())
    assert set(alone) == {*DOMAINS, "dense", "keyword"}
    assert [d.weight for n, d in alone["law"].domains.items() if n != "law"] == [0, 0]
    assert {d.keyword.weight for d in alone["dense"].domains.values()} == {0}
    values = {"a": np.array([1.0, 0.0]), "b": np.array([0.0, 1.0])}
    assert best_single(values, np.array([1]), np.array([1.0])) == "b"


def lopsided() -> Settings:
    """A profile that hears one domain of three: easy to improve on."""
    settings = profile()
    domains = {
        name: domain.model_copy(update={"weight": 1.0 if name == "law" else 0.001})
        for name, domain in settings.domains.items()
    }
    return settings.model_copy(update={"domains": domains})


def run(tmp_path: Path, trials: int) -> int:
    record = tmp_path / "r.gz"
    save(History(rows(90, lift=(1.0, 1.5)), dict.fromkeys(DOMAINS, "e5-1")), record)
    folder = str(tmp_path / "weights")
    return tuning.main(["--record", str(record), "--folder", folder, "--trials", str(trials)])


def test_better_weights_become_a_version_beside_the_old_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "load_settings", lambda _: lopsided())
    assert run(tmp_path, 6) == 0
    assert current(tmp_path / "weights") == 2
    own, tuned = versions(tmp_path / "weights")
    assert (own.parent, tuned.parent) == (None, 1)
    assert own.domains["local"].weight == 0.001
    assert tuned.domains["law"].model == "e5-1"
    assert tuned.provenance.questions == {"a.jsonl": 90}
    before, after = tuned.provenance.held_out["a.jsonl"]
    assert before < after


def test_weights_that_are_no_better_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tuning, "load_settings", lambda _: profile())
    monkeypatch.setattr(tuning, "tune", lambda history, rows, settings, **rest: settings)
    assert run(tmp_path, 1) == 1
    assert "not written" in capsys.readouterr().out
    assert not (tmp_path / "weights").exists()


def test_tuning_without_questions_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert tuning.main([]) == 2
    assert "--questions" in capsys.readouterr().err


def test_a_router_learns_from_words_where_questions_belong() -> None:
    texts = {"fiscal": "增值税怎么缴纳", "law": "被打伤怎么起诉", "local": "上海落户积分多少"}
    made = [
        Recorded(question(i, domain, f"{text}{i}"), {}, {})
        for i in range(10)
        for domain, text in texts.items()
    ]
    router = fit_router(made, DOMAINS, 10.0, 0.1)
    for domain, text in texts.items():
        chances = router.probabilities(text)
        assert max(chances, key=lambda name: chances[name]) == domain


def test_dates_of_a_question_survive_the_record(tmp_path: Path) -> None:
    dated = question(1).model_copy(update={"as_of": date(2024, 6, 1), "jurisdiction": "上海市"})
    save(History((Recorded(dated, {}, {}),), {}), tmp_path / "r.gz")
    assert load(tmp_path / "r.gz").rows[0].question == dated
