"""Lines that are headings: 编/章/节, Markdown ``#``, 附件, and short lines that name a part."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingest.numerals import DIGITS

_MARKDOWN = re.compile(r"(#{1,6})\s+(.*)")
_DIVISION = re.compile(rf"(第\s*[{DIGITS}]+\s*(?P<unit>分编|编|章|节))(?P<gap>[\s　]*)(?P<rest>.*)")
_RANK = {"编": 1, "分编": 2, "章": 3, "节": 4}
_PART = re.compile(rf"第[{DIGITS}]+部分(?=[\s　：:]|$)")
_CONTENTS = re.compile(r"目\s*[录次]")
_ANNEX = re.compile(
    r"附\s*(?P<kind>件|录|表|图|页)?\s*(?P<n>[一二三四五六七八九十\d]{1,3})?"
    r"(?P<gap>[：:．.\s　]*)(?P<title>.*)"
)
_ANNEX_NAME = re.compile(
    r"(?:税率表|税目|目录|名录|清单|名单|标准|式样|图案|格式|样式|样本|分类|细目|说明|流程|规范"
    r"|示意图|明细表|对照表|办法|规定|条例|规则|细则|方案|意见|解释|决定|章程|程序|法律|范围|表|书|法)"
    r"(?:表?[一二三四五六七八九十\d]{1,2})?(?:[（(][^（()）]{1,30}[)）])?"
)
_CHAPTER_WORDS = re.compile(
    r"总则|附则|罚则|法律责任|一般规定|基本规定|其他规定|序言|前言|分则|监督检查|监督管理"
    r"|监督与检查|奖励与处罚|奖惩"
)
_NUMBERED = re.compile(
    r"(?:(?P<one>[一二三四五六七八九十]{1,3}、)|(?P<two>[（(][一二三四五六七八九十]{1,3}[)）]))"
)
_RULE_NAME = re.compile(
    r"(?:法|条例|办法|规定|规则|细则|决定|解释|方案|意见|通知|规范|章程|制度|标准|准则)(?:[（(](?:试行|暂行|修订)[)）])?$"
)
_OPEN_ENDED = ("。", "；", "：", "，", "、", "！", "？", ";", ":", ",", "”", "…", "—")
_NAME_MAX = 40
_MARKDOWN_MAX = 120


@dataclass(frozen=True, slots=True)
class Heading:
    """``rank``: 编 1, 分编 2, 章 3, 节 4, 一、 5, （一） 6; ``level``: of Markdown, else 0.

    ``name`` "" = a heading that names nothing (目录, the title again). ``annex``: begins an 附件;
    ``complete``: its name is on the same line. ``joins``: continues the heading before it.
    """

    name: str
    rank: int = 3
    level: int = 0
    annex: bool = False
    complete: bool = True
    joins: bool = False


class HeadingPath:
    """The headings that are open at a place, widest first."""

    def __init__(self) -> None:
        self._open: list[Heading] = []
        self.just_added = False
        """No text has come since the last heading."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(h.name for h in self._open if h.name)

    def settle(self) -> None:
        """Text came: a short line that follows is no continuation of a heading."""
        self.just_added = False

    def add(self, heading: Heading) -> None:
        """Open a heading: it closes those of its rank and below (of its Markdown level, too)."""
        if heading.joins:
            self.extend(heading.name)
            return
        if heading.annex:
            self._open = []
        if heading.name:
            self._open = [h for h in self._open if _encloses(h, heading)] + [heading]
            self.just_added = True

    def annex(self, name: str) -> None:
        """Everything before is closed; ``name`` "" opens a part without a heading."""
        self.add(Heading(name, 0, annex=True))

    def extend(self, name: str) -> None:
        """The last heading goes on on the next line."""
        if self._open:
            last = self._open.pop()
            joint = " " if re.search(r"[部章节编件录表图]$|\d$", last.name) else ""
            if last.annex:
                joint = " "
            self._open.append(
                Heading(f"{last.name}{joint}{name}", last.rank, last.level, last.annex)
            )


