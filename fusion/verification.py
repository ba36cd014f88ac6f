"""What of an LLM's answer its sources bear out: markers, quotes, and every number it states.

Numbers are the part of a legal answer that is both most often wrong and exactly checkable; whether
a sentence follows from its source is not judged here (that would take an entailment model).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from fusion.citations import Citation, sentences
from fusion.facts import Fact, facts, missing_facts
from fusion.named_titles import invented_titles
from fusion.nodes import RankedPassage
from fusion.prompts import source_head
from fusion.wording import INSUFFICIENT

_MARKER = re.compile(r"\[(\d{1,3})\]")
# A line that only leads on to others says nothing that could be wrong.
_LEADS = re.compile(r"[：:]\W*$|^\s*(?:#|\||\*\*[^*]+\*\*\W*$)")
_PHRASE = re.compile(
    r"^\W*(?:综上(?:所述)?|因此|总之|此外|另外|同时|其次|首先|最后|具体如下|如下|以上仅供参考|希望.{0,12}帮助|"
    r"(?:根据|依据|按照)(?:上述|以上|所给|提供的|现有)?(?:资料|规定|材料))\W*$"
)
Verdict = Literal["verified", "lead", "uncited", "unsupported"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence with its markers and white space as written, and what was found about it.

    ``lead``: a heading or connective. ``uncited``: it states something and carries no marker.
    ``unsupported``: it names a number, date, article, 发文字号, contact or title that none of its
    passages has.
    """

    text: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class _Source:
    text: str
    facts: frozenset[Fact]


@dataclass(frozen=True, slots=True)
class Verification:
    """The sentences of a text in order; together they are the text."""

    sentences: tuple[Sentence, ...]

    @property
    def supported(self) -> str:
        """The text without the unsupported sentences."""
        return "".join(s.text for s in self.sentences if s.verdict != "unsupported")

    def of(self, *verdicts: Verdict) -> tuple[str, ...]:
        """The sentences with one of these verdicts, stripped."""
        return tuple(s.text.strip() for s in self.sentences if s.verdict in verdicts)


def verify(
    text: str,
    items: Sequence[RankedPassage],
    question: str,
    given: Collection[int] | None = None,
) -> Verification:
    """Judge every sentence of ``text``, whose marker ``[n]`` stands for ``items[n - 1]``.

    The facts of a sentence must stand in a passage that it cites, or in the line that names the
    passage's source; those of the question may be repeated. Without a marker they may stand in any
    passage, but the sentence stays ``uncited``. ``given``: the n that count, by default all.
    """
    texts = [
        f"{source_head(item)}\n{item.passage.readable()}" if given is None or n in given else ""
        for n, item in enumerate(items, start=1)
    ]
    sources = [_Source(text, facts(text)) for text in texts]
    asked = _Source(question, facts(question))
    return Verification(
        tuple(
            Sentence(sentence, _verdict(sentence, sources, asked)) for sentence in sentences(text)
        )
    )


def resolving(
    citations: Sequence[Citation], items: Sequence[RankedPassage]
) -> tuple[Citation, ...]:
    """The citations whose marker is that of their passage and whose quote is words of it, verbatim
    at its offsets. What falls away is the citation of a passage without any words."""
    return tuple(citation for citation in citations if _resolves(citation, items))


def _resolves(citation: Citation, items: Sequence[RankedPassage]) -> bool:
    if not 1 <= citation.marker <= len(items):
        return False
    passage = items[citation.marker - 1].passage
    quoted = passage.content[citation.start : citation.end]
    return passage.id == citation.id and bool(quoted) and quoted == citation.quote


def _verdict(sentence: str, sources: Sequence[_Source], asked: _Source) -> Verdict:
    bare = _MARKER.sub("", sentence).strip()
    stated = facts(bare)
    markers = {int(number) for number in _MARKER.findall(sentence)}
    cited = [sources[n - 1] for n in markers if 1 <= n <= len(sources)]
    known = (asked, *(cited or sources))
    if missing_facts(stated, frozenset().union(*(source.facts for source in known))):
        return "unsupported"
    if invented_titles(bare, (source.text for source in known)):
        return "unsupported"
    if cited:
        return "verified"
    says_nothing = not re.search(r"\w", bare) or bare.startswith(INSUFFICIENT)
    if says_nothing or (not stated and (_LEADS.search(bare) or _PHRASE.match(bare))):
        return "lead"
    return "uncited"
