"""A store that cannot be written because the disk is full, told as such whoever noticed it."""

from __future__ import annotations

import errno
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from configs.errors import InputError, PolicyFusionError

_LEAST_FREE = 2**20
_NUMBERS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# SQLite, Chroma and tantivy say it in words of their own.
_WORDS = re.compile(
    r"disk is full|disk I/O error|no space left|quota exceeded|file too large", re.IGNORECASE
)


@contextmanager
def disk_full_told(store: Path) -> Iterator[None]:
    """Turns what a full disk raises inside into one InputError with the remedy."""
    try:
        yield
    except PolicyFusionError as error:
        if not is_disk_full(error):
            raise
        raise InputError(_message(store)) from error
    except Exception as error:
        # Chroma's background work hides the cause (Failed to apply logs …): the disk tells.
        if not is_disk_full(error) and not _is_full(store):
            raise
        raise InputError(_message(store)) from error


def is_disk_full(error: BaseException) -> bool:
    """Whether the error, or one that it was raised from, says that nothing more can be written."""
    seen: BaseException | None = error
    while seen is not None:
        number = seen.errno if isinstance(seen, OSError) else None
        if number in _NUMBERS or _WORDS.search(str(seen)):
            return True
        seen = seen.__cause__
    return False


def _is_full(store: Path) -> bool:
    try:
        return shutil.disk_usage(store).free < _LEAST_FREE
    except OSError:
        return False


def _message(store: Path) -> str:
    return (
        f"{store}: the disk is full or refuses to be written; free space and run the same command "
        "again: what is stored stays, the rest is added"
    )
