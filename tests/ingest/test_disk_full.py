"""A full disk is told as such, whoever noticed it and in whatever words."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from configs.errors import InputError, StoreBusyError
from ingest.disk_full import disk_full_told

HIDDEN = RuntimeError("Error in compaction: Failed to apply logs to the metadata segment")


def _with_free(space: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=space))


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        RuntimeError("database or disk is full"),
    ],
)
def test_errors_that_name_a_full_disk_are_told_with_the_remedy(
    error: Exception, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"disk is full .* free space"), disk_full_told(tmp_path):
        raise error


def test_an_error_that_hides_its_cause_is_judged_by_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_free(4096, monkeypatch)
    with pytest.raises(InputError, match=r"disk is full .* free space"), disk_full_told(tmp_path):
        raise HIDDEN
    _with_free(10**9, monkeypatch)
    with pytest.raises(RuntimeError, match="Failed to apply logs"), disk_full_told(tmp_path):
        raise HIDDEN


def test_errors_that_are_already_told_stay_what_they_are_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_free(0, monkeypatch)
    with pytest.raises(StoreBusyError), disk_full_told(tmp_path):
        raise StoreBusyError("another ingest is running")
