"""What a format's reader hands to the parser: one document as text in a small Markdown dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Reading:
    """One document as its file shows it to a reader of the printed page.

    ``text``: one paragraph a line, words as in the source. Only two marks have a meaning: a line
    ``# …`` is the document's title, and consecutive lines ``| a | b |`` are a table (first row =
    header, second row ``| --- | --- |``; merged cells repeated in every row and column that they
    cover; a ``|`` inside a cell is written ``｜``). Line numbers, menus, running heads and page
    numbers are left out.
    ``title``: what the file declares besides the text (an HTML title, a Word property), "" if
    nothing usable. ``given``: labelled fields of the file (发文字号, 成文日期 …) as in front
    matter. ``pages``: offsets into ``text`` at which page 1, 2, … begin; empty without pages.
    ``warnings``: what was lost or left out, a line each that a clerk understands.
    ``rows_apart``: a row of a table stands for itself (a spreadsheet) and becomes a passage.
    """

    text: str
    title: str = ""
    given: Mapping[str, str] = field(default_factory=dict)
    pages: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()
    rows_apart: bool = False
