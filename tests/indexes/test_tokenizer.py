from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configs.errors import ConfigError
from indexes.tokenizer import MAX_TOKEN, Tokenizer, normalise, numeral, simplified

PLAIN = Tokenizer()


def shared(query: str, text: str) -> set[str]:
    return set(PLAIN.tokens(query)) & set(PLAIN.tokens(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("一", 1),
        ("十", 10),
        ("十二", 12),
        ("二十", 20),
        ("一百零一", 101),
        ("一百二十", 120),
        ("一千二百六十", 1260),
        ("一千〇一", 1001),
        ("二〇二四", 2024),
        ("二○二四", 2024),
        ("一万二千", 12000),
        ("120", 120),
        ("两百", 200),
    ],
)
def test_numerals_have_the_value_that_a_reader_gives_them(text: str, value: int) -> None:
    assert numeral(text) == value


def test_a_word_is_no_numeral() -> None:
    with pytest.raises((ValueError, KeyError)):
        numeral("条")


def test_article_numbers_meet_however_they_are_written() -> None:
    for spelling in ("第一百二十条之一", "第120条之一", "第１２０条之1", "第一二〇条之一"):
        assert "art:120-1" in PLAIN.tokens(f"依照{spelling}的规定")
    assert "art:120" in PLAIN.tokens("第一百二十条")
    assert "art:120" not in PLAIN.tokens("第一百二十条之一")


def test_a_document_number_is_one_token_in_any_brackets_and_in_running_text() -> None:
    text = "示府办规〔2024〕3号"
    for query in (
        "示府办规〔2024〕3号",
        "请问示府办规[2024]3号还有效吗",
        "示府办规（２０２４）３号",
    ):
        assert "no:示府办规-2024-3" in shared(query, text)
    assert not {t for t in shared("示府办规〔2024〕4号", text) if t.startswith("no:")}


def test_a_document_number_also_keeps_its_parts() -> None:
    assert {"2024", "3"} <= set(PLAIN.tokens("示府办规〔2024〕3号"))


def test_full_width_digits_and_traditional_characters_match_plain_ones() -> None:
    assert "2024" in shared("２０２４", "自2024年起")
    assert "经济" in shared("經濟補償", "经济补偿")
    assert normalise("ＡＢＣ經濟") == "abc经济"


def test_a_word_set_with_blanks_and_soft_hyphens_matches_the_plain_one() -> None:
    assert shared("征收标准", "征 收　标 准") == shared("征收标准", "征收标准")
    assert shared("cadastre", "cada\u00adstre") == {"cadastre"}
    # Blanks between words stay: no word comes from the end of one and the beginning of the next.
    assert normalise("广州市 财政局 民政局") == "广州市 财政局 民政局"
    assert normalise("总 则 第一条") == "总则 第一条"


def test_a_question_in_traditional_characters_is_simplified_and_nothing_else() -> None:
    assert simplified("勞動者的經濟補償　２０２４") == "劳动者的经济补偿　２０２４"


def test_words_and_bigrams_are_both_there() -> None:
    tokens = PLAIN.tokens("用人单位应当支付经济补偿。")
    assert "用人单位" in tokens
    assert {"b:人单", "b:位应", "b:济补"} <= set(tokens)
    assert "。" not in tokens


def test_a_domain_keeps_its_own_words_and_no_other_domain_sees_them() -> None:
    word = "绿色礼券申领码"
    assert word in Tokenizer([word]).tokens(f"请出示{word}后办理")
    assert word not in PLAIN.tokens(f"请出示{word}后办理")


def test_a_dictionary_file_is_read_by_path_and_its_words_change_the_key(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("# 虚构示例\n绿色礼券 100 n\n\n申领码\n", encoding="utf-8")
    tokenizer = Tokenizer.from_dictionary(str(file))
    assert "绿色礼券" in tokenizer.tokens("发放绿色礼券")
    assert tokenizer.key == Tokenizer(["申领码", "绿色礼券"]).key
    assert tokenizer.key != PLAIN.key


def test_a_missing_dictionary_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="no-such-file"):
        Tokenizer.from_dictionary("no-such-file.txt")


@given(st.text())
def test_tokens_of_any_text_have_no_white_space_and_a_bounded_length(text: str) -> None:
    for token in PLAIN.tokens(text):
        assert token
        assert token.split() == [token]
        assert len(token) <= MAX_TOKEN


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("补贴12 0\n00元", "12000"),
        ("补贴12,0\n00元", "12000"),
        ("补贴12\n000元", "12000"),
        ("罚款5 000元", "5000"),
        ("自20\n24年3月1日起", "2024"),
        ("自2024年1\n2月1日起", "12"),
        ("依照第一百\n二十条", "art:120"),
        ("依照第十\n条", "art:10"),
        ("依照第 1 2\n条", "art:12"),
        ("补贴１２\n０００元", "12000"),
        ("补贴三千\n元", "b:千元"),
    ],
)
def test_what_a_line_break_cuts_is_found_whole(text: str, token: str) -> None:
    assert token in Tokenizer().tokens(text)


@pytest.mark.parametrize(
    "text",
    ["12\n34", "第一条\n第二条", "一、\n二、", "共3项\n2024年", "1.\n2元"],
)
def test_numbers_of_two_lines_stay_two(text: str) -> None:
    pieces = {token for line in text.split("\n") for token in Tokenizer().tokens(line)}
    assert {t for t in Tokenizer().tokens(text) if t.isdecimal()} <= pieces
