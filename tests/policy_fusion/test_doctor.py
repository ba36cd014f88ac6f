"""The doctor: what it calls sound, and which faults it names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from indexes.catalog import PassageCatalog
from indexes.store_layout import StoreLayout
from ingest.ledger import Ledger
from ingest.validity import DocumentFacts
from policy_fusion.cli import run
from policy_fusion.doctor import HealthReport, examine
from tests.fakes import FakeEmbedder
from tests.ingest.documents import run_ingest, settings, statute, write


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "documents"
    write(
        root / "渔业条例.md",
        statute("渔业条例（虚构示例）", ["渔船应当登记。", "禁渔期不得捕捞。"]),
    )
    run_ingest(tmp_path / "store", root)
    return tmp_path / "store"


def check(store: Path, name: str = "fake") -> HealthReport:
    embedders = {domain: FakeEmbedder(name=name) for domain in ("law", "local")}
    return examine(settings(store), embedders=embedders)


def test_a_sound_store_is_ok_and_counts_agree(store: Path) -> None:
    report = check(store)
    assert report.problems == ()
    assert report.ok
    assert not report.telemetry
    law, local = report.domains
    assert law.counts == {"catalog": 2, "vector store": 2, "keyword index": 2}
    assert (law.files, law.documents, law.dimension) == (1, 1, 64)
    assert law.fingerprint == law.store_fingerprint
    assert law.missing == {"title": 0.0, "file": 0.0, "jurisdiction": 0.0, "effective": 0.0}
    assert not local.ingested
    assert report.notes == ("local: nothing is ingested",)


def test_a_store_with_nothing_in_it_is_not_ok_and_is_not_created(tmp_path: Path) -> None:
    report = check(tmp_path / "none")
    assert not report.ok
    assert "policy-fusion ingest" in report.problems[0]
    assert not (tmp_path / "none").exists()


def test_another_model_than_the_store_was_built_with_is_a_problem(store: Path) -> None:
    report = check(store, name="other")
    built, configured = (FakeEmbedder(name=name).fingerprint.key for name in ("fake", "other"))
    assert built != configured
    told = f"law: built with the model {built}, {configured} is configured"
    assert any(problem.startswith(told) for problem in report.problems)


def test_more_than_one_passage_in_twenty_without_a_day_is_a_problem(
    store: Path, tmp_path: Path
) -> None:
    articles = ["渔船。"] * 9
    write(tmp_path / "documents" / "a.md", statute("补充规定（虚构示例）", articles))
    undated = "# 关于登记的通知（虚构示例）\n\n登记免费。\n"
    write(tmp_path / "documents" / "b.md", undated)
    report_of_it = "# 一图看懂登记（虚构示例）\n\n登记免费，看这里。\n"
    write(tmp_path / "documents" / "c.md", report_of_it)
    run_ingest(store, tmp_path / "documents")
    report = check(store)
    missing = report.domains[0].missing["effective"]
    # Of 2 + 9 + 1 + 1 passages one rule has no date; a report needs none.
    assert missing == pytest.approx(1 / 13)
    assert any("effective is unknown for 7.7% of the passages" in p for p in report.problems)


def test_stores_that_disagree_are_a_problem_that_an_ingest_mends(
    store: Path, tmp_path: Path
) -> None:
    layout = StoreLayout(store)
    catalog = PassageCatalog(layout.catalog)
    _lose_one_vector(store)
    catalog.close()
    report = check(store)
    assert report.domains[0].counts["vector store"] == 1
    assert not report.domains[0].agree
    assert any("different numbers of passages" in p for p in report.problems)
    run_ingest(store, tmp_path / "documents")
    assert check(store).ok


def test_an_interrupted_ingest_and_a_quarantine_are_noted(store: Path, tmp_path: Path) -> None:
    write(tmp_path / "documents" / "空.md", "")
    run_ingest(store, tmp_path / "documents")
    with Ledger(store) as ledger:
        facts = DocumentFacts("", "甲法", "100000", None, None, None, "in_force")
        ledger.intend("law", "/d/甲.md", [(facts, None)])
    report = check(store)
    assert report.ok
    assert any("1 files did not end" in note for note in report.notes)
    assert any("1 files or records are in quarantine" in note for note in report.notes)


@pytest.mark.parametrize("name", ["catalog.sqlite", "ledger.sqlite"])
def test_a_damaged_database_is_a_problem_not_a_crash(store: Path, name: str) -> None:
    for path in store.glob(f"{name}*"):
        path.unlink()
    (store / name).write_text("no database, but long enough to be looked at " * 40)
    report = check(store)
    assert len(report.problems) == 1
    assert "damaged" in report.problems[0]


@pytest.mark.parametrize("as_json", [True, False])
def test_the_command_fails_exactly_when_there_is_a_problem(
    store: Path,
    as_json: bool,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    embedder: Callable[..., FakeEmbedder] = lambda *_: FakeEmbedder()  # noqa: E731
    monkeypatch.setattr("policy_fusion.doctor.load_embedder", embedder)
    monkeypatch.setattr("policy_fusion.cli.chosen_settings", lambda *_: settings(store))
    arguments = ["doctor", *(["--json"] if as_json else [])]
    assert run(arguments) == 0
    out = capfd.readouterr().out
    if as_json:
        found = json.loads(out)
        assert found["ok"] is True
        assert found["telemetry"] == "off"
        assert found["domains"]["law"]["agree"] is True
    else:
        assert out.rstrip().endswith("ok")
        assert "telemetry: off" in out
    _lose_one_vector(store)
    assert run(arguments) == 1
    told = capfd.readouterr().out
    assert "different numbers" in (json.loads(told)["problems"][0] if as_json else told)


def _lose_one_vector(store: Path) -> None:
    from indexes.chroma_store import CosineChromaVectorStore

    config = settings(store)
    dense = CosineChromaVectorStore.open(
        config.store, StoreLayout(store).chroma, config.domains["law"].collection, None
    )
    dense.delete_ids([next(iter(dense.all_ids()))])
    dense.close()
