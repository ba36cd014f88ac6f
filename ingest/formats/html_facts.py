"""What a page tells besides the document's text: its title and labelled fields.

Chinese government sites carry ``<meta name="ArticleTitle|PubDate|ContentSource|SiteName">`` (the
State Council's standard for their pages, 国办发〔2017〕47号) and a table 索引号/发布机构/文号.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice

from lxml import etree, html

from ingest.dates import DATE, dates_in, day_after
from ingest.given import given_fields

_SITE = re.compile(
    r"(?:网站?|门户|政府网|官网|网站群|公报|信息公开|公开平台|数据库)$|^(?:首页|通知公告|正文|详情|当前位置)"
)
_SPLIT = re.compile(
    r"\s*[|｜_]\s*|\s+[-－—–]+\s+|(?<=[\u4e00-\u9fff）)])[-－—–]+(?=[\u4e00-\u9fff])"
)
_REPRINT = re.compile(r"^[（(【\[]\s*(?:转载|转发|转)\s*[）)】\]]\s*|^转载[：:]\s*")
_PLACE_LINE = re.compile(r"当前.{0,4}位置|首页\s*>")
_TITLE_CLASS = re.compile(r"(?:^|[-_\s])(?:title|tit|bt)(?:$|[-_\s])|title(?:$|\s)", re.IGNORECASE)
_SAME = {"文件状态": "有效性", "状态": "有效性", "发文机构": "发文机关"}
_TITLE_LABELS = ("名称", "标题", "文件名称", "信息名称")
_PUBLISHED = ("发布日期", "发布时间", "公开日期", "公开时间")
"""Days on which a site posted the page, which may be long after the document's own."""
_NOTHING = re.compile(r"[-—–/\s]*|无|暂无|空|undefined|null", re.IGNORECASE)
_LABEL = re.compile(
    r"[【\[]?(?P<label>[\u4e00-\u9fff](?:\s*[\u4e00-\u9fff]){1,5})[】\]]?\s*[：:]\s*(?P<value>.*)"
)
_LABELLED = frozenset(("td", "th", "li", "p", "dt", "dd", "span", "div", "label", "b"))
_SCRIPT_STATUS = re.compile(r"file_status\s*=\s*['\"](失效|有效|废止|已修改|尚未生效)['\"]")
_ORGAN = re.compile(
    r"(?:人民政府|政府|办公厅|办公室|委员会|局|厅|中心|部|署|委|院|总队|支队|联合会|办事处)$"
)
_OF_ORGAN = re.compile(r".{2,60}?(?:政府|厅|室|委员会|局|中心|部|署|会|院|办)\s*(?:印发)?关于")
_DECREE = re.compile(r"令\s*(?:\d{4}年)?第\s*\S{1,8}\s*号")
_ADOPTED = re.compile(r"^[（(].*(?:通过|公布|发布|批准|修订|修正).*[）)]$")
_DAY = re.compile(r"\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?")
_MAX_VALUE = 120


def title_of(root: html.HtmlElement, labels: Mapping[str, str]) -> str:
    """The document's title: ArticleTitle, else the heading that the page's title repeats, else
    the page's title without the site's name, else the longest h1; ``""`` without any."""
    metas = metas_of(root)
    for name in ("articletitle", "og:title"):
        if _usable(metas.get(name, "")):
            return clean_title(metas[name])
    named = next((_squeezed(t.text_content()) for t in root.iter("title")), "")
    headings = [_squeezed(e.text_content()) for e in root.iter("h1", "h2", "h3", "ucaptitle")]
    headings += [_squeezed(e.text_content()) for e in root.iter("div", "p", "td") if _titled(e)]
    headings = [h for h in headings if 4 <= len(h) <= 200 and not _PLACE_LINE.search(h)]
    for heading in headings:
        if _plain(heading) and _plain(heading) in _plain(named):
            return clean_title(heading)
    for label in _TITLE_LABELS:
        if _usable(labels.get(label, "")):
            return clean_title(labels[label])
    page = _without_site(named, metas.get("sitename", ""))
    first = [_squeezed(e.text_content()) for e in root.iter("h1")]
    usable = [t for t in (page, *sorted(first, key=len, reverse=True), *headings) if _usable(t)]
    return clean_title(usable[0]) if usable else ""


def clean_title(title: str) -> str:
    """The title on one line, without a mark that it is reprinted (（转载）)."""
    return _REPRINT.sub("", _squeezed(title))


def metas_of(root: html.HtmlElement) -> dict[str, str]:
    """``<meta name|property=… content=…>``, names in lower case, the first of each."""
    found: dict[str, str] = {}
    for meta in root.iter("meta"):
        name = (meta.get("name") or meta.get("property") or "").strip().lower()
        if name:
            found.setdefault(name, _squeezed(meta.get("content") or ""))
    return found


