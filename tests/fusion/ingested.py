"""A store of documents written for a test, with the fake embedding model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from configs.settings import Settings
from ingest.pipeline import ingest
from tests.fakes import FakeEmbedder
from tests.fusion.fake_sources import settings

DOMAINS = ("law", "fiscal", "local")


def ingested(
    root: Path,
    files: Mapping[str, str],
    *,
    domains: Iterable[str] = DOMAINS,
    store: Mapping[str, Any] | None = None,
    **options: Any,
) -> Settings:
    """The profile of a store under ``root`` that holds ``files`` (path that begins with the
    domain -> text); its sources have time enough. ``options`` go to ``ingest``."""
    made = settings(store={"dir": str(root / "store"), **(store or {})})
    patient = {n: d.model_copy(update={"timeout_ms": 20_000}) for n, d in made.domains.items()}
    made = made.model_copy(update={"domains": patient})
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for domain in domains:
        ingest(made, domain, [root / domain], embedder=FakeEmbedder(), progress=False, **options)
    return made
