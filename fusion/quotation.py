"""A quotation held against the text that it quotes: verbatim, nearly (what differs), or not there.

Differences are those of ``difflib.SequenceMatcher`` (Ratcliff & Obershelp 1988, "Pattern matching:
the gestalt approach") over characters, without white space and with full and half width alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from indexes.references import matching_form

NEARLY = 0.75
"""Share of the quotation's characters that must stand in the text, in order, to be nearly it."""

_IGNORED = re.compile(r"[\s“”‘’「」『』\"'*]+")
_OMISSION = re.compile(r"…+|\.{3,}|——略——|（略）")
_NEAR = 3  # characters of the text between two matches that still belong to the same quotation
_EDGE = re.compile(r"^[。，,；;：:、.]+|[。，,；;：:、.]+$")

QuoteStatus = Literal["verbatim", "nearly", "not_found"]


@dataclass(frozen=True, slots=True)
class QuoteMatch:
    """``difference``: the quotation with ``[-words only in it-]`` and ``{+words only in the
    text+}``; empty unless nearly. ``share`` in [0, 1] of its characters found in the text."""

    status: QuoteStatus
    share: float
    difference: str = ""


def compare_quotation(quoted: str, text: str) -> QuoteMatch:
    """Compare; …… in the quotation stands for any words. Punctuation at its ends does not count."""
    wanted, source = _plain(quoted), _plain(text)
    if _contains(wanted, source):
        return QuoteMatch("verbatim", 1.0)
    wanted = _EDGE.sub("", _OMISSION.sub("", wanted))
    if not wanted:
        return QuoteMatch("not_found", 0.0)
    matcher = SequenceMatcher(None, source, wanted, autojunk=False)
    blocks = [b for b in matcher.get_matching_blocks() if b.size]
    # Single characters match anywhere by chance.
    found = sum(b.size for b in blocks if b.size >= min(2, len(wanted)))
    share = found / len(wanted)
    if share < NEARLY:
        return QuoteMatch("not_found", share)
    return QuoteMatch("nearly", share, _difference(matcher, source, wanted))


def is_verbatim(quoted: str, text: str) -> bool:
    """Whether ``compare_quotation`` would say verbatim."""
    return _contains(_plain(quoted), _plain(text))


def _plain(text: str) -> str:
    return _IGNORED.sub("", matching_form(text))


def _contains(wanted: str, source: str) -> bool:
    at = 0
    pieces = [_EDGE.sub("", piece) for piece in _OMISSION.split(wanted)]
    if not any(pieces):
        return False
    for piece in filter(None, pieces):
        at = source.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def _difference(matcher: SequenceMatcher[str], source: str, wanted: str) -> str:
    """What lies outside the quoted stretch of the text is no difference."""
    operations = matcher.get_opcodes()
    equal = [n for n, operation in enumerate(operations) if operation[0] == "equal"]
    parts = []
    for n, (kind, a, b, c, d) in enumerate(operations):
        if kind == "equal":
            parts.append(wanted[c:d])
            continue
        if d > c:
            parts.append(f"[-{wanted[c:d]}-]")
        inside = equal[0] < n < equal[-1]
        if b > a and (inside or (kind == "replace" and b - a <= d - c + _NEAR)):
            parts.append(f"{{+{source[a:b]}+}}")
    return "".join(parts)
