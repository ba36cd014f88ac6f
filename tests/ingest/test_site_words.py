"""Text copied from web pages (虚构示例)."""

from __future__ import annotations

from ingest.formats.site_words import without_site_words

_DOCUMENT = (
    "虚构县水泵补贴办法\n\n第一条 为了虚构，制定本办法。\n第二条 本办法自2031年3月1日起施行。"
)


def test_the_foot_of_the_site_goes_and_a_sentence_behind_it_stays() -> None:
    foot = "\n登录\n×\n虚构省\n|\n网站声明\n主办单位：虚构县政府办\n网站标识码0000000000\n微博\n"
    behind = "《虚构县水泵补贴办法》已经2031年1月5日县政府第3次常务会议通过。"
    assert without_site_words(_DOCUMENT + foot + behind) == f"{_DOCUMENT}\n{behind}"


def test_a_signature_before_the_foot_stays() -> None:
    signed = f"{_DOCUMENT}\n虚构县人民政府\n2031年1月5日\n"
    assert without_site_words(signed + "网站地图\n虚ICP备 00000000号") == signed.rstrip("\n")
    unsigned = f"{_DOCUMENT}\n虚构县人民政府\n"
    assert without_site_words(unsigned + "网站地图\n虚ICP备 00000000号") == unsigned.rstrip("\n")


def test_the_path_above_the_text_goes() -> None:
    path = "首页\n >\n政务公开\n >\n通知\n大\n中\n小\n"
    assert without_site_words(path + _DOCUMENT) == _DOCUMENT


def test_a_document_that_asks_for_an_organiser_is_left_alone() -> None:
    form = f"{_DOCUMENT}\n附件\n申请表\n主办单位：\n承办单位：\n联系人：\n大"
    assert without_site_words(form) == form.removesuffix("\n大")
    assert without_site_words(_DOCUMENT) == _DOCUMENT
