"""A version that does not apply on the day asked for, and how an answer speaks of it.

Such a version is never cited: it is named with what became of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fusion.markers import without_markers
from fusion.question_time import QuestionDate
from indexes.schema import Passage, Status

STATUS = {"amended": "已修改", "repealed": "已废止", "not_yet": "尚未施行"}
_QUOTED = 160


@dataclass(frozen=True, slots=True)
class Successor:
    """The version that took, or will take, a rule's place, and its first day (ISO)."""

    domain: str
    doc_key: str
    title: str
    effective: str | None
    same_title: bool


@dataclass(frozen=True, slots=True)
class OtherVersion:
    """A passage that matches but does not apply on the day asked for.

    ``status`` is that of this day: ``repealed``, ``amended`` or ``not_yet``. ``successor`` None:
    the store does not tell. ``replaces``: the title that a coming rule will take the place of, "".
    """

    passage: Passage
    status: Status
    successor: Successor | None = None
    replaces: str = ""


def date_note(dated: QuestionDate | None, others: Sequence[OtherVersion]) -> str:
    """The line on the day that the question names; "" where there is nothing to say.

    A date that is perhaps an event's is only worth a line where another version applied then.
    """
    if dated is None:
        return ""
    if dated.certain:
        which = f"（{dated.version}）" if dated.version else ""
        return f"注意：依问题中的“{dated.text}”，按{dated.day.isoformat()}有效的规定{which}回答。"
    then = [item for item in others if item.passage.metadata.in_force_on(dated.day)]
    if not then:
        return ""
    titles = "、".join(dict.fromkeys(_name(item.passage.metadata.title) for item in then))
    return (
        f"注意：以下按现行规定回答；问题提到“{dated.text}”，当时有效的是另一版本的规定（{titles}），"
        "如问当时的规定，请指定日期。"
    )


def version_line(item: OtherVersion) -> str:
    """``《甲办法》（已修改，2024-01-01起由新版本取代）``: the document and what became of it."""
    meta = item.passage.metadata
    facts = [STATUS[item.status]]
    after = item.successor
    if item.status == "not_yet":
        facts.append(f"{meta.effective}起施行")
        facts += [f"将取代{_name(item.replaces)}"] if item.replaces else []
    elif after is not None:
        new = "新版本" if after.same_title else _name(after.title)
        facts.append(f"{meta.expires}起由{new}取代")
    elif meta.expires:
        facts.append(f"{meta.expires}起失效")
    return f"{_name(meta.title)}（{'，'.join(facts)}）"


def version_block(others: Sequence[OtherVersion]) -> str:
    """Lines that show the versions apart from the answer; "" for none."""
    if not others:
        return ""
    lines = []
    for item in others:
        text = without_markers(" ".join(item.passage.content.split()))
        lines.append(f"- {version_line(item)}：{text[:_QUOTED]}{'…' if text[_QUOTED:] else ''}")
    return "\n".join(("在所问日期不适用的版本，仅供查阅：", *lines))


def _name(title: str) -> str:
    plain = without_markers(" ".join(title.split()))
    return plain if plain.startswith("《") else f"《{plain}》"
