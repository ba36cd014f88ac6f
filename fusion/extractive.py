"""The answer without a language model: the best sentences of the best passages, verbatim.

Query-focused extraction: a unit of text is worth the rarity-weighted share of the question's
character bigrams that it has, times its passage's relative score. What of the question the best one
leaves open is covered greedily (Lin & Bilmes 2011, "A class of submodular functions for document
summarization"), so that a question of two parts is answered from both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from fusion.overlap import containment, grams, rarity
from fusion.question_parts import question_parts
from indexes.schema import Passage

LIMIT = 600
"""Characters of one unit; longer lists fall apart into lead-in and items, longer text at commas."""

_KEEP = 0.5  # an excerpt must be worth this share of the best one, or it only dilutes the answer
_ADDS = 0.2  # … or must cover as much of the rest of the question, as a share of the first one,
_ADDS_TO_ONE = 0.5  # and more of it where only one thing is asked
_WHOLE = 240  # a passage of at most so many characters is quoted whole: an article is one thought
_FREE, _LONG = 240, 400.0  # beyond _FREE characters a unit matches more by its length alone

_SENTENCE = re.compile(r"[^。！？!?\n]*(?:[。！？!?]+[”’」』）)]*|\n+|$)")
_ITEM = re.compile(
    r"[（(][一二三四五六七八九十百0-9０-９]+[）)]|[0-9０-９]{1,3}[.．、]|[①-⑳]|[一二三四五六七八九十百]+、"
)
_ITEM_START = re.compile(rf"(?:(?<=[：:；;])|(?<=\n)|(?<=[：:；;]\n))\s*(?={_ITEM.pattern})")
_BREAK = re.compile(r"[；;，,、\s]")


@dataclass(frozen=True, slots=True)
class Unit:
    """A readable piece ``content[start:end]``; an item of a long list also has its ``lead``-in."""

    start: int
    end: int
    lead: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A unit chosen for the answer; ``index`` is the position of its passage in the ranking."""

    index: int
    unit: Unit
    value: float


def units(content: str) -> tuple[Unit, ...]:
    """Cut a passage into sentences, in order; only white space lies between or outside of them.

    A list (lead-in with its 项) and a table stay whole, a proviso (但…) stays with its rule and an
    answer with its question, because either alone would mislead.
    """
    merged: list[tuple[int, int]] = []
    for start, end in _sentences(content):
        text = content[start:end]
        if merged and _continues(content[slice(*merged[-1])], text):
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return tuple(unit for start, end in merged for unit in _bounded(content, start, end))


def extract(
    question: str, ranked: Sequence[tuple[Passage, float]], max_sentences: int
) -> tuple[Excerpt, ...]:
    """The best units of the ranked passages (best first), in passage order.

    The best passage always gives one: the words of the question need not be those of the law.
    """
    pool = [
        (index, unit) for index, (passage, _) in enumerate(ranked) for unit in _quotable(passage)
    ]
    texts = [grams(ranked[index][0].content[unit.start : unit.end]) for index, unit in pool]
    idf = rarity(texts)
    asked = [gram for gram in grams(question) if gram in idf]
    total = sum(idf[gram] for gram in asked) or 1.0
    best_score = max((score for _, score in ranked), default=0.0)
    scored = []
    for (index, unit), text in zip(pool, texts, strict=True):
        share = sum(idf[gram] for gram in asked if gram in text) / total
        weight = ranked[index][1] / best_score if best_score > 0 else 1.0 / (1 + index)
        value = share * weight / (1 + max(0, unit.end - unit.start - _FREE) / _LONG)
        scored.append(Excerpt(index, unit, value))
    scored.sort(key=lambda e: (-e.value, e.index, e.unit.start))
    first = next((e for e in scored if e.index == 0), None)
    if first is None:
        return ()
    chosen = [first, *_complements(question, ranked, scored, first)]
    floor = max(_KEEP * scored[0].value, 1e-9)
    chosen += [e for e in scored if e not in chosen and e.value >= floor]
    return tuple(sorted(chosen[:max_sentences], key=lambda e: (e.index, e.unit.start)))


