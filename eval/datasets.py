"""Labelled questions: JSON lines of a query and the articles or records that answer it.

One line is ``{"id", "query", "gold": [{"domain", "title", "article", "file"} |
{"domain", "record", "title"}]}`` with optional ``kind``, ``as_of`` (ISO day), ``jurisdiction``,
``why``, ``source`` and ``key_points`` (what a right answer must say, in a few words each); an empty
``gold`` says that the corpus holds no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from configs.errors import InputError

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]


class _Frozen(BaseModel):
    # Unknown keys pass: labelled sets carry notes of their own that the metrics do not need.
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class Gold(_Frozen):
    """One right answer: an article of a title, a whole record, or (neither given) a whole title.

    ``article`` is in digits, ``120-1`` for 第一百二十条之一; ``file`` the labelled version's path.
    """

    domain: str = ""
    title: Text
    article: Annotated[str, Field(pattern=r"^\d+(-\d+)*$")] | None = None
    record: Text | None = None
    file: str | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Gold:
        if self.record is not None and self.article is not None:
            raise ValueError("gold has both 'record' and 'article'; give one of them")
        return self


class Question(_Frozen):
    """One labelled question. ``key`` is unique in what was loaded; ``file`` names its data set."""

    id: Text
    query: Text
    gold: tuple[Gold, ...]
    kind: str | None = None
    as_of: date | None = None
    jurisdiction: str | None = None
    why: str | None = None
    source: str | None = None
    key_points: tuple[Text, ...] = ()
    key: str = ""
    file: str = ""

    @property
    def answerable(self) -> bool:
        """Whether the corpus holds an answer."""
        return bool(self.gold)

    @property
    def domains(self) -> frozenset[str]:
        """The domains that hold a right answer."""
        return frozenset(gold.domain for gold in self.gold if gold.domain)


def load_questions(files: Sequence[Path]) -> tuple[Question, ...]:
    """All questions of these files, in order; a directory stands for its ``*.jsonl`` files.

    A file named twice is read once. An id that occurs again gets the key ``{file}:{id}`` (and a
    running number where that is taken too). Raises InputError naming file and line.
    """
    questions: list[Question] = []
    keys: set[str] = set()
    names: set[str] = set()
    for path in _unique(files):
        name = path.name if path.name not in names else str(path)
        names.add(name)
        for question in _read(path):
            key = _free_key(question.id, name, keys)
            keys.add(key)
            questions.append(question.model_copy(update={"key": key, "file": name}))
    if not questions:
        raise InputError("no questions were given; name at least one JSON-lines file of questions")
    return tuple(questions)


def _unique(files: Iterable[Path]) -> Iterator[Path]:
    seen: set[Path] = set()
    for path in files:
        for file in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
            if (real := file.resolve()) not in seen:
                seen.add(real)
                yield file


def _free_key(wanted: str, file: str, taken: set[str]) -> str:
    if wanted not in taken:
        return wanted
    key, number = f"{file}:{wanted}", 2
    while key in taken:
        key, number = f"{file}:{wanted}~{number}", number + 1
    return key


def _read(path: Path) -> Iterator[Question]:
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: cannot be read ({type(error).__name__}); give a UTF-8 file of questions"
        ) from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield Question.model_validate_json(line)
        except ValidationError as error:
            raise InputError(f"{path}:{number}: {_problem(error)}") from error


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        return "not valid JSON; every line must be one question, a JSON object"
    place = ".".join(str(part) for part in first["loc"]) or "the line"
    return f"{place}: {first['msg']}; correct this question"
