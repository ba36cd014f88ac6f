"""Running the command line in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
PROFILE = Path(__file__).with_name("profile.yaml")
FAKE = (sys.executable, "-m", "tests.policy_fusion.fake_cli")


def environment(**extra: str) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(REPO), **extra}


def call(*arguments: object, **extra: str) -> subprocess.CompletedProcess[str]:
    """One command with the fake model; stdout and stderr as UTF-8 text."""
    return subprocess.run(
        [*FAKE, *map(str, arguments)],
        cwd=REPO, env=environment(**extra), capture_output=True, encoding="utf-8",
        check=False, timeout=280,
    )  # fmt: skip


def start(*arguments: object, **extra: str) -> subprocess.Popen[str]:
    """The same, running."""
    return subprocess.Popen(
        [*FAKE, *map(str, arguments)],
        cwd=REPO, env=environment(**extra), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8",
    )  # fmt: skip
