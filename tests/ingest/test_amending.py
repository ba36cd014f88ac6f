"""What a document changes in others, read from its clauses. All rules are 虚构示例."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from indexes.amendments import Amendment
from indexes.schema import Document, Passage, PassageMetadata
from ingest.amending import amendments
from ingest.parse import parse_file
from ingest.validity import ArticleEnd, DocumentFacts, Validity, with_validity
from ingest.versions import facts_of, link_versions, pending_changes

DECISION = "示例市关于修改《示例市船舶条例》的决定"
TODAY = date(2024, 6, 1)


def read(text: str, title: str = DECISION) -> list[tuple[str, str, str]]:
    passage = Passage("law:d@1#s1", "law", text, PassageMetadata(title, "d.md", end=len(text)))
    return [(c.article, c.kind, c.new) for c in amendments(title, text, [passage])]


@pytest.mark.parametrize(
    ("clause", "changes"),
    [
        ("一、第三条修改为：“船舶应当登记。”", [("3", "replace", "船舶应当登记")]),
        ("一、将第三条修改为：“甲。\n“乙。”", [("3", "replace", "甲乙")]),
        ('一、将第三条修改为："甲。"', [("3", "replace", "甲")]),
        (
            "一、在第三条中增加一款作为第二款，将该条修改为：“甲。\n“乙。”",
            [("3", "replace", "甲乙")],
        ),
        ("一、第三条第一款修改为：“甲。”", [("3", "part", "甲")]),
        ("一、第三条中的“五百元”修改为“一千元”。", [("3", "part", "一千元")]),
        ("一、第三条增加一款，作为第二款：“甲。”", [("3", "part", "甲")]),
        ("一、删去第三条第二款。", [("3", "part", "")]),
        ("一、删去第三条中的“甲”。", [("3", "part", "")]),
        ("一、第三条后增加一条，作为第三条之一：“甲。”", [("3-1", "add", "甲")]),
        ("一、增加一条，作为第四条：“甲。”", [("4", "add", "甲"), ("", "renumber", "")]),
        ("一、删去第三条。", [("3", "delete", ""), ("", "renumber", "")]),
        (
            "一、删去第三条、第五条。",
            [("3", "delete", ""), ("5", "delete", ""), ("", "renumber", "")],
        ),
        (
            "一、将第三条改为第四条，修改为：“甲。”",
            [("", "renumber", ""), ("3", "replace", "甲")],
        ),
        ("一、将第三条改为第四条。", [("", "renumber", "")]),
        (
            "一、将第三条第二款、第五条中的“甲”修改为“乙”。",
            [("3", "part", "乙"), ("5", "part", "乙")],
        ),
        (
            "一、第三条修改为：“依照第九条的规定修改为甲。”",
            [("3", "replace", "依照第九条的规定修改为甲")],
        ),
        ("一、对条文顺序作相应调整。", []),
        ("依照《示例市港口条例》第二条的规定登记。", []),
    ],
)
def test_each_wording_of_a_clause_says_what_it_changes(
    clause: str, changes: list[tuple[str, str, str]]
) -> None:
    assert read(clause) == changes


def test_a_bill_of_amendment_leaves_the_numbers_as_they_are() -> None:
    assert read("一、删去刑法第三条。", "刑法修正案（九十九）") == [("3", "delete", "")]


def test_a_decision_on_several_rules_names_each_in_a_line_of_its_own() -> None:
    title = "示例市人民政府关于修改部分规章的决定"
    text = (
        "一、对《示例市船舶办法》作出修改：\n（一）第三条修改为：“甲。”\n"
        "二、《示例市港口办法》\n（一）删去第五条第二款。\n"
        "三、将《示例市码头办法》第七条第一款修改为：“乙。”\n"
    )
    passage = Passage("law:d@1#s1", "law", text, PassageMetadata(title, "d", end=len(text)))
    assert [(c.title, c.article, c.kind) for c in amendments(title, text, [passage])] == [
        ("示例市船舶办法", "3", "replace"),
        ("示例市港口办法", "5", "part"),
        ("示例市码头办法", "7", "part"),
    ]


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("《示例市船舶办法》第三条同时废止。", [("3", "delete", "")]),
        ("将《示例市船舶办法》第三条修改为：“甲。”", [("3", "replace", "甲")]),
        ("《示例市船舶办法》第三条规定的登记，依照本办法办理。", []),
        ("违反《示例市船舶办法》第三条，情节严重的，废止其登记。", []),
    ],
)
def test_another_rule_may_change_an_article_in_passing(
    text: str, changes: list[tuple[str, str, str]]
) -> None:
    assert read(text, "示例市港口办法") == changes


@pytest.mark.parametrize("title", [f"{DECISION}的解读", f"{DECISION}（草案）", "答记者问"])
def test_what_only_tells_of_an_amendment_changes_nothing(title: str) -> None:
    assert read("一、将《示例市船舶条例》第三条修改为：“甲。”", title) == []


def fact(key: str, title: str, said: str, effective: str | None = None) -> DocumentFacts:
    return DocumentFacts(key, title, "310000", said, effective or said, None, "in_force")


RULE = fact("rule", "示例市船舶条例", "2019-01-01")
CHANGE = Amendment("示例市船舶条例", "3", "replace", "law:d@1#s1", "船舶应当登记")
ACT = replace(fact("act", DECISION, "2023-05-01", "2023-07-01"), amends=(CHANGE,))


def ends(*documents: DocumentFacts, today: date = TODAY) -> dict[str, tuple[ArticleEnd, ...]]:
    return {key: v.ends for key, v in link_versions(documents, today).items() if v.ends}


def test_a_replaced_article_ends_when_the_amendment_starts() -> None:
    new = ("船舶应当登记",)
    assert ends(RULE, ACT) == {"rule": (ArticleEnd("2023-07-01", "amended", "3", "", new),)}
    before = ends(RULE, ACT, today=date(2023, 6, 30))
    assert before == {"rule": (ArticleEnd("2023-07-01", None, "3", "", new),)}


@pytest.mark.parametrize(
    "rule",
    [
        fact("rule", "示例市船舶条例", "2023-05-01"),  # the amended text itself
        fact("rule", "示例市船舶条例", "2024-01-01"),
        replace(RULE, jurisdiction_code="110000"),
        replace(RULE, promulgated=None, effective=None),
        replace(RULE, title="示例市船舶条例实施细则"),
    ],
)
def test_a_text_that_the_amendment_does_not_concern_stays(rule: DocumentFacts) -> None:
    assert ends(rule, ACT) == {}


@pytest.mark.parametrize("kind", ["part", "add", "renumber"])
def test_an_article_that_is_changed_in_part_goes_on(kind: str) -> None:
    assert ends(RULE, replace(ACT, amends=(replace(CHANGE, kind=kind),))) == {}  # type: ignore[arg-type]


def test_later_changes_do_not_fit_a_text_whose_numbers_have_moved() -> None:
    moved = replace(CHANGE, article="", kind="renumber", new="")
    first = replace(ACT, key="first", promulgated="2021-01-01", effective="2021-01-01")
    later = replace(ACT, amends=(replace(CHANGE, article="5"),))
    assert ends(RULE, replace(first, amends=(moved,)), later) == {}


def test_a_clause_ends_when_a_later_amendment_replaces_the_same_article() -> None:
    later = replace(ACT, key="later", promulgated="2024-01-01", effective="2024-02-01")
    later = replace(later, amends=(replace(CHANGE, passage="law:e@1#s1", new="乙"),))
    found = ends(RULE, ACT, later)
    assert found["act"] == (ArticleEnd("2024-02-01", "amended", "", "law:d@1#s1"),)
    assert [end.day for end in found["rule"]] == ["2023-07-01"]


def test_two_decisions_of_one_title_both_stand() -> None:
    later = replace(ACT, key="later", promulgated="2024-01-01", effective="2024-02-01", amends=())
    assert "act" not in link_versions([replace(ACT, amends=()), later], TODAY)


def test_without_its_amendment_the_article_applies_again() -> None:
    linked = link_versions([RULE, ACT], TODAY)["rule"]
    assert pending_changes({"rule": (RULE, linked)}, TODAY) == {"rule": Validity(None, "in_force")}
    assert pending_changes({"rule": (RULE, linked), "act": (ACT, None)}, TODAY) == {}


def test_only_the_passages_of_the_article_end_unless_the_text_has_the_new_words() -> None:
    def document(third: str) -> Document:
        parts = {"2": "第二条 甲。", "3": third}
        passages = tuple(
            Passage(f"law:r@1#a{n}", "law", t, PassageMetadata("示例", "r", article=n))
            for n, t in parts.items()
        )
        return Document("law", "rule", "示例", "1", "".join(parts.values()), passages)

    validity = link_versions([RULE, ACT], TODAY)["rule"]
    old = with_validity(document("第三条 船舶可以登记。"), validity)
    assert [(p.metadata.expires, p.metadata.status) for p in old.passages] == [
        (None, "in_force"),
        ("2023-07-01", "amended"),
    ]
    new = with_validity(document("第三条 船舶应当登记。"), validity)
    assert [p.metadata.expires for p in new.passages] == [None, None]


def test_a_text_that_holds_its_amendments_loses_no_article_to_them(shared_data: Path) -> None:
    """Even were its day unknown: the criminal law of 2023 and the amendments that it holds."""
    documents = [
        document
        for path in sorted((shared_data / "real_files" / "md_lawrefbook").glob("刑法*.md"))
        for document in parse_file(path, "law", path.parent, lambda: TODAY)
        if isinstance(document, Document)
    ]
    facts = {d.title: facts_of(d, d.title) for d in documents}
    law = next(d for d in documents if d.title == "刑法")
    assert "刑法" not in ends(*facts.values())
    facts["刑法"] = replace(facts["刑法"], promulgated="1997-03-14", effective="1997-10-01")
    linked = link_versions(list(facts.values()), TODAY)
    assert len(linked["刑法"].ends) > 60
    ended = [p for p in with_validity(law, linked["刑法"]).passages if p.metadata.expires]
    assert [p.content.split()[0] for p in ended] == ["第一百九十九条"]  # cut, and marked so
    third = linked["刑法修正案（三）"].ends
    assert {(end.day, end.status) for end in third if end.passage} >= {("2021-03-01", "amended")}
