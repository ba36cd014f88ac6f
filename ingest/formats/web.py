"""Saved web pages: .html .htm .xhtml .mhtml .mht."""

from __future__ import annotations

import re
from pathlib import Path

from configs.errors import InputError
from ingest.formats import html_content as content_of
from ingest.formats.html_facts import given_of, labels_of, metas_of, title_of
from ingest.formats.html_source import load_page
from ingest.formats.html_style import hidden_names
from ingest.formats.html_text import Flow, flow_of
from ingest.reading import Reading

_WIDGETS = re.compile(
    r"[【\[（(]?\s*(?:相关(?:附件|新闻|链接|文章|稿件|阅读|解读)|分享(?:到|文章到)?|打印(?:本页|此页)?|关闭(?:窗口|本页)?|返回顶部"
    r"|扫一扫(?:在手机)?打开当前页|字体大小|浏览次数"
    r"|(?:点击查看)?(?:政策|文字|图片|音频|视频|一图)(?:解读|读懂)[：:].*|上一篇.*|下一篇.*|收藏|纠错)\s*[：:]?\s*[】\]）)]?"
)
_LINKS_ONLY = 0.7
_NAMED = 3


def read(path: Path) -> Reading:
    """The document of a saved web page without the page's menus, footers and scripts.

    Text that the page hides is left out with a warning; so are pictures, and attachments that the
    page only links to. Raises InputError for a page that is damaged, empty, too large, too deeply
    nested, or only a list of links.
    """
    page = load_page(path)
    root = page.root
    names = hidden_names(root)
    metas = metas_of(root)
    content = content_of.main_content(root, names)
    labels = labels_of(root, content)
    title = title_of(root, labels)
    content_of.strip_furniture(root)
    content_of.drop_furniture(content)
    try:
        flow = flow_of(content, names)
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from error
    lines = _trimmed(flow.lines)
    if not lines:
        raise InputError(f"{path.name}: {_nothing(flow)}")
    if not flow.tables and content_of.link_share(content) > _LINKS_ONLY:
        raise InputError(f"{path.name}: is a list of links; save the page of the document itself")
    given = given_of(title, labels, metas, lines)
    head = [f"# {title}"] if title else []
    warnings = (*page.warnings, *_left_out(flow))
    return Reading("\n".join([*head, *lines]), title, given, warnings=warnings)


def _trimmed(lines: list[str]) -> list[str]:
    """Without the words of buttons at the beginning and the end."""
    start, end = 0, len(lines)
    while start < end and _WIDGETS.fullmatch(lines[start]):
        start += 1
    while end > start and _WIDGETS.fullmatch(lines[end - 1]):
        end -= 1
    return lines[start:end]


def _nothing(flow: Flow) -> str:
    if flow.pictures:
        return "the document is a picture; save its text version or type it"
    return "holds no text; save the page again with its text"


def _left_out(flow: Flow) -> list[str]:
    found = []
    if flow.hidden:
        found.append(f"{flow.hidden} characters that the page hides were left out")
    if flow.pictures:
        found.append(f"{flow.pictures} pictures were left out; text or tables in them are missing")
    if flow.attachments:
        names = list(dict.fromkeys(flow.attachments))
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        found.append(
            f"attachments are not in the page, ingest them too: {'; '.join(names[:_NAMED])}{more}"
        )
    return found
