"""policy-fusion: multi-index fusion for Chinese policy look-up.

The public names are loaded at first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from configs.errors import (
        ConfigError,
        InputError,
        ModelMissingError,
        PolicyFusionError,
        SourceUnavailableError,
        StoreBusyError,
        StoreMismatchError,
    )
    from configs.settings import Settings, load_settings
    from eval.runner import evaluate
    from fusion.answer import PolicyAnswer
    from fusion.citations import Citation
    from fusion.coverage import SourceCoverage
    from fusion.engine import PolicyQueryEngine
    from fusion.nodes import RetrievalResult
    from fusion.retriever import FusionRetriever
    from indexes.schema import Passage
    from ingest.pipeline import ingest
    from ingest.rebuild import rebuild
    from ingest.report import IngestReport
    from ingest.verify import VerifyReport, verify
    from ingest.watch import watch

__version__ = "0.1.0"

_HOMES = {
    "Citation": "fusion.citations",
    "ConfigError": "configs.errors",
    "FusionRetriever": "fusion.retriever",
    "IngestReport": "ingest.report",
    "InputError": "configs.errors",
    "ModelMissingError": "configs.errors",
    "Passage": "indexes.schema",
    "PolicyAnswer": "fusion.answer",
    "PolicyFusionError": "configs.errors",
    "PolicyQueryEngine": "fusion.engine",
    "RetrievalResult": "fusion.nodes",
    "Settings": "configs.settings",
    "SourceCoverage": "fusion.coverage",
    "SourceUnavailableError": "configs.errors",
    "StoreBusyError": "configs.errors",
    "StoreMismatchError": "configs.errors",
    "VerifyReport": "ingest.verify",
    "evaluate": "eval.runner",
    "ingest": "ingest.pipeline",
    "load_settings": "configs.settings",
    "rebuild": "ingest.rebuild",
    "verify": "ingest.verify",
    "watch": "ingest.watch",
}

__all__ = [
    "Citation",
    "ConfigError",
    "FusionRetriever",
    "IngestReport",
    "InputError",
    "ModelMissingError",
    "Passage",
    "PolicyAnswer",
    "PolicyFusionError",
    "PolicyQueryEngine",
    "RetrievalResult",
    "Settings",
    "SourceCoverage",
    "SourceUnavailableError",
    "StoreBusyError",
    "StoreMismatchError",
    "VerifyReport",
    "evaluate",
    "ingest",
    "load_settings",
    "rebuild",
    "verify",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