def _complements(
    question: str,
    ranked: Sequence[tuple[Passage, float]],
    scored: Sequence[Excerpt],
    first: Excerpt,
) -> list[Excerpt]:
    """Units that cover what of the question ``first`` leaves open, the most telling one first.

    Titles count here: they often say what the sentence leaves out. The root of the score keeps a
    second subject in sight where the ranking puts all passages of the first subject before it.
    """

    def covers(excerpt: Excerpt) -> frozenset[str]:
        passage, unit = ranked[excerpt.index][0], excerpt.unit
        return grams(f"{passage.metadata.title}\n{passage.content[unit.start : unit.end]}")

    top = max((score for _, score in ranked), default=0.0)
    texts = {n: covers(excerpt) for n, excerpt in enumerate(scored)}
    idf = rarity(list(texts.values()))
    asked = sorted(gram for gram in grams(question) if gram in idf)

    def gain(n: int, missing: frozenset[str]) -> float:
        relative = max(0.0, ranked[scored[n].index][1] / top) if top > 0 else 1.0
        return math.sqrt(relative) * math.fsum(idf[g] for g in asked if g in missing & texts[n])

    missing = frozenset(asked)
    start = scored.index(first)
    share = _ADDS if question_parts(question) else _ADDS_TO_ONE
    enough = max(share * gain(start, missing), 1e-9)
    missing -= texts[start]
    found: list[Excerpt] = []
    while missing:
        best = max(texts, key=lambda n: (gain(n, missing), -n))
        if gain(best, missing) < enough:
            break
        found.append(scored[best])
        missing -= texts[best]
    return found


def best_span(claim: str, passage: Passage) -> tuple[int, int]:
    """The unit of the passage nearest to the claim, as (start, end) offsets in its content."""
    wanted = grams(claim)
    pieces = units(passage.content) or (Unit(0, len(passage.content)),)
    best = max(
        pieces,
        key=lambda u: (containment(wanted, grams(passage.content[u.start : u.end])), -u.start),
    )
    return best.start, best.end


def _quotable(passage: Passage) -> tuple[Unit, ...]:
    """The units without a repeated title; together where they are short."""
    content = passage.content
    pieces = [u for u in units(content) if content[u.start : u.end] != passage.metadata.title]
    if pieces and pieces[-1].end - pieces[0].start <= _WHOLE:
        return (Unit(pieces[0].start, pieces[-1].end),)
    return tuple(pieces)


def _sentences(content: str) -> list[tuple[int, int]]:
    spans = [_trimmed(content, *match.span()) for match in _SENTENCE.finditer(content)]
    return [span for span in spans if span[0] < span[1]]


def _continues(previous: str, text: str) -> bool:
    """Whether ``text`` says little, or misleads, without what stands before it."""
    if text.startswith(("但", "答：", "答:")) or previous.endswith(("？", "?")):
        return True
    opened = previous.endswith(("：", ":"))
    if text.startswith("|"):
        return opened or previous.rsplit("\n", 1)[-1].startswith("|")
    if _ITEM.match(text):
        return opened or _ITEM_START.search(previous) is not None
    return False


def _bounded(content: str, start: int, end: int) -> list[Unit]:
    """The span as one unit, or in pieces of at most LIMIT characters."""
    if end - start <= LIMIT:
        return [Unit(start, end)]
    cuts = [m.end() for m in _ITEM_START.finditer(content, start, end) if m.end() > start]
    if cuts:
        lead = (start, start + len(content[start : cuts[0]].rstrip()))
        bounds = [*cuts, end]
        return [
            Unit(piece.start, piece.end, lead if lead[1] - lead[0] <= LIMIT else None)
            for left, right in pairwise(bounds)
            for piece in _pieces(content, left, right)
        ]
    return _pieces(content, start, end)


def _pieces(content: str, start: int, end: int) -> list[Unit]:
    pieces = []
    while end - start > LIMIT:
        breaks = [m.end() for m in _BREAK.finditer(content, start + LIMIT // 2, start + LIMIT)]
        cut = breaks[-1] if breaks else start + LIMIT
        pieces.append((start, cut))
        start = cut
    pieces.append((start, end))
    spans = [_trimmed(content, *piece) for piece in pieces]
    return [Unit(*span) for span in spans if span[0] < span[1]]


def _trimmed(content: str, start: int, end: int) -> tuple[int, int]:
    text = content[start:end]
    blank = len(text) - len(text.lstrip())
    return start + blank, max(start + blank, start + len(text.rstrip()))
