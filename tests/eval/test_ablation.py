"""The worth of each part, on lists made by hand."""

from __future__ import annotations

import pytest

from configs.errors import InputError
from eval.ablation import ablate, main, variants
from eval.recording import History, Recorded, save
from indexes.schema import Hit
from tests.eval.test_tuning import profile, question

PRINTS = {"fiscal": "f", "law": "l", "local": "o"}


def history(right_first: bool = True) -> History:
    """The dense signal has the right passage first (or last), the keyword signal second."""
    hits = (Hit("law:d@1#a1", 0.9 if right_first else 0.1), Hit("law:d@1#a2", 0.5))
    dense = tuple(sorted(hits, key=lambda hit: -hit.score))
    words = (Hit("law:d@1#a2", 0.6), Hit("law:d@1#a1", 0.5))
    signals = {"law": {"dense": dense, "keyword": words}}
    rows = tuple(
        Recorded(question(i), signals, {"law:d@1#a1": ("unit",)})  # type: ignore[arg-type]
        for i in range(3)
    )
    return History(rows, PRINTS)


def test_every_variant_differs_from_the_profile_and_has_its_own_name() -> None:
    found = list(variants(profile()))
    names = [name for name, _ in found]
    assert len(names) == len(set(names))
    assert found[0][1] == profile()
    assert {"equal weights", "dense alone", "keyword alone", "law alone"} <= set(names)
    assert "across domains: simple" in names
    assert "across domains: weighted_geometric_mean" not in names


def test_taking_the_good_signal_away_costs_what_it_must() -> None:
    found = ablate(history(), profile(), {"worse encoder": history(right_first=False)})
    values = dict(zip(found.names, found.values.tolist(), strict=True))
    assert values["the profile"] == [1.0, 1.0, 1.0]  # weights .4 and .6: ln -.46 against -.58
    assert values["keyword alone"] == [0.5, 0.5, 0.5]
    assert values["dense alone"] == [1.0, 1.0, 1.0]
    assert values["fiscal alone"] == [0.0, 0.0, 0.0]
    assert values["worse encoder"] == [0.5, 0.5, 0.5]
    lines = found.table().splitlines()
    assert lines[2] == "| the profile | 1.000 | 1.000 | – |"
    assert "| keyword alone | 0.500 | 0.500 | -0.500 [-0.500, -0.500] |" in lines


def test_a_record_of_other_questions_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="'short' lacks question"):
        ablate(history(), profile(), {"short": History(history().rows[:1], PRINTS)})


def test_the_command_prints_the_table_and_says_what_is_wrong(
    tmp_path, capsys: pytest.CaptureFixture[str]
) -> None:  # type: ignore[no-untyped-def]
    record = tmp_path / "lists.gz"
    save(history(), record)
    assert main(["--record", str(record), "--other", f"same={record}"]) == 0
    assert "| same |" in capsys.readouterr().out
    assert main(["--record", str(record), "--other", "nameless"]) == 2
    assert "NAME=FILE" in capsys.readouterr().err
