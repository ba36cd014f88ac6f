"""The command line with a fake embedding model, for subprocess tests.

``FAKE_SECONDS``: how long embedding takes per call; ``FAKE_NOISE``: models print to stdout.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from policy_fusion.cli import main
from tests.fakes import FakeEmbedder


@dataclass
class SlowEmbedder(FakeEmbedder):
    seconds: float = float(os.environ.get("FAKE_SECONDS", "0"))

    def embed_texts(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if os.environ.get("FAKE_NOISE"):
            print("Loading weights: 100%")
            os.write(1, b"native noise\n")
        time.sleep(self.seconds)
        return super().embed_texts(texts)


if __name__ == "__main__":
    from indexes import embeddings

    def load(*_: Any) -> Any:
        return SlowEmbedder()

    embeddings.load_embedder = load
    # A suite that runs in the background may ignore Ctrl-C, and its children would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main()
