"""The title by which users cite a document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

_STATE = "中华人民共和国"
_NAME_DATE = re.compile(r"[(（](\d{4}-\d{2}-\d{2})[)）]$")
_NUMBERING = re.compile(r"^\d{1,4}[a-zA-Z]?[_\-－—．.、\s]+")
_CJK = re.compile(r"[\u4e00-\u9fff]")
_STATUS = ("有效", "现行有效", "失效", "已失效", "废止", "已废止", "已修改", "尚未生效")
_SITE = re.compile(
    r"^【(?P<name>.{4,})】(?:[-_—|].*)?$|^(?P<head>.{6,}?)\s*[-_—|]\s*[^-_—|]{2,20}(?:网|政府|委员会|局|部)$"
)
_NUMBER_BEHIND = re.compile(r"[（(][^（()）]*?[〔\[]\d{4}[〕\]][^（()）]*号[)）]$")
_MAX = 120


@dataclass(frozen=True, slots=True)
class Title:
    """``cited``: as users cite it, without 中华人民共和国; ``full``: as the document says;
    ``part``: name of this part when the file holds one part of a law (合同编); ``tags``: what the
    file's name tells besides (法律, 有效)."""

    cited: str
    full: str
    part: str = ""
    tags: tuple[str, ...] = ()


def name_date(name: str) -> str | None:
    """``个人所得税法(2018-08-31)`` -> ``2018-08-31``; None without a date that exists."""
    match = _NAME_DATE.search(name)
    try:
        return date.fromisoformat(match[1]).isoformat() if match else None
    except ValueError:
        return None


def without_date(name: str) -> str:
    """The name without its date in brackets."""
    return _NAME_DATE.sub("", name).strip()


def title_of_file(
    stem: str, headings: Sequence[str], given: str, folders: Sequence[str], levels: Sequence[str]
) -> Title:
    """The title of a file: front matter, else its name when that is a title, else its heading.

    A folder that bears the law's name holds its parts (民法典/合同编.md). ``levels``: words that a
    file name may carry after dots (政府采购法.法律.有效.md). Falls back to the stem.
    """
    # A file's name may hold a line break; a title is one line.
    name, tags = _without_tags(without_date(" ".join(stem.split()) or stem), levels)
    heading = _heading(headings[0]) if headings else ""
    if given:
        return Title(short(given.strip()), given.strip(), tags=tags)
    if folders and heading and short(heading) == short(folders[-1]) and name != short(heading):
        return Title(short(heading), heading, name, tags)
    if len(_CJK.findall(name)) >= 2:
        cited = short(_NUMBERING.sub("", name))
        return Title(cited, heading if short(heading) == cited else name, tags=tags)
    if heading:
        return Title(short(heading), heading, tags=tags)
    return Title(name or stem, name or stem, tags=tags)


def short(title: str) -> str:
    """``中华人民共和国个人所得税法`` -> ``个人所得税法``; never empty."""
    return title.removeprefix(_STATE).strip() or title


def _without_tags(name: str, levels: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    tags: list[str] = []
    while "." in name:
        rest, _, tag = name.rpartition(".")
        if tag not in levels and tag not in _STATUS:
            break
        tags.insert(0, tag)
        name = rest
    return name, tuple(tags)


def _heading(line: str) -> str:
    """The heading without the name of the web site and without its 发文字号."""
    match = _SITE.match(line)
    name = (match["name"] or match["head"]) if match else line
    return _NUMBER_BEHIND.sub("", name).strip()[:_MAX]
