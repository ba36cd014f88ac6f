"""Organs that issue together. Local names are 虚构示例."""

from __future__ import annotations

from datetime import date

import pytest

from ingest.issuers import issuer_as_given, issuer_of_notice, issuer_of_number
from ingest.organs import is_organ, side_by_side
from ingest.signature import Signature, signature

NOBODY = Signature((), None)


@pytest.mark.parametrize(
    ("name", "organs"),
    [
        ("财政部税务总局", ("财政部", "税务总局")),
        ("国务院扶贫办财政部", ("国务院扶贫办", "财政部")),
        (
            "人力资源社会保障部财政部国家税务总局",
            ("人力资源社会保障部", "财政部", "国家税务总局"),
        ),
        ("中共中央办公厅国务院办公厅", ("中共中央办公厅", "国务院办公厅")),
        ("财政部办公厅和农业农村部办公厅", ("财政部办公厅", "农业农村部办公厅")),
        ("示例市教育局示例市财政局", ("示例市教育局", "示例市财政局")),
        (
            "示例省财政厅国家税务总局示例省税务局示例省人力资源和社会保障厅",
            ("示例省财政厅", "国家税务总局示例省税务局", "示例省人力资源和社会保障厅"),
        ),
        ("中共示例市委办公厅示例市人民政府办公厅", ("中共示例市委办公厅", "示例市人民政府办公厅")),
    ],
)
def test_names_that_run_together_are_parted(name: str, organs: tuple[str, ...]) -> None:
    assert side_by_side(name) == organs


@pytest.mark.parametrize(
    "name",
    [
        "国家税务总局示例市税务局",
        "中国人民银行示例市分行",
        "国务院办公厅",
        "示例市人力资源和社会保障局",
        "示例市示例区教育局",
        "示例市教育局驻示例市工作组",
        "财政部示例监管局",
        "工业和信息化部",
    ],
)
def test_a_name_that_repeats_a_place_or_a_ministry_stays_one(name: str) -> None:
    assert side_by_side(name) == (name,)


def test_national_names_without_a_common_ending_are_organs() -> None:
    assert is_organ("中共中央")
    assert is_organ("国务院扶贫办")
    assert not is_organ("有关事项")


@pytest.mark.parametrize(
    ("title", "issuer"),
    [
        ("财政部税务总局关于示例补贴的公告", "财政部、税务总局"),
        ("财政部 税务总局 国家发展改革委关于示例的通知", "财政部、税务总局、国家发展改革委"),
        ("示例市教育局，示例市财政局关于示例的通知", "示例市教育局、示例市财政局"),
        ("中共中央 国务院关于示例的意见", "中共中央、国务院"),
        ("示政发〔2024〕3号-示例区人民政府办公室关于示例的通知", "示例区人民政府办公室"),
        (
            "示例市人民政府 中国示例银行示例省分行关于示例的通知",
            "示例市人民政府、中国示例银行示例省分行",
        ),
        ("示例市教育局等四部门关于示例的通知", "示例市教育局"),
        ("有关部门关于示例的通知", ""),
    ],
)
def test_the_organs_before_guanyu_are_all_issuers(title: str, issuer: str) -> None:
    assert issuer_of_notice(title, NOBODY) == issuer


def test_of_a_title_with_and_others_the_signature_names_all() -> None:
    signed = Signature(("示例市教育局", "示例市财政局"), date(2024, 6, 3))
    title = "示例市教育局等两部门关于示例的通知"
    assert issuer_of_notice(title, signed) == "示例市教育局、示例市财政局"


@pytest.mark.parametrize(
    "tail",
    [
        "示例市教育局 示例市财政局\n2024年6月3日",
        "示例市教育局示例市财政局\n2024年6月3日",
        "示例市教育局\n示例市财政局\n2024年6月3日",
        "示例市教育局　　示例市财政局　　2024年6月3日",
        "示例市教育局&ensp;示例市财政局 2024年6月3日",
    ],
)
def test_organs_that_signed_together_are_told_apart(tail: str) -> None:
    body = f"请认真贯彻执行（虚构示例）。\n{tail}\n"
    assert signature(body) == Signature(("示例市教育局", "示例市财政局"), date(2024, 6, 3))


def test_organs_that_end_a_text_without_a_date_sign_it() -> None:
    body = "请认真贯彻执行（虚构示例）。\n示例市教育局 示例市财政局"
    assert signature(body) == Signature(("示例市教育局", "示例市财政局"), None)
    assert signature("由示例市教育局负责解释（虚构示例）。") == NOBODY


def test_a_number_may_spell_out_its_organs() -> None:
    number = "财政部 海关总署 税务总局公告2024年第96号"
    assert issuer_of_number(number) == "财政部、海关总署、税务总局"
    assert issuer_of_number("示财税〔2024〕3号") == ""


@pytest.mark.parametrize(
    ("given", "issuer"),
    [
        ("财政部 税务总局", "财政部、税务总局"),
        ("示例市教育局,示例市财政局", "示例市教育局、示例市财政局"),
        ("示例市教育局；示例市财政局；", "示例市教育局、示例市财政局"),
        ("示例市教育局示例市财政局", "示例市教育局、示例市财政局"),
        ("示例市教育局", "示例市教育局"),
        ("Ministry of Examples", "Ministry of Examples"),
        ("示例网 编辑部", "示例网 编辑部"),
    ],
)
def test_a_stated_issuer_becomes_a_list_only_when_it_names_organs(given: str, issuer: str) -> None:
    assert issuer_as_given(given, NOBODY) == issuer


def test_a_stated_issuer_is_completed_by_those_who_signed_with_it() -> None:
    signed = Signature(("示例市教育局", "示例市财政局"), date(2024, 6, 3))
    assert issuer_as_given("示例市教育局", signed) == "示例市教育局、示例市财政局"
    assert issuer_as_given("示例市司法局", signed) == "示例市司法局"