def _encloses(outer: Heading, inner: Heading) -> bool:
    if outer.annex:
        return True
    if outer.level and inner.level and outer.level != inner.level:
        return outer.level < inner.level
    return outer.rank < inner.rank


def division(line: str, titles: frozenset[str]) -> Heading | None:
    """A 编/章/节 line, a Markdown heading, 目录, or the title again; None for text."""
    markdown = _MARKDOWN.fullmatch(line)
    level = len(markdown[1]) if markdown else 0
    content = (markdown[2] if markdown else line).strip(" 　\t*_")
    plain = re.sub(r"\s", "", content)
    if plain in titles or _CONTENTS.fullmatch(content) or not plain.strip("#"):
        return Heading("")
    match = _DIVISION.fullmatch(content)
    short = len(content) <= 60 and not content.endswith(_OPEN_ENDED)
    if match and short and (markdown or match["gap"] or not match["rest"]):
        if _DIVISION.search(match["rest"]):
            return Heading("")  # a table of contents in one line
        name = " ".join(filter(None, (re.sub(r"\s", "", match[1]), spaced_out(match["rest"]))))
        return Heading(name, _RANK[match["unit"]], level)
    part = _PART.match(content)
    if part and short:
        return Heading(spaced_out(content), 1, level)
    if markdown and content and len(content) <= _MARKDOWN_MAX:
        found = annex(content)
        return found or Heading(spaced_out(content), _markdown_rank(plain), level)
    return None


def _markdown_rank(plain: str) -> int:
    numbered = _NUMBERED.match(plain)
    return 3 if numbered is None else 5 if numbered["one"] else 6


def annex(line: str) -> Heading | None:
    """附件1：名称, 附录, 附：, 附表一 …; None for text, for 附则 and for a list of annexes."""
    match = _ANNEX.fullmatch(line.strip(" 　\t*_"))
    if match is None or len(line) > 60 or line.endswith(("。", "；", "，", "、")):
        return None
    title = match["title"].strip()
    if not (match["kind"] or match["n"]) and (title or not match["gap"].strip()):
        return None  # 附 alone needs its colon
    if title and not match["gap"]:
        return None  # 附件三所列全国性法律
    if title == "则" or re.match(r"\d{1,2}\s*[.．、]|[一二三四五六七八九十]、", title):
        return None
    label = f"附{match['kind'] or '件'}{match['n'] or ''}"
    return Heading(f"{label} {title}".strip(), 0, annex=True, complete=bool(title))


def annex_title(line: str, *, anything: bool = False) -> str | None:
    """The line as the name of an annex (资源税税目税率表); ``anything``: any short title."""
    name = line.strip(" 　\t*_")
    if not name or len(name) > _NAME_MAX or name.endswith(_OPEN_ENDED) or "|" in name:
        return None
    if re.search(r"[\s　。；，：]", name) or _NUMBERED.match(name) or re.match(r"[\d（(“]", name):
        return None
    named = _ANNEX_NAME.search(name)
    if named and named.end() == len(name):
        return name
    return name if anything and len(name) >= 4 else None


def orphan(line: str, after_heading: bool) -> Heading | None:
    """A short line that may head what follows: 总 则, （一）动产质押, the end of a wrapped heading.

    The caller sees to it that an article or a heading follows.
    """
    content = line.strip(" 　\t*_")
    plain = re.sub(r"\s", "", content)
    if not plain or len(plain) > _NAME_MAX or content.endswith(_OPEN_ENDED):
        return None
    if re.search(r"[。；|]", plain):
        return None
    numbered = _NUMBERED.match(plain)
    if numbered:
        return Heading(spaced_out(content), 5 if numbered["one"] else 6)
    if re.match(r"[\d（(“]", plain):
        return None
    if after_heading:
        return Heading(spaced_out(content), joins=True)
    if _CHAPTER_WORDS.fullmatch(plain):
        return Heading(plain, 3)
    if _RULE_NAME.search(plain) and len(plain) >= 6:
        return Heading(spaced_out(content), 0)
    return None


def spaced_out(name: str) -> str:
    """``总　则`` -> ``总则``; other white space becomes one blank."""
    words = name.split()
    return "".join(words) if all(len(word) == 1 for word in words) else " ".join(words)
