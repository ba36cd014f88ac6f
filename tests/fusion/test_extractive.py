"""Extraction: verbatim units, lists and provisos whole, the best ones chosen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fusion.extractive import LIMIT, best_span, extract, units
from fusion.overlap import containment, grams, rarity
from tests.fusion.fake_sources import passage

LIST = (
    "第三条　有下列情形之一的，可以申请：\n（一）失业的；\n（二）患病的；\n（三）其他情形。\n"
    "申请人应当提交材料。"
)


def texts(content: str) -> list[str]:
    return [content[unit.start : unit.end] for unit in units(content)]


def test_a_list_stays_whole_with_its_lead_in() -> None:
    assert texts(LIST) == [LIST[: LIST.index("\n申请人")], "申请人应当提交材料。"]


def test_a_proviso_stays_with_its_rule() -> None:
    content = "经营者应当退货。但是，定作的商品除外。退货的运费由消费者承担。"
    assert texts(content) == [
        "经营者应当退货。但是，定作的商品除外。",
        "退货的运费由消费者承担。",
    ]


def test_a_table_stays_whole_with_its_lead_in() -> None:
    table = "补贴标准如下：\n| 车型 | 金额 |\n| --- | --- |\n| 纯电动 | 一万元 |"
    assert texts(f"{table}\n补贴一次发放。") == [table, "补贴一次发放。"]


def test_an_answer_stays_with_its_question() -> None:
    pair = "问：多久能收到？\n答：十个工作日内。"
    assert texts(f"{pair}逾期的，可以投诉。") == [pair, "逾期的，可以投诉。"]


def test_a_title_repeated_as_the_first_line_is_no_excerpt() -> None:
    item = passage("law", "公积金缴存比例答记者问", "", "公积金缴存比例答记者问\n比例为百分之五。")
    (best, *_) = extract("公积金缴存比例", [(item, 1.0)], 1)
    assert item.content[best.unit.start : best.unit.end] == "比例为百分之五。"


def test_a_list_too_long_to_show_falls_apart_into_items_that_know_their_lead_in() -> None:
    lead = "有下列情形之一的，处以罚款："
    content = f"{lead}（一）{'甲' * 300}；（二）{'乙' * 300}；（三）{'丙' * 100}。"
    found = units(content)
    assert [content[u.start : u.start + 4] for u in found] == ["（一）甲", "（二）乙", "（三）丙"]
    assert all(u.lead is not None and content[slice(*u.lead)] == lead for u in found)


@given(st.text(alphabet="甲乙丙。；，：但\n （一）二1.、！a", max_size=200))
def test_units_are_ordered_disjoint_and_leave_out_only_white_space(content: str) -> None:
    position, rest = 0, ""
    for unit in units(content):
        assert unit.start >= position
        assert content[unit.start : unit.end].strip() != ""
        rest += content[position : unit.start]
        position = unit.end
    assert (rest + content[position:]).strip() == ""


@given(st.integers(1, 3000))
def test_text_without_any_break_is_cut_to_readable_length(length: int) -> None:
    assert all(u.end - u.start <= LIMIT for u in units("字" * length))


def test_the_best_passage_always_gives_an_excerpt_even_without_a_word_in_common() -> None:
    first = passage("law", "甲", "1", "用人单位支付赔偿金。")
    (only,) = extract("被辞退了怎么办", [(first, 0.9)], 3)
    assert (only.index, only.unit.start, only.unit.end) == (0, 0, 10)


def test_the_sentence_that_has_the_words_of_the_question_is_chosen() -> None:
    content = "住房公积金的缴存比例不低于百分之五。".join(["本办法适用于本市。" * 15] * 2)
    (best, *_) = extract("公积金缴存比例", [(passage("law", "甲", "1", content), 1.0)], 1)
    assert content[best.unit.start : best.unit.end] == "住房公积金的缴存比例不低于百分之五。"


def test_a_short_passage_is_quoted_whole() -> None:
    content = "试用期包含在合同期限内。合同期限一年以上的，试用期最长二个月。"
    (only,) = extract("试用期多久", [(passage("law", "甲", "1", content), 1.0)], 3)
    assert (only.unit.start, only.unit.end) == (0, len(content))


def test_of_equal_sentences_in_a_long_passage_the_first_is_chosen() -> None:
    content = "试用期由合同约定，合同期限一年以上的不超过二个月。" + "其他事项另行规定。" * 30
    item = passage("law", "甲", "1", f"{content}试用期计入工龄。")
    (best, *_) = extract("试用期多久", [(item, 1.0)], 1)
    assert best.unit.start == 0


def test_excerpts_come_in_the_order_of_the_passages_and_no_more_than_asked() -> None:
    items = [(passage("law", f"法{n}", "1", "缴存比例为百分之五。"), 1.0) for n in range(6)]
    found = extract("缴存比例", items, 4)
    assert [e.index for e in found] == [0, 1, 2, 3]


def test_a_passage_of_low_score_gives_no_excerpt_beside_an_equal_one_of_high_score() -> None:
    same = "缴存比例为百分之五。"
    items = [(passage("law", "甲", "1", same), 0.9), (passage("law", "乙", "1", same), 0.1)]
    assert [e.index for e in extract("缴存比例", items, 4)] == [0]


def test_nothing_is_extracted_from_nothing() -> None:
    assert extract("缴存比例", [], 4) == ()


def test_the_quote_of_a_claim_is_the_nearest_unit() -> None:
    content = "甲方支付租金。乙方负责维修。"
    item = passage("law", "甲", "1", content)
    assert content[slice(*best_span("维修由乙方负责", item))] == "乙方负责维修。"


def test_grams_are_bigrams_of_chinese_and_whole_latin_tokens() -> None:
    assert grams("增值税，13% VAT") == {"增值", "值税", "13", "vat"}
    assert grams("税") == {"税"}
    assert grams("補貼") == grams("补贴")


def test_containment_and_rarity_by_hand() -> None:
    assert containment(frozenset("ab"), frozenset("bc")) == 0.5
    assert containment(frozenset(), frozenset("a")) == 0.0
    idf = rarity([frozenset("ab"), frozenset("a")])
    assert idf["b"] > idf["a"]
    assert round(idf["b"], 4) == 1.0986  # log(1 + 2 / 1)


def test_a_question_of_two_parts_is_answered_from_both_though_one_ranks_far_below() -> None:
    tax = passage("fiscal", "车辆购置税规则（虚构示例）", "6", "购置新能源汽车，免征车辆购置税。")
    same = passage("fiscal", "车辆购置税规则（虚构示例）", "7", "车辆购置税由税务机关征收。")
    aid = passage("local", "上海市补贴办法（虚构示例）", "4", "每辆补贴一万元。")
    ranked = [(tax, 0.8), (same, 0.7), (aid, 0.1)]
    chosen = extract("在上海买车能拿多少补贴，车辆购置税能免吗", ranked, 6)
    assert {excerpt.index for excerpt in chosen} >= {0, 2}


def test_what_adds_nothing_to_the_question_stays_out_of_the_answer() -> None:
    tax = passage("fiscal", "车辆购置税规则（虚构示例）", "6", "购置新能源汽车，免征车辆购置税。")
    other = passage("local", "养犬办法（虚构示例）", "4", "犬只应当登记。")
    chosen = extract("车辆购置税能免吗", [(tax, 0.8), (other, 0.7)], 6)
    assert {excerpt.index for excerpt in chosen} == {0}
