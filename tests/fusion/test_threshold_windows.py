"""The hour decides how sure an answer must be."""

from __future__ import annotations

from datetime import datetime

import pytest

from configs.settings import SynthesisConfig
from fusion.answer import PolicyAnswer, PolicyStream
from fusion.nodes import RankedPassage, RetrievalResult
from fusion.synthesizer import PolicySynthesizer
from tests.fusion.fake_sources import LOCAL

CONFIG = SynthesisConfig.model_validate(
    {
        "min_confidence": 0.2,
        "schedule": [{"from": "09:00", "to": "17:30", "days": ["mon"], "min_confidence": 0.6}],
    }
)
FOUND = RetrievalResult("每辆补贴多少", (RankedPassage(LOCAL[0], 0.5),), ())


@pytest.mark.parametrize(("hour", "sufficient"), [(8, True), (12, False), (18, True)])
def test_an_answer_that_is_sure_enough_at_night_may_not_be_at_noon(
    hour: int, sufficient: bool
) -> None:
    synthesizer = PolicySynthesizer(CONFIG, now=lambda: datetime(2024, 6, 3, hour))
    made = synthesizer.answer(FOUND)
    assert isinstance(made, PolicyAnswer)
    assert made.sufficient is sufficient
    stream = synthesizer.answer(FOUND, streaming=True)
    assert isinstance(stream, PolicyStream)
    assert str(stream) == str(made)


def test_the_clock_is_read_at_every_answer() -> None:
    hours = iter((12, 18))
    synthesizer = PolicySynthesizer(CONFIG, now=lambda: datetime(2024, 6, 3, next(hours)))
    answers = [synthesizer.answer(FOUND) for _ in range(2)]
    assert [str(made).startswith("资料不足") for made in answers] == [True, False]
