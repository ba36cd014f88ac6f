"""The command line with the fake model on a disk that fills up: files stop growing at a size."""

from __future__ import annotations

import resource
import signal
import sys
from typing import Any

from indexes import embeddings
from policy_fusion.cli import main
from tests.fakes import FakeEmbedder


def load(*_: Any) -> Any:
    return FakeEmbedder()


if __name__ == "__main__":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the write fails instead of the process
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), resource.RLIM_INFINITY))
    embeddings.load_embedder = load
    main()
