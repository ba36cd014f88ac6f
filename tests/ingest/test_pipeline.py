"""Ingest as a user meets it: what is searchable after which change of the files."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest

from configs.errors import ConfigError, InputError, StoreBusyError, StoreMismatchError
from indexes.store_layout import StoreLayout
from indexes.writer import DocumentChange, DomainWriter
from ingest import pipeline
from ingest.ledger import Ledger
from tests.fakes import FakeEmbedder
from tests.indexes.passages import document
from tests.ingest.documents import (
    run_ingest,
    settings,
    status,
    statute,
    stored,
    texts,
    write,
    write_records,
)

FISH = statute("渔业条例（虚构示例）", ["渔船应当登记。", "禁渔期不得捕捞。"])
TREE = statute("林业条例（虚构示例）", ["林地应当保护。"])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    write(folder / "渔业条例.md", FISH)
    write(folder / "林业" / "林业条例.md", TREE)
    return folder


def test_every_article_of_every_file_is_there_once(store: Path, root: Path) -> None:
    report = run_ingest(store, root)
    assert (report.added, report.documents, report.passages) == (2, 2, 3)
    assert texts(store) == {
        "第一条 渔船应当登记。",
        "第二条 禁渔期不得捕捞。",
        "第一条 林地应当保护。",
    }
    assert {p.metadata.file for p in stored(store).values()} == {"渔业条例.md", "林业/林业条例.md"}


def test_a_second_ingest_reads_and_embeds_nothing(
    store: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_ingest(store, root)
    monkeypatch.setattr(
        pipeline, "file_digest", lambda _: pytest.fail("an unchanged file was read")
    )
    embedder = FakeEmbedder()
    report = run_ingest(store, root, embedder=embedder)
    assert (report.unchanged, report.added, report.changed, report.passages) == (2, 0, 0, 0)
    assert embedder.texts == []


def test_a_touched_file_with_the_same_bytes_is_unchanged(
    store: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_ingest(store, root)
    os.utime(root / "渔业条例.md", ns=(1, 1))
    assert run_ingest(store, root).unchanged == 2
    monkeypatch.setattr(
        pipeline, "file_digest", lambda _: pytest.fail("the new time was forgotten")
    )
    assert run_ingest(store, root).unchanged == 2


def test_a_changed_file_replaces_its_document_and_embeds_only_what_is_new(
    store: Path, root: Path
) -> None:
    run_ingest(store, root)
    changed = ["渔船应当登记。", "禁渔期为三个月。"]
    write(root / "渔业条例.md", statute("渔业条例（虚构示例）", changed))
    embedder = FakeEmbedder()
    report = run_ingest(store, root, embedder=embedder)
    assert (report.changed, report.unchanged) == (1, 1)
    assert "第二条 禁渔期为三个月。" in texts(store)
    assert "第二条 禁渔期不得捕捞。" not in texts(store)
    assert [text.splitlines()[-1] for text in embedder.texts] == ["第二条 禁渔期为三个月。"]


def test_a_file_whose_title_changed_leaves_no_old_document_behind(store: Path, root: Path) -> None:
    run_ingest(store, root)
    write(
        root / "渔业条例.md",
        statute("渔业办法（虚构示例）", ["渔船应当登记。"], effective="2024-05-01"),
    )
    run_ingest(store, root)
    titles = {p.metadata.title for p in stored(store).values()}
    assert titles == {"渔业办法（虚构示例）", "林业条例（虚构示例）"}


def test_records_that_vanish_from_a_jsonl_file_are_removed(store: Path, tmp_path: Path) -> None:
    file = write_records(tmp_path / "d" / "通告.jsonl", {"1": "休渔。", "2": "植树。"})
    run_ingest(store, file)
    write_records(file, {"2": "植树。", "3": "防火。"})
    report = run_ingest(store, file)
    assert report.changed == 1
    assert texts(store) == {"植树。", "防火。"}


def test_a_bad_line_is_quarantined_and_does_not_remove_what_it_held(
    store: Path, tmp_path: Path
) -> None:
    file = write_records(tmp_path / "d" / "通告.jsonl", {"1": "休渔。", "2": "植树。"})
    run_ingest(store, file)
    lines = file.read_text("utf-8").splitlines()
    file.write_text(f"{lines[0]}\n{lines[1][:20]}\n", "utf-8")
    report = run_ingest(store, file)
    assert [(q.kind, q.key) for q in report.quarantined] == [("record", "line 2")]
    assert texts(store) == {"休渔。", "植树。"}
    again = run_ingest(store, file)
    assert again.unchanged == 1
    assert len(again.quarantined) == 1, "a quarantine is told until it is mended"
    write_records(file, {"1": "休渔。"})
    assert run_ingest(store, file).quarantined == ()
    assert texts(store) == {"休渔。"}


def test_a_deleted_file_stays_until_it_is_pruned(store: Path, root: Path) -> None:
    run_ingest(store, root)
    (root / "渔业条例.md").unlink()
    assert run_ingest(store, root).removed == 0
    assert "第一条 渔船应当登记。" in texts(store)
    assert run_ingest(store, root, prune=True).removed == 1
    assert texts(store) == {"第一条 林地应当保护。"}


def test_pruning_touches_nothing_outside_of_the_folders_of_the_call(
    store: Path, root: Path, tmp_path: Path
) -> None:
    other = write(
        tmp_path / "other" / "草原条例.md", statute("草原条例（虚构示例）", ["草原禁牧。"])
    )
    run_ingest(store, root, other.parent)
    other.unlink()
    (root / "渔业条例.md").unlink()
    assert run_ingest(store, root, prune=True).removed == 1
    assert "第一条 草原禁牧。" in texts(store)


def test_pruning_touches_no_other_domain(store: Path, root: Path) -> None:
    run_ingest(store, root)
    run_ingest(store, root, domain="local")
    (root / "渔业条例.md").unlink()
    run_ingest(store, root, domain="local", prune=True)
    assert "第一条 渔船应当登记。" in texts(store, "law")
    assert "第一条 渔船应当登记。" not in texts(store, "local")


def test_an_empty_or_missing_folder_removes_nothing(store: Path, root: Path) -> None:
    run_ingest(store, root)
    for path in sorted(root.rglob("*.md")):
        path.unlink()
    with pytest.raises(InputError, match="mounted"):
        run_ingest(store, root, prune=True)
    with pytest.raises(InputError, match="no such file"):
        run_ingest(store, root / "gone", prune=True)
    assert len(stored(store)) == 3


def test_a_moved_folder_is_followed_without_pruning_or_embedding(store: Path, root: Path) -> None:
    run_ingest(store, root)
    moved = root.rename(root.with_name("moved"))
    embedder = FakeEmbedder()
    report = run_ingest(store, moved, embedder=embedder)
    assert (report.added, report.quarantined) == (2, ())
    assert len(stored(store)) == 3
    assert embedder.texts == []


def test_a_file_that_was_renamed_and_edited_takes_the_place_of_the_old_one(
    store: Path, root: Path
) -> None:
    run_ingest(store, root)
    (root / "渔业条例.md").unlink()
    write(root / "渔业.md", statute("渔业条例（虚构示例）", ["渔船应当登记。", "禁渔期为三个月。"]))
    report = run_ingest(store, root, prune=True)
    assert (report.added, report.removed, report.quarantined) == (1, 1, ())
    assert "第二条 禁渔期为三个月。" in texts(store)


def test_a_copy_of_a_document_goes_to_quarantine_until_the_first_one_is_gone(
    store: Path, root: Path
) -> None:
    write(root / "副本.md", FISH)
    report = run_ingest(store, root)
    assert report.added == 2
    assert [(Path(q.path).name, q.kind) for q in report.quarantined] == [
        ("渔业条例.md", "duplicate")
    ]
    assert "副本.md" in report.quarantined[0].reason
    (root / "副本.md").unlink()
    report = run_ingest(store, root, prune=True)
    assert report.quarantined == ()
    assert {p.metadata.file for p in stored(store).values()} == {"渔业条例.md", "林业/林业条例.md"}


def test_a_bad_file_is_told_with_its_reason_and_the_others_go_on(store: Path, root: Path) -> None:
    bad = root / "坏.md"
    bad.write_bytes(b"\x00\xff\xfe\x00" * 50)
    write(root / "空.md", "")
    report = run_ingest(store, root)
    assert report.added == 2
    assert {Path(q.path).name for q in report.quarantined} == {"坏.md", "空.md"}
    assert all(q.reason for q in report.quarantined)
    assert not report.all_failed
    write(bad, statute("海岛条例（虚构示例）", ["海岛应当保护。"]))
    (root / "空.md").unlink()
    report = run_ingest(store, root)
    assert (report.added, report.quarantined) == (1, ())
    assert "第一条 海岛应当保护。" in texts(store)
    with Ledger(store) as ledger:
        assert ledger.quarantined("law") == ()


def test_a_file_that_became_bad_keeps_its_last_good_version(store: Path, root: Path) -> None:
    run_ingest(store, root)
    write(root / "渔业条例.md", "")
    report = run_ingest(store, root)
    assert [Path(q.path).name for q in report.quarantined] == ["渔业条例.md"]
    assert "第一条 渔船应当登记。" in texts(store)


def test_a_parser_that_fails_unexpectedly_costs_one_file(
    store: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = pipeline.parse_file

    def parse(path: Path, *rest: object) -> object:
        if path.name == "渔业条例.md":
            raise RecursionError("too deep")
        return real(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "parse_file", parse)
    report = run_ingest(store, root)
    assert report.added == 1
    assert "too deep" in report.quarantined[0].reason


def test_all_files_bad_is_a_failure(store: Path, tmp_path: Path) -> None:
    write(tmp_path / "d" / "空.md", " ")
    report = run_ingest(store, tmp_path / "d")
    assert report.all_failed
    assert report.to_json()["quarantined"] == 1


def test_a_new_parser_version_reads_every_file_again_and_embeds_nothing(
    store: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_ingest(store, root)
    monkeypatch.setattr(pipeline, "PARSER_VERSION", "next")
    embedder = FakeEmbedder()
    report = run_ingest(store, root, embedder=embedder)
    assert (report.reparsed, report.unchanged) == (2, 0)
    assert embedder.texts == []
    assert run_ingest(store, root).unchanged == 2


def test_documents_that_the_catalog_lost_are_ingested_again(store: Path, root: Path) -> None:
    run_ingest(store, root)
    with DomainWriter.open(settings(store), "law", FakeEmbedder()) as writer:
        writer.apply([DocumentChange(str(root / "渔业条例.md"), None)])
    run_ingest(store, root)
    assert len(stored(store)) == 3


def test_batches_of_any_size_give_the_same_store(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_records(tmp_path / "d" / "通告.jsonl", {str(n): f"第{n}号。" for n in range(9)})
    write(tmp_path / "d" / "渔业条例.md", FISH)
    monkeypatch.setattr(pipeline, "BATCH_PASSAGES", 2)
    report = run_ingest(store, file.parent)
    assert (report.documents, report.passages) == (10, 11)
    assert len(stored(store)) == 11
    write_records(file, {str(n): f"第{n}号。" for n in range(4, 12)})
    run_ingest(store, file.parent)
    assert {p.metadata.record for p in stored(store).values()} == {
        "",
        *(str(n) for n in range(4, 12)),
    }


def test_a_later_version_closes_the_earlier_one_and_a_removed_one_opens_it_again(
    store: Path, tmp_path: Path
) -> None:
    title = "渔业条例（虚构示例）"
    root = tmp_path / "d"
    write(root / "旧.md", statute(title, ["渔船登记。"], effective="2010-03-01"))
    new = write(root / "新.md", statute(title, ["渔船备案。"], effective="2020-07-01"))
    report = run_ingest(store, root)
    assert report.linked == 1
    assert status(store, title, "2010-03-01") == ("2020-07-01", "amended")
    assert status(store, title, "2020-07-01") == (None, "in_force")
    assert run_ingest(store, root).linked == 0
    new.unlink()
    run_ingest(store, root, prune=True)
    assert status(store, title, "2010-03-01") == (None, "in_force")


def test_a_version_of_the_future_ends_the_present_one_only_on_its_day(
    store: Path, tmp_path: Path
) -> None:
    title = "渔业条例（虚构示例）"
    write(tmp_path / "d" / "旧.md", statute(title, ["渔船登记。"], effective="2010-03-01"))
    write(tmp_path / "d" / "新.md", statute(title, ["渔船备案。"], effective="2026-07-01"))
    run_ingest(store, tmp_path / "d", today=date(2026, 6, 30))
    assert status(store, title, "2010-03-01") == ("2026-07-01", "in_force")
    assert status(store, title, "2026-07-01") == (None, "not_yet")
    run_ingest(store, tmp_path / "d", today=date(2026, 7, 1))
    assert status(store, title, "2010-03-01") == ("2026-07-01", "amended")
    assert status(store, title, "2026-07-01") == (None, "in_force")


def test_a_changed_text_of_a_closed_version_stays_closed(store: Path, tmp_path: Path) -> None:
    title = "渔业条例（虚构示例）"
    root = tmp_path / "d"
    old = write(root / "旧.md", statute(title, ["渔船登记。"], effective="2010-03-01"))
    write(root / "新.md", statute(title, ["渔船备案。"], effective="2020-07-01"))
    run_ingest(store, root)
    write(old, statute(title, ["渔船应当登记。"], effective="2010-03-01"))
    report = run_ingest(store, root)
    assert (report.changed, report.linked) == (1, 0)
    assert status(store, title, "2010-03-01") == ("2020-07-01", "amended")


def test_an_express_repeal_closes_the_rule_it_names_in_its_domain_only(
    store: Path, tmp_path: Path
) -> None:
    root = tmp_path / "d"
    write(root / "旧.md", statute("渔船办法（虚构示例）", ["渔船登记。"], effective="2010-03-01"))
    ending = "本条例自2020年7月1日起施行。2010年2月公布的《渔船办法（虚构示例）》同时废止。"
    write(root / "新.md", statute("渔业条例（虚构示例）", [ending], effective="2020-07-01"))
    run_ingest(store, root)
    run_ingest(store, root / "旧.md", domain="local")
    assert status(store, "渔船办法（虚构示例）", "2010-03-01") == ("2020-07-01", "repealed")
    other = stored(store, "local").values()
    assert {p.metadata.status for p in other} == {"in_force"}


def test_an_unknown_domain_another_model_and_a_running_ingest_are_named(
    store: Path, root: Path
) -> None:
    with pytest.raises(ConfigError, match="'nowhere'"):
        run_ingest(store, root, domain="nowhere")
    run_ingest(store, root)
    with pytest.raises(StoreMismatchError, match="other"):
        run_ingest(store, root, embedder=FakeEmbedder(name="other"))
    lock = StoreLayout(store).lock_writer()
    try:
        with pytest.raises(StoreBusyError):
            run_ingest(store, root)
    finally:
        lock.release()


def test_a_document_written_by_other_means_is_no_obstacle(store: Path, root: Path) -> None:
    with DomainWriter.open(settings(store), "law", FakeEmbedder()) as writer:
        writer.apply([DocumentChange("by hand", document("手写法", {"1": "虚构示例。"}))])
    assert run_ingest(store, root).added == 2
    assert "虚构示例。" in texts(store)
