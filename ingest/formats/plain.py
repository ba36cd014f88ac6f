"""Plain text and Markdown: the file's own words."""

from __future__ import annotations

import re
from pathlib import Path

from lxml import html

from configs.errors import InputError
from ingest.formats.html_text import flow_of
from ingest.formats.site_words import without_site_words
from ingest.readers import read_text
from ingest.reading import Reading

_STYLE = re.compile(r"^[ \t]*<(style|script)\b.*?</\1>[ \t]*$", re.DOTALL | re.MULTILINE)
_HTML_TABLE = re.compile(
    r"^[ \t]*<table\b.*?</table>[ \t]*$", re.DOTALL | re.MULTILINE | re.IGNORECASE
)


def read(path: Path) -> Reading:
    """The decoded text; raises InputError as ``ingest.readers.read_text`` does.

    Markdown may hold HTML tables (it has no merged cells of its own): they come as other tables
    do. Plain text copied from a web page loses the site's path, buttons and imprint.
    """
    text = read_text(path)
    if path.suffix.lower() != ".md":
        return Reading(without_site_words(text))
    try:
        return Reading(_HTML_TABLE.sub(_table, _STYLE.sub("", text)))
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from error


def _table(match: re.Match[str]) -> str:
    parser = html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True)
    root = html.document_fromstring(match[0].encode("utf-8", "replace"), parser=parser)
    return "\n".join(flow_of(root, frozenset()).lines)
