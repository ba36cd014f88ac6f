"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")

# A slow or busy machine is no failure of a property.
hypothesis.settings.register_profile("policy_fusion", deadline=None)
hypothesis.settings.load_profile("policy_fusion")

REPO = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real corpora and questions; tests that need them skip where they are absent."""
    root = Path(os.environ.get("POLICY_FUSION_DATA", REPO.parent / "shared" / "data"))
    if not (root / "corpus").is_dir():
        pytest.skip(f"real data not found at {root}; set POLICY_FUSION_DATA to its folder")
    return root


@pytest.fixture(scope="session")
def bundled_model() -> str | None:
    """``models_dir`` under which the real offline model is built (env POLICY_FUSION_MODELS)."""
    from configs.errors import ModelMissingError
    from indexes.bundled_model import ensure_bundled_model

    models_dir = os.environ.get("POLICY_FUSION_MODELS")
    try:
        ensure_bundled_model(models_dir)
    except ModelMissingError as error:
        pytest.skip(str(error))
    return models_dir
