"""Clean streams (UTF-8 in any locale, a stdout that libraries cannot write to), a quick end."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import sys
import warnings
from collections.abc import Iterator
from io import TextIOWrapper
from typing import NoReturn

_QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_VERBOSITY": "error",
}


def prepare() -> None:
    """Once per process, before any heavy import."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:  # started with the stream closed
            _send_nowhere(number)
            setattr(sys, name, os.fdopen(number, "w", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    # Imports make a million objects that live for ever; looking through them again and again for
    # rubbish took a fifth of the time until a model was loaded.
    gc.set_threshold(50_000, 10, 20)


@contextlib.contextmanager
def libraries_on_stderr() -> Iterator[None]:
    """Whatever is printed inside, by Python or C code, goes to stderr."""
    sys.stdout.flush()
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)


def leave(code: int) -> NoReturn:
    """End the process with this exit code as soon as its output is out.

    Stores are closed by now. What an ordinary end does beyond this, waiting for threads and taking
    down torch and Chroma piece by piece, takes 1.5 s and leads to the same.
    """
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = code or 1
    os._exit(code)


def discard_stdout() -> None:
    """The reader has gone: let nothing fail on the way out."""
    _send_nowhere(1)


def _send_nowhere(number: int) -> None:
    sink = os.open(os.devnull, os.O_WRONLY)
    if sink != number:
        os.dup2(sink, number)
        os.close(sink)
