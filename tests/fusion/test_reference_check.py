"""Statute references of a document, checked against a store. All rules are 虚构示例."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from fusion.reference_check import CheckedReference, check_references
from fusion.statute_book import StatuteBook
from indexes.catalog import PassageCatalog
from indexes.store_layout import StoreLayout
from ingest.pipeline import ingest
from tests.fakes import FakeEmbedder
from tests.fusion.fake_sources import settings

DAY = date(2024, 6, 1)
FILES = {
    "示例劳动保障法(2019-01-01).md": """# 示例劳动保障法
2019年1月1日公布 自2019年3月1日起施行
<!-- INFO END -->
第一条 为了保护劳动者，制定本法。
第二条 试用期最长一年，期满应当转正。
第三条 工资按季支付给劳动者本人。
第四条 本条以后删去。
""",
    "示例劳动保障法(2023-01-01).md": """# 示例劳动保障法
2023年1月1日修订 自2023年3月1日起施行
<!-- INFO END -->
第一条 为了保护劳动者，制定本法。
第二条 试用期最长六个月，期满应当转正。
第二条之一 完成一定任务的合同，不得约定试用期。
第三条 工资按月支付给劳动者本人。
""",
    "示例停车条例(2010-01-01).md": """# 示例停车条例
2010年1月1日公布 自2010年3月1日起施行
<!-- INFO END -->
第一条 停车应当缴费。
第二条 停车半小时内免费。
""",
    "示例道路条例(2022-01-01).md": """# 示例道路条例
