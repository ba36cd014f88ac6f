"""The signature of a notice (落款): the organs and the date that stand apart from its sentences.

Form after GB/T 9704-2012 《党政机关公文格式》: issuing organs, below them 成文日期. A notice that
publishes another text (印发) is signed before that text, so the whole body is searched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from ingest.dates import DATE, to_date
from ingest.organs import is_organ, side_by_side

_LONG_ORGAN = re.compile(r"(?:领导小组|指挥部|工作组|办公室|联席会议)$")
_REMARK = re.compile(
    r"^(?:特此[通公]?[告知报]|此复|附件|(?:主动|依申请)公开)?[\d.．、\s]*|[（(](?:代?章|盖章)[)）]"
)
_LAST_SENTENCE = re.compile(r"[。；！？：:]|附件.*\n")
_ENTITY = re.compile(r"&(?:nbsp|ensp|emsp);")  # left in the text by careless scrapers
_BEFORE_CHARS = 200
_TAIL_CHARS = 1500
_GAP = re.compile(r"[\s室府局委部厅院组心]$")
# Behind a signature comes the end, a blank, or a remark in brackets.
_APART = re.compile(r"\s|$|[（(附抄印]")
_COVER_END = re.compile(r"(?:执行|贯彻|落实|实施|通知|反映|办理|公告|通告)[。！]?\s*$")


@dataclass(frozen=True, slots=True)
class Signature:
    """``organs`` in their order, () where only a date stands under the text; ``day`` of it."""

    organs: tuple[str, ...]
    day: date | None


def signature(body: str) -> Signature:
    """The signature of a notice: the first date under organs, else the last date that stands alone.

    The first, because what follows a signed letter is its annex. Without any, the organs that end
    the text undated, and None.
    """
    alone: date | None = None
    for match in DATE.finditer(body):
        day = to_date(match)
        if day is None or not _APART.match(body, match.end()) or _in_table(body, match.start()):
            continue
        before = body[max(0, match.start() - _BEFORE_CHARS) : match.start()]
        organs = _organs_before(before)
        if organs:
            return Signature(organs, day)
        last = match.start() > len(body) - _TAIL_CHARS and _GAP.search(before)
        if last or _own_line(body, match) or (before[-1:].isspace() and _COVER_END.search(before)):
            alone = day
    return Signature(_organs_before(body[-_BEFORE_CHARS:]), alone)


def _in_table(body: str, at: int) -> bool:
    return body[body.rfind("\n", 0, at) + 1 : at].lstrip().startswith("|")


def _own_line(body: str, match: re.Match[str]) -> bool:
    left, right = body.rfind("\n", 0, match.start()) + 1, body.find("\n", match.end())
    line = body[left : len(body) if right < 0 else right]
    return len(line.strip("（）() 　\t")) <= len(match.group()) and "\n" in body


def _organs_before(before: str) -> tuple[str, ...]:
    """The organs between the last sentence and the date; () when anything else stands there."""
    before = _ENTITY.sub(" ", before)
    words = _REMARK.sub("", _LAST_SENTENCE.split(before)[-1].strip())
    if not words or len(words) > 120:
        return ()
    return tuple(wrapped_organs(words.split()))


def wrapped_organs(words: Sequence[str]) -> list[str]:
    """The organs that the words spell; a long name may be wrapped over two of them, and several
    names may stand side by side in one."""
    names: list[str] = []
    piece = ""
    for word in words:
        piece += word
        parts = side_by_side(piece)
        if len(parts) > 1:
            names += parts
            piece = ""
        elif is_organ(piece) and (len(piece) <= 20 or _LONG_ORGAN.search(piece)):
            names.append(piece)
            piece = ""
    return [] if piece else names
