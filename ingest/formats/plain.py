"""Plain text and Markdown: the file's own words."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from lxml import html

from configs.errors import InputError
from ingest.formats.html_text import flow_of
from ingest.formats.site_words import without_site_words
from ingest.readers import read_text
from ingest.reading import Reading

_WEB_PAGE = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html)\b", re.IGNORECASE)


def read(path: Path) -> Reading:
    """The decoded text; raises InputError as ``ingest.readers.read_text`` does, and for a web page.

    Markdown may hold HTML tables (it has no merged cells of its own): they come as other tables
    do. Plain text copied from a web page loses the site's path, buttons and imprint.
    """
    text = read_text(path)
    if _WEB_PAGE.match(text):
        raise InputError(f"{path.name}: is a web page by its content; rename it to .html")
    if path.suffix.lower() != ".md":
        return Reading(without_site_words(text))
    try:
        for name, replacement in (("style", _nothing), ("script", _nothing), ("table", _table)):
            text = _replaced(text, name, replacement)
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from error
    return Reading(text)


def _replaced(text: str, name: str, replacement: Callable[[str], str]) -> str:
    """``text`` with every ``<name …>…</name>`` that begins a line replaced."""
    opening = re.compile(rf"^[ \t]*<{name}\b", re.MULTILINE | re.IGNORECASE)
    closing = re.compile(rf"</{name}\s*>", re.IGNORECASE)
    parts, at = [], 0
    while (start := opening.search(text, at)) and (end := closing.search(text, start.end())):
        parts += [text[at : start.start()], replacement(text[start.start() : end.end()])]
        at = end.end()
    return "".join([*parts, text[at:]])


def _nothing(_block: str) -> str:
    return ""


def _table(block: str) -> str:
    parser = html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True)
    root = html.document_fromstring(block.encode("utf-8", "replace"), parser=parser)
    return "\n".join(flow_of(root, frozenset()).lines)
