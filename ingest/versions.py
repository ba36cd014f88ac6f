"""Which version of a rule gave way to which, from the documents' own words.

Three conservative rules inside one domain: parts of one law in several files (民法典/合同编.md)
take effect on the day that some of them state; a later version of the same title closes the
earlier one (status ``amended``); an express repeal (``《甲条例》同时废止``) closes the rule that it
names (status ``repealed``). Titles must match exactly, apart from 中华人民共和国 and spacing.
Single articles end by amendments (``ingest.amended``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

from indexes.amendments import amendments_of
from indexes.schema import Document, Status
from indexes.tokenizer import simplified
from ingest.amended import amended_articles
from ingest.dates import DATE, to_date
from ingest.doc_numbers import normalise_doc_number
from ingest.rule_names import is_rule, normal_title, wrapped_rule
from ingest.script import script_of
from ingest.validity import DocumentFacts, Repeal, Validity

# 《关于印发《甲办法》的通知》 has its own marks inside, against the standard but often.
_MARKED = r"《(?:[^《》]|《[^《》]+》)+》"
_TITLE = rf"{_MARKED}(?:[（(][^（()）]*[)）])?"
# …发布的《甲办法》，…、…发布的《乙办法》: commas join only what is named with its issuer.
_JOINED = (
    rf"{_TITLE}(?:(?:(?:、|和|及|以及|与)[^，。；、《》]{{0,60}}"
    r"|(?:，|、|和|及|以及|与)[^。；《》]{0,90}(?:[发公颁]布|通过|批准|[下印]发|修[改正订]|制定)的)?"
    rf"{_TITLE})*"
)
_LIST = re.compile(
    rf"({_JOINED})(?:自[^，。；《》]{{1,20}}起)?[，,]?(?:同时|即行|一并|相应)?(?:予以|宣布)?(?:废止|失效)"
    r"(?![后前的之时])"
)
# 关于废止《甲办法》、《乙办法》的决定
_DECISION = re.compile(rf"关于废止({_TITLE}(?:(?:、|和|及|以及|与)?{_TITLE})*)的(?:决定|通知|公告)")
_NAME = re.compile(rf"(?P<title>{_MARKED})(?:[（(](?P<number>[^（()）]*号)[)）])?")
_DECIDES = re.compile(r"(?:废止|失效)[^《》]{0,40}(?:决定|通知|公告|目录)$")
_ENTRY = re.compile(
    r"[ \t　]*(?:[（(]?[一二三四五六七八九十百\d]{1,4}[)）]?[、.．]?[ \t　]*)?"
    r"《([^《》]+)》(?!第|中|[的有])"
)
_ENDS = re.compile(r"废止|失效")
_CHANGES = re.compile(r"修改|修正|修订|继续有效")
_COURTS = ("最高人民法院", "最高人民检察院", "最高人民法院、最高人民检察院")
# The day beside a repeal; 自2010年2月1日起施行的《…》 is that of the other rule.
_FROM = re.compile(
    rf"自\s*{DATE.pattern}\s*起(?:同时|正式)?(?:施行|实施|执行|生效|(?:予以)?废止)(?!的)"
)
_NEAR = 80


def facts_of(document: Document, key: str) -> DocumentFacts:
    """The facts of a parsed document under ``key``; its passages share one metadata."""
    first = document.passages[0].metadata
    return DocumentFacts(
        key=key,
        title=document.title,
        jurisdiction_code=first.jurisdiction_code,
        promulgated=first.promulgated,
        effective=first.effective,
        expires=first.expires,
        status=first.status,
        repeals=express_repeals(simplified(document.title), script_of(document.text).plain),
        doc_number=first.doc_number,
        amends=amendments_of(document.extra),
    )


def express_repeals(title: str, text: str) -> tuple[Repeal, ...]:
    """What a document repeals expressly, titles as quoted, each once, in order.

    Those of ``《甲条例》同时废止`` in its text and of ``关于废止《甲条例》的决定`` as its title.
    A decision to repeal several rules (关于废止部分规章的决定) names them in lines of their own.
    Only whole rules: ``《甲条例》第三条同时废止`` and ``与《甲条例》抵触的规定同时废止`` name none.
    An amended version repeats the repeals of the first one, so the day beside them counts.
    """
    found: dict[str, Repeal] = {}
    for match in _DECISION.finditer(title):
        for name in _NAME.finditer(match.group(1)):
            found.setdefault(name["title"][1:-1], Repeal(name["title"][1:-1], None, _number(name)))
    for match in _LIST.finditer(text):
        near = text[max(0, match.start() - _NEAR) : match.end()]
        days = [to_date(stated) for stated in _FROM.finditer(near)]
        day = days[-1].isoformat() if days and days[-1] else None
        for name in _NAME.finditer(match.group(1)):
            found.setdefault(name["title"][1:-1], Repeal(name["title"][1:-1], day, _number(name)))
    for listed in _listed(text) if _DECIDES.search(title) else ():
        found.setdefault(listed, Repeal(listed))
    return tuple(found.values())


def _number(name: re.Match[str]) -> str:
    return normalise_doc_number(name["number"]) if name["number"] else ""


def _listed(text: str) -> Iterator[str]:
    """The titles that stand in lines of their own below 废止下列…：, not below 修改下列…：."""
    ended = False
    for line in text.split("\n"):
        entry = _ENTRY.match(line)
        if entry is None:
            if _ENDS.search(line):
                ended = True
            elif _CHANGES.search(line):
                ended = False
        elif ended and not _CHANGES.search(line):
            yield entry.group(1)


def link_versions(documents: Sequence[DocumentFacts], today: date) -> dict[str, Validity]:
    """The validity of every document that another one dates or closes, by document key.

    ``today`` decides the status: until the day on which the successor takes effect the earlier
    rule keeps its own. Documents whose dates are unknown neither close nor are closed.
    """
    dated = _share_days(documents)
    documents = [replace(d, effective=dated.get(d.key, d.effective)) for d in documents]
    by_title: dict[tuple[str, str], list[DocumentFacts]] = defaultdict(list)
    by_rule: dict[tuple[str, str], list[DocumentFacts]] = defaultdict(list)
    by_number: dict[str, list[DocumentFacts]] = defaultdict(list)
    for document in documents:
        by_title[_identity(document)].append(document)
        if rule := wrapped_rule(document.title):
            by_rule[rule, document.jurisdiction_code].append(document)
        if document.doc_number:
            by_number[document.doc_number].append(document)
    closed = {d.key: Validity(d.expires, _status_on(d, today)) for d in documents if d.key in dated}
    for group in by_title.values():
        closed.update(
            _superseded({d: d.promulgated or d.key for d in group if is_rule(d.title)}, today)
        )
    for group in by_rule.values():
        # A notice that stands in two files is no version of itself: its number tells.
        closed.update(_superseded({d: d.doc_number for d in group if d.doc_number}, today))
    for successor in documents:
        for repeal in successor.repeals:
            place = successor.jurisdiction_code
            group = [*by_number.get(repeal.number, ())]
            for name in (*_spellings(repeal.title), wrapped_rule(repeal.title)):
                group += (*by_title.get((name, place), ()), *by_rule.get((name, place), ()))
            closed.update(_repealed(group, successor, repeal.day, closed, today))
    ends = amended_articles(documents, closed, today)
    for document in documents:
        if document.key in ends:
            own = Validity(document.expires, _status_on(document, today))
            closed[document.key] = replace(closed.get(document.key, own), ends=ends[document.key])
    return {key: replace(found, effective=dated.get(key)) for key, found in closed.items()}


def pending_changes(
    known: Mapping[str, tuple[DocumentFacts, Validity | None]], today: date
) -> dict[str, Validity]:
    """What must still be written so that the indexes hold the linked validity of every document.

    ``known``: facts and the validity last applied, as the ledger keeps them. A document that
    nothing closes any more gets the parser's own validity back, with the status of ``today``.
    """
    linked = link_versions([fact for fact, _ in known.values()], today)
    changes: dict[str, Validity] = {}
    for key, (fact, applied) in known.items():
        wanted = linked.get(key, Validity(fact.expires, _status_on(fact, today)))
        if applied and applied.effective and not wanted.effective:
            wanted = replace(wanted, effective=fact.effective)  # no part states it any more
        if wanted != (applied or Validity(fact.expires, fact.status)):
            changes[key] = wanted
    return changes


def _share_days(documents: Iterable[DocumentFacts]) -> dict[str, str]:
    """Document key -> the day of entry into force that the other parts of its version state.

    A part without a 施行日期 counts from its promulgation until then. Nothing is shared when the
    other parts disagree.
    """
    versions: dict[tuple[str, str, str], list[DocumentFacts]] = defaultdict(list)
    for document in documents:
        if document.promulgated and is_rule(document.title):
            versions[(*_identity(document), document.promulgated)].append(document)
    shared: dict[str, str] = {}
    for (*_, promulgated), parts in versions.items():
        stated = {p.effective for p in parts if p.effective and p.effective > promulgated}
        if len(stated) == 1:
            day = stated.pop()
            shared |= {p.key: day for p in parts if (p.effective or "") <= promulgated}
    return shared


def _identity(document: DocumentFacts) -> tuple[str, str]:
    return normal_title(document.title), document.jurisdiction_code


def _superseded(version_of: Mapping[DocumentFacts, str], today: date) -> dict[str, Validity]:
    """What closes the documents of one title; ``version_of``: the version that each belongs to.

    Files of one day of promulgation are parts of one version (民法典/合同编.md).
    """
    versions: dict[str, list[DocumentFacts]] = defaultdict(list)
    for document, version in version_of.items():
        if document.effective:
            versions[version].append(document)
    days = {name: max(d.effective or "" for d in parts) for name, parts in versions.items()}
    closed: dict[str, Validity] = {}
    for name, parts in versions.items():
        successor = min((day for day in days.values() if day > days[name]), default=None)
        for document in parts if successor else ():
            if successor and (document.expires is None or successor < document.expires):
                closed[document.key] = _closed(document, successor, "amended", today)
    return closed


def _spellings(title: str) -> Iterator[str]:
    """The title, also with a court that may stand before its marks: 最高人民法院《关于…》."""
    plain = normal_title(title)
    yield plain
    if plain.startswith("关于"):
        yield from (court + plain for court in _COURTS)


def _repealed(
    group: Iterable[DocumentFacts],
    successor: DocumentFacts,
    stated: str | None,
    closed: Mapping[str, Validity],
    today: date,
) -> dict[str, Validity]:
    day = min(filter(None, (stated, successor.effective)), default=None)
    found: dict[str, Validity] = {}
    for document in group:
        if not day or not document.effective or document.effective >= day:
            continue
        known = closed.get(document.key, Validity(document.expires, document.status)).expires
        if document.key != successor.key and (known is None or day <= known):
            found[document.key] = _closed(document, day, "repealed", today)
    return found


def _closed(document: DocumentFacts, day: str, status: Status, today: date) -> Validity:
    return Validity(day, status if day <= today.isoformat() else _status_on(document, today))


def _status_on(document: DocumentFacts, today: date) -> Status:
    """The parser's status, moved on where a date that it depended on has come."""
    day = today.isoformat()
    if document.status in ("in_force", "not_yet"):
        if document.expires and document.expires <= day:
            return "repealed"
        if document.status == "not_yet" and document.effective and document.effective <= day:
            return "in_force"
    return document.status
