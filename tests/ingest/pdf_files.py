"""PDF files of the kinds that offices send, made while the tests run. All texts are 虚构示例."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from reportlab.lib import colors
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Table

FONT = "STSong-Light"
WIDTH, HEIGHT = 595.0, 842.0
LEFT, RIGHT, TOP, BOTTOM = 80.0, 515.0, 740.0, 100.0
SIZE, LEADING = 16.0, 28.0

pdfmetrics.registerFont(UnicodeCIDFont(FONT))


class Paper:
    """Sets text as a word processor does: justified lines, first line indented by two characters.

    ``furniture(canvas, n)`` draws what stands on every page n (from 1).
    """

    def __init__(
        self,
        path: Path,
        furniture: Callable[[Any, int], None] | None = None,
        **options: Any,
    ) -> None:
        self.canvas = Canvas(str(path), pagesize=(WIDTH, HEIGHT), **options)
        self._furniture = furniture
        self.page = 0
        self.y = TOP
        self._begin()

    def _begin(self) -> None:
        self.page += 1
        self.y = TOP
        if self._furniture:
            self._furniture(self.canvas, self.page)

    def new_page(self) -> None:
        self.canvas.showPage()
        self._begin()

    def line(self, text: str, x: float = LEFT, size: float = SIZE) -> None:
        if self.y < BOTTOM:
            self.new_page()
        self.canvas.setFont(FONT, size)
        self.canvas.drawString(x, self.y, text)
        self.y -= LEADING

    def centred(self, text: str, size: float = SIZE) -> None:
        self.line(text, (WIDTH - pdfmetrics.stringWidth(text, FONT, size)) / 2, size)

    def right(self, text: str) -> None:
        self.line(text, RIGHT - pdfmetrics.stringWidth(text, FONT, SIZE) - 2 * SIZE)

    def paragraph(self, text: str, left: float = LEFT, right: float = RIGHT) -> None:
        for index, piece in enumerate(wrap(text, right - left)):
            self.line(piece, left + (2 * SIZE if index == 0 else 0))

    def table(self, rows: Sequence[Sequence[str]], *spans: Any, **options: Any) -> None:
        """A ruled table; ``spans`` are reportlab's styles, as ("SPAN", (0, 0), (0, 1))."""
        grid = ("GRID", (0, 0), (-1, -1), 0.5, colors.black)
        style = [grid, ("FONT", (0, 0), (-1, -1), FONT, 12), *spans]
        table = Table(rows, style=style, **options)
        _, height = table.wrapOn(self.canvas, RIGHT - LEFT, self.y)
        table.drawOn(self.canvas, LEFT, self.y + LEADING / 2 - height)
        self.y -= height + LEADING / 2

    def save(self) -> None:
        self.canvas.save()


def wrap(text: str, width: float, size: float = SIZE, indent: int = 2) -> list[str]:
    """The lines of a paragraph whose first line is indented."""
    lines, line, room = list[str](), "", width - indent * size
    for char in text:
        if pdfmetrics.stringWidth(line + char, FONT, size) > room and char not in "。，；：、”）":
            lines.append(line)
            line, room = "", width
        line += char
    return [*lines, line]


def running(canvas: Any, n: int) -> None:
    """A running head and a page number as in a 公文."""
    canvas.setFont(FONT, 10.5)
    canvas.drawCentredString(WIDTH / 2, 800, "示例区人民政府公报　2024年第3期")
    canvas.setFont(FONT, 14)
    number = f"— {n} —"
    canvas.drawString(LEFT if n % 2 == 0 else RIGHT - 50, 60, number)
