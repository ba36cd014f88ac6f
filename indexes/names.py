"""The names by which documents are cited: titles, short forms, 发文字号, learned abbreviations."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from configs.errors import ConfigError
from indexes.judicial_names import PART, judicial_names, part_forms
from indexes.jurisdiction import ancestors, place_ending, places_in
from indexes.jurisdiction import parts as parts_of
from indexes.references import DOC_NUMBER, matching_form
from indexes.schema import NATIONAL
from indexes.unheard_names import LEADS, RULES, RUN, numbered_name, provisions_name, rule_name

_STATE = "中华人民共和国"
_DROPPED = re.compile(rf"[\s《》〈〉]|{_STATE}")
_ENACTED = re.compile(r"施行(?=条例|细则|办法)")
_TAIL = re.compile(r"[（(][^（()）]*[)）]$")
_KINDS = ("法", "条例", "规定", "办法", "细则", "解释", "决定", "规则", "准则", "通则", "法典")
_PLACE = re.compile(
    r"^[\u4e00-\u9fff]{2,9}?(?:省|市|自治区|自治州|特区|区|县)(?=[\u4e00-\u9fff]{4})"
)
_LONGEST = 60
_GENERIC = re.compile(r"(?:管理|实施|暂行|若干|试行|具体)+(?:办法|条例|规定|细则|规则|决定|解释)")
_LONGEST_LAW = 20
_ABBREVIATION = range(10, 2, -1)
_OFFICIAL = ("省", "市", "区", "县", "州", "盟", "旗")
_BEFORE = re.compile(rf"(?:{LEADS.pattern}|[的依据按照问看查下新旧对在是从见犯年说讲用、])\Z")


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """One document to be found by name. ``short_names``: what its text calls other documents
    (title, short name), from 《…》（以下简称…）."""

    domain: str
    doc_key: str
    title: str
    full_title: str = ""
    doc_number: str = ""
    short_names: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """What a name stands for: the documents of one title in one domain (its versions and parts),
    or, with ``doc_key``, one document."""

    domain: str
    title: str
    doc_key: str = ""


class NameTable:
    """Name -> targets; several targets where a name is ambiguous. Immutable after construction."""

    def __init__(
        self,
        documents: Iterable[NamedDocument],
        aliases: Mapping[str, str] | None = None,
        repealed: Iterable[str] = (),
    ) -> None:
        """``repealed``: titles that are known only because a document says they are repealed."""
        self._names: dict[str, dict[Target, None]] = defaultdict(dict)
        self._numbers: dict[tuple[str, int, int], dict[Target, None]] = defaultdict(dict)
        self._buckets: dict[tuple[str, str], set[str]] = defaultdict(set)
        weaker: dict[str, dict[Target, None]] = defaultdict(dict)
        learned: dict[str, set[str]] = defaultdict(set)
        for document in documents:
            target = Target(document.domain, document.title)
            judicial = judicial_names(_key(document.title))
            for name in (*_spellings(document.title, document.full_title), *judicial):
                self._names[name][target] = None
            for name in _weaker(document.title):
                weaker[name][target] = None
            for title, short in document.short_names:
                learned[_key(short)].add(_key(title))
            parsed = parse_doc_number(document.doc_number)
            if parsed:
                one = Target(document.domain, document.title, document.doc_key)
                self._numbers[parsed][one] = None
        for name in [*self._names]:
            self._buckets[name[0], name[-1]].add(name)
        self._unplaced: dict[tuple[str, str], list[tuple[str, Target]]] = defaultdict(list)
        for name, targets in weaker.items():
            self._names.setdefault(name, targets)
            self._unplaced[name[0], name[-1]] += ((name, target) for target in targets)
        kinds = (_key(title) for title in repealed)
        self._repealed = {key for key in kinds if len(key) >= 3 and key.endswith(RULES)}
        # No document may give the name of another law, or a configured one, to a rule.
        for alias, title in (aliases or {}).items():
            known = dict(self._names.get(_key(title), {}))
            if known:
                self._names.setdefault(_key(alias), known)

        for short, titles in learned.items():
            if short in self._repealed:
                continue
            if any(name.endswith(short) and name not in titles for name in self._names):
                continue  # 实施条例 is what one text calls its own, and how many others end
            known = {t: None for title in titles for t in self._names.get(title, ())}
            if len({t.title for t in known}) == 1:  # 本条例 or 《办法》 mean another one each time
                self._names.setdefault(short, known)

    def __len__(self) -> int:
        return len(self._names)

    def ending(self, text: str) -> str:
        """The longest known name, else an unambiguous abbreviation, with which ``text`` ends.

        Titles inside a title may be written as they like: 关于适用《中华人民共和国…法》的解释.
        Behind the name of a place that has no such rule, the place belongs to the (unknown) name.
        """
        loose, begins = _loose(text)
        for size in range(min(_LONGEST, len(loose)), 1, -1):
            key = loose[-size:]
            if key in self._names:
                other = self._across(loose, len(loose) - size)
                return (
                    self._with_place(text, begins[-size], key)
                    if other < 0
                    else text[begins[other] :]
                )
            if key in self._repealed:
                return text[begins[-size] :]
        if not loose.endswith(_KINDS):
            return ""
        sizes = (size for size in _ABBREVIATION if size <= len(loose) and _alone(loose[:-size]))
        size = next((size for size in sizes if self._expand(loose[-size:])), 0)
        return self._with_place(text, begins[-size], loose[-size:]) if size else ""

    def unheard(self, text: str) -> str:
        """What ``text`` ends with where it looks like the name of a rule and is that of none.

        Careful: "" for what may stand for a known name; but what may stand for those of several
        places is given, see ``candidates``.
        """
        for size in _ABBREVIATION:
            if size <= len(text) and _alone(text[:-size]) and self.candidates(text[-size:]):
                return text[-size:]
        name = rule_name(text)
        if name:
            key = _key(name)
            return "" if any(_within(key, known) or key == known for known in self._names) else name
        name = numbered_name(text)
        if name:
            return "" if self.targets(name) else name
        name = provisions_name(text)
        if not name or self.ending(name.removesuffix("规定")):
            return ""  # 个税法规定第六条
        key = _key(name)
        likely = self._buckets.get((key[0], key[-1]), ())
        return "" if any(_within(key, known) or key == known for known in likely) else name

    def targets(self, name: str) -> tuple[Target, ...]:
        """What a title or short name stands for; empty when unknown."""
        key = _key(name)
        for spelling in (key, key if PART.search(key) else _TAIL.sub("", key)):
            if spelling in self._names:
                return tuple(self._names[spelling])
        expanded = self._expand(key)
        return tuple(self._names[expanded]) if expanded else ()

    def candidates(self, name: str) -> tuple[Target, ...]:
        """What a name without place and words may stand for: 养犬条例 for 养犬管理条例 of several
        cities. Empty unless it may stand for several titles."""
        key = _key(name)
        if len(key) < 3 or not key.endswith(RULES):
            return ()
        pairs = self._unplaced.get((key[0], key[-1]), ())
        found = dict.fromkeys(target for known, target in pairs if _within(key, known))
        return tuple(found) if len({target.title for target in found}) > 1 else ()

    def _with_place(self, text: str, start: int, key: str) -> str:
        """The name from ``start``; with the place before it where the name's rules are of others.

        A national rule remains one (上海劳动合同法), unless the place is written officially before
        what places also have: 示例省物业管理条例 is not the country's 物业管理条例.
        """
        place, length = place_ending(text[:start])
        if place is None or place.code == NATIONAL:
            return text[start:]
        near = {*ancestors(place.code), *parts_of(place.code)} - {NATIONAL}
        places = [{p.code for p in places_in(t.title)} - {NATIONAL} for t in self.targets(key)]
        if any(codes & near for codes in places):
            return text[start:]
        official = text[:start].endswith(_OFFICIAL) and not key.endswith(("法", "法典"))
        if not all(places) and not official:
            return text[start:]
        return text[start - length :]

    def _across(self, loose: str, start: int) -> int:
        """Where the name of a law begins that reaches from before ``start`` into what follows, -1
        without one: 劳动|合同法解释一 is not the 解释 of 合同法."""
        for begin in range(max(0, start - _LONGEST_LAW), start):
            for end in range(start + 2, min(begin + _LONGEST_LAW, len(loose) - 1) + 1):
                if loose[end - 1] == "法" and loose[begin:end] in self._names:
                    return begin
        return -1

    def numbered(self, doc_number: str) -> tuple[Target, ...]:
        """The documents of this 发文字号, whose issuer may have words before it (根据示府规…)."""
        parsed = parse_doc_number(doc_number)
        if parsed is None:
            return ()
        issuer, year, number = parsed
        for start in range(len(issuer)):
            found = self._numbers.get((issuer[start:], year, number))
            if found:
                return tuple(found)
        return ()

    def _expand(self, short: str) -> str:
        """The one name of which ``short`` is an abbreviation (民诉法 -> 民事诉讼法), else ""."""
        if len(short) < 3 or not short.endswith(_KINDS):
            return ""
        names = [n for n in self._buckets.get((short[0], short[-1]), ()) if _within(short, n)]
        titles = {target.title for name in names for target in self._names[name]}
        return names[0] if len(titles) == 1 else ""


def parse_doc_number(text: str) -> tuple[str, int, int] | None:
    """(issuer, year, number) of a 发文字号 in any brackets; None when it is none."""
    match = DOC_NUMBER.search(matching_form(text))
    return (match["issuer"], int(match["year"]), int(match["number"])) if match else None


def load_aliases(path: str | Path | None = None) -> dict[str, str]:
    """Alias -> title: those of the package (``configs/title_aliases.csv``), then of ``path``.

    Lines ``alias,title``; ``#`` begins a comment. Raises ConfigError for an unreadable file.
    """
    packaged = resources.files("configs").joinpath("title_aliases.csv")
    texts = [packaged.read_text(encoding="utf-8")]
    if path is not None:
        try:
            texts.append(Path(path).read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"references.aliases {str(path)!r} cannot be read ({type(error).__name__}); "
                "give a UTF-8 file of lines alias,title"
            ) from error
    lines = (line for text in texts for line in text.splitlines() if not line.startswith("#"))
    return {row[0].strip(): row[1].strip() for row in csv.reader(lines) if len(row) >= 2}


def _alone(head: str) -> bool:
    """Whether a short name may begin there: 违反|民诉法 may, 最低|工资规定 is another name."""
    if not head or not RUN.search(head) or _BEFORE.search(head):
        return True
    return place_ending(head)[0] is not None


def _key(name: str) -> str:
    return _loose(matching_form(name))[0]


def _loose(text: str) -> tuple[str, list[int]]:
    """The text without blanks, title marks and 中华人民共和国, and where each character began."""
    dropped = {at for m in _DROPPED.finditer(text) for at in range(*m.span())}
    kept = [at for at in range(len(text)) if at not in dropped]
    loose = "".join(text[at] for at in kept)
    # The name of the state belongs to the name that it stands before.
    begins = [at - len(_STATE) if text[:at].endswith(_STATE) else at for at in kept]
    return _ENACTED.sub("实施", loose), begins


def _spellings(title: str, full: str) -> set[str]:
    names: set[str] = set()
    for name in (title, full):
        key = _key(name)
        for spelling in (key, key.removeprefix(_STATE), _TAIL.sub("", key.removeprefix(_STATE))):
            if len(spelling) >= 2:
                names.update((spelling, *part_forms(spelling)))
    return names


def _weaker(title: str) -> set[str]:
    """Spellings that a title of that very name takes precedence over."""
    key = _TAIL.sub("", _key(title).removeprefix(_STATE))
    names = {_PLACE.sub("", key), key.replace("暂行", "")}
    for name in [*names]:
        names.add(name.replace("暂行", ""))
    return {n for n in names if n != key and len(n) >= 4 and not _GENERIC.fullmatch(n)}


def _within(short: str, name: str) -> bool:
    """Whether the characters of ``short`` occur in ``name`` in this order."""
    rest = iter(name)
    return len(short) < len(name) and all(character in rest for character in short)
