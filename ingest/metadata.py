"""What a document says of itself: 发文字号, issuer, level, place, dates, status.

Everything comes from the file's name, its front matter or head, and the text; what is not stated
stays unknown, but for two stated fallbacks: a rule without a 施行日期 counts from its promulgation,
and rules of national organs apply to the whole country.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import get_args

from indexes.jurisdiction import COUNTRY, Place, resolve
from indexes.schema import Status
from ingest.dates import (
    DATE,
    counts_working_days,
    dates_in,
    day_after,
    effective_in,
    effective_in_head,
    expires_in,
)
from ingest.doc_numbers import normalise_doc_number, own_doc_number
from ingest.document_place import place_of
from ingest.given import given_fields
from ingest.issuers import (
    issuer_as_given,
    issuer_of_notice,
    issuer_of_number,
    issuer_of_statute,
)
from ingest.levels import NEWS, level_of
from ingest.signature import Signature, signature
from ingest.titles import name_date

_REPEALED_WORDS = ("已废止", "废止", "失效", "已失效", "全文废止", "全文失效", "repealed")
_REPEALED = re.compile(
    r"[（(【\[](?:已废止|已失效|失效|废止|全文废止|全文失效)[）)】\]]|^(?:此文件|本文件|该文件)?(?:已|全文)(?:废止|失效)"
    r"|(?:本文件|此文件|该文件|本办法|本规定)已于?[^，。]{0,20}(?:废止|失效)",
    re.MULTILINE,
)
_IN_FORCE = re.compile(rf"自?\s*{DATE.pattern}\s*起?\s*(?:施行|实施|生效|执行)")
_EVENT = re.compile(r"公布|发布|修正|修订|通过|颁布|印发")
_ARTICLE = re.compile(r"^[ \t　]*第[^条\s]{1,8}条", re.MULTILINE)
_ANNEX = re.compile(
    r"^[ \t　#*]*附\s*件\s*[\d一二三四五六七八九十]{0,2}\s*(?:[：:]|$)", re.MULTILINE
)
_INLINE_LABEL = re.compile(r"【(?P<label>[\u4e00-\u9fff]{2,6})】\s*(?P<value>\S{1,40})")
_NOT_SIGNED = Signature((), None)
_TAIL_CHARS = 1200
_OPENING_CHARS = 800


@dataclass(frozen=True, slots=True)
class SourceText:
    """What the extraction reads.

    ``name``: file name without suffix, or record title; ``history``: lines of the head; ``body``:
    the rest, cleaned; ``folders``: names of the folders above the file; ``tags``: words of the
    file's name (法律, 失效); ``given``: front matter, labels or record meta, which win.
    """

    domain: str
    name: str
    title: str
    body: str
    history: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Facts:
    """Document-level metadata; dates ISO or None, ``""`` where unknown."""

    doc_number: str
    issuer: str
    level: str
    place: Place | None
    promulgated: str | None
    effective: str | None
    expires: str | None
    status: Status
    warnings: tuple[str, ...] = ()


def extract(source: SourceText, today: date) -> Facts:
    """All document-level facts; ``today`` decides between in_force, not_yet and run out."""
    given, warnings = {**_inline_labels(source.body), **source.given}, list[str]()
    opening = [line for line in source.body[:_OPENING_CHARS].split("\n") if line.strip()][:8]
    number = (
        normalise_doc_number(given["doc_number"])
        if given.get("doc_number")
        else own_doc_number([*_dated_first(source), source.title, *_before_articles(opening)])
    )
    stated = given.get("issuer", "")
    issuer = stated or issuer_of_statute(source.history, source.title)
    dated = _name_day(source) is not None
    signed = _NOT_SIGNED if issuer and dated else signature(source.body)
    if stated:
        issuer = issuer_as_given(stated, signed)
    if not issuer and (signed.organs or not _ARTICLE.search(source.body)):
        issuer = issuer_of_notice(source.title, signed) or issuer_of_number(number)
    named = given.get("jurisdiction", "")
    place = resolve(named) if named else None
    if named and place is None:
        warnings.append(f"jurisdiction {named!r} is no known place; it was taken from the text")
    place = place or place_of(
        domain=source.domain,
        title=source.title,
        issuer=issuer,
        number=number,
        history=source.history,
        tags=(*source.tags, *source.folders, given.get("level", "")),
        folders=source.folders,
        body=source.body,
    )
    level = given.get("level") or level_of(
        title=source.title,
        history=source.history,
        issuer=issuer,
        number=number,
        local=place is not None and place != COUNTRY,
        folders=source.folders,
        tags=source.tags,
        body=source.body,
    )
    if not issuer and level == "行政法规":
        issuer = "国务院"  # only the State Council makes them
    promulgated = _given_date(given, "promulgated", warnings) or _promulgated(source, signed)
    # A report tells when the rules that it reports on apply; it is no rule itself.
    rule = level != NEWS
    effective = _given_date(given, "effective", warnings) or (
        _effective(source, promulgated) if rule else promulgated
    )
    if effective != promulgated and not given.get("effective") and _by_working_days(source):
        warnings.append(
            f"takes effect on {effective} if 工作日 are all from Monday to Friday: "
            "public holidays were not considered"
        )
    expires = _given_date(given, "expires", warnings) or (
        _expires(source, effective) if rule else None
    )
    if expires and effective and expires <= effective:
        warnings.append(f"expires {expires} before it takes effect on {effective}; left out")
        expires = None
    return Facts(
        number,
        issuer,
        level,
        place,
        _iso(promulgated),
        _iso(effective),
        _iso(expires),
        _status(source, effective, expires, today),
        tuple(warnings),
    )


def _dated_first(source: SourceText) -> list[str]:
    """The head lines, those of the version's own day (in the file's name) first."""
    day = _name_day(source)
    if day is None:
        return list(source.history)
    return sorted(source.history, key=lambda line: day not in dates_in(line))


def _inline_labels(body: str) -> dict[str, str]:
    """【发文字号】 … 【发文日期】 … at the beginning of a text without line breaks."""
    opening = body[:_OPENING_CHARS]
    found = {m["label"]: m["value"] for m in _INLINE_LABEL.finditer(opening)}
    return given_fields(found) if len(found) > 1 else {}


def _before_articles(lines: list[str]) -> list[str]:
    """Short lines of the opening; the text of articles only cites numbers."""
    short: list[str] = []
    for line in lines:
        if _ARTICLE.match(line):
            break
        short.append(line[:80])
    return short


def _name_day(source: SourceText) -> date | None:
    dated = name_date(source.name)
    return date.fromisoformat(dated) if dated else None


def _promulgated(source: SourceText, signed: Signature) -> date | None:
    """The file name's date; the last event of the head; the date of the signature."""
    day = _name_day(source)
    if day is not None:
        return day
    # …发布，自…起施行: the day that the rule takes effect is none of promulgation.
    events = [_IN_FORCE.sub("", line) for line in source.history]
    published = [line for line in events if _EVENT.search(line)] or events
    days = [found for line in published for found in dates_in(line)[:1]]
    if days:
        return max(days)
    return signed.day


