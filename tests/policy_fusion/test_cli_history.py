"""Feedback on what a query showed, and the versions of the weights, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.ingest.documents import statute, write
from tests.policy_fusion.commands import PROFILE, call


@pytest.fixture
def options(tmp_path: Path) -> tuple[object, ...]:
    """A store with one statute, under a profile that keeps a history."""
    profile = tmp_path / "profile.yaml"
    profile.write_text(PROFILE.read_text("utf-8") + "\nhistory: {enabled: true}\n", "utf-8")
    write(tmp_path / "d" / "渔.md", statute("渔业条例（虚构示例）", ["渔船应当登记。"]))
    given = ("--config", profile, "--store", tmp_path / "store")
    assert call("ingest", "law", tmp_path / "d", *given).returncode == 0
    return given


def test_a_verdict_on_a_shown_passage_moves_the_cold_start_weights(
    tmp_path: Path, options: tuple[object, ...]
) -> None:
    found = json.loads(call("search", "渔船登记", "--json", *options).stdout)
    shown = found["results"][0]["id"]
    folder = ("--folder", tmp_path / "weights")
    before = json.loads(call("weights", "cold-start", "--json", *folder, *options).stdout)
    assert before["law"] == pytest.approx(1.0)
    kept = call("feedback", found["query_id"], shown, "accepted", "--client", "a", *options)
    assert (kept.returncode, kept.stdout) == (0, f"{found['query_id']} {shown}: accepted\n")
    after = json.loads(call("weights", "cold-start", "--json", "--write", *folder, *options).stdout)
    assert after["law"] > 1.0 == pytest.approx(after["fiscal"])
    listed = json.loads(call("weights", "list", "--json", *folder).stdout)
    assert [version["version"] for version in listed["versions"]] == [listed["current"]]


@pytest.mark.parametrize(
    ("passage", "verdict", "said"),
    [("law:没有@1#a1", "accepted", "law:没有@1#a1"), (None, "loved", "accepted")],
)
def test_a_verdict_that_cannot_be_kept_is_refused_in_one_line(
    passage: str | None, verdict: str, said: str, options: tuple[object, ...]
) -> None:
    found = json.loads(call("search", "渔船登记", "--json", *options).stdout)
    shown = found["results"][0]["id"]
    refused = call("feedback", found["query_id"], passage or shown, verdict, *options)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert said in refused.stderr


def test_without_a_history_feedback_says_how_to_keep_one(tmp_path: Path) -> None:
    refused = call("feedback", "q", "p", "cited", "--config", PROFILE, "--store", tmp_path)
    assert refused.returncode == 2
    assert "history.enabled" in refused.stderr


def test_versions_are_compared_and_rolled_back(tmp_path: Path, options: tuple[object, ...]) -> None:
    folder = ("--folder", tmp_path / "weights")
    found = json.loads(call("search", "渔船登记", "--json", *options).stdout)
    shown = found["results"][0]["id"]
    call("weights", "cold-start", "--write", *folder, *options)
    call("feedback", found["query_id"], shown, "rejected", *options)
    call("weights", "cold-start", "--write", *folder, *options)
    changed = json.loads(call("weights", "diff", "1", "2", "--json", *folder).stdout)
    assert [row["key"] for row in changed] == ["domains.law.weight"]
    assert changed[0]["new"] < changed[0]["old"]
    assert call("weights", "rollback", *folder).stdout.endswith("0001\n")
    assert call("weights", "rollback", *folder).returncode == 2
    assert call("weights", "diff", "1", "7", *folder).returncode == 2
