"""What the kill tests run in processes of their own."""

from __future__ import annotations

import contextlib
import io
import sys
from typing import Any

from ingest import pipeline
from policy_fusion.cli import run
from tests.policy_fusion.fake_cli import SlowEmbedder


def command(arguments: list[str], seconds: float, batch: int) -> None:
    """One command with a fake model that takes ``seconds`` a call, ``batch`` passages a write."""

    def load(*_: Any) -> Any:
        return SlowEmbedder(seconds=seconds)

    pipeline.load_embedder = load
    pipeline.BATCH_PASSAGES = batch
    with contextlib.redirect_stdout(io.StringIO()):
        code = run(arguments)
    sys.exit(code)
