"""The day behind 旧公司法, 原公司法 and 新公司法: questions that name a version without its date.

旧 is the version before the one in force (of a law that is gone, its last), taken as if the day
before its successor's start were asked for; 新 is the newest, also before its first day.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta

from fusion.question_time import QuestionDate, compares
from indexes.references import matching_form
from indexes.schema import PassageMetadata

_AGE = re.compile(
    r"(?P<old>旧版?|老版?|原(?:来|先)?|以前|过去|修[订正改]之?前|(?:施行|实施|生效)之?前)的?(?=[《\u4e00-\u9fff])"
    r"|(?P<new>新版?|新修[订正改]|最新)的?(?=[《\u4e00-\u9fff])"
)
_NAME_END = re.compile(r"》|法典?|条例|办法|规定|细则")
_LONGEST = 40


def named_version_date(
    question: str,
    today: date,
    ending_name: Callable[[str], str],
    versions: Callable[[str], Iterable[PassageMetadata]],
) -> QuestionDate | None:
    """The day on which the version that a question calls old or new applies.

    ``ending_name``: the longest known name with which a text ends; ``versions``: what a name
    stands for, in all versions. None for today's law, for comparisons, and where the store has no
    such version.
    """
    plain = matching_form(question)
    if compares(plain):
        return None
    found = []
    for match in _AGE.finditer(plain):
        end = _end_of_name(plain, match.end(), ending_name)
        if end:
            found.append((match, end))
    if len({match.lastgroup for match, _ in found}) != 1:
        return None  # 旧法 beside 新法 compares them
    match, end = found[0]
    metas = sorted(versions(plain[match.end() : end]), key=lambda meta: meta.effective or "")
    if len({meta.title for meta in metas}) != 1 or not all(meta.effective for meta in metas):
        return None
    text = question[match.start() : end]
    return _newest(metas, today, text) if match["new"] else _before(metas, today, text)


def _end_of_name(plain: str, start: int, ending_name: Callable[[str], str]) -> int:
    """Where the longest known name that begins at ``start`` ends, 0 without one."""
    last = 0
    for mark in _NAME_END.finditer(plain, start, start + _LONGEST):
        end = mark.end()
        named = ending_name(plain[start:end]).strip("《》")
        if named and named == plain[start:end].strip("《》"):
            last = end
    return last


def _newest(metas: list[PassageMetadata], today: date, text: str) -> QuestionDate | None:
    day = date.fromisoformat(metas[-1].effective or "")
    if day <= today:
        return None
    return QuestionDate(day, text, True, f"《{metas[-1].title}》{day.isoformat()}起施行的版本")


def _before(metas: list[PassageMetadata], today: date, text: str) -> QuestionDate | None:
    current = next((meta for meta in metas if meta.in_force_on(today)), None)
    begun = [meta for meta in metas if (meta.effective or "") <= today.isoformat()]
    if current is None:
        earlier, until = begun, begun[-1].expires if begun else None
    else:
        earlier = [meta for meta in begun if (meta.effective or "") < (current.effective or "")]
        until = current.effective
    if not earlier or not until:
        return None
    # Where the one before ended earlier than the next began, its own last day counts.
    until = min(until, earlier[-1].expires or until)
    day = date.fromisoformat(until) - timedelta(days=1)
    told = f"《{earlier[-1].title}》{earlier[-1].effective}起施行、{until}起不再适用的版本"
    return QuestionDate(day, text, True, told)
