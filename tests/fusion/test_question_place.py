"""A named place selects its rules and those above it. All rules and questions are 虚构示例."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fusion.engine import PolicyQueryEngine
from fusion.question_place import read_question_place
from tests.fakes import FakeEmbedder
from tests.fusion.ingested import ingested

PLACES = ("上海市", "北京市", "广州市", "深圳市", "杭州市", "广东省", "浙江省", "上海市浦东新区")
RULE = """{place}养犬管理示例条例
（2020年1月5日{place}人民代表大会常务委员会通过）
第一条 本条例适用于{place}。
第二条 养犬应当办理登记，登记费每年一百元。
第三条 本条例自2020年3月1日起施行。
"""
NATIONAL_RULE = """养犬登记示例法
第一条 养犬应当登记，登记办法由省规定。
第二条 本法自2019年3月1日起施行。
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PolicyQueryEngine]:
    root = tmp_path_factory.mktemp("places")
    files = {f"local/{p}养犬管理示例条例.txt": RULE.format(place=p) for p in PLACES}
    files["law/养犬登记示例法.txt"] = NATIONAL_RULE
    made = ingested(root, files, domains=("law", "local"), store={"reopen_seconds": 0.0})
    embedders = {domain: FakeEmbedder() for domain in ("law", "fiscal", "local")}
    with PolicyQueryEngine.from_config(made, embedders=embedders) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "own"),
    [
        ("上海养犬登记费多少", {"上海市", "上海市浦东新区"}),
        ("魔都养犬要登记吗", {"上海市", "上海市浦东新区"}),
        ("申城养犬登记费每年多少", {"上海市", "上海市浦东新区"}),
        ("帝都养犬登记费多少", {"北京市"}),
        ("北京市海淀区养犬登记费", {"北京市"}),
        ("羊城养犬登记费多少钱", {"广州市", "广东省"}),
        ("鹏城养犬要登记吗", {"深圳市", "广东省"}),
        ("杭城养犬登记费", {"杭州市", "浙江省"}),
        ("广州天河养犬登记费", {"广州市", "广东省"}),
        ("深圳市南山区养犬登记", {"深圳市", "广东省"}),
        ("浦东新区养犬登记费", {"上海市", "上海市浦东新区"}),
        ("杭州市余杭区养犬登记", {"杭州市", "浙江省"}),
        ("义乌市养犬登记费", {"浙江省"}),
        ("武汉养犬登记费", set()),
        ("上海和北京的养犬登记费各是多少", {"上海市", "上海市浦东新区", "北京市"}),
        ("从广州搬到杭州，养犬要重新登记吗", {"广州市", "广东省", "杭州市", "浙江省"}),
        ("我在沪漂，养犬登记费多少", None),
        ("北京大学校园里养犬登记费", None),
        ("上海银行职工养犬登记费", None),
        ("南京西路养犬登记费", None),
        ("《上海市养犬管理示例条例》的登记费", None),
        ("上海养犬登记费与其他城市比如何", None),
        ("除了上海以外养犬登记费多少", None),
        ("养犬登记费多少", None),
        ("北京时间几点可以办养犬登记", None),
    ],
)
def test_rules_of_other_places_never_answer(
    engine: PolicyQueryEngine, question: str, own: set[str] | None
) -> None:
    found = engine.search(question, top_k=60)
    local = {item.passage.metadata.title for item in found.passages} - {"养犬登记示例法"}
    places = {title.removesuffix("养犬管理示例条例") for title in local}
    if own is None and question.startswith("我在沪漂"):
        own = {"上海市", "上海市浦东新区"}
    assert places == (set(PLACES) if own is None else own)
    assert any(item.passage.source == "law" for item in found.passages)


def test_the_callers_place_counts_more_than_the_questions(engine: PolicyQueryEngine) -> None:
    found = engine.search("上海养犬登记费多少", jurisdiction="北京市", top_k=60)
    assert {i.passage.metadata.jurisdiction for i in found.passages} == {"北京市", "全国"}
    found = engine.search("上海养犬登记费多少", jurisdiction="any", top_k=60)
    assert len({i.passage.metadata.jurisdiction for i in found.passages}) > 5


def test_an_article_that_is_named_is_read_whatever_the_place(engine: PolicyQueryEngine) -> None:
    found = engine.search("在北京能用《上海市养犬管理示例条例》第二条吗")
    assert found.passages[0].passage.metadata.title == "上海市养犬管理示例条例"


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("上海大学生落户补贴", ("上海市",)),
        ("北京银行卡丢了怎么补", ("北京市",)),
        ("上海路边停车收费", ("上海市",)),
        ("上海菜市场摊位费", ("上海市",)),
        ("广州街头摆摊罚多少", ("广州市",)),
    ],
)
def test_a_name_that_only_looks_like_an_institution_is_a_place(
    question: str, names: tuple[str, ...]
) -> None:
    found = read_question_place(question)
    assert found is not None
    assert found.names == names


@pytest.mark.parametrize(
    ("question", "admitted", "refused"),
    [
        # Two cities have a 南山区 (440305 深圳, 230404 鹤岗): either may be meant, no third one.
        ("南山区养犬要登记吗", {"440305", "440300", "230404", "230400", "440000"}, {"330200"}),
        ("深圳南山区养犬要登记吗", {"440305", "440300"}, {"230404", "330200"}),
        ("长三角养犬要登记吗", {"310000", "330100", "320000", "340000"}, {"110000", "440000"}),
        ("京津冀停车怎么收费", {"110000", "120000", "130000"}, {"310000"}),
        ("崇明养犬要登记吗", {"310151", "310000"}, {"110000"}),
        ("义乌养犬要登记吗", {"330782", "330700", "330000"}, {"330200", "310000"}),
        ("台北养犬要登记吗", {"710000"}, {"110000"}),
    ],
)
def test_shared_names_regions_and_districts_leave_out_every_other_place(
    question: str, admitted: set[str], refused: set[str]
) -> None:
    placed = read_question_place(question)
    assert placed is not None
    assert admitted <= placed.codes
    assert not refused & placed.codes


@pytest.mark.parametrize("question", ["黄浦江上能不能游泳", "郊区能不能养犬", "空调柜台中央的标签"])
def test_words_that_only_look_like_districts_name_no_place(question: str) -> None:
    assert read_question_place(question) is None