def _effective(source: SourceText, promulgated: date | None) -> date | None:
    """施行日期 of this version: from the head, else from the text, else the day of promulgation.

    An amended version repeats the day on which the first version took effect: it counts from its
    own promulgation then.
    """
    for line in reversed(source.history):
        day = effective_in_head(line, promulgated)
        if day is not None and (promulgated is None or day >= promulgated):
            return day
    parts = _about_force(source.body)
    stated = next(filter(None, (effective_in(part, promulgated) for part in parts)), None)
    if stated is None:
        return promulgated
    return stated if promulgated is None else max(stated, promulgated)


def _by_working_days(source: SourceText) -> bool:
    return any(map(counts_working_days, (*source.history, *_about_force(source.body))))


def _about_force(body: str) -> tuple[str, ...]:
    """The parts of a text that tell when it applies, most telling first.

    The end of the rule itself (up to the last article's end, else to the first 附件, which may be
    longer than all before it), the end of the whole, its opening.
    """
    starts = [match.start() for match in _ARTICLE.finditer(body)]
    if starts:
        last = body[max(0, starts[-1] - _TAIL_CHARS // 2) : starts[-1] + _TAIL_CHARS]
        return last, body[:_OPENING_CHARS]
    annex = _ANNEX.search(body)
    main = body[: annex.start()] if annex else body
    return main[-_TAIL_CHARS:], body[-_TAIL_CHARS:], body[:_OPENING_CHARS]


def _expires(source: SourceText, effective: date | None) -> date | None:
    until = dates_in(source.given.get("valid_until", ""))
    if until:
        return day_after(until[0])
    parts = _about_force(source.body)
    return next(filter(None, (expires_in(part, effective) for part in parts)), None)


def _status(
    source: SourceText, effective: date | None, expires: date | None, today: date
) -> Status:
    given = source.given.get("status", "")
    for status in get_args(Status):
        if given == status:
            return status  # type: ignore[no-any-return]
    head = "\n".join((source.title, source.name, *source.history, source.body[:100]))
    words = {given, *source.tags}
    if words & set(_REPEALED_WORDS) or _REPEALED.search(head):
        return "repealed"
    if expires is not None and expires <= today:
        return "repealed"
    if effective is not None and effective > today:
        return "not_yet"
    return "in_force"


def _given_date(given: Mapping[str, str], key: str, warnings: list[str]) -> date | None:
    value = given.get(key, "")
    days = dates_in(value)
    if value and not days:
        warnings.append(f"{key} {value!r} is no date; write it as 2024-06-01")
    return days[0] if days else None


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
