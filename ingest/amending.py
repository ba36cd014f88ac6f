"""Reads what a document changes in others: 关于修改《甲条例》的决定, 甲法修正案（二）.

Clauses as the 立法技术规范 of the 全国人大常委会法工委 words them. What stands in quotation marks
is new or old text, never a clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from indexes.amendments import Amendment, ChangeKind, bare_words
from indexes.references import matching_form
from indexes.schema import Passage
from indexes.succession import plain_title
from ingest.numerals import DIGITS, parse_number

_N = f"[{DIGITS}]+"
_REF = re.compile(
    rf"第(?P<number>{_N})条(?!例)(?:之(?P<sub>{_N}))?(?P<inner>(?:第{_N}款)?(?:第?\(?{_N}\)?项)?)"
)
_Q = "“■*”"
_DECISION = re.compile(r"关于修[改订正]《(?P<title>.+)》的(?:决定|决议|通知|公告|命令)(?:\(.*\))?$")
_SEVERAL = re.compile(r"关于.{0,8}修[改订正].*(?:决定|决议|通知|公告|命令)(?:\(.*\))?$")
_BILL = re.compile(r"^(?P<title>.{2,40}?)修正案(?:\(.{1,12}\))?(?:\(草案\))?$")
_SECTION = re.compile(
    rf"^(?:\(?{_N}\)?[、.]?)?\s*(?:对|将)?《(?P<title>[^《》]+)》(?:\([^()]*\))?"
    r"(?:(?:作|作出|做|做出)?(?:如下|以下|下列)?修[改正][:。]?$|[:]?$)"
)
_LABEL = re.compile(rf"^\s*第{_N}条\s+")
_NAMED = re.compile(r"《(?P<title>(?:[^《》]|《[^《》]*》)+)》(?:\([^()]*\))?(?:中|的)?$")
_MOVED = re.compile(rf"(?:改为|移至|调整为|变更为)第{_N}条(?:之{_N})?(?:第{_N}款)?")
_WHOLE = re.compile(
    rf"^(?:中?(?:增加|增写){_N}[款项],?作为第{_N}[款项])?[,,]*(?:并)?(?:将)?(?:该条|本条|其)?(?:的?内容)?"
    rf"(?:修改为|修正为|修订为|改为):?{_Q}"
)
_REPLACED = re.compile(rf"(?:修改为|修正为|修订为|改为):?(?P<new>{_Q})")
_ADDED = re.compile(
    rf"增加{_N}条,?(?:分别)?作为第(?P<number>{_N})条(?:之(?P<sub>{_N}))?"
    rf"(?:至第(?P<last>{_N})条)?(?:[::,]*(?P<new>{_Q}))?"
)
_WORDS = re.compile(
    rf"(?P<old>{_Q})(?:一词|的表述|等字样)?,?(?:均)?(?:修改为|改为|替换为):?(?P<new>{_Q})"
)
_NEW = re.compile(rf"(?:修改为|修正为|作为第{_N}[款项]):?(?P<new>{_Q})")
_CUT = re.compile(r"删[去除]")
_ENDED = re.compile(r"^(?:的规定)?(?:自.{1,20}起)?,?(?:同时|即行|一并|予以|相应)*(?:废止|停止执行)")
_CHANGES = re.compile(r"修改|修正|改为|增加|增写|删[去除]|合并")
# Quick to look for: few documents change others in passing.
_CANDIDATE = re.compile(
    r"》(?:[（(][^（()）]*[)）])?[中的]?第[^条]{1,9}条[^。\n]{0,80}(?:修改|改为|废止|停止执行|删[去除])"
)
_TOLD = re.compile(r"解读|问答|答记者|说明|新闻|草案|征求意见")
_LONGEST_RANGE = 30


@dataclass(frozen=True, slots=True)
class _Clause:
    """A sentence with its quotations masked; ``start`` its offset, ``title`` the rule it amends
    ("" = only the one that it names). ``bill``: of a 修正案, after which numbers stay."""

    text: str
    start: int
    title: str
    bill: bool


@dataclass(frozen=True, slots=True)
class _Ref:
    article: str
    whole: bool
    start: int
    end: int


def amendments(title: str, text: str, passages: Sequence[Passage]) -> tuple[Amendment, ...]:
    """The changes that a document makes, in order, each once; () for most documents.

    ``passages`` are those of the document, by whose ids the changes are known.
    """
    name = matching_form(re.sub(r"\s", "", title))
    amending = _SEVERAL.search(name) or _BILL.match(name)
    if _TOLD.search(name) or not (amending or _CANDIDATE.search(text)):
        return ()
    plain = matching_form(text)
    found: dict[Amendment, None] = {}
    for clause in _clauses(plain, _masked(plain), _main_title(name), bool(_BILL.match(name))):
        for change in _changes(clause, plain):
            passage = _passage_at(passages, clause.start)
            if change.title and passage is not None:
                found.setdefault(replace(change, passage=passage.id))
    return tuple(found)


def _main_title(name: str) -> str:
    match = _DECISION.search(name) or _BILL.match(name)
    titles = match["title"].split("》、《") if match else []
    return _plain(titles[0]) if len(titles) == 1 and "》" not in titles[0] else ""


def _plain(title: str) -> str:
    return plain_title(re.sub(r"[〈〉<>]", "", title))


def _masked(plain: str) -> str:
    """``plain`` with everything inside quotation marks as ■, marks of inner quotations too.

    A quotation of several paragraphs opens anew with each and is closed once.
    """
    out, inside = [], False
    for character in plain:
        if inside and character in '”」"':
            inside = False
            out.append("”")
        elif not inside and character in '“「"':
            inside = True
            out.append("“")
        else:
            out.append("■" if inside else character)
    return "".join(out)


def _clauses(plain: str, masked: str, main: str, bill: bool) -> Iterator[_Clause]:
    title = main
    for line in re.finditer(r"[^\n]+", masked):
        start, body = line.start(), line.group()
        section = _SECTION.match(body.strip())
        if section is not None:
            title = _plain(section["title"])
            continue
        label = _LABEL.match(body) if bill else None
        skipped = label.end() if label else 0
        for part in re.finditer(r"[^;。]+", body[skipped:]):
            yield _Clause(part.group(), start + skipped + part.start(), title, bill)


def _changes(clause: _Clause, plain: str) -> Iterator[Amendment]:
    text = clause.text
    added = _ADDED.search(text)
    if added is not None:
        yield from _additions(added, clause, plain)
        return
    if _MOVED.search(text) and clause.title:
        yield Amendment(clause.title, "", "renumber", "")
    refs = list(_refs(_MOVED.sub(lambda m: "□" * len(m[0]), text)))
    if not refs:
        return
    title, named = clause.title, _NAMED.search(text, 0, refs[0].start)
    if named is not None:
        title = _plain(
            plain[clause.start + named.start("title") : clause.start + named.end("title")]
        )
    if not title:
        return
    tail = _MOVED.sub("", text[refs[-1].end :])
    if len(refs) == 1 and refs[0].whole and _WHOLE.match(tail.lstrip(",")):
        new = _quoted(clause, plain, _REPLACED.search(text, refs[0].end))
        yield Amendment(title, refs[0].article, "replace", "", new)
    elif _CUT.search(text, 0, refs[0].start) and not re.search("“", text):
        kinds: list[ChangeKind] = [
            "delete" if ref.whole and _only_refs(text, refs) else "part" for ref in refs
        ]
        for ref, kind in zip(refs, kinds, strict=True):
            yield Amendment(title, ref.article, kind, "")
        if clause.title and "delete" in kinds and not clause.bill:
            yield Amendment(title, "", "renumber", "")
    elif _ENDED.match(tail):
        yield from (Amendment(title, r.article, "delete" if r.whole else "part", "") for r in refs)
    elif _CHANGES.search(_MOVED.sub("", text)):
        words = _WORDS.search(text)
        old = _quoted(clause, plain, words, "old") if words else ""
        new = _quoted(clause, plain, words or _NEW.search(text))
        yield from (Amendment(title, ref.article, "part", "", new, old) for ref in refs)


def _additions(added: re.Match[str], clause: _Clause, plain: str) -> Iterator[Amendment]:
    first, last = parse_number(added["number"]), parse_number(added["last"] or added["number"])
    if not clause.title or first is None or last is None or last - first > _LONGEST_RANGE:
        return
    sub = f"-{parse_number(added['sub'])}" if added["sub"] else ""
    new = _quoted(clause, plain, added if added["new"] else None)
    for number in range(first, last + 1):
        yield Amendment(clause.title, f"{number}{sub}", "add", "", new)
    if not sub:
        yield Amendment(clause.title, "", "renumber", "")


def _refs(text: str) -> Iterator[_Ref]:
    for match in _REF.finditer(text):
        number, sub = parse_number(match["number"]), parse_number(match["sub"] or "")
        if number is not None:
            article = f"{number}-{sub}" if sub else str(number)
            yield _Ref(article, not match["inner"], match.start(), match.end())


def _only_refs(text: str, refs: Sequence[_Ref]) -> bool:
    """Whether whole articles alone are cut: 删去第三条中的后半句 is a part."""
    return not re.match(r"中|的|后|前|末|最后", text[refs[-1].end :])


def _quoted(clause: _Clause, plain: str, match: re.Match[str] | None, group: str = "new") -> str:
    if match is None:
        return ""
    start, end = match.span(group)
    return bare_words(plain[clause.start + start : clause.start + end])


def _passage_at(passages: Sequence[Passage], offset: int) -> Passage | None:
    inside = (p for p in passages if p.metadata.start <= offset < p.metadata.end)
    return next(inside, None)
