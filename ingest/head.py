"""The head of a document: what stands before its first words, and where the body begins.

YAML front matter, ``# title``, the history of adoption up to ``<!-- INFO END -->``, the title
again, 发文字号, （…通过 …修正）, and the labelled lines of government web pages (发文字号：…).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ingest.dates import DATE
from ingest.doc_numbers import normalise_doc_number
from ingest.given import LABELS, given_fields
from ingest.readers import front_matter
from ingest.structure import lines_of

_INFO_END = "<!-- INFO END -->"
_STATE = "中华人民共和国"
_EVENT = re.compile(r"通过|批准|公布|发布|修正|修订|施行|实施|颁布|印发|制定")
_DOC_NUMBER_LINE = re.compile(
    r"[（(【]?(?:[^（()）。，；]{0,30}[〔\[［(（【﹝]\s*[\d０-９]{4}\s*[〕\]］)）】﹞]\s*第?\s*[\d０-９]+\s*号"
    r"|[^。，；]{0,30}(?:令|公告)\s*(?:[\d０-９]{4}\s*年\s*)?第\s*\S{1,8}\s*号)[)）】]?"
)
# A decree's number may stand on a line of its own below the organ.
_DECREE_LINE = re.compile(r"[^。，；：《]{2,30}(?:令|公告)")
_NUMBER_LINE = re.compile(r"[（(]?\s*第\s*\S{1,8}\s*号\s*[)）]?")
_OTHER_LABELS = (
    *(
        "主题分类",
        "主题词",
        "索引号",
        "信息来源",
        "来源",
        "浏览次数",
        "浏览字号",
        "统一编号",
        "字体",
        "字号",
    ),
    *("打印", "分享", "阅读次数", "责任编辑"),
)
_LABEL = re.compile(
    r"[【\[]?(?P<label>"
    + "|".join(r"\s*".join(label) for label in (*LABELS, *_OTHER_LABELS))
    + r")[】\]]?\s*[：:]\s*(?P<value>.*)"
)
_LABELLED_LINES = 30
_TITLE_LINES = 4


@dataclass(frozen=True, slots=True)
class Head:
    """``headings``: the ``#`` titles (or the first line of plain text); ``history``: the lines of
    adoption, 发文字号 …; ``given``: front matter and labelled lines; ``body_start``: where the
    text begins."""

    headings: tuple[str, ...]
    history: tuple[str, ...]
    given: Mapping[str, str]
    body_start: int


def read_head(text: str, *titles: str) -> Head:
    """The head of a cleaned text; ``titles`` are known names of it (file name, record title)."""
    raw, offset = front_matter(text)
    given = given_fields(raw)
    headings: list[str] = []
    history: list[str] = []
    body = offset
    end = text.find(_INFO_END)
    if end >= 0:
        for a, b in lines_of(text, offset, end):
            (headings if text[a] == "#" else history).append(text[a:b].lstrip("# "))
        body = end + len(_INFO_END)
    lines = list(lines_of(text, body))
    known = [*titles, *headings, *filter(None, [given.get("title")])]
    at = 0
    while at < len(lines):
        taken = _title_lines(text, lines[at:], known) if at < _LABELLED_LINES else 0
        if not taken and not headings and at == 0:
            name = _own_title(text[slice(*lines[0])], len(lines))
            if name:
                headings.append(name)
                known.append(name)
                taken = 1
        if not taken:
            taken = _history_lines(text, lines[at:], history, given)
        if not taken:
            break
        at += taken
    if at:
        body = lines[at - 1][1]
    return Head(tuple(headings), tuple(history), given, body)


def same_title(one: str, other: str) -> bool:
    """Whether two spellings are one title: white space, brackets and 中华人民共和国 aside."""
    return bool(_plain(one)) and _plain(one) == _plain(other)


def _plain(title: str) -> str:
    plain = re.sub(r"[\s#*《》〈〉<>、，]", "", title).replace("(", "（").replace(")", "）")
    return plain.replace(_STATE, "")


def _title_lines(text: str, lines: list[tuple[int, int]], known: list[str]) -> int:
    """How many of the lines spell a known title (it may be wrapped); 0 when none does."""
    joint = ""
    names = {_plain(name) for name in known} - {""}
    for count, (a, b) in enumerate(lines[:_TITLE_LINES], 1):
        joint += _plain(text[a:b])
        if joint in names:
            return count
        if not any(name.startswith(joint) for name in names):
            return 0
    return 0


def _own_title(line: str, count: int) -> str:
    """The first line as a title: a ``#`` line, or a short line without a full stop."""
    name = line.lstrip("# ").strip("* ")
    if line.startswith("# "):
        return name
    if (
        count < 2
        or len(name) > 80
        or re.search(r"[。；，：]$|^第.{1,6}[条章]|^[一二三]、|\|", name)
    ):
        return ""
    if _LABEL.match(name) or DATE.match(name) or _DOC_NUMBER_LINE.fullmatch(name):
        return ""
    return name


def _history_lines(
    text: str, lines: list[tuple[int, int]], history: list[str], given: dict[str, str]
) -> int:
    """Take the next line (or bracket) of adoption, 发文字号 or a label; 0 when it is text."""
    line = text[slice(*lines[0])].strip("* ")
    label = _LABEL.fullmatch(line)
    if label and len(line) <= 120:
        for key, value in given_fields({label["label"]: label["value"]}).items():
            given.setdefault(key, value)
        return 1
    if len(lines) > 1 and _DECREE_LINE.fullmatch(line):
        below = text[slice(*lines[1])].strip("* ")
        if _NUMBER_LINE.fullmatch(below):
            history.append(normalise_doc_number(line + below))
            return 2
    if _DOC_NUMBER_LINE.fullmatch(line):
        history.append(normalise_doc_number(line))
        return 1
    if line[:1] in "（(" and not re.match(r"[（(][一二三四五六七八九十\d]{1,3}[)）]", line):
        return _bracketed(text, lines, history)
    if len(line) <= 60 and re.search(r"(?:通过|批准|修正|修订|公布|施行)[）)]$", line):
        history.append(line)  # the end of a bracket that was opened above the mark
        return 1
    dated = DATE.search(line[:40])
    event = dated and len(line) <= 150 and _EVENT.search(line) and not line.endswith("。")
    first = dated and (dated.start() <= 4 or re.match(r"[^，；：]{0,30}根据", line))
    if (event and first) or DATE.fullmatch(line):
        history.append(line)
        return 1
    return 0


def _bracketed(text: str, lines: list[tuple[int, int]], history: list[str]) -> int:
    """（2021年6月10日…通过 根据…修正）, on one line or on several."""
    joint: list[str] = []
    for a, b in lines[:12]:
        joint.append(text[a:b])
        if text[b - 1] in "）)":
            break
    whole = "".join(joint)
    if whole[-1:] not in "）)" or not DATE.search(whole) or not _EVENT.search(whole):
        return 0
    # One event a line: each begins with its date or with 根据.
    inner = whole.strip("（）() ")
    history += [p.strip() for p in re.split(r"[\s　]+(?=根据|\d{4}年)", inner) if p.strip()]
    return len(joint)
