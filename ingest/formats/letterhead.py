"""The first page of a 公文: its 红头 and 发文字号 above the title, and the title itself.

Form after GB/T 9704-2012 《党政机关公文格式》: 版头 (份号, 密级, 紧急程度, 发文机关标志, 发文字号,
签发人) above the line, then the centred title, then 主送机关.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_high

from ingest.doc_numbers import normalise_doc_number
from ingest.organs import is_organ

_HAN = "\u4e00-\u9fff"
_DOC_NUMBER = re.compile(
    rf"(?P<number>[{_HAN}]{{1,14}}\s*[〔\[［(（【﹝]\s*\d{{4}}\s*年?\s*[〕\]］)）】﹞]\s*第?\s*\d+\s*号)"
    r"(?:\s*签发人\s*[：:].*)?"
)
_DECREE_NUMBER = re.compile(r"(?:\d{4}\s*年\s*)?第\s*[\d一二三四五六七八九十百零〇]{1,6}\s*号")
_RED_HEAD = re.compile(rf"(?P<organs>[{_HAN}\s　、]{{4,60}}?)\s*(?P<kind>文\s*件|令|公\s*告)")
_OTHER = re.compile(
    r"\d{6}|(?:绝\s*密|机\s*密|秘\s*密)(?:★.{0,10})?|特\s*急|加\s*急|签发人\s*[：:].*|附\s*件\s*\d{0,2}"
    r"|[（(]?虚构示例[）)]?"
)
_TITLE_END = re.compile(
    r"(?:通知|通告|公告|决定|意见|办法|规定|细则|条例|规则|方案|批复|函|通报|命令|目录|指南|解释|标准|规划|计划|措施)"
    r"(?:[（(][^（()）]{2,12}[)）])?$"
)
_NO_TITLE = re.compile(r"[。；：，:;]$|^第.{1,6}[条章节]|^[一二三]、|^[（(]|^\|")
_WORD_END = re.compile(r"[A-Za-z0-9,;.:!?)%]$")
_WORD_START = re.compile(r"[A-Za-z0-9(]")
_LARGER = 1.15
_WINDOW = 15
_TITLE_LINES = 6
_TITLE_CHARS = 160
_ORGANS_BELOW = 12


@dataclass(frozen=True, slots=True)
class FrontLine:
    """One line of the first page. ``size`` in points, 0 where unknown; ``marked``: the file itself
    calls it the title (a Word style)."""

    text: str
    size: float = 0.0
    centred: bool = False
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Letterhead:
    """``title``: "" when the page shows none; ``drop``: indexes of the lines that the title and
    ``given`` (English keys of ``ingest.given``) tell instead; ``number``: 发文字号 as written."""

    title: str = ""
    given: Mapping[str, str] | None = None
    number: str = ""
    drop: frozenset[int] = frozenset()

    def lines(self) -> list[str]:
        """What stands above the text in the Reading dialect."""
        if not self.title:
            return []
        return [f"# {self.title}", *filter(None, [self.number])]


def read_letterhead(lines: Sequence[FrontLine]) -> Letterhead:
    """The 版头 and title among the first non-blank lines of a document.

    The title is what the file marks so, or the larger centred lines, or below a 红头 the lines up
    to the name of a kind of document (…的通知). Without a title nothing is dropped.
    """
    at, number, issuer = 0, "", ""
    while at < min(len(lines), _WINDOW):
        line, text = lines[at], lines[at].text.strip()
        joint, organs = (0, "") if issuer else _joint_head(lines[at:])
        if joint:
            issuer = organs
            at += joint
            continue
        doc_number, head = _DOC_NUMBER.fullmatch(text), _RED_HEAD.fullmatch(text)
        if doc_number:
            number = number or re.sub(r"\s", "", doc_number["number"])
        elif head and not line.marked and _is_red_head(lines, at, head):
            issuer = issuer or _organs(head)
            if head["kind"] in ("令", "公告") and not number:
                number = _decree(text, lines[at + 1 : at + 2])
        elif not _OTHER.fullmatch(text) and not (number and _DECREE_NUMBER.fullmatch(text)):
            break
        at += 1
    taken = _title_lines(lines, at, above=bool(number or issuer))
    if not taken:
        return Letterhead()
    title = join_lines(line.text.strip() for line in lines[at : at + taken])
    given = {"doc_number": normalise_doc_number(number), "issuer": issuer}
    return Letterhead(
        title, {k: v for k, v in given.items() if v}, number, frozenset(range(at + taken))
    )


def names_organ(line: str) -> bool:
    """Whether a line is one organ's name, as in a 红头 of several, perhaps with 文件 behind."""
    words = re.sub(r"\s", "", line)
    return words == "文件" or is_organ(words.removesuffix("文件"))


