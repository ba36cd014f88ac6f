"""Weights versions: written once, applied to a profile, compared and rolled back."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from configs.errors import ConfigError, InputError
from configs.settings import CalibrationConfig, Settings, load_settings
from configs.weights_file import FusionWeights, Provenance, read_weights
from configs.weights_folder import (
    add,
    current,
    difference,
    next_version,
    resolve_weights,
    rollback,
    versions,
)

SOURCE = Provenance(created=date(2024, 6, 1), note="虚构示例")


def heavier(law: float) -> Settings:
    settings = load_settings()
    domains = {**settings.domains}
    domains["law"] = domains["law"].model_copy(update={"weight": law})
    return settings.model_copy(update={"domains": domains})


def version(number: int, law: float = 1.0, parent: int | None = None) -> FusionWeights:
    return FusionWeights.of(heavier(law), number, SOURCE, parent=parent)


def profile(tmp_path: Path, weights: str) -> Path:
    packaged = Path(__file__).resolve().parents[2] / "configs" / "default.yaml"
    file = tmp_path / "profile.yaml"
    file.write_text(packaged.read_text("utf-8") + f"\nweights: {weights}\n", "utf-8")
    return file


def test_a_profile_takes_its_weights_from_the_file_that_it_names(tmp_path: Path) -> None:
    add(tmp_path / "w", version(1, 2.5))
    for named in ("w", "w/0001.json", str(tmp_path / "w")):
        settings = load_settings(profile(tmp_path, named))
        assert settings.domains["law"].weight == 2.5
        assert settings.domains["fiscal"] == load_settings().domains["fiscal"]


def test_a_version_keeps_everything_that_it_does_not_tune() -> None:
    settings = load_settings()
    assert version(1).applied_to(settings) == settings


def test_a_domain_that_the_version_does_not_know_keeps_its_values() -> None:
    whole = version(1, 2.5)
    domains = {name: d for name, d in whole.domains.items() if name == "law"}
    applied = whole.model_copy(update={"domains": domains}).applied_to(load_settings())
    assert applied.domains["law"].weight == 2.5
    assert applied.domains["local"] == load_settings().domains["local"]


def test_rolling_back_moves_the_pointer_and_removes_nothing(tmp_path: Path) -> None:
    add(tmp_path, version(1))
    add(tmp_path, version(2, 2.0, parent=1))
    assert (current(tmp_path), next_version(tmp_path)) == (2, 3)
    assert rollback(tmp_path) == 1 == current(tmp_path)
    assert [one.version for one in versions(tmp_path)] == [1, 2]
    assert rollback(tmp_path, to=2) == 2
    with pytest.raises(InputError, match="no version 7"):
        rollback(tmp_path, to=7)
    rollback(tmp_path, to=1)
    with pytest.raises(InputError, match="--to"):
        rollback(tmp_path)


def test_the_difference_names_what_changed() -> None:
    assert difference(version(1), version(2, 2.0)) == [("domains.law.weight", 1.0, 2.0)]


def test_a_version_is_never_written_over(tmp_path: Path) -> None:
    add(tmp_path, version(1))
    with pytest.raises(InputError, match="there already"):
        add(tmp_path, version(1, 9.0))
    assert read_weights(tmp_path / "0001.json").domains["law"].weight == 1.0


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"version": 1, "more": 2}'])
def test_a_damaged_version_names_the_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "0001.json").write_text(text)
    with pytest.raises(ConfigError, match=r"0001\.json"):
        read_weights(tmp_path / "0001.json")


def test_weights_that_are_not_there_are_an_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        resolve_weights("nothing", tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=r"eval\.tuning"):
        resolve_weights("empty", tmp_path)
    (tmp_path / "empty" / "current").write_text("5")
    with pytest.raises(ConfigError, match="no version"):
        resolve_weights("empty", tmp_path)


@pytest.mark.parametrize(
    ("x", "y"),
    [((), ()), ((1.0,), (0.5,)), ((1, 1), (0, 1)), ((0, 1), (0.5, 0.4)), ((0, 1), (0, 1, 1))],
)
def test_isotonic_knots_must_rise(x: tuple[float, ...], y: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"isotonic|rise|fall"):
        CalibrationConfig(kind="isotonic", x=x, y=y)
