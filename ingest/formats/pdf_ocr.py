"""Words of scanned pages, recognised offline by PP-OCR where the extra ``ocr`` is installed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pypdfium2

from ingest.formats.pdf_lines import Line

_DPI = 200
_POINTS = 72
_SURE = 0.5
_TYPE = 0.75
"""The size of type is about this share of the height of its box."""


def is_installed() -> bool:
    """Whether pages can be recognised here (its models come inside the package)."""
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


def recognise(path: Path, pages: Sequence[int]) -> Iterator[tuple[int, list[Line]]]:
    """The lines of the given pages (from 0) of a PDF file, in points; unsure ones left out.

    Rendered by pdfium at 200 dpi, recognised by PP-OCR (Du et al. 2020, arXiv:2009.09941) through
    RapidOCR and its onnx models.
    """
    engine = _engine()
    with pypdfium2.PdfDocument(path) as document:
        for number in pages:
            page = document[number]
            image = page.render(scale=_DPI / _POINTS).to_numpy()
            yield number, _lines(engine(image))
            page.close()


@cache
def _engine() -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(params={"Global.log_level": "error"})


def _lines(result: Any) -> list[Line]:
    if result.boxes is None:
        return []
    scale = _POINTS / _DPI
    lines = []
    for box, text, score in zip(result.boxes, result.txts, result.scores, strict=True):
        if score < _SURE or not text.strip():
            continue
        xs, ys = [float(x) * scale for x, _ in box], [float(y) * scale for _, y in box]
        size = _TYPE * (max(ys) - min(ys))
        lines.append(Line(text.strip(), min(xs), max(xs), min(ys), max(ys), size))
    return lines
