"""The parser on real statutes and notices; skipped where the data is absent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

from indexes.schema import Document, PassageId
from ingest.parse import parse_file

_NUMBERED_LINE = re.compile(
    r"^第[〇○零一二三四五六七八九十百千\d]+条(?:之[一二三四五六七八九十]+)?[ 　]", re.MULTILINE
)
_HEADING_LINE = re.compile(
    r"#|<!--|附|第[一二三四五六七八九十百零〇\d]+[编章节部]|[一二三四五六七八九十]+、|（[一二三四五六七八九十]+）"
)


def _today() -> date:
    return date(2024, 6, 1)


def _parse(path: Path, domain: str, root: Path) -> Iterator[Document]:
    for found in parse_file(path, domain, root, _today):
        assert isinstance(found, Document)
        yield found


@pytest.fixture(scope="module")
def sample(shared_data: Path) -> list[Document]:
    """Every 30th statute of each collection."""
    documents: list[Document] = []
    for domain in ("law", "fiscal", "local"):
        root = shared_data / "corpus" / domain
        for path in sorted(root.rglob("*.md"))[::30]:
            documents += _parse(path, domain, root)
    return documents


@pytest.fixture(scope="module")
def notices(shared_data: Path) -> list[Document]:
    """All notices and explainers."""
    root = shared_data / "records"
    return [
        document
        for domain in ("fiscal", "local")
        for document in _parse(root / f"{domain}.jsonl", domain, root)
    ]


def test_nearly_every_article_that_lawyers_marked_is_found(shared_data: Path) -> None:
    golds: dict[str, set[tuple[str, str, str]]] = {}
    for path in sorted((shared_data / "eval").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            for gold in json.loads(line)["gold"]:
                if "article" in gold:
                    golds.setdefault(gold["file"], set()).add(
                        (gold["domain"], gold["title"], gold["article"])
                    )
    wanted = set().union(*golds.values())
    found = set()
    for file, marked in golds.items():
        domain = next(iter(marked))[0]
        for document in _parse(shared_data / "corpus" / file, domain, shared_data / "corpus"):
            for passage in document.passages:
                found.add((domain, passage.metadata.title, passage.metadata.article))
    missing = sorted(wanted - found)
    assert len(wanted) > 1000
    assert len(missing) <= 0.005 * len(wanted), missing


def test_passages_are_ordered_disjoint_pieces_of_the_text(
    sample: list[Document], notices: list[Document]
) -> None:
    for document in (*sample, *notices):
        position = 0
        for passage in document.passages:
            data = passage.metadata
            assert position <= data.start < data.end
            assert document.text[data.start : data.end] == passage.content
            assert passage.content == passage.content.strip()
            position = data.end


def test_what_lies_between_the_passages_of_a_statute_is_headings(sample: list[Document]) -> None:
    for document in sample:
        body = document.text.index("<!-- INFO END -->")
        ends = [body, *(p.metadata.end for p in document.passages)]
        starts = [*(p.metadata.start for p in document.passages), len(document.text)]
        for end, start in zip(ends[1:], starts[1:], strict=True):
            for line in document.text[end:start].splitlines():
                short = len(line.strip()) <= 60 and not line.rstrip().endswith("。")
                assert not line.strip() or _HEADING_LINE.match(line) or short, line


def test_every_numbered_line_of_a_statute_begins_a_passage(sample: list[Document]) -> None:
    for document in sample:
        starts = {passage.metadata.start for passage in document.passages}
        for match in _NUMBERED_LINE.finditer(document.text):
            assert match.start() in starts, document.text[match.start() : match.start() + 40]


def test_article_numbers_rise_inside_one_numbering(sample: list[Document]) -> None:
    for document in sample:
        runs: dict[str, list[tuple[int, int]]] = {}
        for passage in document.passages:
            if passage.metadata.article and passage.metadata.part <= 1:
                locator = PassageId.parse(passage.id).locator
                run = locator.split("-")[0] if locator.startswith("x") else ""
                number, _, sub = passage.metadata.article.partition("-")
                runs.setdefault(run, []).append((int(number), int(sub or 0)))
        for numbers in runs.values():
            assert all(a < b for a, b in pairwise(numbers))


def test_ids_are_unique_and_well_formed(sample: list[Document], notices: list[Document]) -> None:
    ids = [passage.id for document in (*sample, *notices) for passage in document.passages]
    assert len(set(ids)) == len(ids)
    for passage_id in ids:
        assert str(PassageId.parse(passage_id)) == passage_id


def test_passages_are_of_a_size_that_a_model_reads(
    sample: list[Document], notices: list[Document]
) -> None:
    lengths = [len(p.content) for document in (*sample, *notices) for p in document.passages]
    long = [length for length in lengths if length > 500]
    assert len(long) <= 0.002 * len(lengths), sorted(long)


def test_statutes_know_their_level_place_and_day(sample: list[Document]) -> None:
    for document in sample:
        data = document.passages[0].metadata
        assert data.level not in ("", "规范性文件", "新闻解读"), data.file
        assert data.jurisdiction_code, data.file
        assert data.effective, data.file
        if data.promulgated and data.effective:
            assert data.promulgated <= data.effective
        if document.domain != "local":
            assert data.jurisdiction_code == "100000", data.file
        else:
            province = {"上海": "31", "北京": "11", "浙江": "33", "广东": "44", "重庆": "50"}
            assert data.jurisdiction_code.startswith(province[data.file.split("/")[0]])


def test_most_notices_know_their_place(notices: list[Document]) -> None:
    unknown = [d.title for d in notices if not d.passages[0].metadata.jurisdiction_code]
    assert len(unknown) <= 0.05 * len(notices), unknown
