"""Which document a name in running text means, and which it must not be taken for. 虚构示例."""

from __future__ import annotations

import pytest

from indexes.names import NamedDocument, NameTable
from indexes.references import mentions

TITLES = (
    "示例法典",
    "示例会计法",
    "示例个人收益税法",
    "示例个人收益税法实施条例",
    "矿场示例法实施条例",
    "物业示例条例",
    "北京市养犬示例规定",
    "上海市消防示例条例",
    "宁波市养犬示例条例",
    "薪资支付示例规定",
    "最高人民法院关于适用《示例法典》婚姻编的解释（一）",
    "最高人民法院关于适用《示例法典》婚姻编的解释（二）",
    "最高人民法院关于审理示例借贷案件适用法律若干问题的规定",
    "最高人民法院关于适用《示例会计法》若干问题的规定（三）",
    "最高人民法院关于适用《收益税法》的解释（一）",
    "示例刑律修正案（十一）",
)
TABLE = NameTable(
    [
        NamedDocument(
            "law",
            title,
            title,
            f"中华人民共和国{title}" if title.endswith(("法", "法典")) else title,
            short_names=(("矿场示例法实施条例", "实施条例"),) if title == TITLES[0] else (),
        )
        for title in TITLES
    ],
    repealed=("示例旧合同法",),
)


def meant(text: str) -> list[str]:
    """The titles of the references of ``text``; ``? name`` for a name that is none of them."""
    return [
        "、".join(t.title for t in TABLE.targets(m.name)) or f"? {m.name}"
        for m in mentions(text, TABLE.ending, TABLE.unheard)
    ]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        # What may stand between a name and its article may also end the name.
        ("北京市养犬示例规定第十条", "北京市养犬示例规定"),
        ("示例法典规定第十条", "示例法典"),
        ("示例法典合同编第五百条", "示例法典"),
        ("《示例法典》第三编第五百条", "示例法典"),
        (
            "最高人民法院关于适用《中华人民共和国示例法典》婚姻编的解释（一）第三条",
            "最高人民法院关于适用《示例法典》婚姻编的解释（一）",
        ),
        (
            "《最高人民法院关于适用〈中华人民共和国示例法典〉婚姻编的解释（二）》第三条",
            "最高人民法院关于适用《示例法典》婚姻编的解释（二）",
        ),
        (
            "《最高人民法院关于适用《示例法典》婚姻编的解释（二）》第3条",
            "最高人民法院关于适用《示例法典》婚姻编的解释（二）",
        ),
        ("示例法典婚姻编司法解释一第2条", "最高人民法院关于适用《示例法典》婚姻编的解释（一）"),
        ("示例会计法解释三第2条", "最高人民法院关于适用《示例会计法》若干问题的规定（三）"),
        ("示例会计法司法解释（三）第2条", "最高人民法院关于适用《示例会计法》若干问题的规定（三）"),
        ("示例会计法司法解释3第2条", "最高人民法院关于适用《示例会计法》若干问题的规定（三）"),
        ("示例刑律修正案十一第一条", "示例刑律修正案（十一）"),
        ("示例刑律修正案（十一）第一条", "示例刑律修正案（十一）"),
        ("示例刑律修正案(十一)第一条", "示例刑律修正案（十一）"),
        ("示例刑律修正案11第一条", "示例刑律修正案（十一）"),
        ("示例借贷司法解释第25条", "最高人民法院关于审理示例借贷案件适用法律若干问题的规定"),
        # The ending that one text uses for its own law is that of many others.
        ("示例个税法实施条例第六条", "示例个人收益税法实施条例"),
        ("示例个人收益税法施行条例第六条", "示例个人收益税法实施条例"),
        ("《示例会计法（2017年修正）》第42条", "示例会计法"),
        # National rules stay what they are beside a place.
        ("在上海示例会计法第9条适用吗", "示例会计法"),
        ("上海物业示例条例第9条", "物业示例条例"),
        ("浙江养犬示例条例第十条", "宁波市养犬示例条例"),
        ("浙江省宁波市养犬示例条例第十条", "宁波市养犬示例条例"),
    ],
)
def test_a_name_means_the_document_that_bears_it(text: str, title: str) -> None:
    assert meant(text) == [title]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("天津市消防示例条例第三条", "天津市消防示例条例"),
        ("武汉养犬示例条例第三条", "武汉养犬示例条例"),
        ("江苏省物业示例条例第十条", "江苏省物业示例条例"),
        ("示例旧合同法第五十二条", "示例旧合同法"),
        ("根据宇宙旅行法第三条", "宇宙旅行法"),
        ("中华人民共和国宇宙旅行条例第三条", "宇宙旅行条例"),
        # Nor is another part of it, nor what interprets a law of which its own is the end.
        ("根据宇宙法修正案十二第一条", "宇宙法修正案十二"),
        ("宇宙法修正案（十二）第一条", "宇宙法修正案(十二)"),
        ("《示例刑律修正案（十二）》第一条", "示例刑律修正案(十二)"),
        ("示例会计法修正案(二)第一条", "示例会计法修正案(二)"),
        ("示例会计法解释四第2条", "示例会计法解释四"),
        ("示例会计法司法解释（四）第2条", "示例会计法司法解释(四)"),
        ("示例个人收益税法解释一第2条", "示例个人收益税法解释一"),
        ("最低薪资规定第三条", "最低薪资规定"),
        ("请问最低薪资规定第三条", "最低薪资规定"),
    ],
)
def test_a_name_that_no_document_bears_is_not_taken_for_another(text: str, name: str) -> None:
    assert meant(text) == [f"? {name}"]


