"""The skeleton of a statute: which lines are headings, which begin an article, what lies between.

Articles are found by their number *and* their place in the sequence, so that a sentence that begins
第二十一条规定的情形 is no heading. A numbering that starts again (an attached rule) is a new run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingest.dates import DATE
from ingest.headings import Heading, HeadingPath, annex, annex_title, division, orphan
from ingest.numerals import ARTICLE, DIGITS, article_number, parse_number

_INLINE_ARTICLE = re.compile(
    rf"(?<=[\s。；：！？”）])第[{DIGITS}]+条(?:之[{DIGITS}]+)?(?=[\s　]+[^\s　、，。；])"
)
_INLINE_DIVISION = re.compile(
    rf"(?<=[\s。；：！？”）])第[{DIGITS}]+[编章节][\s　]+[^\s。；，]{{1,30}}[\s　]+"
    rf"(?=第[{DIGITS}]+[章节条][\s　])"
)
_COMMENT = re.compile(r"(?:<!--(?:(?!-->).)*-->\s*)+")
_DECORATION = re.compile(r"[#*_>\s　]*")
# What follows the number where a sentence only cites an article (第二十一条规定的情形).
_CITED = re.compile(
    r"第[^条]{1,6}[款项目条]|[之的、，,和与及至或到款项目中前]|规定|所[列称规述指]|[（(]第|(?:作?如下)?修改|修正|删[去除]|增加"
)
_CITED_AFTER_SPACE = re.compile(r"第[^条]{1,4}[款项]|[、，]|[和与及或至]第|(?:规定|所列|所称)的")
# What an amendment inserts into the amended law: 增加五条，分别作为第一百二十三条至第一百二十七条。
_INSERTED = re.compile(
    rf"作为第(?P<first>[{DIGITS}]+)(?P<unit>[编章节条])(?:至第(?P<last>[{DIGITS}]+)(?P=unit))?"
)
_DIVISION = re.compile(rf"第\s*(?P<number>[{DIGITS}]+)\s*(?P<unit>[编章节])")
_SIGNATURE_LINES = 4
_SPACES = " 　\t\u2002\u2003\xa0【*"
_ENDS_RULE = re.compile(r"(?:[起日](?:施行|实施|执行|生效)[^。]{0,30}|废止[^。]{0,10})。$")


@dataclass(frozen=True, slots=True)
class Block:
    """Text between two headings, or one article; ``number`` None = no article.

    ``run`` counts the numberings of the document from 1. ``annex``: it lies in an 附件 or behind
    the last article.
    """

    start: int
    end: int
    heading_path: tuple[str, ...]
    number: tuple[int, int] | None
    run: int
    annex: bool = False


@dataclass(frozen=True, slots=True)
class _Atom:
    """A line without the white space around it, or a piece of one that may be a heading."""

    start: int
    end: int
    line: str
    inline: bool
    article: tuple[int, int] | None = None
    rest: str = ""
    heading: Heading | None = None


def lines_of(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Non-blank lines of ``text[start:end]`` as spans without the white space around them."""
    for match in re.compile(r"[^\n]+").finditer(text, start, len(text) if end is None else end):
        line = match.group()
        left = match.start() + len(line) - len(line.lstrip())
        right = match.end() - (len(line) - len(line.rstrip()))
        if left < right:
            yield left, right


def blocks(text: str, body_start: int = 0, titles: frozenset[str] = frozenset()) -> list[Block]:
    """The blocks of ``text[body_start:]`` in order; headings and comments lie between them.

    ``titles``: lines (without white space) that repeat the document's title, which are headings.
    """
    return _Scanner(text, list(_atoms(text, body_start, titles))).scan()


def _atoms(text: str, body_start: int, titles: frozenset[str]) -> Iterator[_Atom]:
    for left, right in lines_of(text, body_start):
        cuts = sorted(
            {
                m.start()
                for p in (_INLINE_ARTICLE, _INLINE_DIVISION)
                for m in p.finditer(text, left, right)
            }
        )
        edges = [left, *(c for c in cuts if c > left), right]
        for start, end in pairwise(edges):
            line = text[start:end].rstrip()
            yield _atom(start, start + len(line), line, start > left, titles)


def _atom(start: int, end: int, line: str, inline: bool, titles: frozenset[str]) -> _Atom:
    bare = line[_DECORATION.match(line).end() :]  # type: ignore[union-attr]
    match = ARTICLE.match(bare)
    if match is not None:
        number = article_number(match)
        return _Atom(start, end, line, inline, number, bare[match.end() :])
    heading = None if line.startswith("|") else division(line, titles) or annex(line)
    return _Atom(start, end, line, inline, heading=heading)


