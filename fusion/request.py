"""What a user asks, checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from typing import Any

from llama_index.core.schema import QueryBundle, QueryType

from configs.errors import InputError
from configs.settings import FusionMode
from fusion.nodes import RankedPassage
from fusion.question_place import QuestionPlace, read_question_place
from fusion.question_time import QuestionDate, read_question_date
from indexes.jurisdiction import allowed_codes
from indexes.schema import Filters

MAX_CHARACTERS = 10_000
ANY = "any"


@dataclass(frozen=True, slots=True)
class Request:
    """One question with its limits; ``domains`` and ``mode`` None = as configured.

    ``dated`` and ``placed``: what the question itself says of day and place, where the caller said
    nothing. A certain date is in ``filters``; the place is not, see ``QuestionPlace.admits``.
    """

    question: str
    filters: Filters
    domains: tuple[str, ...] | None
    mode: FusionMode | None
    top_k: int
    dated: QuestionDate | None = None
    placed: QuestionPlace | None = None

    def on(self, dated: QuestionDate | None) -> Request:
        """The same question about a day that its words turned out to name."""
        if dated is None:
            return self
        return replace(self, dated=dated, filters=replace(self.filters, as_of=dated.day))

    def in_place(self, items: Sequence[RankedPassage]) -> tuple[RankedPassage, ...]:
        """The items without the rules of other places than the question names."""
        placed = self.placed
        return tuple(i for i in items if placed is None or placed.admits(i.passage.metadata))

    def read(self) -> dict[str, Any]:
        """For the trace: what was read from the question; empty where nothing was."""
        found: dict[str, Any] = {}
        if self.dated:
            found["date"] = {**asdict(self.dated), "day": self.dated.day.isoformat()}
        if self.placed:
            found["places"] = list(self.placed.names)
        return {"question": found} if found else {}


def question_of(query: QueryType) -> str:
    """The question, stripped. Raises InputError when blank or longer than 10,000 characters.

    A longer one is refused rather than cut: the answer would be to another question.
    """
    text = query.query_str if isinstance(query, QueryBundle) else query
    if not isinstance(text, str):
        raise InputError(f"the question is a {type(text).__name__}; give text")
    # Half a character (a lone surrogate from a cut string) has no UTF-8 and means nothing.
    text = text.encode("utf-8", "ignore").decode("utf-8").strip()
    if not text:
        raise InputError("the question is empty; write one")
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"the question has {len(text)} characters; shorten it to at most {MAX_CHARACTERS}"
        )
    return text


def parse_date(value: date | str | None, today: Callable[[], date]) -> date | None:
    """The day whose rules count: today by default, None for ``"any"``. Raises InputError."""
    if value is None:
        return today()
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if value == ANY:
        return None
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"as_of {value!r} is no date; write YYYY-MM-DD, or 'any'") from error


def parse_request(
    question: str,
    *,
    as_of: date | str | None,
    today: Callable[[], date],
    jurisdiction: str | None,
    domains: Sequence[str] | None,
    mode: FusionMode | None,
    top_k: int,
) -> Request:
    """Check what can be checked without the indexes. Raises InputError.

    Where ``as_of`` or ``jurisdiction`` is None the question's own words count; "any" sets no limit.
    """
    if isinstance(domains, str):
        domains = (domains,)
    day = parse_date(as_of, today)
    dated = read_question_date(question, day) if as_of is None and day else None
    placed = read_question_place(question) if jurisdiction is None else None
    return Request(
        question=question,
        filters=Filters(
            jurisdictions=allowed_codes(jurisdiction)
            if jurisdiction is not None and jurisdiction != ANY
            else None,
            as_of=dated.day if dated and dated.certain else day,
        ),
        domains=None if domains is None else tuple(domains),
        mode=mode,
        top_k=top_k,
        dated=dated,
        placed=placed,
    )
