"""Articles, headings, annexes and their locators. All texts are 虚构示例."""

from __future__ import annotations

from ingest.splitter import Span, split


def _split(text: str, start: int = 0, titles: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    return [(span.locator, text[span.start : span.end]) for span in split(text, start, titles)]


def _locators(text: str) -> list[str]:
    return [locator for locator, _ in _split(text)]


def _span(text: str, locator: str) -> Span:
    return next(span for span in split(text) if span.locator == locator)


def test_each_article_is_one_passage_with_its_paragraphs() -> None:
    text = "第一条 甲。\n\n乙。\n\n第二条 丙：\n（一）丁；\n（二）戊。"
    assert _split(text) == [
        ("a1", "第一条 甲。\n\n乙。"),
        ("a2", "第二条 丙：\n（一）丁；\n（二）戊。"),
    ]


def test_headings_are_in_the_path_and_never_in_the_text() -> None:
    text = (
        "# 第一编 总则\n## 第一章  一般规定\n### 第一节 甲\n第一条 甲。\n### 第二节　乙\n"
        "第二条 乙。\n"
        "## 第二章 丙\n第三条 丙。\n# 第二编 分则\n第四条 丁。"
    )
    paths = {span.locator: span.heading_path for span in split(text)}
    assert paths == {
        "a1": ("第一编 总则", "第一章 一般规定", "第一节 甲"),
        "a2": ("第一编 总则", "第一章 一般规定", "第二节 乙"),
        "a3": ("第一编 总则", "第二章 丙"),
        "a4": ("第二编 分则",),
    }
    assert all("章" not in content for _, content in _split(text))


def test_plain_text_headings_and_spaced_out_ones_are_recognised() -> None:
    text = "第一章　\n总 则\n第一条　\n甲。\n第二章 法 律 责 任\n第二条\n乙。\n附　则\n第三条 丙。"
    paths = {span.locator: span.heading_path for span in split(text)}
    assert paths == {
        "a1": ("第一章 总则",),
        "a2": ("第二章 法律责任",),
        "a3": ("附则",),
    }


def test_a_heading_wrapped_over_two_lines_is_one() -> None:
    text = "## 第三章 查封、扣押物证、书证\n\n和电子数据\n\n第一条 甲。"
    assert split(text)[0].heading_path == ("第三章 查封、扣押物证、书证和电子数据",)


def test_a_list_of_contents_leaves_no_passage() -> None:
    text = "目　录\n第一章 总则\n第二章 附则\n\n第一章 总则\n第一条 甲。\n第二章 附则\n第二条 乙。"
    assert _locators(text) == ["a1", "a2"]


def test_a_list_of_contents_in_one_line_leaves_no_passage() -> None:
    text = "## 第一章 总则 第二章 任免 第三章 附则\n## 第一章 总则\n第一条 甲。"
    assert [(s.locator, s.heading_path) for s in split(text)] == [("a1", ("第一章 总则",))]


def test_a_sentence_that_begins_with_an_article_number_is_no_heading() -> None:
    text = (
        "第二十条 甲。\n第二十一条 乙。\n第二十一条规定的情形，由主管部门处理。\n"
        "第二十二条、第二十三条的规定除外。\n第二十二条第一款所列行为除外。\n第二十二条 丙。"
    )
    assert _locators(text) == ["a20", "a21", "a22"]
    assert "规定的情形" in dict(_split(text))["a21"]


def test_the_next_number_in_a_citation_is_no_heading() -> None:
    text = "第一条 甲。\n第二条规定的情形除外。\n第二条 第一款的除外。\n第二条 乙。"
    assert _split(text)[0] == ("a1", "第一条 甲。\n第二条规定的情形除外。\n第二条 第一款的除外。")


def test_articles_without_white_space_count_when_they_are_in_sequence() -> None:
    text = "第一条为了示例，制定本办法。\n第二条本办法适用于示例。\n第三条【范围】丙。"
    assert _locators(text) == ["a1", "a2", "a3"]


def test_inserted_articles_keep_their_number() -> None:
    text = "第一百二十条 甲。\n第一百二十条之一 乙。\n第一百二十条之二 丙。\n第一百二十一条 丁。"
    assert [span.article for span in split(text)] == ["120", "120-1", "120-2", "121"]


def test_full_width_and_arabic_numbers_are_articles_too() -> None:
    assert _locators("第１条 甲。\n第2条 乙。\n第三条 丙。") == ["a1", "a2", "a3"]


def test_a_law_may_begin_at_any_number_and_skip_one() -> None:
    assert _locators("第四百六十三条 甲。\n第四百六十四条 乙。\n第四百六十六条 丙。") == [
        "a463",
        "a464",
        "a466",
    ]


def test_a_quoted_article_that_jumps_ahead_stays_in_its_article() -> None:
    text = (
        "第一条 增加一条，内容如下：“甲。\n第九十九条 乙。”\n第二条 丙。\n"
        "第三条 将有关条文改为：\n第五十条 丁。\n第四条 戊。"
    )
    assert _locators(text) == ["a1", "a2", "a3", "a4"]


def test_articles_that_an_amendment_inserts_into_another_law_are_not_its_own() -> None:
    text = (
        "第一条 渔业法第三章中增加一节，作为第七节“禁渔”；增加三条，作为第二十三条至第二十五条。"
        "内容如下：\n第七节 禁渔\n第二十三条 甲。\n第二十四条 乙。\n第二十五条 丙。\n"
        "第二条 渔业法第八条增加一款，作为第二款：“丁。”\n第三条 本修正案自公布之日起施行。"
    )
    assert _locators(text) == ["a1", "a2", "a3"]
    assert _split(text)[0][1].endswith("第二十五条 丙。")


def test_articles_that_run_on_in_one_line_are_told_apart() -> None:
    text = "第一条 甲。 第二条 乙，依照第一条 的规定。 第三条 丙： （一）丁。 第四条 戊。"
    assert _locators(text) == ["a1", "a2", "a3", "a4"]


def test_chapters_that_run_on_in_one_line_are_headings() -> None:
    text = "第一章 总则 第一条 甲。 第二条 乙。 第二章 附则 第三条 丙。"
    assert _split(text) == [("a1", "第一条 甲。"), ("a2", "第二条 乙。"), ("a3", "第三条 丙。")]
    assert _span(text, "a3").heading_path == ("第二章 附则",)


def test_an_attached_rule_starts_its_own_numbering() -> None:
    text = (
        "第一条 甲。\n第二条 本决定自公布之日起施行。\n附件：示例办法\n第一章 总则\n第一条 乙。\n"
        "第二条 丙。\n附件2\n示例细则\n第一条 丁。"
    )
    spans = split(text)
    assert [s.locator for s in spans] == ["a1", "a2", "x2-a1", "x2-a2", "x3-a1"]
    assert [s.article for s in spans] == ["1", "2", "1", "2", "1"]
    assert spans[2].heading_path == ("附件 示例办法", "第一章 总则")
    assert spans[4].heading_path == ("附件2 示例细则",)


def test_what_is_attached_behind_the_last_article_is_not_part_of_it() -> None:
    text = (
        "第一条 甲。\n第二条 本办法自公布之日起施行。\n\n附录：\n\n禁忌范围\n\n"
        "一、甲类。\n\n二、乙类。"
    )
    spans = split(text)
    assert [s.locator for s in spans] == ["a1", "a2", "s1"]
    assert spans[2].heading_path == ("附录 禁忌范围",)
    assert text[spans[2].start : spans[2].end] == "一、甲类。\n\n二、乙类。"


def test_a_table_that_follows_the_last_article_without_a_mark_is_an_annex() -> None:
    text = "第一条 本法自公布之日起施行。\n示例税率表一（综合所得适用）\n级数 税率\n1 3%"
    spans = split(text)
    assert [(s.locator, s.heading_path) for s in spans] == [
        ("a1", ()),
        ("s1", ("示例税率表一（综合所得适用）",)),
    ]


def test_a_chapter_behind_an_article_that_speaks_of_force_is_no_annex() -> None:
    text = "第八条 本办法自明年起施行。\n法律责任\n第九条 乙。"
    assert [(s.locator, s.heading_path) for s in split(text)] == [
        ("a8", ()),
        ("a9", ("法律责任",)),
    ]


def test_the_chapter_fuze_is_no_annex() -> None:
    assert split("附 则\n第九条 甲。")[0].heading_path == ("附则",)
    assert _locators("第八条 甲。\n附则\n第九条 乙。") == ["a8", "a9"]


def test_a_sentence_about_an_annex_is_text() -> None:
    text = "第一条 甲。\n附件三所列规定的决定\n附带条件的，依照本条办理。\n第二条 乙。"
    assert _locators(text) == ["a1", "a2"]


def test_the_preamble_is_a_passage_of_its_own() -> None:
    text = "为了示例，根据有关规定，制定本解释。\n第一条 甲。\n第二条 乙。"
    assert _locators(text) == ["s0", "a1", "a2"]


def test_a_long_article_is_cut_between_its_paragraphs_and_items() -> None:
    items = "\n".join(f"（{n}）{'甲' * 90}；" for n in "一二三四五六七")
    text = f"第五十四条 有下列情形之一的：\n{items}\n第五十五条 乙。"
    spans = split(text)
    parts = [s for s in spans if s.article == "54"]
    assert [s.locator for s in parts] == [f"a54p{n}" for n in range(1, len(parts) + 1)]
    assert [s.part for s in parts] == list(range(1, len(parts) + 1))
    assert len(parts) >= 2
    assert all(text[s.start : s.end].startswith("（") for s in parts[1:])
    assert spans[-1].locator == "a55"
    assert spans[-1].part == 0


def test_lines_that_repeat_the_title_are_no_text() -> None:
    text = "示例 办法\n第一条 甲。"
    assert _split(text, titles=("示例办法",)) == [("a1", "第一条 甲。")]


def test_a_paragraph_behind_a_stray_mark_of_markdown_is_text() -> None:
    text = "# " + "这是被误标为标题的正文。" * 12
    assert [content for _, content in _split(text)] == [text]


def test_an_empty_heading_of_markdown_is_no_text() -> None:
    assert _locators("##\n第一条 甲。\n##\n第二条 乙。") == ["a1", "a2"]


def test_comments_of_markdown_are_no_text() -> None:
    text = "甲。\n<!-- FORCE BREAK -->\n乙。"
    assert [content for _, content in _split(text)] == ["甲。", "乙。"]


def test_an_annex_heading_closes_all_headings_before_it() -> None:
    text = "# 第二编 分则\n第一条 甲。\n## 附件一\n乙。"
    assert split(text)[-1].heading_path == ("附件一",)


def test_an_item_is_not_taken_for_a_heading() -> None:
    text = (
        "第一条 有下列情形的：\n（一）甲；\n（二）乙留存现金的。（2011年1月8日删除）\n第二条 丙。"
    )
    assert "（二）乙留存现金的" in dict(_split(text))["a1"]


LONG = "渔船所有人应当向登记机关提交材料，登记机关应当在期限内审查并答复。" * 8


def test_sections_of_a_notice_are_the_path_of_their_passages() -> None:
    text = (
        f"一、补贴对象\n{LONG}\n二、补贴标准\n（一）近海渔船\n1.材料\n{LONG}\n"
        f"2 . 程序。{LONG}\n（二）远洋渔船\n{LONG}"
    )
    assert [span.heading_path for span in split(text)] == [
        ("一、补贴对象",),
        ("二、补贴标准",),  # it begins there; （一） and 1. are in its text
        ("二、补贴标准", "（一）近海渔船", "2.程序"),
        ("二、补贴标准", "（二）远洋渔船"),
    ]


def test_a_heading_counts_although_the_one_before_it_is_lost() -> None:
    text = f"{LONG}\n四、受理程序\n{LONG}\n六、附则\n{LONG}"
    assert [span.heading_path for span in split(text)] == [(), ("四、受理程序",), ("六、附则",)]


def test_a_blank_inside_a_title_does_not_end_it() -> None:
    text = f"1. 保障 合理用药。{LONG}\n2. 优化 登记 服务。{LONG}"
    assert [span.heading_path for span in split(text)] == [("1.保障合理用药",), ("2.优化登记",)]


def test_an_annex_that_is_only_announced_above_the_signature_begins_behind_it() -> None:
    text = (
        "各区财政局：\n现将标准印发给你们。\n附件：补贴标准表\n示例市财政局\n2024年3月15日\n"
        "附件\n补贴标准表\n每户三千元。"
    )
    spans = split(text)
    assert [s.heading_path for s in spans] == [(), ("附件 补贴标准表",)]
    assert text[spans[0].start : spans[0].end].endswith(
        "附件：补贴标准表\n示例市财政局\n2024年3月15日"
    )
    assert text[spans[1].start : spans[1].end] == "每户三千元。"


def test_an_annex_without_a_signature_below_its_name_begins_there() -> None:
    text = "现将标准印发给你们。\n附件：补贴标准表\n每户补贴三千元。\n2024年3月15日\n每户两千元。"
    assert [s.heading_path for s in split(text)] == [(), ("附件 补贴标准表",)]


def test_words_between_two_comments_of_one_line_are_no_comment() -> None:
    contents = [content for _, content in _split("<!-- a --> 渔船应当登记。 <!-- b -->\n")]
    assert len(contents) == 1
    assert "渔船应当登记。" in contents[0]
    assert _split("<!-- a --> <!-- b -->\n") == []