class _Scanner:
    """One pass over the atoms with the state that decides: last number, open block, path."""

    def __init__(self, text: str, atoms: Sequence[_Atom]) -> None:
        self._text, self._atoms = text, atoms
        self._path = HeadingPath()
        self._last: tuple[int, int] | None = None
        self._number: tuple[int, int] | None = None
        self._run = 1
        self._annex = False
        self._open: int | None = None
        self._end = 0
        self._blocks: list[Block] = []

    def scan(self) -> list[Block]:
        index = 0
        while index < len(self._atoms):
            index += self._take(index)
        self._close()
        return self._blocks

    def _take(self, index: int) -> int:
        """Place one atom (or a heading with its continuation lines); how many were taken."""
        atom = self._atoms[index]
        if _COMMENT.fullmatch(atom.line):
            self._close()
            return 1
        heading = atom.heading
        if (
            heading is not None
            and not (atom.inline and self._quoted(atom.start))
            and not self._inserted_heading(atom)
            and not (heading.annex and self._is_signed(index + 1))
        ):
            return self._take_heading(index, heading)
        if atom.article is not None and self._is_article(index, atom):
            self._close()
            if self._last is not None and atom.article <= self._last:
                self._run += 1
            self._last = self._number = atom.article
            self._open = atom.start
        elif self._begins_annex(index, atom):
            self._close()
            self._annex = True
            name = annex_title(atom.line)
            self._path.annex(name or "")
            if name is not None:
                return 1
            self._open = atom.start
        else:
            alone = self._open is None or self._ended() or self._text[self._end - 1] == "日"
            found = orphan(atom.line, self._path.just_added) if alone else None
            if found is not None and self._heads_something(index + 1):
                self._close()
                self._path.add(found)
                return 1
            if self._open is None:
                self._open = atom.start
        self._end = atom.end
        self._path.settle()
        return 1

    def _take_heading(self, index: int, heading: Heading) -> int:
        self._close()
        if heading.annex:
            self._annex = True
        self._path.add(heading)
        if heading.annex and not heading.complete:
            return 1 + self._annex_name(index + 1)
        return 1

    def _is_signed(self, index: int) -> bool:
        """Whether a signature follows: 附件：补贴标准表 above it only tells what comes later."""
        for at, atom in enumerate(self._atoms[index : index + _SIGNATURE_LINES], index):
            if DATE.fullmatch(atom.line):
                rest = self._atoms[at + 1 :]
                return not rest or any(a.heading and a.heading.annex for a in rest)
            if atom.heading or atom.article or annex_title(atom.line, anything=True) is None:
                return False
        return False

    def _annex_name(self, index: int) -> int:
        """The title lines under 附件: at most two short ones, the second only to end a name."""
        taken = 0
        while index + taken < len(self._atoms) and taken < 2:
            atom = self._atoms[index + taken]
            found = None if atom.article or atom.heading else annex_title(atom.line, anything=True)
            if found is None or (taken and not annex_title(atom.line)):
                break
            self._path.extend(found)
            taken += 1
            if annex_title(atom.line):
                break
        return taken

    def _close(self) -> None:
        if self._open is not None:
            self._blocks.append(
                Block(self._open, self._end, self._path.names, self._number, self._run, self._annex)
            )
        self._open = self._number = None

    def _is_article(self, index: int, atom: _Atom) -> bool:
        number, rest, last = atom.article, atom.rest, self._last
        if number is None:
            return False
        spaced = not rest or rest[0] in _SPACES
        follows = (
            number == (1, 0)
            if last is None
            else number in ((last[0] + 1, 0), (last[0], last[1] + 1))
        )
        if spaced and _CITED_AFTER_SPACE.match(rest.strip(_SPACES)):
            return False
        if not spaced and _CITED.match(rest):
            return False
        if follows:
            return spaced or self._open is None or self._ended()
        if not spaced or atom.inline or self._quoted(atom.start):
            return number == (1, 0) and spaced and not self._quoted(atom.start)
        if last is None or number == (1, 0):
            return True
        if self._inserted("条", number[0], atom.start):
            return False
        # A jump is a heading only when the number that it skips does not come later.
        return number > last and not self._comes_later(index, (last[0] + 1, 0))

    def _comes_later(self, index: int, wanted: tuple[int, int]) -> bool:
        for later in self._atoms[index + 1 :]:
            if later.article == (1, 0):
                return False
            if later.article == wanted and (not later.rest or later.rest[0] in _SPACES):
                return True
        return False

    def _quoted(self, position: int) -> bool:
        """Whether “ is still open there in the open block (quoted text of another law)."""
        start = position if self._open is None else self._open
        return self._text.rfind("“", start, position) > self._text.rfind("”", start, position)

    def _inserted(self, unit: str, number: int, position: int) -> bool:
        """Whether the open article says that it inserts this number into another law."""
        if self._open is None or self._number is None:
            return False
        for match in _INSERTED.finditer(self._text, self._open, position):
            first = parse_number(match["first"])
            last = parse_number(match["last"]) if match["last"] else first
            if match["unit"] == unit and first and last and first <= number <= last:
                return True
        return False

    def _inserted_heading(self, atom: _Atom) -> bool:
        if self._open is None or self._number is None:
            return False
        match = _DIVISION.match(atom.line)
        number = parse_number(match["number"]) if match else None
        return bool(match and number and self._inserted(match["unit"], number, atom.start))

    def _ended(self) -> bool:
        """Whether the open block is at the end of a sentence."""
        return self._text[self._end - 1] in "。；！？”）)：:"

    def _begins_annex(self, index: int, atom: _Atom) -> bool:
        """A short line behind 本法自…起施行。 begins what is attached (税率表 …)."""
        if self._number is None or self._open is None or atom.inline or atom.article:
            return False
        if not _ENDS_RULE.search(self._text[max(self._open, self._end - 60) : self._end]):
            return False
        if orphan(atom.line, False) is not None and self._heads_something(index + 1):
            return False
        return annex_title(atom.line, anything=True) is not None

    def _heads_something(self, index: int) -> bool:
        """Whether an article or a heading follows, perhaps after one more short line."""
        for atom in self._atoms[index : index + 2]:
            if atom.article is not None or atom.heading is not None:
                return True
            if orphan(atom.line, True) is None:
                return False
        return False
