"""Older word processor files (.doc, .wps, .rtf, .odt), turned into .docx by LibreOffice."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from configs.errors import InputError
from ingest.formats import docx, web
from ingest.readers import decode
from ingest.reading import Reading

_PROGRAMS = ("soffice", "libreoffice")
_SECONDS = 120.0
# What Word and its kin write; web pages under the name of .doc come from many sites.
_KINDS = (b"\xd0\xcf\x11\xe0", b"\xdb\xa5", b"{\\rtf", b"PK\x03\x04", b"<")
_HEAD = 4096


def read(path: Path) -> Reading:
    """What ``docx.read`` makes of the file once LibreOffice has converted it; a web page under the
    name of a Word file is read as one.

    Raises InputError where LibreOffice is not installed, needs longer than two minutes or cannot
    open the file (damaged or encrypted), and as ``docx.read`` does.
    """
    if _is_web_page(path):
        return web.read(path)
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        raise InputError(
            f"{path.name}: {path.suffix} files need LibreOffice, which is not installed; install it"
            " or save the file as .docx"
        )
    if not path.is_file() or not path.stat().st_size:
        raise InputError(f"{path.name}: the file is empty; remove it or save it again")
    _refuse_noise(path)
    with TemporaryDirectory(prefix="policy-fusion-") as folder:
        converted = _convert(program, path, Path(folder))
        return docx.read(converted)


def _is_web_page(path: Path) -> bool:
    """Many systems export web pages as .doc; LibreOffice would show their menus and hidden text."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(_HEAD).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return head.startswith(b"<") and b"<html" in head


def _refuse_noise(path: Path) -> None:
    """LibreOffice opens any bytes as text, so what is neither a document nor text must not reach
    it."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    # The beginning may end inside a character: texts are read whole.
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_KINDS):
        try:
            decode(path.read_bytes(), path.name)
        except InputError as error:
            raise InputError(
                f"{path.name}: is no {path.suffix} file by its content; save it again as .docx"
            ) from error


def _convert(program: str, path: Path, folder: Path) -> Path:
    """The .docx in ``folder``. The source is copied there: LibreOffice writes lock files beside
    what it opens; its own profile lets it run beside an open LibreOffice."""
    source = folder / "in" / f"{path.stem}{path.suffix.lower()}"
    source.parent.mkdir()
    shutil.copyfile(path, source)
    command = [
        *(program, f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless"),
        *("--norestore", "--convert-to", "docx:MS Word 2007 XML"),
        *("--outdir", str(folder / "out"), str(source)),
    ]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(timeout=_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise InputError(
            f"{path.name}: LibreOffice took more than {_SECONDS:.0f} seconds; save it as .docx"
        ) from error
    finally:
        _end(process)
    target = folder / "out" / f"{path.stem}.docx"
    if not target.is_file():
        raise InputError(
            f"{path.name}: LibreOffice cannot open it (damaged or protected by a password); save"
            " it as .docx without password"
        )
    return target


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program with its children: soffice is a script that starts the real program."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
