"""Thresholds by the hour: windows of the week, checked at load."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from configs.errors import ConfigError
from configs.settings import SynthesisConfig, load_settings

OFFICE = {"from": "09:00", "to": "17:30", "days": ["mon", "fri"], "min_confidence": 0.3}


def config(*windows: dict[str, Any]) -> SynthesisConfig:
    return SynthesisConfig.model_validate({"min_confidence": 0.1, "schedule": list(windows)})


@pytest.mark.parametrize(
    ("moment", "threshold"),
    [
        (datetime(2024, 6, 3, 9, 0), 0.3),  # a Monday
        (datetime(2024, 6, 3, 8, 59, 59), 0.1),
        (datetime(2024, 6, 3, 17, 29, 59), 0.3),
        (datetime(2024, 6, 3, 17, 30), 0.1),
        (datetime(2024, 6, 4, 12, 0), 0.1),  # a Tuesday
        (datetime(2024, 6, 7, 12, 0), 0.3),  # a Friday
    ],
)
def test_the_window_of_the_moment_sets_the_threshold(moment: datetime, threshold: float) -> None:
    assert config(OFFICE).at(moment).min_confidence == threshold


def test_a_window_may_last_till_midnight_and_holds_on_every_day_by_default() -> None:
    night = {"from": "17:30", "to": "24:00", "min_confidence": 0.5}
    assert config(OFFICE, night).at(datetime(2024, 6, 9, 23, 59)).min_confidence == 0.5


@pytest.mark.parametrize(
    "other",
    [
        {"from": "17:29", "to": "20:00", "days": ["fri"], "min_confidence": 0.3},
        {"from": "00:00", "to": "24:00", "min_confidence": 0.2},
    ],
)
def test_overlapping_windows_are_refused(other: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="overlap"):
        config(OFFICE, other)


def test_windows_that_touch_or_share_no_day_are_fine() -> None:
    after = {"from": "17:30", "to": "20:00", "days": ["fri"], "min_confidence": 0.2}
    weekend = {"from": "09:00", "to": "17:30", "days": ["sat"], "min_confidence": 0.2}
    assert len(config(OFFICE, after, weekend).schedule) == 3


def test_a_profile_with_windows_is_valid_again_from_its_dump() -> None:
    made = config(OFFICE)
    assert SynthesisConfig.model_validate(made.model_dump()) == made


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"to": "08:00"}, "split a window at midnight"),
        ({"from": 1050}, "in quotes"),
        ({"from": "9:00"}, "pattern"),
        ({"days": ["holiday"]}, "mon"),
        ({"days": []}, "at least 1"),
        ({"min_confidence": 1.5}, "less than or equal to 1"),
        ({"until": "18:00"}, "not permitted"),
    ],
)
def test_a_wrong_window_is_refused_with_what_is_wrong(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        config({**OFFICE, **change})


def test_a_bare_time_in_a_profile_is_refused_with_the_remedy(tmp_path: Path) -> None:
    packaged = Path("configs/default.yaml").read_text(encoding="utf-8")
    window = "{from: 10:00, to: 17:30, min_confidence: 0.3}"
    profile = tmp_path / "profile.yaml"
    profile.write_text(f"{packaged}  schedule: [{window}]\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"synthesis\.schedule.*quotes"):
        load_settings(profile)
    window = window.replace("10:00", '"10:00"').replace("17:30", '"17:30"')
    profile.write_text(f"{packaged}  schedule: [{window}]\n", encoding="utf-8")
    assert load_settings(profile).synthesis.schedule[0].min_confidence == 0.3
