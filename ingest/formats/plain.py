"""Plain text and Markdown: the file's own words."""

from __future__ import annotations

from pathlib import Path

from ingest.readers import read_text
from ingest.reading import Reading


def read(path: Path) -> Reading:
    """The decoded text; raises InputError as ``ingest.readers.read_text`` does."""
    return Reading(read_text(path))
