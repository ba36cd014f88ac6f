"""What the commands print for people. Plain text: no colours to break a pipe, no markup."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import Any, cast

from rich.console import Console, RenderableType

_STATUS = {
    "in_force": "现行有效",
    "amended": "已修改",
    "repealed": "已废止",
    "not_yet": "尚未施行",
}
_SNIPPET = 160
_PIPE_WIDTH = 100


def table_text(renderable: RenderableType) -> str:
    """A rich renderable as text, as wide as the terminal, 100 columns in a pipe."""
    width = max(60, shutil.get_terminal_size().columns) if sys.stdout.isatty() else _PIPE_WIDTH
    console = Console(file=StringIO(), width=width, highlight=False, emoji=False)
    console.print(renderable, crop=False)
    return cast(StringIO, console.file).getvalue().rstrip("\n")


def result_lines(result: dict[str, Any]) -> Iterator[str]:
    """The passages of a search, best first, and what could not be consulted."""
    for number, item in enumerate(result["results"], 1):
        yield f"{number}. {heading(item)}  [{item['source']} {item['score']:.3f}]"
        yield f"   {_facts(item)}"
        yield f"   {snippet(item['content'])}"
    if not result["results"]:
        yield "没有找到符合条件的条文 / nothing found"
    yield from version_lines(result["other_versions"])
    yield from coverage_lines(result["coverage"])


def answer_lines(answer: dict[str, Any]) -> Iterator[str]:
    """The answer, then its numbered citations."""
    yield answer["answer"]
    if answer["citations"]:
        yield ""
        yield "依据 / sources"
    for item in answer["citations"]:
        yield f"[{item['marker']}] {heading(item)}"
        yield f"    {_facts(item)}"
        if item["quote"] not in answer["answer"]:
            yield f"    {snippet(item['quote'])}"
    if answer["unverified"]:
        yield ""
        yield "未能核对的句子 / unverified sentences"
        yield from (f"- {snippet(sentence)}" for sentence in answer["unverified"])
    yield from version_lines(answer["other_versions"])
    yield ""
    enough = "资料充分 / sufficient" if answer["sufficient"] else "资料不足 / insufficient"
    yield f"{enough} · 置信度 / confidence {answer['confidence']:.2f}"
    yield from coverage_lines(answer["coverage"])


def version_lines(versions: Iterable[dict[str, Any]]) -> Iterator[str]:
    """One line for each version that matches but does not apply on the day asked for."""
    for number, item in enumerate(versions):
        if not number:
            yield ""
            yield "其他版本（在所问日期不适用） / other versions"
        yield f"- {item['note']}{article_name(item['article'])}"


def coverage_lines(coverage: Iterable[dict[str, Any]]) -> Iterator[str]:
    """One line for each domain that was not, or only in part, consulted."""
    for entry in coverage:
        if entry["status"] != "ok":
            yield f"! {entry['source']} {entry['label']}: {entry['status']} ({entry['reason']})"
        for note in entry["notes"]:
            yield f"! {entry['source']} {entry['label']}: {note}"


def heading(item: dict[str, Any]) -> str:
    """``《title》 发文字号 第54条``; the heading path where there is no article."""
    title = " ".join(item["title"].split())
    parts = [title if title.startswith("《") else f"《{title}》", item["doc_number"]]
    parts.append(article_name(item["article"]) or " > ".join(item["heading_path"]))
    return " ".join(part for part in parts if part)


def article_name(article: str) -> str:
    """``54`` -> ``第54条``, ``120-1`` -> ``第120条之1``; empty for no article."""
    number, _, sub = article.partition("-")
    return f"第{number}条" + (f"之{sub}" if sub else "") if number else ""


def snippet(text: str) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _SNIPPET else line[: _SNIPPET - 1] + "…"


def _facts(item: dict[str, Any]) -> str:
    dates = f"{item['effective']} 起施行" if item["effective"] else "施行日期不明"
    if item["expires"]:
        dates += f"，{item['expires']} 起失效"
    status = _STATUS.get(item["status"], item["status"])
    return " · ".join(part for part in (item["jurisdiction"], dates, status, item["file"]) if part)
