"""The commands that look after a store, in processes of their own."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from indexes.writer import DomainWriter
from tests.fakes import FakeEmbedder
from tests.ingest.documents import statute, texts, write
from tests.policy_fusion.commands import PROFILE, call, start

ARGUMENTS = ("--config", PROFILE, "--store")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "d" / "渔.md", statute("渔业条例（虚构示例）", ["渔船应当登记。"]))
    write(tmp_path / "d" / "空.md", "")
    return tmp_path / "d"


def test_quarantine_lists_reasons_and_retry_reads_only_them(tmp_path: Path, root: Path) -> None:
    store = (*ARGUMENTS, tmp_path / "store")
    assert call("ingest", "law", root, *store).returncode == 0
    listed = call("quarantine", *store)
    assert listed.returncode == 0
    assert listed.stdout.count("\n") == 1
    assert listed.stdout.startswith(f"law file: {root / '空.md'}: ")
    entries = json.loads(call("quarantine", "law", "--json", *store).stdout)
    assert [(e["kind"], e["key"]) for e in entries["law"]] == [("file", "")]
    write(root / "空.md", statute("林业条例（虚构示例）", ["林地应当保护。"]))
    report = json.loads(call("ingest", "law", root, "--retry", "--json", *store).stdout)
    assert (report["added"], report["unchanged"], report["quarantined"]) == (1, 0, 0)
    assert "nothing" in call("quarantine", *store).stdout


def test_verify_fails_on_differences_and_rebuild_mends_them(tmp_path: Path, root: Path) -> None:
    store = (*ARGUMENTS, tmp_path / "store")
    call("ingest", "law", root, *store)
    sound = call("verify", *store)
    assert (sound.returncode, sound.stdout) == (0, "law: 1 documents, 1 passages, ok\n")
    from configs.settings import load_settings

    profile = load_settings(PROFILE).with_store(tmp_path / "store")
    with DomainWriter.open(profile, "law", FakeEmbedder()) as writer:
        writer.keyword.clear()
        writer.keyword.commit()
    broken = call("verify", "law", "--json", *store)
    assert broken.returncode == 1
    (report,) = json.loads(broken.stdout)
    assert [(d["place"], d["kind"]) for d in report["differences"]] == [
        ("keyword index", "missing")
    ]
    rebuilt = call("rebuild", "law", *store)
    assert (rebuilt.returncode, rebuilt.stdout) == (0, "law: 1 passages rebuilt\n")
    assert call("verify", *store).returncode == 0


def test_an_unknown_domain_is_an_error_of_the_user(tmp_path: Path) -> None:
    for command in ("quarantine", "verify", "rebuild"):
        assert call(command, "nowhere", *ARGUMENTS, tmp_path).returncode == 2


def test_watching_ends_cleanly_on_ctrl_c(tmp_path: Path, root: Path) -> None:
    store = tmp_path / "store"
    process = start("watch", root, "law", *ARGUMENTS, store)
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and not (store / "ledger.sqlite").exists():
            time.sleep(0.1)
        assert process.stderr is not None
        first = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=60)
    finally:
        process.kill()
    assert first == "law: 1 added, 1 quarantined\n"
    assert rest == "已停止 / stopped\n"
    assert process.returncode == 0
    assert texts(store) == {"第一条 渔船应当登记。"}
