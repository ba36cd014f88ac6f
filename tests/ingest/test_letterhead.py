"""The 版头 and title of a first page. All documents are 虚构示例."""

from __future__ import annotations

import pytest

from ingest.formats.letterhead import FrontLine, read_letterhead

BODY = [FrontLine("各区人民政府：", 16), FrontLine("现将有关事项通知如下。" * 3, 16)]


def _centred(*texts: str, size: float = 22) -> list[FrontLine]:
    return [FrontLine(text, size, centred=True) for text in texts]


def test_secrecy_urgency_red_head_number_and_signer_stand_above_the_title() -> None:
    head = read_letterhead(
        [
            FrontLine("000012", 16),
            FrontLine("机密★1年", 16),
            FrontLine("特急", 16),
            *_centred("示例市财政局　示例市税务局文件", size=40),
            FrontLine("示财规〔2024〕 12 号　签发人：某某", 16),
            *_centred("关于印发", "示例资金管理办法的通知"),
            *BODY,
        ]
    )
    assert head.title == "关于印发示例资金管理办法的通知"
    assert head.given == {
        "doc_number": "示财规〔2024〕12号",
        "issuer": "示例市财政局、示例市税务局",
    }
    assert head.lines() == ["# 关于印发示例资金管理办法的通知", "示财规〔2024〕12号"]
    assert head.drop == frozenset(range(7))


def test_a_decree_has_its_number_on_two_lines() -> None:
    head = read_letterhead(
        [
            *_centred("示例市人民政府令", size=36),
            FrontLine("第12号", 16),
            *_centred("示例市停车条例"),
            *BODY,
        ]
    )
    assert head.title == "示例市停车条例"
    assert head.number == "示例市人民政府令第12号"


def test_without_layout_the_lines_below_the_number_up_to_the_kind_are_the_title() -> None:
    lines = [
        "示例区人民政府办公室文件",
        "示府办〔2024〕3号",
        "关于做好示例工作",
        "的通知",
        "各单位：",
    ]
    head = read_letterhead([FrontLine(text) for text in lines])
    assert head.title == "关于做好示例工作的通知"


def test_a_page_without_a_title_loses_nothing() -> None:
    head = read_letterhead([FrontLine("示府〔2024〕3号", 16), *BODY])
    assert (head.title, head.drop, head.lines()) == ("", frozenset(), [])


def test_a_larger_line_that_is_not_centred_is_no_title() -> None:
    assert read_letterhead([FrontLine("一些大字", 22), *BODY]).title == ""


def test_a_number_below_the_title_is_no_part_of_it() -> None:
    head = read_letterhead([*_centred("示例办法"), *_centred("（示府〔2024〕3号）"), *BODY])
    assert head.title == "示例办法"


def test_a_style_of_the_file_marks_the_title() -> None:
    head = read_letterhead([FrontLine("示例办法", 16, marked=True), *BODY])
    assert head.title == "示例办法"


def test_latin_words_of_a_title_are_parted_by_a_blank() -> None:
    head = read_letterhead([*_centred("关于使用 Example", "Platform 的通知"), *BODY])
    assert head.title == "关于使用 Example Platform 的通知"


@pytest.mark.parametrize(
    "lines",
    [
        ("示例市财政局", "示例市税务局　文件", "示例市科学技术局"),
        ("示例市财政局", "文 件", "示例市税务局", "示例市科学技术局"),
        ("示例市财政局", "示例市税务局", "示例市科学技术局文件"),
    ],
)
def test_organs_one_below_the_other_are_all_issuers(lines: tuple[str, ...]) -> None:
    head = read_letterhead(
        [*_centred(*lines, "示财〔2024〕3号"), *_centred("关于印发示例补贴办法的通知")]
    )
    assert head.given == {
        "doc_number": "示财〔2024〕3号",
        "issuer": "示例市财政局、示例市税务局、示例市科学技术局",
    }
    assert head.title == "关于印发示例补贴办法的通知"


def test_organs_that_sign_below_each_other_are_no_red_head() -> None:
    head = read_letterhead(_centred("示例市财政局", "示例市税务局", "2024年6月3日", size=16))
    assert "issuer" not in (head.given or {})


def test_characters_of_a_red_head_that_are_set_apart_are_one_name() -> None:
    head = read_letterhead(
        [*_centred("示 例 市 财 政 局 文 件", "示财〔2024〕3号"), *_centred("关于示例补贴的通知")]
    )
    assert (head.given or {})["issuer"] == "示例市财政局"
