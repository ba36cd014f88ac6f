"""From files to documents: ids, offsets, records, refusals. All documents are 虚构示例."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from configs.errors import InputError
from indexes.schema import Document, PassageId
from ingest.parse import BadRecord, parse_file

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RULE = (
    "# 中华人民共和国示例法\n\n2020年3月4日 公布\n\n<!-- INFO END -->\n\n"
    "第一条 甲。\n\n第二条 乙。\n"
)


def _today() -> date:
    return date(2024, 6, 1)


def _document(path: Path, domain: str = "law", root: Path | None = None) -> Document:
    (document,) = parse_file(path, domain, root, _today)
    assert isinstance(document, Document)
    return document


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_statute_becomes_articles_with_ids_that_name_title_version_and_article(
    tmp_path: Path,
) -> None:
    document = _document(_write(tmp_path, "示例法(2020-03-04).md", RULE))
    assert [p.id for p in document.passages] == [
        "law:示例法@2020-03-04#a1",
        "law:示例法@2020-03-04#a2",
    ]
    assert document.passages[0].content == "第一条 甲。"
    assert document.passages[0].source == "law"
    assert document.extra["full_title"] == "中华人民共和国示例法"


def test_the_file_is_told_relative_to_the_root(tmp_path: Path) -> None:
    path = _write(tmp_path, "子/示例法.md", RULE)
    assert _document(path, root=tmp_path).passages[0].metadata.file == "子/示例法.md"
    assert _document(path).passages[0].metadata.file == "示例法.md"


def test_offsets_point_at_the_content(tmp_path: Path) -> None:
    document = _document(_write(tmp_path, "示例法.md", "\ufeff" + RULE.replace("\n", "\r\n")))
    for passage in document.passages:
        start, end = passage.metadata.start, passage.metadata.end
        assert document.text[start:end] == passage.content


def test_parsing_again_gives_the_same_ids_and_hashes(tmp_path: Path) -> None:
    path = _write(tmp_path, "示例法(2020-03-04).md", RULE)
    assert _document(path) == _document(path)


def test_the_content_hash_changes_with_the_content_alone(tmp_path: Path) -> None:
    one = _document(_write(tmp_path, "示例法.md", RULE))
    two = _document(_write(tmp_path, "示例法.md", RULE.replace("乙。", "丙。")))
    assert one.passages[0].metadata.content_hash == two.passages[0].metadata.content_hash
    assert one.passages[1].metadata.content_hash != two.passages[1].metadata.content_hash


def test_without_any_date_the_version_is_a_check_sum_of_the_text(tmp_path: Path) -> None:
    one = _document(_write(tmp_path, "示例须知.txt", "示例须知\n甲事项。\n乙事项。"))
    two = _document(_write(tmp_path, "示例须知.txt", "示例须知\n甲事项。\n丙事项。"))
    assert len(one.version) == 8
    assert one.version != two.version


def test_two_parts_of_a_law_share_its_title_and_have_different_ids(tmp_path: Path) -> None:
    head = "# 中华人民共和国示例法典\n\n# {part}\n\n2020年3月4日 公布\n\n<!-- INFO END -->\n\n"
    general = head.format(part="总则") + "序言内容。\n\n第一条 甲。"
    contract = head.format(part="合同编") + "序言内容。\n\n第二条 乙。"
    one = _document(_write(tmp_path, "示例法典/总则.md", general))
    two = _document(_write(tmp_path, "示例法典/合同编.md", contract))
    assert one.title == two.title == "示例法典"
    assert [p.id for p in (*one.passages, *two.passages)] == [
        "law:示例法典@2020-03-04#总则-s0",
        "law:示例法典@2020-03-04#a1",
        "law:示例法典@2020-03-04#合同编-s0",
        "law:示例法典@2020-03-04#a2",
    ]
    assert two.passages[1].metadata.heading_path == ("合同编",)


def test_a_file_named_by_number_takes_its_heading_as_title(tmp_path: Path) -> None:
    assert _document(_write(tmp_path, "1.md", RULE)).title == "示例法"
    assert _document(_write(tmp_path, "2.txt", "某市示例办法\n第一条 甲。")).title == "某市示例办法"


def test_front_matter_tells_title_and_dates(tmp_path: Path) -> None:
    text = (
        "---\ntitle: 示例补贴办法\ndoc_number: 示府规[2024]9号\neffective: 2024-09-01\n"
        "jurisdiction: 上海市\n---\n\n第一条 甲。"
    )
    document = _document(_write(tmp_path, "x.md", text), "local")
    metadata = document.passages[0].metadata
    assert (metadata.title, metadata.doc_number) == ("示例补贴办法", "示府规〔2024〕9号")
    assert (metadata.effective, metadata.status) == ("2024-09-01", "not_yet")
    assert (metadata.jurisdiction, metadata.jurisdiction_code) == ("上海市", "310000")
    assert [p.content for p in document.passages] == ["第一条 甲。"]


def test_text_in_gb18030_reads_like_utf8(tmp_path: Path) -> None:
    path = tmp_path / "示例法(2020-03-04).txt"
    path.write_bytes("示例法\n第一条 甲。\n第二条 乙。\n".encode("gb18030"))
    assert [p.content for p in _document(path).passages] == ["第一条 甲。", "第二条 乙。"]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.md", b"", "empty"),
        ("a.md", "# 标题\n\n<!-- INFO END -->\n".encode(), "no text"),
        ("a.md", "# 标题\n\n<!-- INFO END -->\n\n## 第一章 总则\n".encode(), "only headings"),
        ("a.txt", b"\x00\x01\x02", "no text in"),
        ("a.jsonl", b"\n\n", "blank space only"),
    ],
)
def test_a_file_without_text_is_refused_in_one_line(
    tmp_path: Path, name: str, data: bytes, reason: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError, match=reason) as caught:
        list(parse_file(path, "law", None, _today))
    assert "\n" not in str(caught.value)


def _records(path: Path, *records: object) -> list[Document | BadRecord]:
    lines = [r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in records]
    return list(parse_file(_write(path, "r.jsonl", "\n".join(lines)), "local", path, _today))


def test_records_become_documents_named_by_their_id(tmp_path: Path) -> None:
    record = {
        "id": "n 1#x@y",
        "title": "上海市示例补贴通知",
        "text": "上海市示例补贴通知 各区：现通知如下。甲。",
        "meta": {"issuer": "示例局", "promulgated": "2024-01-02"},
    }
    (document,) = _records(tmp_path, record)
    assert isinstance(document, Document)
    passage = document.passages[0]
    parsed = PassageId.parse(passage.id)
    assert (parsed.domain, parsed.version, parsed.locator) == ("local", "2024-01-02", "s1")
    assert passage.metadata.record == "n 1#x@y"
    assert passage.metadata.title == document.title == "上海市示例补贴通知"
    assert passage.content == "各区：现通知如下。甲。"
    assert (passage.metadata.issuer, passage.metadata.jurisdiction) == ("示例局", "上海市")


def test_record_ids_that_look_alike_stay_apart(tmp_path: Path) -> None:
    ids = ["a#b", "a@b", "a_b"]
    documents = _records(tmp_path, *({"id": i, "text": "甲。"} for i in ids))
    assert len({d.passages[0].id for d in documents if isinstance(d, Document)}) == len(ids)


def test_a_bad_record_does_not_stop_the_others(tmp_path: Path) -> None:
    found = _records(tmp_path, {"id": "a", "text": "甲。"}, "{", {"id": "b", "text": "\u200b"})
    assert [x.key for x in found if isinstance(x, BadRecord)] == ["line 2", "line 3"]
    assert [x.passages[0].metadata.record for x in found if isinstance(x, Document)] == ["a"]


def test_of_two_records_with_one_id_the_last_counts_and_says_so(tmp_path: Path) -> None:
    (document,) = _records(tmp_path, {"id": "a", "text": "旧。"}, {"id": "a", "text": "新。"})
    assert isinstance(document, Document)
    assert document.passages[0].content == "新。"
    assert document.warnings == ("line 1: its id 'a' comes again in line 2, which counts",)


def test_a_record_without_title_is_named_by_its_first_line(tmp_path: Path) -> None:
    (document,) = _records(tmp_path, {"id": "a", "text": "某市示例通告\n甲事项。乙事项。"})
    assert isinstance(document, Document)
    assert document.title == "某市示例通告"


def test_a_heading_whose_table_is_lost_gives_a_warning(tmp_path: Path) -> None:
    text = RULE.replace("乙。", "本法自公布之日起施行。") + "\n附：\n\n示例税目税率表\n"
    document = _document(_write(tmp_path, "示例法.md", text))
    assert [p.id.rpartition("#")[2] for p in document.passages] == ["a1", "a2"]
    assert any("a table may be lost" in warning for warning in document.warnings)


def test_a_notice_that_wraps_a_second_title_keeps_both(tmp_path: Path) -> None:
    text = (
        "某市人民政府办公厅关于印发《某市示例办法》的通知\n示府办〔2024〕9号\n各区：\n"
        "现印发给你们，请遵照执行。\n2024年1月2日\n某市示例办法\n第一条 甲。\n第二条 乙。"
    )
    document = _document(_write(tmp_path, "n.txt", text), "local")
    articles = [p for p in document.passages if p.metadata.article]
    assert [p.metadata.article for p in articles] == ["1", "2"]
    assert all(p.metadata.heading_path == ("某市示例办法",) for p in articles)
    assert document.passages[0].metadata.doc_number == "示府办〔2024〕9号"


PIECES = [
    *(
        "第一条 甲。",
        "第二条",
        "（2020年1月1日 通过）",
        "自9999年12月31日起施行",
        "有效期99年",
        "。",
    ),
    *("\n", "\n\n", "# 甲", "附件1：", "附：", "目录", "---\n", "title: 甲\n", "<!-- INFO END -->"),
    *("“", "”", "（", "一、", "上海市", "国务院令第9号公布", "示府〔2020〕1号", "2020年2月30日"),
    *(
        " ",
        "　",
        "|a|b|",
        "总则",
        "关于示例的通知",
        "发文字号：",
        "\ufeff",
        "\u200b",
        "\x0b",
        "<tr>",
    ),
]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=40).map("".join),
    st.sampled_from(["a.md", "b.txt", "示例法(2020-01-02).md", "示例法(2020-13-45).md"]),
    st.sampled_from(["law", "fiscal", "local"]),
)
def test_any_text_becomes_passages_or_is_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, text: str, name: str, domain: str
) -> None:
    path = _write(tmp_path_factory.mktemp("any"), name, text)
    document, refusal = None, ""
    try:
        document = _document(path, domain)
    except InputError as error:
        refusal = str(error)
    if document is None:
        assert refusal
        assert "\n" not in refusal
        return
    position = 0
    for passage in document.passages:
        start, end = passage.metadata.start, passage.metadata.end
        assert position <= start
        assert passage.content == document.text[start:end] == passage.content.strip() != ""
        position = end
    assert len({passage.id for passage in document.passages}) == len(document.passages)


def test_the_examples_of_this_project_are_parsed_as_their_authors_meant() -> None:
    found: dict[str, Document] = {}
    for path in sorted(EXAMPLES.glob("*/*")):
        for document in parse_file(path, path.parent.name, EXAMPLES, _today):
            assert isinstance(document, Document)
            found[f"{document.title}@{document.version}"] = document
            position = 0
            for passage in document.passages:
                assert position <= passage.metadata.start
                assert passage.metadata.jurisdiction_code
                position = passage.metadata.end
    subsidy = found["上海市新能源汽车消费补贴办法（虚构示例）@2024-03-18"].passages[0].metadata
    assert (subsidy.doc_number, subsidy.jurisdiction) == ("沪府规〔2024〕918号", "上海市")
    assert (subsidy.effective, subsidy.expires) == ("2024-04-01", "2027-01-01")
    decree = found["消费争议处理条例（虚构示例）@2022-06-30"].passages[0].metadata
    assert (decree.level, decree.effective) == ("行政法规", "2022-09-01")
    interview = found["上海市以旧换新补贴发放进度答记者问（虚构示例）@2024-05-16"]
    assert interview.passages[0].metadata.level == "新闻解读"
