"""Spreadsheets: .xlsx and .xlsm (openpyxl), .xls, .xlsb and .ods (calamine), .csv.

Openpyxl reads merged cells, hidden rows and number formats, which calamine (and openpyxl's own
read-only mode) does not tell; calamine reads the old formats, where they are lost.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import openpyxl
from python_calamine import CalamineError, CalamineWorkbook, SheetVisibleEnum

from configs.errors import InputError
from ingest.formats.cell_text import shown
from ingest.formats.sheet_layout import Cells, Range, Sheet, sheet_lines
from ingest.readers import decode
from ingest.reading import Reading

MAX_UNPACKED = 10**9
"""Bytes that a packed workbook may hold unpacked."""

_PACKED, _OLD = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_DELIMITERS = ",\t;|"
_SAMPLE = 20_000
_NO_RESULT = re.compile(rb"<f\b(?:[^>]*/>|[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>|</c>)")


def read(path: Path) -> Reading:
    """The visible sheets: the first one's title row as ``# …``, notes as lines, cells as tables.

    Sheet names stand above their tables when there are several. Hidden rows, columns and sheets
    are left out with a warning; formulas show their stored results. Raises InputError for damaged,
    protected and empty files.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(8)
        if path.suffix.lower() == ".csv":
            sheets, warnings = [_csv(path)], list[str]()
        elif magic.startswith(_PACKED) and path.suffix.lower() in (".xlsx", ".xlsm", ".xls"):
            sheets, warnings = _openpyxl(path)
        elif magic.startswith(_OLD) and path.suffix.lower() != ".xls":
            raise InputError(f"{path.name}: is protected by a password; save it without one")
        elif magic.startswith((_PACKED, _OLD)):
            sheets, warnings = _calamine(path)
        else:
            raise InputError(f"{path.name}: is no Excel file by its content; save it as .xlsx")
    except OSError as error:
        raise InputError(f"{path.name}: cannot be read ({error.strerror}); check it") from error
    filled = [sheet for sheet in sheets if sheet.cells]
    if not filled:
        raise InputError(f"{path.name}: no visible cell holds anything; fill it or remove it")
    lines: list[str] = []
    for number, sheet in enumerate(filled):
        name = sheet.name if len(filled) > 1 else ""
        lines += sheet_lines(sheet, name, titled=number == 0)
    return Reading("\n".join(lines), warnings=tuple(warnings), rows_apart=True)


def _openpyxl(path: Path) -> tuple[list[Sheet], list[str]]:
    try:
        lost = _check_package(path)
        with path.open("rb") as file:  # a path ending in .xls would be refused
            book = openpyxl.load_workbook(file, data_only=True)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # openpyxl lets errors of zip, XML and its own descriptors through
        raise _damaged(path) from error
    sheets, warnings = [], []
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            warnings.append(f"the hidden sheet {sheet.title!r} is left out")
            continue
        rows = {n for n, row in sheet.row_dimensions.items() if row.hidden}
        columns = {
            n
            for column in sheet.column_dimensions.values()
            if column.hidden
            for n in range(column.min or 1, (column.max or 1) + 1)
        }
        # iter_rows would visit every cell up to a stray one in row 1,048,576.
        cells = {
            place: text
            for place, cell in sheet._cells.items()
            if (text := shown(cell.value, cell.number_format))
        }
        ranges = [(r.min_row, r.min_col, r.max_row, r.max_col) for r in sheet.merged_cells.ranges]
        made = Sheet(sheet.title, cells, ranges).without(rows, columns)
        left = len({r for r, _ in cells} & rows), len({c for _, c in cells} & columns)
        for count, kind in zip(left, ("rows", "columns"), strict=True):
            if count:
                warnings.append(f"{count} hidden {kind} of sheet {sheet.title!r} are left out")
        sheets.append(made)
    if lost:
        warnings.append(f"{lost} formulas have no stored result: open the file in Excel, save it")
    return sheets, warnings


def _check_package(path: Path) -> int:
    """Refuse a bomb; the number of formulas without a stored result."""
    with zipfile.ZipFile(path) as package:
        # Python reads no more of a member than its header declares, so the sum is an upper bound.
        if sum(member.file_size for member in package.infolist()) > MAX_UNPACKED:
            raise InputError(
                f"{path.name}: unpacks to more than {MAX_UNPACKED // 10**6} MB; split it"
            )
        parts = [name for name in package.namelist() if name.startswith("xl/worksheets/sheet")]
        return sum(len(_NO_RESULT.findall(package.read(name))) for name in parts)


def _calamine(path: Path) -> tuple[list[Sheet], list[str]]:
    sheets, warnings = [], []
    try:
        with CalamineWorkbook.from_path(str(path)) as book:
            for meta in book.sheets_metadata:
                if meta.visible != SheetVisibleEnum.Visible:
                    warnings.append(f"the hidden sheet {meta.name!r} is left out")
                    continue
                sheet = book.get_sheet_by_name(meta.name)
                merged = sheet.merged_cell_ranges or []
                ranges = [(a[0] + 1, a[1] + 1, b[0] + 1, b[1] + 1) for a, b in merged]
                rows = sheet.to_python(skip_empty_area=False)
                sheets.append(Sheet(meta.name, _cells(rows), ranges))
    except CalamineError as error:
        if "password" in str(error).lower():
            raise InputError(
                f"{path.name}: is protected by a password; save it without one"
            ) from error
        raise _damaged(path) from error
    return sheets, warnings


def _csv(path: Path) -> Sheet:
    text = decode(path.read_bytes(), path.name)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)))
    except csv.Error as error:
        raise InputError(f"{path.name}: is no table ({error}); save it as .xlsx") from error
    return Sheet("", _cells(rows), list[Range]())


def _delimiter(text: str) -> str:
    """The delimiter that the beginning uses, a comma when nothing speaks for another."""
    try:
        return csv.Sniffer().sniff(text[:_SAMPLE], _DELIMITERS).delimiter
    except csv.Error:
        return max(_DELIMITERS, key=text[:_SAMPLE].count)


def _cells(rows: Iterable[Iterable[Any]]) -> Cells:
    return {
        (r, c): text
        for r, row in enumerate(rows, 1)
        for c, value in enumerate(row, 1)
        if (text := shown(value, _format_of(value)))
    }


def _format_of(value: Any) -> str:
    """Number format for a value whose own was lost."""
    if isinstance(value, datetime | date):
        return "yyyy-mm-dd"
    return "h:mm" if isinstance(value, time) else "General"


def _damaged(path: Path) -> InputError:
    return InputError(f"{path.name}: the workbook is damaged; open it in Excel and save it again")
