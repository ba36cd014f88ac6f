"""A text that a scraper put into one file twice. All texts are 虚构示例."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from indexes.schema import Document
from ingest.parse import parse_file
from ingest.repeats import MIN_CHARS, second_copy

NUMERALS = "一二三四五六七八九"
ARTICLES = [
    f"第{n}条　示例区第{n}类补贴由街道办事处受理，自受理之日起十个工作日内办结（虚构示例）。"
    for n in NUMERALS
]
BODY = "\n".join(ARTICLES)
TITLE = "示例区补贴办理规程"


def _documents(path: Path) -> list[Document]:
    found = list(parse_file(path, "local", None, lambda: date(2025, 1, 1)))
    assert all(isinstance(item, Document) for item in found)
    return [item for item in found if isinstance(item, Document)]


def _cut(text: str) -> str:
    found = second_copy(text)
    assert found is not None
    start, end = found
    return text[:start] + "✂" + text[end:]


def test_the_second_of_two_equal_copies_is_found() -> None:
    assert _cut(f"{BODY}\n{BODY}") == f"{BODY}\n✂"


def test_white_space_and_full_width_forms_make_no_difference() -> None:
    other = BODY.replace("\n", "\n \n\n").replace("（", "(").replace("，", ", ")
    assert _cut(f"{BODY}\n{other}") == f"{BODY}\n✂"


@pytest.mark.parametrize(
    ("above", "below"),
    [
        (f"{TITLE}\n", ""),  # the title stands once
        (f"{TITLE}\n2024年6月3日\n来源：示例区政府\n", "\n打印 关闭\n"),
        ("", "\n扫一扫在手机打开当前页"),
    ],
)
def test_a_title_above_and_a_foot_below_are_kept(above: str, below: str) -> None:
    assert _cut(f"{above}{BODY}\n{BODY}{below}") == f"{above}{BODY}\n✂{below}"


def test_copies_that_differ_in_one_word_are_both_kept() -> None:
    assert second_copy(f"{BODY}\n{BODY.replace('十个', '五个', 1)}") is None


def test_two_rules_one_after_the_other_are_both_kept() -> None:
    assert second_copy(f"{BODY}\n{BODY.replace('街道办事处', '区财政局')}") is None


def test_a_short_form_with_its_counterfoil_is_kept() -> None:
    form = "申请人：　　　　联系电话：　　　　申请日期：　年　月　日（虚构示例，一式两联）"
    assert len("".join(form.split())) < MIN_CHARS
    assert second_copy(f"{form}\n{form}") is None


def test_a_file_with_the_text_twice_gives_every_article_once_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / f"{TITLE}.txt"
    path.write_text(f"{TITLE}\n{BODY}\n\n{TITLE}\n{BODY}\n", encoding="utf-8")
    (document,) = _documents(path)
    assert [p.content for p in document.passages] == ARTICLES
    assert document.warnings == ("the text stands twice in this file; one copy was kept",)


def test_a_record_with_the_text_twice_gives_every_article_once_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "记录.jsonl"
    record = {"id": "甲", "title": TITLE, "text": f"{BODY}\n{BODY}"}
    path.write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
    (document,) = _documents(path)
    assert [p.content for p in document.passages] == ARTICLES
    assert document.warnings == ("the text stands twice in this record; one copy was kept",)
