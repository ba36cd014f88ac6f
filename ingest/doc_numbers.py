"""发文字号: the number by which offices cite a document, in one spelling.

Four styles: 法释〔2022〕12号, 国务院令第138号, 沪府办规〔2024〕3号,
财政部 税务总局公告2023年第12号.
Form after GB/T 9704-2012 《党政机关公文格式》: the year in 〔〕, no 第, no leading zero.
"""

from __future__ import annotations

import re
import unicodedata

from ingest.numerals import DIGITS, parse_number

_HAN = "\u4e00-\u9fff"
_BRACKETED = re.compile(
    rf"(?P<word>(?:[{_HAN}]{{1,14}}\s*)?)[〔\[({{【〈<]\s*(?P<year>\d{{4}})\s*(?:年)?\s*[〕\])}}】〉>]\s*"
    r"(?:第\s*)?(?P<n>\d{1,5})\s*号"
)
_DECREE = re.compile(
    rf"(?P<organ>[{_HAN}、\s]{{2,60}}?)(?P<kind>令|公告)\s*(?:[〔\[(]?(?P<year>\d{{4}})[〕\])]?\s*年?\s*)?"
    rf"第?\s*(?P<n>[{DIGITS}]+)\s*号"
)
_BARE = re.compile(
    rf"[〔\[(]?\s*(?P<kind>公告|通告|令)?\s*(?P<year>\d{{4}})\s*年\s*第\s*(?P<n>[{DIGITS}]+)\s*号"
    r"\s*[〕\])]?"
)
"""A whole line; the organ stands elsewhere."""

_ORGAN = re.compile(
    r"(?:国务院|主席|部|委员会|总局|局|署|厅|人民政府|省政府|市政府|人民银行|监委|法院|检察院|总公司|军事委员会|军委|院|人大常委会)$"
)
# Words of a sentence or title that stand before the number without a gap.
_BEFORE = re.compile(
    r".*(?:通知|公告|意见|办法|决定|方案|通报|批复|规定|细则|解释|的|和|及|与|为|以|按照|根据|依据|关于印发|发布|文号|字号)"
)
_BEFORE_ORGAN = re.compile(r".*(?:通知|公告|意见|办法|决定|关于印发|发布|按照|根据|依据)")
_CITING = re.compile(r"根据|依据|按照|依照|贯彻|落实|执行|废止|《[^》]*$|》\s*[（(]\s*$")
_STATE = "中华人民共和国"


def normalise_doc_number(text: str) -> str:
    """``沪府办规[２０２４] 03 号`` -> ``沪府办规〔2024〕3号``; 国务院令第一百三十八号 likewise.

    A text in none of the known forms only loses its white space and full-width forms.
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    found = _first(plain)
    return found[0] if found else _bare(plain) or re.sub(r"\s", "", plain)


def own_doc_number(lines: list[str] | tuple[str, ...]) -> str:
    """The number of the document that these head lines belong to; ``""`` without one.

    A number in a citation (根据…〔2020〕5号, 《…》（国发〔2019〕1号）) is another document's.
    A line that is only 2023年第5号 or 公告2023年第5号 goes on where the line before ends with the
    organ's 公告 or 令; else it counts when no line has a number with its organ.
    """
    bare, before = "", ""
    for line in lines:
        plain = unicodedata.normalize("NFKC", line).strip()
        whole = _bare(plain)
        if whole:
            joined = _first(before + plain) if before.endswith(("公告", "令")) else None
            if joined:
                return joined[0]
            bare = bare or whole
        before = plain
        if whole or len(plain) > 200:
            continue
        found = _first(plain)
        if found and not _CITING.search(plain[: found[1]]):
            return found[0]
    return bare


def _bare(plain: str) -> str:
    match = _BARE.fullmatch(plain)
    number = parse_number(match["n"]) if match else None
    if match is None or number is None:
        return ""
    return f"{match['kind'] or ''}{match['year']}年第{number}号"


def _first(plain: str) -> tuple[str, int] | None:
    """(normal form, start) of the first number in a text in NFKC form."""
    bracketed = _BRACKETED.search(plain)
    decree = _DECREE.search(plain)
    if bracketed and (decree is None or bracketed.start() <= decree.start()):
        word = _BEFORE.sub("", re.sub(r"\s", "", bracketed["word"]))
        if word and not word.endswith(("公告", "令", "第")):
            normal = f"{word}〔{bracketed['year']}〕{int(bracketed['n'])}号"
            return normal, bracketed.start() + bracketed["word"].rfind(word[0])
    if decree is None:
        return None
    at = decree.start("organ")
    # The 日 of a date that stands right before the organ is none of its characters.
    dated = plain[at] == "日" and plain[at - 1 : at].isdigit()
    organ = _organ(decree["organ"][dated:])
    number = parse_number(decree["n"])
    if not organ or number is None:
        return None
    year = f"{decree['year']}年" if decree["year"] else ""
    return f"{organ}{decree['kind']}{year}第{number}号", decree.start("organ")


def _organ(text: str) -> str:
    """The issuing organs at the end of ``text``, by their short names."""
    text = re.sub(r".*\d[日年]", "", text.replace(_STATE, ""))
    text = _BEFORE_ORGAN.sub("", re.sub(r"\s*、\s*", "、", text)).strip()
    words = [word for word in re.split(r"[\s]+", text) if word]
    kept: list[str] = []
    for word in reversed(words):
        if not _ORGAN.search(word) and kept:
            break
        kept.insert(0, word)
    return " ".join(kept) if kept and _ORGAN.search(kept[-1]) else ""
