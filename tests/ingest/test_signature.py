"""The signature of a notice. All texts are 虚构示例."""

from __future__ import annotations

from datetime import date

import pytest

from ingest.signature import Signature, signature

DAY = date(2020, 2, 7)


@pytest.mark.parametrize(
    ("body", "organs"),
    [
        ("请认真执行。 示例市渔业局 2020年2月7日", ("示例市渔业局",)),
        ("请执行。\n示例市渔业局 示例市财政局\n2020年2月7 日\n", ("示例市渔业局", "示例市财政局")),
        ("特此通告。 　　示例市渔船应急处置 工作领导小组 2020年2月7日 （此件公开发布）",
         ("示例市渔船应急处置工作领导小组",)),
        ("公开方式：主动公开\n示例市渔业局\n２０２０ 年\n２ 月 7 日", ("示例市渔业局",)),
        # Signed before the annex, which has a day of its own under other words.
        ("请认真执行。 示例市渔业局 2020年2月7日 渔船名单 渔业局 2020年3月1日 截至统计",
         ("示例市渔业局",)),
        ("请认真执行。 2020年2月7日 渔船名单 一、甲船。", ()),
        ("渔船应当登记。\n2020年2月7日\n附件：名单", ()),
    ],
)  # fmt: skip
def test_organs_and_day_of_a_signature(body: str, organs: tuple[str, ...]) -> None:
    assert signature(body) == Signature(organs, DAY)


@pytest.mark.parametrize(
    "body",
    [
        "自2020年2月7日起施行。",
        "截至2020年2月7日，共有渔船三艘。",
        "示例市渔业局2020年2月7日召开会议，研究渔船登记。" + "会议指出，渔船登记很重要。" * 150,
    ],
)
def test_a_day_in_a_sentence_is_no_signature(body: str) -> None:
    assert signature(body) == Signature((), None)
