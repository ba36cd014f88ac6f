"""PDF files that are encrypted under an empty password: to be read, not printed or copied."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pypdfium2
from pdfminer.pdftypes import dict_value, list_value, resolve1
from pdfminer.psparser import PSLiteral

_COLLECTIONS = (
    (re.compile("GB"), b"GB1"),
    (re.compile("UniCNS|B5|ETen|HKscs|CNS"), b"CNS1"),
)


def unlocked(path: Path) -> Path | io.BytesIO:
    """The file, or its decrypted content when it is encrypted.

    pdfminer trips over some ways to encrypt; pdfium knows them all.
    """
    with pypdfium2.PdfDocument(path) as document:
        if pypdfium2.raw.FPDF_GetSecurityHandlerRevision(document) < 0:
            return path
        content = io.BytesIO()
        document.save(content, flags=pypdfium2.raw.FPDF_REMOVE_SECURITY)
    return content


def name_character_sets(page: Any) -> None:
    """Give the fonts of a decrypted page the character collection that their encoding implies.

    Some programs leave its name in the clear in an encrypted file: decrypting makes noise of it,
    and pdfminer, which goes by the name, would not know one character.
    """
    for reference in dict_value((page.page_obj.resources or {}).get("Font") or {}).values():
        font = dict_value(reference)
        encoding = resolve1(font.get("Encoding"))
        if not isinstance(encoding, PSLiteral) or "DescendantFonts" not in font:
            continue
        for pattern, ordering in _COLLECTIONS:
            if pattern.search(str(encoding.name)):
                descendant = dict_value(list_value(font["DescendantFonts"])[0])
                information = dict_value(descendant.get("CIDSystemInfo") or {})
                information.update(Registry=b"Adobe", Ordering=ordering)
                break
