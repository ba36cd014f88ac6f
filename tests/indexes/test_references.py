"""References in running text: how they are written, and what they are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.names import NamedDocument, NameTable, parse_doc_number
from indexes.references import Mention, matching_form, mentions

TITLES = (
    ("law", "民法典"),
    ("law", "刑法"),
    ("law", "劳动合同法"),
    ("law", "民事诉讼法"),
    ("law", "消费者权益保护法"),
    ("fiscal", "个人所得税法"),
    ("fiscal", "个人所得税法实施条例"),
    ("fiscal", "税收征收管理法"),
    ("local", "上海市停车场管理办法"),
    ("local", "示例市停车场（库）管理条例（试行）"),
)
TABLE = NameTable(
    [
        NamedDocument(domain, f"{title}.md", title, f"中华人民共和国{title}")
        for domain, title in TITLES
    ]
    + [
        NamedDocument(
            "local",
            "n.md",
            "示例补贴通知",
            doc_number="示府办规〔2024〕3号",
            short_names=(("消费者权益保护法", "消保示例法"),),
        )
    ],
    {"消法": "消费者权益保护法", "征管法": "税收征收管理法", "无此法": "没有这部法"},
)


def read(text: str) -> list[tuple[str, str, int, int]]:
    return [(m.name, m.article, m.paragraph, m.item) for m in mentions(text, TABLE.ending)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("《个人所得税法》第六条怎么说", ("个人所得税法", "6", 0, 0)),
        ("《中华人民共和国个人所得税法》第六条", ("中华人民共和国个人所得税法", "6", 0, 0)),
        ("个税法第6条", ("个税法", "6", 0, 0)),
        ("民法典一千二百五十四条讲什么", ("民法典", "1254", 0, 0)),
        ("刑法120条之一", ("刑法", "120-1", 0, 0)),
        ("刑法第一百二十条之一", ("刑法", "120-1", 0, 0)),
        ("违反劳动合同法第四十七条第二款", ("劳动合同法", "47", 2, 0)),
        ("民法典第1,254条", ("民法典", "1254", 0, 0)),
        ("民法典第1，254条", ("民法典", "1254", 0, 0)),
        ("民法典第１２５４条", ("民法典", "1254", 0, 0)),
        ("民法典第 1254 条", ("民法典", "1254", 0, 0)),
        ("民法典第 一百 条", ("民法典", "100", 0, 0)),
        ("民法典 第 一 百 条", ("民法典", "100", 0, 0)),
        ("民法典第一千　二百五十四条", ("民法典", "1254", 0, 0)),
        ("刑法第 一百 二十 条 之 一", ("刑法", "120-1", 0, 0)),
        ("劳动合同法第３９条第（二）项", ("劳动合同法", "39", 0, 2)),
        ("勞動合同法第四十七條", ("劳动合同法", "47", 0, 0)),
        ("劳动合同法的第四十七条", ("劳动合同法", "47", 0, 0)),
        ("民诉法第二百三十六条", ("民诉法", "236", 0, 0)),
        ("征管法63条", ("征管法", "63", 0, 0)),
        ("示府办规〔2024〕3号 第三条第（二）项", ("示府办规〔2024〕3号", "3", 0, 2)),
        ("根据示府办规[2024]3号第三条", ("根据示府办规[2024]3号", "3", 0, 0)),
        ("个人所得税法实施条例第十三条", ("个人所得税法实施条例", "13", 0, 0)),
        ("《民法典》（2020年通过）第五百条", ("民法典", "500", 0, 0)),
        ("停车场管理办法第五条", ("停车场管理办法", "5", 0, 0)),
    ],
)
def test_every_way_of_citing_an_article_is_read(
    text: str, expected: tuple[str, str, int, int]
) -> None:
    assert read(text) == [expected]


@pytest.mark.parametrize(
    ("text", "articles"),
    [
        ("民法典第577条、第585条", ["577", "585"]),
        ("民法典第五百七十七条和第五百八十五条", ["577", "585"]),
        ("《民法典》关于违约金，见第五百八十五条", ["585"]),
    ],
)
def test_an_article_without_a_name_takes_the_one_before_it(text: str, articles: list[str]) -> None:
    found = read(text)
    assert [article for _, article, _, _ in found] == articles
    assert {name for name, *_ in found} == {"民法典"}


@pytest.mark.parametrize(
    "text",
    [
        "合同有三条不合理",
        "签了第一条就后悔",
        "这条例第几条",
        "第三条款项",
        "一百条建议",
        "2024条",
        "1,254条",
    ],
)
def test_what_only_looks_like_a_reference_is_none(text: str) -> None:
    assert read(text) == []


def test_a_document_number_alone_is_a_reference_to_the_document() -> None:
    (found,) = mentions("示府办规〔2024〕3号还有效吗", TABLE.ending)
    assert found == Mention(0, 12, "示府办规〔2024〕3号", True, "")
    assert [t.title for t in TABLE.numbered(found.name)] == ["示例补贴通知"]
    assert [t.doc_key for t in TABLE.numbered("根据示府办规〔2024〕3号")] == ["n.md"]
    assert TABLE.numbered("示府办规〔2023〕3号") == ()


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("个税法", "个人所得税法"),
        ("民诉法", "民事诉讼法"),
        ("劳合法", "劳动合同法"),
        ("消法", "消费者权益保护法"),
        ("消保示例法", "消费者权益保护法"),
        ("中华人民共和国刑法", "刑法"),
        ("停车场管理办法", "上海市停车场管理办法"),
        ("示例市停车场（库）管理条例", "示例市停车场（库）管理条例（试行）"),
    ],
)
def test_short_names_stand_for_their_title(name: str, title: str) -> None:
    assert {target.title for target in TABLE.targets(name)} == {title}


def test_what_could_stand_for_several_titles_stands_for_none() -> None:
    two = [NamedDocument("law", n, n) for n in ("消费者权益保护法", "消防产品保护法")]
    assert NameTable(two).targets("消保法") == ()
    assert TABLE.targets("无此法") == ()


def test_a_short_name_that_texts_use_for_different_laws_is_not_learned() -> None:
    documents = [
        NamedDocument("law", "a", "甲示例法", short_names=(("乙示例法", "示例新规"),)),
        NamedDocument("law", "b", "乙示例法", short_names=(("甲示例法", "示例新规"),)),
    ]
    assert NameTable(documents).targets("示例新规") == ()


def test_a_title_takes_precedence_over_a_short_form_of_another() -> None:
    documents = [NamedDocument("fiscal", n, n) for n in ("消费税暂行条例", "消费税条例")]
    assert [t.title for t in NameTable(documents).targets("消费税条例")] == ["消费税条例"]


def test_the_parts_of_a_document_number_are_read_in_any_brackets() -> None:
    for written in (
        "示府办规〔2024〕3号",
        "示府办规[2024]3号",
        "示府办规（2024）第3号",
        "示府办规【２０２４】3号",
    ):
        assert parse_doc_number(written) == ("示府办规", 2024, 3)
    assert parse_doc_number("第3号") is None


@given(st.text(max_size=200))
def test_any_text_is_read_without_error_and_offsets_are_its_own(text: str) -> None:
    assert len(matching_form(text)) == len(text)
    for mention in mentions(text, TABLE.ending):
        assert 0 <= mention.start < mention.end <= len(text)
