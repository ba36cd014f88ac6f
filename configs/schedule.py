"""Thresholds that differ by the hour: stricter or laxer windows of the week, checked at load."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import combinations
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_TIME = r"^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$"


class ConfidenceWindow(BaseModel):
    """From ``from`` (included) to ``to`` (excluded), local time ``HH:MM``, on each of ``days``.

    ``to`` may be 24:00. A window past midnight is two windows.
    """

    # By name as well: tuned weights validate a profile again from what it dumps.
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    start: Annotated[str, Field(alias="from", pattern=_TIME)]
    end: Annotated[str, Field(alias="to", pattern=_TIME)]
    days: Annotated[tuple[Day, ...], Field(min_length=1)] = DAYS
    min_confidence: Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]

    @field_validator("start", "end", mode="before")
    @classmethod
    def _quoted(cls, value: Any) -> Any:
        if isinstance(value, int):  # YAML reads a bare 17:30 as the number 1050
            raise ValueError('write the time in quotes, "HH:MM"')
        return value

    @model_validator(mode="after")
    def _forwards(self) -> ConfidenceWindow:
        if self.start >= self.end:
            raise ValueError(
                f"from {self.start} is not before to {self.end}; split a window at midnight"
            )
        return self

    def holds(self, moment: datetime) -> bool:
        """Whether ``moment`` (local time) lies in the window."""
        now = f"{moment:%H:%M}"  # of two digits each, so that words and times sort alike
        return DAYS[moment.weekday()] in self.days and self.start <= now < self.end

    def overlaps(self, other: ConfidenceWindow) -> bool:
        """Whether a moment lies in both."""
        shared = set(self.days) & set(other.days)
        return bool(shared) and self.start < other.end and other.start < self.end


def check_windows(windows: Sequence[ConfidenceWindow]) -> None:
    """Raises ValueError for two windows that overlap."""
    for one, other in combinations(windows, 2):
        if one.overlaps(other):
            raise ValueError(
                f"windows {one.start}-{one.end} and {other.start}-{other.end} overlap;"
                " leave one threshold for every moment"
            )
