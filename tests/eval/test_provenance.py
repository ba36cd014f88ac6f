"""What an evaluation was made of."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from configs.settings import load_settings
from eval.provenance import Provenance, provenance
from indexes.catalog import PassageCatalog
from indexes.store_layout import StoreLayout


def describe(store: Path, **changes: object) -> Provenance:
    settings = load_settings(None).with_store(store).model_copy(update=changes)
    return provenance(settings, "configs/default.yaml", clock=lambda: date(2024, 6, 1))


def test_day_profile_and_domains_are_told(tmp_path: Path) -> None:
    found = describe(tmp_path)
    assert (found.profile, found.day) == ("default.yaml", date(2024, 6, 1))
    assert found.domains["law"].passages == 0
    assert found.domains["law"].model is None


def test_the_fingerprints_follow_the_store_and_the_settings_not_the_place(tmp_path: Path) -> None:
    first = describe(tmp_path / "a")
    assert describe(tmp_path / "b").settings == first.settings
    assert describe(tmp_path / "b").store == first.store
    fusion = load_settings(None).fusion.model_copy(update={"top_k": 7})
    assert describe(tmp_path / "a", fusion=fusion).settings != first.settings
    (tmp_path / "a").mkdir()
    catalog = PassageCatalog(StoreLayout(tmp_path / "a").catalog, create=True)
    catalog.set_fingerprint("law", "model-1")
    catalog.close()
    changed = describe(tmp_path / "a")
    assert changed.store != first.store
    assert changed.domains["law"].model == "model-1"
