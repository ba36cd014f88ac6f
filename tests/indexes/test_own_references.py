"""Articles of its own document to which an article points. All texts are 虚构示例."""

from __future__ import annotations

import pytest

from indexes.own_references import OwnReference, own_references

KNOWN = frozenset(("1", "2", "3", "4", "5", "6", "6-1", "7", "8", "9", "10", "20"))


def articles(content: str, article: str = "8", **options: object) -> list[str]:
    spans = options.get("elsewhere", ())
    found = own_references(content, article, lambda: KNOWN, spans)  # type: ignore[arg-type]
    return [reference.article for reference in found]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("第八条　违反本条例第三条规定的，处罚款。", ["3"]),
        ("第八条　依照第6条之一、第二条处理。", ["6-1", "2"]),
        ("第八条　违反本办法第三条至第六条的，处罚款。", ["3", "4", "5", "6"]),
        ("第八条　前条规定的渔船不予补贴。", ["7"]),
        ("第八条　前两条规定的渔船不予补贴。", ["6-1", "7"]),
        ("第八条　本条例第八条所称渔船，是指电动渔船。", []),  # itself: no loop
        ("第八条　依照本条例第九十九条处理。", []),  # not there
        ("第八条　依照示例渔业法第三条处理。", []),  # of another document, known or not
        ("第八条　该条例第三条不适用。", []),
        ("第八条　具备前款三条件的，给予补贴。", []),
        ("第八条　本条例自公布之日起施行。", []),
    ],
)
def test_the_articles_that_are_named_are_read(content: str, expected: list[str]) -> None:
    assert articles(content) == expected


def test_a_paragraph_is_kept() -> None:
    (found,) = own_references("依照本法第三条第二款处理。", "8", lambda: KNOWN)
    assert found == OwnReference("第三条第二款", "3", 2)


def test_a_range_of_many_articles_gives_its_ends_alone() -> None:
    assert articles("第八条　第一条至第二十条适用。") == ["1", "20"]


def test_what_names_another_document_is_left_out() -> None:
    content = "依照《示例渔业通告》第三条、本法第四条处理。"
    assert articles(content, elsewhere=((2, 14),)) == ["4"]


def test_a_text_without_an_article_number_of_its_own_has_no_article_before() -> None:
    assert articles("前条规定不适用，第二条适用。", "") == ["2"]


def test_the_document_is_not_read_without_a_reference() -> None:
    def known() -> frozenset[str]:
        raise AssertionError("asked")

    assert own_references("第八条　渔船不予补贴。", "8", known) == ()
