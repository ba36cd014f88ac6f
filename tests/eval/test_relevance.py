"""Which passages count as hits."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from eval.datasets import Gold, Question
from eval.relevance import covers, gold_units, judge, normalise_title
from indexes.schema import Passage, PassageMetadata


def passage(title: str = "示例法", article: str = "3", **known: Any) -> Passage:
    known.setdefault("file", f"law/{title}.md")
    metadata = PassageMetadata(title=title, article=article, **known)
    return Passage(f"law:{title}@{known.get('version', '1')}#a{article}", "law", "虚构", metadata)


def question(*gold: Gold, as_of: date | None = None) -> Question:
    return Question(id="q", key="q", query="虚构示例？", gold=gold, as_of=as_of)


@pytest.mark.parametrize(
    "title",
    [
        "中华人民共和国示例法(试行)",
        "《示例法（试行）》",
        "示例法（试行）(2020-01-31)",
        " 示例法 （试行）（2020-01-31）",
    ],
)
def test_titles_are_compared_without_country_marks_and_date(title: str) -> None:
    assert normalise_title(title) == "示例法(试行)"


def test_a_year_that_belongs_to_the_title_stays() -> None:
    assert normalise_title("示例法修正案（2018年）") != normalise_title("示例法修正案（2004年）")


def test_an_article_is_a_hit_by_title_and_number_whatever_the_domain_or_version() -> None:
    gold = Gold(domain="fiscal", title="示例法", article="3", file="fiscal/示例法(2020-01-31).md")
    assert covers(gold, passage("中华人民共和国示例法", version="2009-01-01", file="x/y.md"))
    assert not covers(gold, passage(article="3-1"))
    assert not covers(gold, passage(article=""))
    assert not covers(gold, passage("示例法实施条例"))


def test_an_article_is_a_hit_by_file_and_number_where_the_titles_differ() -> None:
    gold = Gold(title="示例法典", article="54", file="law/示例法典/总则.md")
    assert covers(gold, passage("总则", "54", file="示例法典/总则.md"))
    assert covers(gold, passage("总则", "54", file="/data/corpus/law/示例法典/总则.md"))
    assert not covers(gold, passage("总则", "54", file="law/别的法典/总则.md"))
    assert not covers(gold, passage("总则", "54", file=""))


def test_a_record_is_decided_by_its_id_and_never_by_its_title() -> None:
    gold = Gold(title="财政部门", record="r1")
    assert covers(gold, passage("别的标题", "", record="r1"))
    assert not covers(gold, passage("财政部门", "", record="r2"))
    assert not covers(gold, passage("财政部门", ""))
    assert not covers(Gold(title="财政部门"), passage("财政部门", "", record="r2"))


def test_gold_without_article_means_any_passage_of_the_title() -> None:
    assert covers(Gold(title="示例通知"), passage("示例通知", ""))
    assert covers(Gold(title="示例通知"), passage("示例通知", "7"))


NEW = "law/示例法(2020-01-31).md"


@pytest.mark.parametrize(
    ("known", "hit"),
    [
        ({"file": NEW, "effective": "2020-03-01"}, True),
        ({"file": NEW, "effective": None}, True),
        ({"file": "law/示例法.md", "effective": "2019-01-01"}, True),
        ({"file": "law/示例法.md", "effective": "2020-06-01"}, True),
        ({"file": "law/示例法.md", "effective": "2020-06-02"}, False),
        ({"file": "law/示例法.md", "effective": "2010-01-01", "expires": "2020-06-01"}, False),
        ({"file": "law/示例法.md", "effective": "2010-01-01", "expires": "2020-06-02"}, True),
        ({"file": "law/示例法.md", "effective": None}, False),
    ],
)
def test_with_a_day_the_version_must_be_the_labelled_one_or_in_force(
    known: dict[str, Any], hit: bool
) -> None:
    gold = Gold(title="示例法", article="3", file=NEW)
    assert covers(gold, passage(**known), date(2020, 6, 1)) is hit


def test_with_a_day_and_no_labelled_file_unknown_dates_pass() -> None:
    gold = Gold(title="示例法", article="3")
    assert covers(gold, passage(effective=None), date(2020, 6, 1))
    assert not covers(gold, passage(effective="2021-01-01"), date(2020, 6, 1))


def test_labels_of_two_versions_of_an_article_are_one_unit() -> None:
    asked = question(
        Gold(domain="law", title="示例法", article="3", file="law/a.md"),
        Gold(domain="fiscal", title="中华人民共和国示例法", article="3", file="law/b.md"),
        Gold(title="示例法", article="4"),
        Gold(title="示例通知", record="r1"),
    )
    assert gold_units(asked) == ("article:示例法#3", "article:示例法#4", "record:r1")


def test_each_unit_counts_once_at_its_first_passage() -> None:
    asked = question(Gold(title="示例法", article="3"), Gold(title="示例法", article="4"))
    results = [
        passage(article="9"),
        passage(article="3", part=0),
        passage(article="3", part=1),
        passage(article="3", version="2009-01-01"),
        passage(article="4"),
    ]
    third, fourth = gold_units(asked)
    assert judge(asked, results) == (None, third, None, None, fourth)


def test_no_results_give_no_judgements() -> None:
    assert judge(question(Gold(title="示例法", article="3")), []) == ()
