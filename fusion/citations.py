"""Citations: which words of which document a marker ``[n]`` stands for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from fusion.extractive import best_span
from fusion.markers import MARKER
from fusion.nodes import RankedPassage

_OPENING = re.compile(r"[\[【［][\s\d,，、;；\-–]*$")
# The ? of a web address (…/list?id=3) ends no sentence.
_SENTENCE = re.compile(
    r"(?:[^。！？!?\n]|(?<=[A-Za-z0-9/])[?!](?=[A-Za-z0-9]))*[。！？!?\n]*(?:\s*\[\d{1,3}\])*"
)


@dataclass(frozen=True, slots=True)
class Citation:
    """What one marker stands for.

    ``content[start:end] == quote`` in the passage ``id``. ``effective``/``expires`` are ISO dates
    or None, ``article`` is in digits, ``file`` the source file the passage was read from.
    """

    marker: int
    id: str
    title: str
    doc_number: str
    article: str
    heading_path: tuple[str, ...]
    effective: str | None
    expires: str | None
    status: str
    quote: str
    start: int
    end: int
    file: str
    domain: str
    jurisdiction: str


def cite(marker: int, item: RankedPassage, start: int, end: int) -> Citation:
    """The citation of ``content[start:end]`` of a passage."""
    passage, meta = item.passage, item.passage.metadata
    return Citation(
        marker=marker,
        id=passage.id,
        title=meta.title,
        doc_number=meta.doc_number,
        article=meta.article,
        heading_path=meta.heading_path,
        effective=meta.effective,
        expires=meta.expires,
        status=meta.status,
        quote=passage.content[start:end],
        start=start,
        end=end,
        file=meta.file,
        domain=passage.source,
        jurisdiction=meta.jurisdiction,
    )


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text with the markers ``[n]`` behind them; together they are the text."""
    return tuple(filter(None, _SENTENCE.findall(text)))


def cite_answer(text: str, items: Sequence[RankedPassage]) -> tuple[Citation, ...]:
    """One citation per marker used in ``text``, in order of the markers.

    The quote is the part of the passage that is nearest to the sentences that carry the marker.
    """
    claims: dict[int, str] = {}
    for sentence in sentences(text):
        for number in {int(digits) for digits in re.findall(r"\[(\d{1,3})\]", sentence)}:
            if 1 <= number <= len(items):
                claims[number] = claims.get(number, "") + sentence
    return tuple(
        cite(number, items[number - 1], *best_span(claims[number], items[number - 1].passage))
        for number in sorted(claims)
    )


class MarkerFilter:
    """Rewrites the markers of a text that arrives in pieces.

    ``[1, 2]``, ``【1】`` and ``[1-3]`` become ``[1][2]``, ``[1]`` and ``[1][2][3]``; markers of
    passages that were not given (invented by the model) are removed and counted in ``invented``.
    ``passages``: the markers that were given, or their number if they are 1, 2, 3 ….
    """

    def __init__(self, passages: int | Collection[int]) -> None:
        self._known = range(1, passages + 1) if isinstance(passages, int) else passages
        self._held = ""
        self.invented = 0
        self.used: set[int] = set()

    def feed(self, piece: str) -> str:
        """The text that is certain so far; what may be half a marker is held back."""
        text = self._held + piece
        opening = _OPENING.search(text)
        cut = opening.start() if opening else len(text)
        self._held = text[cut:]
        return MARKER.sub(self._rewrite, text[:cut])

    def flush(self) -> str:
        """What was held back, at the end of the text."""
        rest, self._held = self._held, ""
        return rest

    def _rewrite(self, match: re.Match[str]) -> str:
        kept = []
        for number in _numbers(next(filter(None, match.groups()))):
            if number in self._known:
                kept.append(number)
                self.used.add(number)
            else:
                self.invented += 1
        return "".join(f"[{number}]" for number in dict.fromkeys(kept))


def _numbers(text: str) -> Iterable[int]:
    for part in re.split(r"[,，、;；]", text):
        bounds = [int(digits) for digits in re.findall(r"\d+", part)]
        if len(bounds) == 2 and bounds[0] <= bounds[1] <= bounds[0] + 50:
            yield from range(bounds[0], bounds[1] + 1)
        else:
            yield from bounds
