"""What a user asks, checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from llama_index.core.schema import QueryBundle, QueryType

from configs.errors import InputError
from configs.settings import FusionMode
from indexes.jurisdiction import allowed_codes
from indexes.schema import Filters

MAX_CHARACTERS = 10_000
ANY_DATE = "any"


@dataclass(frozen=True, slots=True)
class Request:
    """One question with its limits; ``domains`` and ``mode`` None = as configured."""

    question: str
    filters: Filters
    domains: tuple[str, ...] | None
    mode: FusionMode | None
    top_k: int


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
    if value == ANY_DATE:
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
    """Check what can be checked without the indexes. Raises InputError."""
    if isinstance(domains, str):
        domains = (domains,)
    return Request(
        question=question,
        filters=Filters(
            jurisdictions=None if jurisdiction is None else allowed_codes(jurisdiction),
            as_of=parse_date(as_of, today),
        ),
        domains=None if domains is None else tuple(domains),
        mode=mode,
        top_k=top_k,
    )
