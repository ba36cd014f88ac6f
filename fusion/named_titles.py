"""Whether the documents that a sentence names in 《》 are named by its sources as well."""

from __future__ import annotations

import re
from collections.abc import Iterable

from indexes.references import matching_form
from indexes.succession import plain_title

_TITLE = re.compile(r"《([^《》]{2,80}(?:《[^《》]{2,60}》[^《》]{0,40})?)》")
_LEAD = "[据照按反用依和与及或的是由对在]"
_TAIL = re.compile(r"（[^（）]*）$")


def invented_titles(sentence: str, sources: Iterable[str]) -> frozenset[str]:
    """The titles of ``sentence`` that stand in none of ``sources`` (texts with their own titles).

    A title may lack its 中华人民共和国 or its bracket at the end, and may be abbreviated
    (个税法): characters in order, from the first character to the last of a title of a source.
    """
    named = _TITLE.findall(sentence)
    if not named:
        return frozenset()
    texts = [matching_form(text) for text in sources]
    plain = [_plain(_TITLE.sub(" ", text)) for text in texts]
    known = [_plain(title) for text in texts for title in _TITLE.findall(text)]
    return frozenset(
        title for title in named if not _named(_plain(matching_form(title)), plain, known)
    )


def _plain(text: str) -> str:
    return plain_title(text.replace("中华人民共和国", "").replace("〈", "").replace("〉", ""))


def _named(title: str, texts: Iterable[str], known: Iterable[str]) -> bool:
    short = _TAIL.sub("", title)
    # Not inside of a longer name: 劳动合同法 does not name 合同法.
    alone = re.compile(rf"(?<![\u4e00-\u9fff]){re.escape(short)}|{_LEAD}{re.escape(short)}")
    if any(short == _TAIL.sub("", name) or _abbreviates(short, name) for name in known):
        return True
    return any(alone.search(text) for text in texts)


def _abbreviates(short: str, name: str) -> bool:
    rest = iter(name)
    same_ends = bool(short) and short[0] == name[:1] and short[-1] == name[-1:]
    return same_ends and all(character in rest for character in short)
