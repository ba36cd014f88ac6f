"""The registry of formats: which reader reads a file of which suffix.

A reader is ``read(path) -> Reading`` and raises InputError with the reason and the remedy in one
line. Readers are imported when the first file of their kind comes, because their libraries are big.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from configs.errors import InputError
from ingest.reading import Reading

_READERS = {
    ".doc": "ingest.formats.office",
    ".docm": "ingest.formats.docx",
    ".docx": "ingest.formats.docx",
    ".md": "ingest.formats.plain",
    ".odt": "ingest.formats.office",
    ".pdf": "ingest.formats.pdf",
    ".rtf": "ingest.formats.office",
    ".txt": "ingest.formats.plain",
    **dict.fromkeys((".html", ".htm", ".xhtml", ".mhtml", ".mht"), "ingest.formats.web"),
    ".wps": "ingest.formats.office",
    ".csv": "ingest.formats.sheet",
    ".ods": "ingest.formats.sheet",
    ".xls": "ingest.formats.sheet",
    ".xlsb": "ingest.formats.sheet",
    ".xlsm": "ingest.formats.sheet",
    ".xlsx": "ingest.formats.sheet",
}
SUFFIXES = frozenset(_READERS)
"""The suffixes (lower case, with the dot) of files that hold one document each."""


def read_document(path: Path) -> Reading:
    """The file's text as its format's reader gives it.

    Raises InputError for a file that is damaged, encrypted, empty, too large or of another kind
    than its suffix says.
    """
    module = _READERS.get(path.suffix.lower())
    if module is None:
        raise InputError(f"{path.name}: files of this type are not supported; save it as .docx")
    if path.is_file() and not path.stat().st_size:
        raise InputError(f"{path.name}: the file is empty; remove it or save it again")
    reading = import_module(module).read(path)
    assert isinstance(reading, Reading)
    return reading
