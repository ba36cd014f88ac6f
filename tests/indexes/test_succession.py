"""What took the place of what. All rules are 虚构示例."""

from __future__ import annotations

from datetime import date

from indexes.schema import PassageMetadata
from indexes.succession import Succession, Version, repealed_titles, status_on


def version(
    title: str, effective: str, expires: str | None = None, code: str = "100000"
) -> Version:
    meta = PassageMetadata(
        title=title, file="", effective=effective, expires=expires, jurisdiction_code=code
    )
    key = f"{title}@{effective}@{code}"
    return Version("law", key, f"law:{key.replace('@', '-')}@{effective}#a1", meta)


def test_the_next_version_of_the_same_title_and_place_follows() -> None:
    first = version("示例法", "2000-01-01", "2010-01-01")
    second = version("中华人民共和国示例法", "2010-01-01", "2020-01-01")
    third = version("示例法", "2020-01-01")
    elsewhere = version("示例法", "2005-01-01", code="310000")
    known = Succession([third, first, elsewhere, second], {})
    assert [known.successor(v) for v in (first, second, third, elsewhere)] == [
        second,
        third,
        None,
        None,
    ]
    assert known.predecessors(third) == [second]
    assert known.of(second.id.replace("#a1", "#a99")) is second


def test_else_the_document_that_repeals_the_title_follows() -> None:
    old = version("示例条例", "2000-01-01", "2010-01-01")
    new = version("示例新法", "2010-01-01")
    other = version("示例他法", "2009-01-01")
    repeals = {("law", v.doc_key): frozenset({"示例条例"}) for v in (new, other)}
    assert Succession([old, new, other], repeals).successor(old) is new


def test_a_rule_that_nothing_replaced_has_no_successor() -> None:
    old = version("示例通知", "2000-01-01", "2010-01-01")
    assert Succession([old], {}).successor(old) is None
    assert status_on(old.metadata, date(2010, 1, 1), None) == "repealed"


def test_the_status_is_that_of_the_day() -> None:
    first = version("示例法", "2000-01-01", "2010-01-01")
    second = version("示例法", "2010-01-01")
    days = (date(1999, 12, 31), date(2009, 12, 31), date(2010, 1, 1))
    assert [status_on(first.metadata, day, second) for day in days] == [
        "not_yet",
        "in_force",
        "amended",
    ]


def test_only_titles_before_the_word_are_repealed() -> None:
    text = "本法自2020年1月1日起施行。《甲条例》、《乙办法》同时废止。按照《丙法》执行。"
    assert repealed_titles(text) == {"甲条例", "乙办法"}
