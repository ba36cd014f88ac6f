"""Scoring sheets as CSV (with a byte order mark, for spreadsheet programs) or XLSX."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from configs.errors import InputError

COLUMNS = ("code", "question", "as_of", "place", "title", "article", "text", "grade", "remark")
GRADES = {0: "irrelevant", 1: "related", 2: "answers in part", 3: "answers"}
_WIDTHS = {"question": 40, "title": 30, "text": 90, "remark": 30}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_sheet(path: Path, rows: Iterable[Sequence[str]]) -> None:
    """Rows in the order of ``COLUMNS``; the suffix (.csv, .xlsx) decides the format.

    A text that a spreadsheet would take for a formula is kept as text. Raises InputError.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if _suffix(path) == ".csv":
            with path.open("w", encoding="utf-8-sig", newline="") as target:
                writer = csv.writer(target)
                writer.writerow(COLUMNS)
                writer.writerows([_text(cell) for cell in row] for row in rows)
        else:
            _write_xlsx(path, rows)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); name another") from error


def read_grades(path: Path) -> dict[str, int]:
    """Code -> grade of a filled sheet; rows without a grade are left out.

    Columns are found by name, so a judge may add or move some. Raises InputError naming the row of
    an unknown grade or a repeated code, or for a file that is no sheet.
    """
    rows = _read_csv(path) if _suffix(path) == ".csv" else _read_xlsx(path)
    names = [str(name or "").strip() for name in rows[0]] if rows else []
    if not {"code", "grade"} <= set(names):
        raise InputError(f"{path}: has no columns 'code' and 'grade'; give a sheet of the export")
    code_at, grade_at = names.index("code"), names.index("grade")
    grades: dict[str, int] = {}
    for number, row in enumerate(rows[1:], start=2):
        cells = {at: str(row[at] if at < len(row) and row[at] is not None else "").strip()
                 for at in (code_at, grade_at)}  # fmt: skip
        code, written = cells[code_at], cells[grade_at]
        if not code or not written:
            continue
        if code in grades:
            raise InputError(f"{path}: row {number} repeats {code}; keep one row of each code")
        grades[code] = _grade(written, f"{path}: row {number}")
    return grades


def _grade(written: str, where: str) -> int:
    try:
        value = float(written)
    except ValueError:
        value = -1.0
    if value not in GRADES:
        known = ", ".join(f"{grade} {name}" for grade, name in GRADES.items())
        raise InputError(f"{where}: grade {written!r} is none of {known}")
    return int(value)


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".xlsx"):
        raise InputError(f"{path}: a sheet is .csv or .xlsx; name it so")
    return suffix


def _text(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _write_xlsx(path: Path, rows: Iterable[Sequence[str]]) -> None:
    from openpyxl import Workbook
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    book = Workbook()
    sheet = book.active
    sheet.title = "grades"
    sheet.append(COLUMNS)
    last = 1
    for last, row in enumerate(rows, start=2):
        for column, text in enumerate(row, start=1):
            cell = sheet.cell(last, column, ILLEGAL_CHARACTERS_RE.sub("", text))
            cell.data_type = "s"  # a text that begins with = is no formula
            cell.alignment = Alignment(wrap_text=True, vertical="top")
    for column, name in enumerate(COLUMNS, start=1):
        sheet.cell(1, column).font = Font(bold=True)
        sheet.column_dimensions[get_column_letter(column)].width = _WIDTHS.get(name, 12)
    sheet.freeze_panes = "A2"
    allowed = DataValidation(
        type="list", formula1=f'"{",".join(map(str, GRADES))}"', allow_blank=True
    )
    sheet.add_data_validation(allowed)
    grade = get_column_letter(COLUMNS.index("grade") + 1)
    allowed.add(f"{grade}2:{grade}{max(2, last)}")
    book.save(path)


def _read_csv(path: Path) -> list[list[str]]:
    try:
        text = _decoded(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    if text is None:
        raise InputError(f"{path}: is not UTF-8; save it as CSV UTF-8 or as XLSX")
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)  # spreadsheet programs follow the system's locale
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def _decoded(content: bytes) -> str | None:
    for encoding in ("utf-8-sig", "gb18030"):  # the second one is what Chinese systems save
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


def _read_xlsx(path: Path) -> list[Sequence[Any]]:
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        book = load_workbook(path, read_only=True, data_only=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except (InvalidFileException, zipfile.BadZipFile, KeyError) as error:
        raise InputError(f"{path}: is no XLSX file; save the sheet as XLSX or CSV") from error
    try:
        return list(book.worksheets[0].iter_rows(values_only=True))
    finally:
        book.close()


def merged(sheets: Mapping[str, Mapping[str, int]]) -> dict[str, tuple[int, ...]]:
    """Code -> all grades that it got, in the order of the sheets."""
    found: dict[str, list[int]] = {}
    for grades in sheets.values():
        for code, grade in grades.items():
            found.setdefault(code, []).append(grade)
    return {code: tuple(grades) for code, grades in found.items()}
