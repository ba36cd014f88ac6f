"""Documents in traditional characters. All texts are 虚构示例."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from indexes.schema import Document
from ingest.parse import parse_file
from ingest.script import script_of
from ingest.versions import facts_of
from tests.ingest.documents import write_records

RULE = """上海市人才補貼辦法

（2023年5月10日上海市人民政府令第12號公布）

第一章　總則

第一條　為了獎勵人才，制定本辦法。

第二條　補貼標準如下：

附表

補貼標準表

| 學歷 | 金額（萬元） |
| --- | --- |
| 博士 | 3 |

第三條　本辦法自公布之日起三十日後施行，有效期五年。《上海市人才獎勵辦法》同時廢止。
"""


def parsed(path: Path) -> Document:
    (document,) = parse_file(path, "local", None, lambda: date(2024, 1, 1))
    assert isinstance(document, Document)
    return document


@pytest.mark.parametrize("encoding", ["big5", "gb18030", "utf-8", "utf-16"])
def test_a_rule_in_traditional_characters_has_articles_dates_and_its_own_words(
    encoding: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(RULE.encode(encoding))
    document = parsed(path)
    facts = document.passages[0].metadata
    assert document.title == "上海市人才補貼辦法"
    assert (facts.level, facts.jurisdiction) == ("地方政府规章", "上海市")
    assert (facts.promulgated, facts.effective, facts.expires) == (
        *("2023-05-10", "2023-06-09", "2028-06-09"),
    )
    assert document.passages[0].content == "第一條　為了獎勵人才，制定本辦法。"
    assert document.passages[0].metadata.heading_path == ("第一章 總則",)
    assert [p.metadata.article for p in document.passages][:2] == ["1", "2"]
    assert all(p.content in document.text for p in document.passages)
    assert [repeal.title for repeal in facts_of(document, "a").repeals] == ["上海市人才奖励办法"]


def test_a_table_and_its_heading_keep_their_characters(tmp_path: Path) -> None:
    path = tmp_path / "補貼標準.txt"
    rows = "".join(f"| 第{n}類企業 | {n} |\n" for n in range(1, 90))
    head = "關於發放補貼的通知\n各區財政局：\n現將標準印發給你們。\n附件\n補貼標準表\n"
    table = f"| 類別 | 金額（萬元） |\n| --- | --- |\n{rows}"
    path.write_text(head + table, encoding="utf-8")
    last = parsed(path).passages[-1].metadata
    assert last.heading_path == ("附件 補貼標準表",)
    assert last.table_header.startswith("| 類別 | 金額（萬元） |")


def test_a_record_in_traditional_characters_has_articles(tmp_path: Path) -> None:
    path = write_records(tmp_path / "a.jsonl", {"甲": "第一條　甲類補貼。\n第二條　乙類補貼。"})
    document = parsed(path)
    assert [p.metadata.article for p in document.passages] == ["1", "2"]
    assert document.passages[0].content == "第一條　甲類補貼。"


def test_a_simplified_text_with_a_few_traditional_characters_is_left_alone() -> None:
    text = "关于示例乾坤大厦补贴的办法，魏徵街道办事处负责解释，自公布之日起施行。"
    script = script_of(text)
    assert not script.traditional
    assert script.plain is text