@pytest.mark.parametrize(
    "text",
    [
        "本办法第三条",
        "这个条例第三条",
        "我们的做法第三条",
        "公司规定第三条",
        "按照我们公司规定第三条",
        "学校管理规定第三条",
        "劳动合同规定第三条",
        "支付规定第三条",
        "有关解释三第三条",
    ],
)
def test_what_names_nothing_for_sure_is_no_reference(text: str) -> None:
    assert meant(text) == []


def test_a_count_after_a_joint_is_an_article_of_the_same_document() -> None:
    assert [m.article for m in mentions("示例会计法47条和87条怎么算", TABLE.ending)] == ["47", "87"]


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("示例会计法（2017年）第四十二条", 2017),
        ("示例会计法(2017)第42条", 2017),
        ("《示例会计法（2017年修正）》第42条", 2017),
        ("2017年修正的示例会计法第42条", 2017),
        ("2017年示例会计法第42条", 2017),
        ("示例会计法2017年版第42条", 2017),
        ("示例会计法2017年修正文本的第42条", 2017),
        ("我2017年签的合同，示例会计法第42条", 0),
        ("示例会计法第42条", 0),
    ],
)
def test_a_version_is_named_by_its_year(text: str, year: int) -> None:
    (found,) = mentions(text, TABLE.ending)
    assert found.edition == year


def test_no_text_gives_a_rule_the_name_of_another_law() -> None:
    told = (
        ("甲示例办法", "示例消法"),
        ("甲示例办法", "示例旧合同法"),
        ("甲示例办法", "示例会计法"),
        ("甲示例办法", "甲法"),
    )
    documents = [
        NamedDocument("law", title, title, short_names=told if title == "甲示例办法" else ())
        for title in ("甲示例办法", "示例会计法", "示例消费者法")
    ]
    table = NameTable(documents, {"示例消法": "示例消费者法"}, repealed=("示例旧合同法",))
    assert [t.title for t in table.targets("示例消法")] == ["示例消费者法"]
    assert [t.title for t in table.targets("示例会计法")] == ["示例会计法"]
    assert table.targets("示例旧合同法") == ()
    assert [t.title for t in table.targets("甲法")] == ["甲示例办法"]
