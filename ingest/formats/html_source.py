"""From the bytes of a saved web page to an element tree: encodings, MHTML, limits.

The tree is built by lxml (libxml2): it expands no entities of its own, loads nothing from the
network, and stops at 2,048 levels of nesting.
"""

from __future__ import annotations

import email
import email.policy
import re
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

from lxml import etree, html

from configs.errors import InputError
from ingest.readers import decode, refuse_other_kinds

MAX_BYTES = 60_000_000
"""Largest page that is parsed (one of 45 MB takes 10 s and 1 GB of memory)."""
_META = re.compile(
    rb"""<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*["']?\s*([\w-]+)""", re.IGNORECASE
)
_MHTML = re.compile(
    rb"\A\s*(?:From:|MIME-Version:|Subject:|Date:|Content-Type:\s*multipart/)", re.IGNORECASE
)
# libxml2 takes declarations inside a DOCTYPE for text.
_DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*\[.*?\]\s*>", re.DOTALL | re.IGNORECASE)
_LONG_TAG = re.compile(r"<[a-zA-Z][^<>]{40000,}")
_MAX_ATTRIBUTES = 5_000
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_EVERYDAY = re.compile("[，。、的一有人中在不]")
_ALIASES = {"gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "big5": "big5hkscs"}


@dataclass(frozen=True, slots=True)
class Page:
    """``root``: the ``html`` element; ``warnings``: what was wrong with the bytes."""

    root: html.HtmlElement
    warnings: tuple[str, ...] = ()


def load_page(path: Path) -> Page:
    """The page in a file, HTML or MHTML whatever its suffix says.

    Raises InputError for a file that is empty, too large, no web page, or nested too deeply.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path.name}: cannot be read ({error.strerror}); check it") from error
    charset = ""
    if _MHTML.match(data[:200]):
        data, charset = _html_part(data, path.name)
    if len(data) > MAX_BYTES:
        size, most = len(data) // 1_000_000, MAX_BYTES // 1_000_000
        raise InputError(f"{path.name}: a page of {size} MB is over {most} MB; split it")
    text, warnings = decode_page(data, charset, path.name)
    return Page(_tree(text, path.name), warnings)


def decode_page(data: bytes, charset: str, name: str) -> tuple[str, tuple[str, ...]]:
    """The page as text, and a warning where bytes were damaged.

    UTF-8 that decodes without error is UTF-8, whatever is declared: Chinese pages often declare
    gb2312 and are not. Else ``charset`` (of an MHTML part) or the declared one counts, then what
    gives the most everyday characters. Raises InputError as ``ingest.readers.decode`` does.
    """
    refuse_other_kinds(data, name)
    if data.startswith(_BOMS) or b"\x00" in data[:1000] or not data.strip():
        return decode(data, name), ()
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError:
        pass  # another encoding, or damaged: decided below
    match = _META.search(data[:4096])
    declared = (charset or (match[1].decode("ascii") if match else "")).lower()
    declared = _ALIASES.get(declared, declared)
    for encoding in dict.fromkeys((declared, "utf-8")):
        text = _nearly(data, encoding)
        if text is not None:
            damaged = text.count("\ufffd")
            note = f"{damaged} characters are damaged in the file; save the page again"
            return text, (note,) if damaged else ()
    texts = [t for e in ("gb18030", "big5hkscs") if (t := _strictly(data, e)) is not None]
    if not texts:
        return decode(data, name), ()
    return max(texts, key=lambda text: len(_EVERYDAY.findall(text))), ()


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _nearly(data: bytes, encoding: str) -> str | None:
    """The text when at most 1 in 200 of its Chinese characters is damaged, else None."""
    try:
        text = data.decode(encoding, "replace")
    except LookupError:
        return None
    damaged = text.count("\ufffd")
    chinese = len(re.findall("[\u4e00-\u9fff]", text))
    return text if damaged <= max(3, chinese // 200) and chinese > damaged else None


def _html_part(data: bytes, name: str) -> tuple[bytes, str]:
    """The first HTML part of an MHTML file, decoded, and its charset."""
    problem = f"{name}: no web page inside this MHTML file; save the page again as HTML"
    try:
        message = email.message_from_bytes(data, policy=email.policy.default)
        for part in message.walk():
            if part.get_content_type() in ("text/html", "application/xhtml+xml"):
                assert isinstance(part, EmailMessage)
                content = part.get_payload(decode=True)
                if isinstance(content, bytes) and content.strip():
                    return content, part.get_content_charset() or ""
    except (RecursionError, LookupError, ValueError) as error:
        raise InputError(problem) from error
    raise InputError(problem)


def _tree(text: str, name: str) -> html.HtmlElement:
    text = _DOCTYPE.sub("", text, count=1)
    for tag in _LONG_TAG.finditer(text):
        # libxml2 compares each attribute with all others: 100,000 of them take minutes.
        if len(tag[0].split(maxsplit=_MAX_ATTRIBUTES)) > _MAX_ATTRIBUTES:
            raise InputError(f"{name}: an element has over 5,000 attributes; save the page again")
    parser = html.HTMLParser(
        encoding="utf-8", huge_tree=True, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        root = html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        raise InputError(f"{name}: holds no web page; save the page again as HTML") from error
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):
        raise InputError(
            f"{name}: its elements are nested over 2,000 deep; save the page as plain text"
        )
    return root