2022年1月1日公布 自2022年3月1日起施行
<!-- INFO END -->
第一条 道路应当畅通。
第二条 本条例自2022年3月1日起施行。《示例停车条例》《示例旧路办法》同时废止。
""",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("check")
    for name, text in FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    made = settings(store={"dir": str(root / "store")})
    ingest(made, "law", [root], embedder=FakeEmbedder(), progress=False)
    return root / "store"


@pytest.fixture
def book(store: Path) -> Iterator[StatuteBook]:
    catalog = PassageCatalog(StoreLayout(store).catalog)
    yield StatuteBook({"law": catalog}, {})
    catalog.close()


def one(text: str, book: StatuteBook, as_of: date | None = DAY) -> CheckedReference:
    (found,) = check_references(text, book, as_of)
    assert text[found.start : found.end] == found.text
    return found


@pytest.mark.parametrize(
    ("text", "written", "article"),
    [
        ("依照《示例劳动保障法》第三条办理。", "《示例劳动保障法》第三条", "3"),
        ("依照示例劳动保障法第2条之一办理。", "示例劳动保障法第2条之一", "2-1"),
        ("《示例劳动保障法》已经施行。", "《示例劳动保障法》", ""),
    ],
)
def test_what_exists_and_is_in_force_has_no_problem(
    book: StatuteBook, text: str, written: str, article: str
) -> None:
    found = one(text, book)
    assert (found.text, found.article, found.problems) == (written, article, ())
    assert found.title == "示例劳动保障法"


def test_an_article_that_does_not_exist_is_named_with_the_nearest(book: StatuteBook) -> None:
    found = one("见《示例劳动保障法》第九条。", book)
    assert (found.problems, found.nearest) == (("no_article",), "4")


def test_an_unknown_document_comes_with_the_title_of_the_nearest_spelling(
    book: StatuteBook,
) -> None:
    found = one("见《示例劳动保护法》第三条。", book)
    assert (found.problems, found.nearest) == (("no_document",), "示例劳动保障法")
    assert one("见《完全另外一部条例》。", book).nearest == ""


def test_an_article_that_the_new_version_dropped_is_out_of_force(book: StatuteBook) -> None:
    found = one("见《示例劳动保障法》第四条。", book)
    assert found.problems == ("not_in_force",)
    assert (found.expires, found.successor) == ("2023-03-01", "2023-03-01起施行的文本")
    assert one("见《示例劳动保障法》第四条。", book, date(2020, 1, 1)).problems == ()
    assert one("见《示例劳动保障法》第四条。", book, None).problems == ()


def test_a_repealed_rule_comes_with_what_repealed_it(book: StatuteBook) -> None:
    found = one("见《示例停车条例》第二条。", book)
    assert (found.problems, found.successor) == (("not_in_force",), "示例道路条例")
    assert one("见《示例停车条例》第二条。", book, date(2015, 1, 1)).problems == ()


def test_a_rule_that_the_store_lacks_but_knows_to_be_repealed(book: StatuteBook) -> None:
    found = one("见《示例旧路办法》第八条。", book)
    assert (found.problems, found.successor) == (("not_in_force",), "示例道路条例")
    assert one("见《示例旧路办法》第八条。", book, date(2015, 1, 1)).problems == ("no_document",)


def test_a_text_may_name_what_it_repeals(book: StatuteBook) -> None:
    assert one("《示例停车条例》同时废止。", book).problems == ()


@pytest.mark.parametrize(
    "text",
    [
        "《示例劳动保障法》第三条规定：“工资按月支付给劳动者本人。”",
        "《示例劳动保障法》第三条规定，“工资按月支付”",
        "《示例劳动保障法》第三条「工资按月……劳动者本人」",
        "《示例劳动保障法》第三条规定：工资按月支付给劳动者本人。",
        "《示例劳动保障法》规定“工资按月支付给劳动者本人”",
    ],
)
def test_a_verbatim_quotation_is_confirmed(book: StatuteBook, text: str) -> None:
    found = one(text, book)
    assert found.quote is not None
    assert (found.quote.status, found.problems) == ("verbatim", ())


def test_a_changed_quotation_is_shown_with_its_difference(book: StatuteBook) -> None:
    found = one("《示例劳动保障法》第二条规定：“试用期最长八个月，期满应当转正。”", book)
    assert found.problems == ("nearly_quoted",)
    assert found.quote is not None
    assert found.quote.difference == "试用期最长[-八-]{+六+}个月,期满应当转正"


def test_words_of_an_old_version_are_recognised(book: StatuteBook) -> None:
    text = "《示例劳动保障法》第二条规定：“试用期最长一年，期满应当转正。”"
    found = one(text, book)
    assert found.problems == ("nearly_quoted",)
    assert found.quoted_from == "2019-03-01起施行的文本"
    assert one(text, book, date(2020, 1, 1)).problems == ()


def test_words_of_another_article_are_recognised(book: StatuteBook) -> None:
    found = one("《示例劳动保障法》第一条规定：“工资按月支付给劳动者本人。”", book)
    assert (found.problems, found.quoted_from) == (("misquoted",), "第3条")


def test_invented_words_are_a_misquotation_but_a_paraphrase_is_none(book: StatuteBook) -> None:
    assert one("《示例劳动保障法》第三条规定：“加班必须支付三倍报酬。”", book).problems == (
        "misquoted",
    )
    assert one("《示例劳动保障法》第三条规定：单位每个月要发钱给员工。", book).problems == ()


def test_joined_articles_count_and_own_numbering_does_not(book: StatuteBook) -> None:
    text = (
        "第一条 为了实施《示例劳动保障法》第二条、第三条，制定本办法。\n"
        "第九条 依照本办法第十条办理。\n"
        "按《示例停车条例》第一条和该条例第七条收费。\n"
        "《示例读本》与《示例草案条例（草案）》不是法规。\n"
    )
    found = check_references(text, book, DAY)
    assert [(r.line, r.title, r.article) for r in found] == [
        (1, "示例劳动保障法", "2"),
        (1, "示例劳动保障法", "3"),
        (3, "示例停车条例", "1"),
        (3, "示例停车条例", "7"),
    ]


def test_articles_are_joined_over_the_paragraphs_between_them(book: StatuteBook) -> None:
    text = "违反《示例劳动保障法》第一条第一款、第二款或者第三条的，以及违反第二条的，处罚款。"
    assert [r.article for r in check_references(text, book, DAY)] == ["1", "3"]


def test_a_quotation_after_joined_articles_may_stand_in_either(book: StatuteBook) -> None:
    text = "《示例劳动保障法》第三条、第一条规定：“工资按月支付给劳动者本人。”"
    assert [r.problems for r in check_references(text, book, DAY)] == [(), ()]


def test_a_version_named_by_its_year_is_the_one_that_is_checked(book: StatuteBook) -> None:
    found = one("见《示例劳动保障法》（2019年）第三条。", book)
    assert (found.problems, found.effective) == (("not_in_force",), "2019-03-01")
    assert one("见示例劳动保障法（2023年修订）第三条。", book).problems == ()


def test_a_repealed_rule_is_known_without_title_marks(book: StatuteBook) -> None:
    found = one("见示例旧路办法第八条。", book)
    assert (found.problems, found.successor) == (("not_in_force",), "示例道路条例")


def test_a_rule_of_a_place_is_not_one_that_only_ends_alike(book: StatuteBook) -> None:
    found = one("见天津市示例道路条例第一条。", book)
    assert (found.text, found.problems) == ("天津市示例道路条例第一条", ("no_document",))