def labels_of(root: html.HtmlElement, content: html.HtmlElement) -> dict[str, str]:
    """The labelled values around the document (文号：…; a label may stand in a cell of its own)."""
    found: dict[str, str] = {}
    walk = etree.iterwalk(root, events=("start",))
    for _, element in walk:
        if element is content:
            walk.skip_subtree()
            continue
        if element.tag not in _LABELLED or sum(1 for _ in islice(element.iter(), 9)) > 8:
            continue
        match = _LABEL.fullmatch(_squeezed(_shown_text(element)))
        if match is None:
            continue
        value = match["value"].strip()
        neighbour = element.getnext()
        if not value and neighbour is not None:
            value = _squeezed(_shown_text(neighbour))
        if _usable(value):
            found.setdefault(re.sub(r"\s", "", match["label"]), value)
    script = _SCRIPT_STATUS.search("".join(s.text or "" for s in root.iter("script")))
    if script:
        found.setdefault("文件状态", script[1])
    return found


def given_of(
    title: str, labels: Mapping[str, str], metas: Mapping[str, str], lines: Sequence[str]
) -> dict[str, str]:
    """The fields as in ``ingest.given``; the document's own words count before the site's.

    The organ that runs the site is the issuer, and the day of its posting the date, only of a page
    that names no other: sites reprint what others issue.
    """
    raw = {_SAME.get(label, label): value for label, value in labels.items()}
    for label in (*_TITLE_LABELS, *_PUBLISHED):
        raw.pop(label, None)
    given = given_fields(raw)
    if title:
        given["title"] = title
    _last_day(given)
    signed = next((n for n in reversed(range(len(lines))) if DATE.fullmatch(lines[n])), 0)
    by_organ = bool(signed) and bool(_ORGAN.search(lines[signed - 1]))
    decree = bool(_DECREE.search("\n".join(lines[:4])))
    if _OF_ORGAN.match(title):
        given.pop("issuer", None)
    elif "issuer" in given:
        if (by_organ or decree) and not any(given["issuer"] in line for line in lines):
            given.pop("issuer")
    elif not by_organ and not decree and _source(metas):
        given["issuer"] = _source(metas)
    if "promulgated" not in given and not signed and not _dated_head(lines):
        posted = (labels.get(label, "") for label in _PUBLISHED)
        day = _DAY.match(next(filter(None, (*posted, metas.get("pubdate", ""))), ""))
        if day:
            given["promulgated"] = day[0]
    return given


def _last_day(given: dict[str, str]) -> None:
    """A 失效日期 one day short of full years names the last day in force, not the first without."""
    starts, ends = (dates_in(given.get(key, "")) for key in ("effective", "expires"))
    if starts and ends:
        after = day_after(ends[0])
        if after and (after.month, after.day) == (starts[0].month, starts[0].day):
            given["expires"] = after.isoformat()


def _source(metas: Mapping[str, str]) -> str:
    """ContentSource as an organ with its place (市… on the site of 广州市…); "" for 本网."""
    source = re.sub(r"[（(].*", "", metas.get("contentsource", "")).removeprefix("本网").strip()
    organ = re.split(r"[\s、，]+", source)[0]
    if not _ORGAN.search(organ):
        return ""
    unit = organ[:1] if organ[:1] in tuple("省市区县州") else ""
    place = re.match(rf"[\u4e00-\u9fff]{{2,9}}?{unit}", metas.get("sitename", "")) if unit else None
    return f"{place[0]}{organ[1:]}" if place else organ


def _dated_head(lines: Sequence[str]) -> bool:
    """Whether the first lines tell when it was adopted (2021年7月27日…公布)."""
    return any(DATE.search(line) and _ADOPTED.search(line) for line in lines[:4])


def _without_site(name: str, site: str) -> str:
    """The page's title without the name of the site (before or behind it)."""
    parts = [part for part in _SPLIT.split(name) if part]
    own = [part for part in parts if part != site and not _SITE.search(part)]
    return max(own, key=len, default="")


def _titled(element: html.HtmlElement) -> bool:
    return bool(_TITLE_CLASS.search(f"{element.get('class') or ''} {element.get('id') or ''}"))


def _shown_text(element: html.HtmlElement) -> str:
    parts = [element.text or ""]
    for inner in element.iterdescendants():
        if inner.tag not in ("script", "style"):
            parts.append(inner.text or "")
        parts.append(inner.tail or "")
    return "".join(parts)


def _usable(text: str) -> bool:
    return len(text) <= _MAX_VALUE * 2 and not _NOTHING.fullmatch(text)


def _plain(text: str) -> str:
    return re.sub(r"\s", "", text)


def _squeezed(text: str) -> str:
    return " ".join(text.split())