def body_size(sizes: Sequence[tuple[float, int]]) -> float:
    """The size in which most characters are set, of (size, characters) pairs; 0 for none."""
    spread = [size for size, count in sizes for _ in range(min(count, 200)) if size]
    return median_high(spread) if spread else 0.0


def join_lines(lines: Iterable[str]) -> str:
    """Printed lines as one: a blank only where two Latin words or numbers would run together."""
    joint = ""
    for line in lines:
        gap = " " if _WORD_END.search(joint) and _WORD_START.match(line) else ""
        joint += gap + line
    return joint


def _is_red_head(lines: Sequence[FrontLine], at: int, head: re.Match[str]) -> bool:
    """…文件 always; …令 and …公告 only above their number, else it is a title."""
    if re.sub(r"\s", "", head["kind"]) == "文件":
        return True
    below = lines[at + 1].text.strip() if at + 1 < len(lines) else ""
    return bool(_DECREE_NUMBER.fullmatch(below))


def _joint_head(lines: Sequence[FrontLine]) -> tuple[int, str]:
    """How many lines are the 红头 of several organs, one below the other with 文件 beside them, and
    the organs joined by 、; (0, "") when they are none."""
    organs: list[str] = []
    files = 0
    count = 0
    for line in lines[:_ORGANS_BELOW]:
        words = re.sub(r"\s", "", line.text)
        head = _RED_HEAD.fullmatch(line.text.strip())
        if head and re.sub(r"\s", "", head["kind"]) == "文件":
            organs.append(_organs(head))
            files += 1
        elif words == "文件":
            files += 1
        elif is_organ(words) and not line.marked:
            organs.append(words)
        else:
            break
        count += 1
    return (count, "、".join(organs)) if files == 1 and len(organs) > 1 else (0, "")


def _organs(head: re.Match[str]) -> str:
    """The organs joined by 、; characters that are only set apart (财 政 局) are one name."""
    parts = [part for part in re.split(r"[\s　、]+", head["organs"].strip()) if part]
    return "".join(parts) if all(len(part) == 1 for part in parts) else "、".join(parts)


def _decree(text: str, below: Sequence[FrontLine]) -> str:
    return re.sub(r"\s", "", text + "".join(line.text for line in below))


def _title_lines(lines: Sequence[FrontLine], at: int, *, above: bool) -> int:
    """How many lines from ``at`` on are the title; 0 when none is."""
    if at >= len(lines) or _NO_TITLE.search(lines[at].text.strip()):
        return 0
    first, rest = lines[at], lines[at + 1 : at + 40]
    if first.marked:
        return _run(lines, at, lambda line: line.marked)
    body = body_size([(line.size, len(line.text)) for line in rest])
    if first.centred and (len(rest) == 0 or first.size > body * _LARGER):
        return _run(
            lines,
            at,
            lambda line: line.centred and abs(line.size - first.size) < 0.1 * first.size,
        )
    if not above:
        return 0
    for count in range(1, _TITLE_LINES):
        words = "".join(line.text.strip() for line in lines[at : at + count])
        if len(words) > _TITLE_CHARS or _NO_TITLE.search(words):
            return 0
        if _TITLE_END.search(words):
            return count
    return 0


def _run(lines: Sequence[FrontLine], at: int, belongs: Callable[[FrontLine], bool]) -> int:
    count = 1
    while (
        count < _TITLE_LINES
        and at + count < len(lines)
        and belongs(lines[at + count])
        and not _NO_TITLE.search(lines[at + count].text.strip())
        and not _DOC_NUMBER.fullmatch(lines[at + count].text.strip())
    ):
        count += 1
    return count
