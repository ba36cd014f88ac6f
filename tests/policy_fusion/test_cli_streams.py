"""How a command ends: all of its output, its exit code, and no waiting for what is left running."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.policy_fusion.commands import REPO, environment

_BUSY = """
import atexit, sys, threading, time
from policy_fusion.cli_streams import leave
threading.Thread(target=time.sleep, args=(60,)).start()
atexit.register(print, "tidied")
print("words " * 50_000)
print("told", file=sys.stderr)
leave({code})
"""


@pytest.mark.parametrize("code", [0, 1, 2, 130])
def test_a_command_ends_at_once_with_its_code_and_all_of_its_output(code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _BUSY.format(code=code)],
        cwd=REPO, env=environment(), capture_output=True, encoding="utf-8",
        check=False, timeout=30,
    )  # fmt: skip
    assert done.returncode == code
    assert done.stdout == "words " * 50_000 + "\ntidied\n"
    assert done.stderr == "told\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_no_success() -> None:
    program = "print('lost'); from policy_fusion.cli_streams import leave; leave(0)"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=REPO, env=environment(), stdout=full, stderr=subprocess.DEVNULL,
            check=False, timeout=30,
        )  # fmt: skip
    assert done.returncode == 1
