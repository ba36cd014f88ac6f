"""Which part of a page is the document: the container of a known CMS, else the densest one."""

from __future__ import annotations

import re

from lxml import etree, html

from ingest.formats.html_style import Look, look_of
from ingest.formats.html_text import SKIPPED

_IDS = (
    "zoomcon info_cont detailcon zoom fontzoom ucap-content js_content vsb_content vsb_content_2 "
    "article_content articlecontent artcon mycontent contentregion"
)
_KNOWN_IDS = frozenset(_IDS.split())
_CLASSES = (
    "article-content content_article trs_editor trs_ueditor pages_content newsmain article_con "
    "news_conten view_trs article-con artical_content wp_articlecontent v_news_content "
    "entry-content post-content article_body"
)
_KNOWN_CLASSES = frozenset(_CLASSES.split())
_FURNITURE = frozenset(("nav", "footer", "aside", "header", "menu", "search"))
_WORDS = (
    "nav|navbar|mainnav|menu|foot|footer|header|crumb|crumbs|breadcrumb|curb|sidebar|side|share"
    "|bdshare|bdsharebuttonbox|copyright|toolbar|qrcode|ewm|related|pagination|pager|login|banner"
    "|hotword|recommend|comment|comments|quickbar|footbox|gotop|backtop|fixed"
)
_FURNITURE_NAME = re.compile(rf"(?:^|[-_\s])(?:{_WORDS})(?:$|[-_\s\d])", re.I)
_FURNITURE_CHARS = 400
_ENOUGH = 20
_SENTENCE = re.compile("[。；，：、]")
_DATE_BESIDE = re.compile(r"[\[（(【]?\d{4}[-/.]\d{1,2}[-/.]\d{1,2}[\]）)】]?")
_SHARE = 0.75


def strip_furniture(root: html.HtmlElement) -> None:
    """Take scripts and other elements without text of the document out of the tree."""
    etree.strip_elements(root, *SKIPPED - {"head", "title"}, with_tail=False)


def main_content(root: html.HtmlElement, names: frozenset[str]) -> html.HtmlElement:
    """The element that holds the document.

    Of the containers that known content management systems use, the one with the most text; if
    none has any, the deepest element that still holds most of the page's running text outside
    links, menus and footers.
    """
    body = root.find("body")
    body = root if body is None else body
    known = [e for e in body.iter("div", "td", "article", "section", "ucapcontent") if _known(e)]
    known = [e for e in known if not _hidden(e, body, names)]
    best = max(known, key=_size, default=None)
    if best is not None and (_size(best) >= _ENOUGH or best.find(".//img") is not None):
        return best
    return densest(body, names)


def densest(body: html.HtmlElement, names: frozenset[str]) -> html.HtmlElement:
    """The deepest element with most of the running text (``main_content`` without a known CMS)."""
    weights = _weights(body, names)
    current = body
    while True:
        children = [child for child in current if weights.get(child, 0) > 0]
        heaviest = max(children, key=lambda child: weights[child], default=None)
        if heaviest is None or weights[heaviest] < _SHARE * weights.get(current, 0):
            return current
        if heaviest.tag in ("p", "span", "table", "tbody", "ul", "ol", "li", "tr", "strong", "b"):
            return current
        current = heaviest


def link_share(content: html.HtmlElement) -> float:
    """The share of its characters that are links, 0 to 1; dates in brackets beside them aside."""
    total = len(_DATE_BESIDE.sub("", "".join(content.text_content().split())))
    links = sum(_size(link) for link in content.iter("a") if not _within_link(link))
    return links / total if total else 0.0


def is_furniture(element: html.HtmlElement) -> bool:
    """Whether an element inside the document is a share bar, a menu …, by its name."""
    if element.tag in _FURNITURE:
        return True
    name = f"{element.get('class') or ''} {element.get('id') or ''}"
    return bool(_FURNITURE_NAME.search(name))


def drop_furniture(content: html.HtmlElement) -> None:
    """Take share bars and the like out of ``content``; whatever holds much text stays."""
    for element in [e for e in content.iterdescendants(etree.Element) if is_furniture(e)]:
        if _size(element) <= _FURNITURE_CHARS and element.find(".//table") is None:
            element.drop_tree()


def _known(element: html.HtmlElement) -> bool:
    if element.tag == "ucapcontent":
        return True
    if (element.get("id") or "").lower() in _KNOWN_IDS:
        return True
    return not _KNOWN_CLASSES.isdisjoint((element.get("class") or "").lower().split())


def _hidden(element: html.HtmlElement, body: html.HtmlElement, names: frozenset[str]) -> bool:
    """Whether it or an element around it is not shown (a script shows a hidden body later)."""
    while element is not None and element is not body:
        if look_of(element, Look(), names).gone:
            return True
        element = element.getparent()
    return False


def _weights(body: html.HtmlElement, names: frozenset[str]) -> dict[html.HtmlElement, float]:
    """How much running text outside links and furniture each element holds."""
    weights: dict[html.HtmlElement, float] = {}
    walk = etree.iterwalk(body, events=("start", "end"))
    for event, element in walk:
        parent = element.getparent()
        if event == "start":
            furniture = element is not body and (
                is_furniture(element) or look_of(element, Look(), names).gone
            )
            if furniture or element.tag == "a" or element.tag in SKIPPED:
                weights[element] = -1.0
                walk.skip_subtree()
            else:
                weights[element] = _weight(element.text)
        elif element is not body:
            weights[parent] += max(0.0, weights[element]) + _weight(element.tail)
    return weights


def _weight(text: str | None) -> float:
    words = "".join((text or "").split())
    return len(words) if _SENTENCE.search(words) else len(words) / 4


def _size(element: html.HtmlElement) -> int:
    return len("".join(element.text_content().split()))


def _within_link(link: html.HtmlElement) -> bool:
    return next(link.iterancestors("a"), None) is not None
