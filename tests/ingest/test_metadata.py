"""Issuer, level, place, dates and status of a document. All documents are 虚构示例."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from ingest.metadata import Facts, SourceText, extract

TODAY = date(2024, 6, 1)
ARTICLES = "第一条 甲。\n第二条 乙。\n"


def _facts(
    title: str,
    body: str = ARTICLES,
    *,
    domain: str = "fiscal",
    name: str = "",
    history: tuple[str, ...] = (),
    folders: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    given: dict[str, str] | None = None,
) -> Facts:
    source = SourceText(domain, name or title, title, body, history, folders, tags, given or {})
    return extract(source, TODAY)


def _place(facts: Facts) -> str:
    return facts.place.name if facts.place else ""


def test_a_law_of_the_national_congress() -> None:
    facts = _facts(
        "示例法",
        history=(
            "2001年1月2日 第九届全国人民代表大会常务委员会第一次会议通过",
            "2020年3月4日 第十三届全国人民代表大会常务委员会第二次会议《关于修改〈示例法〉的决定》"
            "修正",
        ),
    )
    assert (facts.level, _place(facts)) == ("法律", "全国")
    assert facts.issuer == "全国人民代表大会常务委员会"
    assert facts.promulgated == "2020-03-04"


def test_a_regulation_of_the_state_council() -> None:
    facts = _facts("示例条例", history=("2001年1月2日 中华人民共和国国务院令第938号公布",))
    assert (facts.level, facts.issuer, facts.doc_number) == (
        "行政法规",
        "国务院",
        "国务院令第938号",
    )


def test_a_judicial_interpretation() -> None:
    facts = _facts(
        "最高人民法院、最高人民检察院关于示例的解释",
        "为了示例，制定本解释。\n" + ARTICLES,
        domain="law",
        history=("法释〔2022〕912号",),
    )
    assert (facts.level, facts.doc_number) == ("司法解释", "法释〔2022〕912号")
    assert facts.issuer == "最高人民法院、最高人民检察院"


def test_a_departmental_rule() -> None:
    facts = _facts("示例管理办法", history=("2019年5月6日 国家示例监督管理总局令第91号公布",))
    assert (facts.level, facts.issuer) == ("部门规章", "国家示例监督管理总局")
    assert _place(facts) == "全国"


def test_a_city_regulation_that_the_province_approved_is_the_citys() -> None:
    facts = _facts(
        "示例河道条例",
        domain="local",
        history=(
            "2019年5月6日 湖州市第八届人民代表大会常务委员会第二十次会议通过",
            "2019年8月1日 浙江省第十三届人民代表大会常务委员会第十三次会议批准",
        ),
    )
    assert (facts.level, _place(facts)) == ("地方性法规", "湖州市")
    assert facts.issuer == "湖州市人民代表大会常务委员会"


def test_a_rule_for_a_district_that_the_city_made_belongs_to_the_city() -> None:
    facts = _facts(
        "上海市浦东新区示例若干规定",
        domain="local",
        history=("2024年1月2日 上海市第十六届人民代表大会常务委员会第一次会议通过",),
    )
    assert _place(facts) == "上海市"


def test_a_local_government_rule_and_a_normative_document() -> None:
    decree = _facts(
        "广州市示例优待办法", domain="local", history=("2021年3月4日 广州市人民政府令第979号公布",)
    )
    assert (decree.level, _place(decree)) == ("地方政府规章", "广州市")
    notice = _facts("示例积分办法", domain="local", history=("沪府规〔2023〕934号",))
    assert (notice.level, _place(notice)) == ("规范性文件", "上海市")


def test_a_local_regulation_without_a_head_is_known_by_its_name() -> None:
    facts = _facts("上海市示例管理条例", "第一条 甲。\n第九条 本条例自2011年5月15日起施行。")
    assert (facts.level, _place(facts)) == ("地方性法规", "上海市")
    assert (facts.promulgated, facts.effective) == (None, "2011-05-15")


NOTICE = (
    "各有关单位： 为了示例，现就有关事项通知如下： 一、甲事项。 二、乙事项。 "
    "泰州市海陵区应对示例 工作领导小组 2020年2月9日"
)


def test_a_notice_in_one_line_is_signed_and_dated_at_its_end() -> None:
    facts = _facts("关于示例事项的通告", NOTICE, domain="local")
    assert facts.issuer == "泰州市海陵区应对示例工作领导小组"
    assert (facts.promulgated, facts.effective) == ("2020-02-09", "2020-02-09")
    assert (facts.level, _place(facts)) == ("规范性文件", "海陵区")


def test_the_organ_before_guanyu_in_the_title_is_the_issuer() -> None:
    facts = _facts("国家税务总局重庆市税务局关于示例的通知", "内容如下。各有关单位：甲。")
    assert (facts.issuer, _place(facts)) == ("国家税务总局重庆市税务局", "重庆市")


def test_a_notice_to_all_provinces_is_national() -> None:
    body = "各省、自治区、直辖市财政厅（局），新疆生产建设兵团财政局：现将有关事项通知如下：甲。"
    assert _place(_facts("关于示例资金的通知", body, domain="local")) == "全国"


def test_news_is_no_rule_and_neither_starts_nor_ends() -> None:
    body = (
        "新华社北京2月7日电（记者甲乙）通知明确，上述政策自2020年1月1日起执行，"
        "执行至2020年6月30日。"
    )
    facts = _facts("五部门：强化示例资金支持", body)
    assert (facts.level, _place(facts)) == ("新闻解读", "全国")
    assert (facts.effective, facts.expires, facts.status) == (None, None, "in_force")


def test_the_date_in_the_file_name_is_that_of_the_version() -> None:
    facts = _facts(
        "示例条例",
        "第一条 甲。\n第九条 本条例自2009年1月1日起施行。",
        name="示例条例(2022-06-01)",
        history=("2008年7月31日 广东省第十一届人民代表大会常务委员会第四次会议通过",),
        domain="local",
    )
    assert (facts.promulgated, facts.effective) == ("2022-06-01", "2022-06-01")


def test_a_version_takes_effect_on_the_stated_day_when_that_is_later() -> None:
    body = "第一条 甲。\n第九条 本条例自2022年9月1日起施行。"
    assert _facts("示例条例", body, name="示例条例(2022-06-01)").effective == "2022-09-01"


def test_the_head_states_the_day_before_the_text_does() -> None:
    facts = _facts(
        "示例规则",
        "第一条 甲。\n第九条 本规则自2001年1月1日起施行。",
        history=("2021年6月16日 公布", "2021年8月1日 施行"),
    )
    assert (facts.promulgated, facts.effective) == ("2021-06-16", "2021-08-01")


def test_without_a_stated_day_a_rule_counts_from_its_promulgation() -> None:
    facts = _facts("示例办法", name="示例办法(2020-01-02)")
    assert (facts.effective, facts.status) == ("2020-01-02", "in_force")


@pytest.mark.parametrize(
    ("body", "effective", "expires", "status"),
    [
        ("第一条 本办法自2024年9月1日起施行。", "2024-09-01", None, "not_yet"),
        ("第一条 本办法自2019年1月1日起施行，有效期5年。", "2019-01-01", "2024-01-01", "repealed"),
        ("第一条 本办法自2022年1月1日起施行，有效期5年。", "2022-01-01", "2027-01-01", "in_force"),
        ("第一条 许可证有效期为5年。", None, None, "in_force"),
    ],
)
def test_the_status_follows_from_the_days(
    body: str, effective: str | None, expires: str | None, status: str
) -> None:
    facts = _facts("示例办法", body)
    assert (facts.effective, facts.expires, facts.status) == (effective, expires, status)


def test_a_document_that_says_it_is_repealed_is_repealed() -> None:
    assert _facts("示例办法（已废止）").status == "repealed"
    assert _facts("示例办法", tags=("部门规章", "失效")).status == "repealed"
    assert _facts("示例办法", given={"status": "已废止"}).status == "repealed"
    assert _facts("示例办法", "【失效】\n" + ARTICLES).status == "repealed"


def test_a_decision_that_repeals_another_rule_is_in_force() -> None:
    facts = _facts(
        "关于废止《旧示例办法》的决定", "决定废止《旧示例办法》。本决定自公布之日起施行。"
    )
    assert facts.status == "in_force"


def test_what_is_given_wins_and_bad_values_are_told() -> None:
    facts = _facts(
        "上海市示例办法",
        given={
            "doc_number": "示发[2024]09号",
            "issuer": "示例局",
            "level": "规范性文件",
            "jurisdiction": "深圳",
            "effective": "2024-03-01",
            "expires": "没有日期",
        },
    )
    assert (facts.doc_number, facts.issuer, facts.level) == (
        "示发〔2024〕9号",
        "示例局",
        "规范性文件",
    )
    assert (_place(facts), facts.effective, facts.expires) == ("深圳市", "2024-03-01", None)
    assert facts.warnings == ("expires '没有日期' is no date; write it as 2024-06-01",)


def test_an_unknown_given_place_is_told_and_the_text_is_used() -> None:
    facts = _facts("上海市示例办法", given={"jurisdiction": "火星"})
    assert _place(facts) == "上海市"
    assert "火星" in facts.warnings[0]


def test_an_end_before_the_beginning_is_left_out() -> None:
    facts = _facts("示例办法", given={"effective": "2024-03-01", "expires": "2024-01-01"})
    assert facts.expires is None
    assert facts.warnings


def test_a_letter_that_encloses_a_text_is_signed_before_it() -> None:
    body = (
        "现将有关措施印发给你们，请认真贯彻执行。 上海市黄浦区人民政府 2020年2月11日 "
        "黄浦区支持渔业的若干措施 一、补贴对象。 2020年3月1日之前登记的企业。"
    )
    facts = _facts("关于印发若干措施的通知", body, domain="local")
    assert facts.issuer == "上海市黄浦区人民政府"
    assert (_place(facts), facts.promulgated, facts.level) == (
        "黄浦区",
        "2020-02-11",
        "规范性文件",
    )


def test_a_district_name_that_two_cities_share_is_that_of_the_city_in_the_text() -> None:
    body = "各单位：现将北京市有关要求通知如下：一、甲。 二、乙。 联系人：北京市民热线。"
    facts = _facts("通州区渔业局关于示例的通知", body, domain="local")
    assert facts.place is not None
    assert (facts.place.name, facts.place.code) == ("通州区", "110112")


def test_labels_in_the_first_line_of_a_text_without_line_breaks_are_read() -> None:
    body = "【发文单位】 示例总局 【发布文号】 示函〔2020〕919号 【发文日期】 2020-01-30 各局：甲。"
    facts = _facts("示例总局关于示例的通知", body)
    assert (facts.doc_number, facts.promulgated) == ("示函〔2020〕919号", "2020-01-30")


def test_the_day_of_entry_into_force_in_a_line_of_promulgation_is_no_promulgation() -> None:
    facts = _facts(
        "示例条例",
        history=("1988年8月6日 中华人民共和国国务院令第911号发布，自1988年10月1日起施行",),
    )
    assert (facts.promulgated, facts.effective) == ("1988-08-06", "1988-10-01")


def test_the_issuer_of_an_amended_law_is_who_adopted_it() -> None:
    facts = _facts(
        "示例法",
        history=(
            "1995年3月18日 第八届全国人民代表大会第三次会议通过",
            "2021年4月29日 第十三届全国人民代表大会常务委员会第二十八次会议修正",
        ),
    )
    assert facts.issuer == "全国人民代表大会"


def test_what_a_city_government_adopted_in_its_meeting_is_a_rule_of_that_government() -> None:
    facts = _facts(
        "北京市渔船示例办法",
        domain="local",
        history=("2006年11月17日 北京市人民政府第956次常务会议审议通过", "2007年1月1日 施行"),
    )
    assert (facts.level, facts.issuer) == ("地方政府规章", "北京市人民政府")
    assert (facts.promulgated, facts.effective) == ("2006-11-17", "2007-01-01")


def test_a_rule_thirty_days_after_its_publication() -> None:
    body = "第一条 甲。\n第二条 本办法自公布之日起三十日后施行，有效期五年。"
    facts = _facts("示例办法", body, history=("2021年3月4日 广州市人民政府令第979号公布",))
    assert (facts.effective, facts.expires) == ("2021-04-03", "2026-04-03")


def test_the_day_of_force_is_found_before_an_annex_of_any_length() -> None:
    rows = "".join(f"| 第{n}街 | 每户{n}元 |\n" for n in range(200))
    facts = _facts(
        "示例市财政局关于发放补贴的通知",
        "各区财政局：\n"
        + "现将有关事项通知如下。" * 100
        + "\n本通知自2024年3月1日起施行，有效期五年。\n"
        "附件：补贴标准表\n示例市财政局\n2024年2月1日\n附件\n补贴标准表\n" + rows,
    )
    assert (facts.promulgated, facts.effective, facts.expires) == (
        *("2024-02-01", "2024-03-01", "2029-03-01"),
    )


def test_dates_in_the_rows_of_a_table_are_no_signature() -> None:
    table = "| 企业 | 批准日期 |\n| --- | --- |\n| 甲公司 | 2024年3月1日 |\n| 乙公司 | 2023-05-06 |"
    facts = _facts("示例市补贴企业名单", f"名单如下：\n{table}")
    assert (facts.promulgated, facts.effective) == (None, None)


def test_a_place_that_a_long_text_names_once_in_passing_is_not_its_own() -> None:
    filler = "消费者有权了解商品的真实情况。" * 100
    for rest, place in (
        ("", ""),
        ("香港居民同样适用。", "香港特别行政区"),
        ("本市居民适用。", "香港特别行政区"),
    ):
        body = f"{filler}持有香港证件的人员适用。{rest}{filler * 4}"
        assert _place(_facts("示例题库", body, domain="local")) == place


def test_a_day_counted_in_working_days_is_told_to_be_checked() -> None:
    body = "第一条　渔船应当登记。\n第二条　本办法自公布之日起十个工作日后施行。"
    source = SourceText("law", "渔业办法(2023-06-02)", "渔业办法", body)
    facts = extract(source, TODAY)
    assert facts.effective == "2023-06-16"
    assert [w for w in facts.warnings if "2023-06-16" in w and "holidays" in w]
    plain = extract(replace(source, body=body.replace("个工作日", "日")), TODAY)
    assert (plain.effective, plain.warnings) == ("2023-06-12", ())
