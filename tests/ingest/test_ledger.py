"""The ledger: what it remembers, and what it still knows after an interruption."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from configs.errors import InputError
from ingest.ledger import LEDGER_NAME, FileRow, Ledger, Quarantined, document_key
from ingest.validity import DocumentFacts, Repeal, Validity

ROW = FileRow("/d/甲.md", 10, 99, "ab", 2, 5, "1", "2025-01-01", ("无日期",))


def facts(key: str) -> DocumentFacts:
    repeals = (Repeal("乙法", "2020-01-01"), Repeal("丙法"))
    return DocumentFacts(key, "甲法", "100000", None, "2020-01-01", None, "in_force", repeals)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "store") as opened:
        yield opened


def test_a_committed_file_is_remembered_by_the_next_process(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        ledger.commit("law", ROW)
    with Ledger(tmp_path) as ledger:
        assert ledger.files("law") == {ROW.path: ROW}
        assert ledger.files("local") == {}
        assert ledger.totals("law") == (1, 2, 5)
        assert ledger.domains() == ("law",)


def test_an_interrupted_file_is_not_committed_but_its_documents_are_known(ledger: Ledger) -> None:
    ledger.intend("law", ROW.path, [(facts("1"), None)])
    ledger.commit("law", ROW)
    assert ledger.unfinished("law") == frozenset()
    ledger.intend("law", ROW.path, [(facts("2"), None)])
    assert ledger.files("law") == {}
    assert ledger.unfinished("law") == {ROW.path}
    assert ledger.keys("law", ROW.path) == {"1", "2"}
    assert ledger.known_paths("law") == {ROW.path}


def test_a_quarantine_is_replaced_and_cleared_by_a_good_commit(ledger: Ledger) -> None:
    bad = Quarantined(ROW.path, "", "file", "空")
    line = Quarantined(ROW.path, "line 3", "record", "不是 JSON")
    ledger.quarantine("law", ROW.path, [bad])
    assert ledger.quarantined("law") == (bad,)
    ledger.commit("law", ROW, [line])
    assert ledger.quarantined("law") == (line,)
    ledger.commit("law", ROW)
    assert ledger.quarantined("law") == ()


def test_the_applied_validity_belongs_to_one_document_until_it_is_written_anew(
    ledger: Ledger,
) -> None:
    ledger.intend("law", ROW.path, [(facts("1"), None), (facts("2"), None)])
    closed = Validity("2024-01-01", "repealed")
    first, second = document_key(ROW.path, "1"), document_key(ROW.path, "2")
    ledger.applied("law", {first: closed})
    found = ledger.facts("law")
    assert {key: ledger.fact("law", key) for key in found} == found
    assert ledger.fact("law", "/d/无.md") == (None, None)
    assert (found[first][1], found[second][1]) == (closed, None)
    assert found[first][0] == facts(first)
    ledger.intend("law", ROW.path, [(facts("1"), None)])
    assert ledger.facts("law")[first][1] is None


def test_forgetting_a_path_leaves_the_other_domain_alone(ledger: Ledger) -> None:
    for domain in ("law", "local"):
        ledger.intend(domain, ROW.path, [(facts(""), None)])
        ledger.commit(domain, ROW)
    ledger.forget("law", ROW.path)
    assert ledger.known_paths("law") == frozenset()
    assert ledger.keys("local", ROW.path) == {""}


def test_a_file_that_is_no_ledger_or_of_another_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / LEDGER_NAME
    path.write_text("not a database at all, but long enough to be read as one" * 20)
    with pytest.raises(InputError, match="not a readable ledger"):
        Ledger(tmp_path)
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(InputError, match="format 99"):
        Ledger(tmp_path)


def test_a_ledger_of_an_older_format_is_begun_anew(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        ledger.commit("law", ROW)
    with sqlite3.connect(tmp_path / LEDGER_NAME) as db:
        db.execute("PRAGMA user_version = 1")
    with Ledger(tmp_path) as ledger:
        assert ledger.files("law") == {}
    with Ledger(tmp_path) as ledger:
        ledger.commit("law", ROW)
    with Ledger(tmp_path) as ledger:
        assert ledger.files("law") == {ROW.path: ROW}
