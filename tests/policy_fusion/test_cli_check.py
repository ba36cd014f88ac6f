"""policy-fusion check as scripts and people meet it. All rules are 虚构示例."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policy_fusion.cli import run
from tests.fakes import FakeEmbedder
from tests.ingest.documents import statute, write
from tests.ingest.office_files import new_document
from tests.policy_fusion.commands import PROFILE

GOOD = "依照《渔业条例（虚构示例）》第二条规定：“禁渔期不得捕捞，违者处二千元罚款。”"
BAD = "依照《渔业条例（虚构示例）》第九条办理，另见《林木法》。"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from configs.settings import load_settings
    from ingest.pipeline import ingest

    root = tmp_path_factory.mktemp("check")
    articles = ["渔船应当登记。", "禁渔期不得捕捞，违者处二千元罚款。"]
    write(root / "law" / "渔业条例.md", statute("渔业条例（虚构示例）", articles))
    settings = load_settings(str(PROFILE)).with_store(root / "store")
    ingest(settings, "law", [root / "law"], embedder=FakeEmbedder(), progress=False)
    return root / "store"


def check(store: Path, file: Path, *options: str) -> int:
    return run(["check", str(file), "--config", str(PROFILE), "--store", str(store), *options])


def test_a_sound_document_passes(
    store: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "通知.txt"
    file.write_text(GOOD, encoding="utf-8")
    assert check(store, file, "--as-of", "any") == 0
    out = capfd.readouterr().out
    assert "存在，引文一致" in out
    assert "1 处引用，0 处有问题" in out


def test_a_wrong_reference_is_shown_and_fails(
    store: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "通知.txt"
    file.write_text(f"{GOOD}\n{BAD}\n", encoding="utf-8")
    assert check(store, file, "--as-of", "any") == 1
    out = capfd.readouterr().out
    assert "没有该条，最接近的是第2条" in out
    assert "资料中没有该文件" in out


def test_json_says_the_same(store: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "通知.txt"
    file.write_text(f"{GOOD}\n{BAD}\n", encoding="utf-8")
    assert check(store, file, "--as-of", "any", "--json") == 1
    report = json.loads(capfd.readouterr().out)
    assert report["wrong"] == 2
    assert [r["problems"] for r in report["references"]] == [[], ["no_article"], ["no_document"]]
    assert report["references"][0]["quote"]["status"] == "verbatim"


def test_unknown_documents_can_be_forgiven(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "通知.txt"
    file.write_text("另见《林木法》第一条。", encoding="utf-8")
    assert check(store, file) == 1
    assert check(store, file, "--allow-unknown") == 0


def test_a_word_file_is_read(
    store: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "通知.docx"
    document = new_document()
    document.add_paragraph(GOOD)
    document.save(str(file))
    assert check(store, file, "--as-of", "any") == 0
    assert "引文一致" in capfd.readouterr().out


@pytest.mark.parametrize("options", [("--as-of", "明天"), ("--store", "")])
def test_a_wrong_option_is_one_line(
    store: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    file = tmp_path / "通知.txt"
    file.write_text(GOOD, encoding="utf-8")
    assert check(store, file, *options) == 2
    assert capfd.readouterr().err.count("\n") == 1


def test_a_missing_file_and_an_empty_store_are_one_line(
    store: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert check(store, tmp_path / "没有.txt") == 2
    assert "no such file" in capfd.readouterr().err
    file = tmp_path / "通知.txt"
    file.write_text(GOOD, encoding="utf-8")
    assert check(tmp_path / "nowhere", file) == 2
    assert "policy-fusion ingest" in capfd.readouterr().err
