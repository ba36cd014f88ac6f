"""Documents in traditional characters: read in simplified ones, quoted as they are written."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from indexes.tokenizer import simplified
from ingest.reading import Reading
from ingest.splitter import Span
from ingest.titles import Title

_HAN = re.compile(r"[\u4e00-\u9fff]")
# Frequent ones, one of which stands in any traditional text: conversion is 50 times slower.
_SIGNS = re.compile("[為與關業務國會個來時規則辦發處區縣據經條補貼機應當後開門這們說對]")
_SHARE = 0.1
"""Share of Han characters that must be traditional; a simplified text holds a few (乾, 瞭, 於)."""

_SAMPLE = 4000
"""Characters at the beginning that tell."""


@dataclass(frozen=True, slots=True)
class Script:
    """``plain``: the characters that the parser reads, one for one those of ``written``."""

    written: str
    plain: str

    @property
    def traditional(self) -> bool:
        """Whether the document is written in traditional characters."""
        return self.plain is not self.written

    def as_written(self, words: str) -> str:
        """``words`` of the plain text as the source writes them, where they stand there."""
        if not words or not self.traditional:
            return words
        at = self.plain.find(words)
        if at >= 0:
            return self.written[at : at + len(words)]
        # 附件 and its name stand on lines of their own.
        first, blank, rest = words.partition(" ")
        return f"{self.as_written(first)} {self.as_written(rest)}" if blank else words

    def title(self, title: Title) -> Title:
        """The title as the source writes it."""
        cited, full = self.as_written(title.cited), self.as_written(title.full)
        return replace(title, cited=cited, full=full, part=self.as_written(title.part))

    def spans(self, spans: tuple[Span, ...]) -> tuple[Span, ...]:
        """The spans with headings and table headers as the source writes them."""
        if not self.traditional:
            return spans
        known: dict[str, str] = {}

        def written(words: str) -> str:
            if words not in known:
                known[words] = self.as_written(words)
            return known[words]

        return tuple(
            replace(
                span,
                heading_path=tuple(map(written, span.heading_path)),
                table_header=written(span.table_header),
            )
            for span in spans
        )


def script_of(text: str) -> Script:
    """The text and its simplified form; twice the text itself where it is not traditional."""
    sample = text[:_SAMPLE]
    if not _SIGNS.search(sample):
        return Script(text, text)
    changed = sum(a != b for a, b in zip(sample, _one_for_one(sample), strict=True))
    if not changed or changed < _SHARE * len(_HAN.findall(sample)):
        return Script(text, text)
    return Script(text, _one_for_one(text))


def plain_reading(reading: Reading, plain: str) -> Reading:
    """The reading in simplified characters, with ``plain`` as its text."""
    given = {key: simplified(value) for key, value in reading.given.items()}
    return replace(reading, text=plain, title=simplified(reading.title), given=given)


def _one_for_one(text: str) -> str:
    plain = simplified(text)
    if len(plain) == len(text):
        return plain
    singles = ((c, simplified(c)) for c in text)  # a phrase of another length was found
    return "".join(new if len(new) == 1 else old for old, new in singles)
