"""Word files as a reader of the print sees them. All documents are 虚构示例."""

from __future__ import annotations

import zipfile
from datetime import date
from pathlib import Path

import pytest

from configs.errors import InputError
from indexes.schema import Document
from ingest.formats import read_document
from ingest.parse import parse_file
from tests.ingest import office_files as make

KEPT = "insertions are kept, deletions left out"


def _text(document: object, tmp_path: Path) -> list[str]:
    path = tmp_path / "文件.docx"
    document.save(str(path))  # type: ignore[attr-defined]
    return [line for line in read_document(path).text.split("\n") if line]


def test_a_notice_gives_title_number_dates_articles_and_table_rows(tmp_path: Path) -> None:
    path = make.write_notice(tmp_path / "a.docx")
    (document,) = parse_file(path, "local", None, lambda: date(2025, 1, 1))
    assert isinstance(document, Document)
    assert document.title == make.TITLE
    facts = document.passages[0].metadata
    assert (facts.doc_number, facts.issuer) == (make.NUMBER, "示例区人民政府")
    assert (facts.promulgated, facts.effective) == ("2024-06-03", "2024-07-01")
    articles = {p.metadata.article: p.content for p in document.passages if p.metadata.article}
    assert articles["3"] == f"第三条　{make.ARTICLES[2]}"
    assert sorted(articles) == ["1", "2", "3", "4"]
    header = "| 学历 | 补贴标准 单身 | 补贴标准 有配偶 |\n| --- | --- | --- |"
    assert header in document.passages[-1].content
    assert "| 硕士 | 每月1200元 | 每月1200元 |" in document.passages[-1].content
    assert "页眉" not in document.text


def test_the_title_stands_first_and_the_red_head_is_given(tmp_path: Path) -> None:
    reading = read_document(make.write_notice(tmp_path / "a.docx"))
    assert reading.text.split("\n")[:3] == [
        f"# {make.TITLE}",
        make.NUMBER,
        "各街道办事处，区政府各部门：",
    ]
    assert reading.given == {"doc_number": make.NUMBER, "issuer": "示例区人民政府"}
    assert reading.warnings == ()


def test_numbers_that_word_counts_stand_in_the_text(tmp_path: Path) -> None:
    document = make.new_document()
    make.add_numbering(document, start=9)
    make.add_restart(document, 91, of=90)
    for text, level, list_id in [
        ("甲", 0, 90),
        ("乙", 0, 90),
        ("丙", 1, 90),
        ("丁", 1, 90),
        ("戊", 2, 90),
        ("己", 0, 90),
        ("庚", 1, 90),
        ("辛", 0, 91),
    ]:
        make.numbered(document, text, level=level, list_id=list_id)
    assert _text(document, tmp_path) == [
        "第九条　甲",
        "第十条　乙",
        "（一）丙",
        "（二）丁",
        "1. 戊",
        "第十一条　己",
        "（一）庚",  # a deeper level begins again
        "第一条　辛",
    ]


@pytest.mark.parametrize(
    ("form", "number", "printed"),
    [
        ("chineseCountingThousand", 105, "一百零五、"),
        ("chineseCountingThousand", 20, "二十、"),
        ("japaneseCounting", 10, "十、"),
        ("ideographDigital", 10, "一〇、"),
        ("chineseLegalSimplified", 3, "叁、"),
        ("decimalEnclosedCircleChinese", 2, "②、"),
        ("ideographTraditional", 3, "丙、"),
        ("upperRoman", 14, "XIV、"),
        ("lowerLetter", 28, "bb、"),
        ("decimalZero", 7, "07、"),
        ("none", 7, "、"),
    ],
)
def test_number_formats(form: str, number: int, printed: str, tmp_path: Path) -> None:
    document = make.new_document()
    make.add_numbering(document, levels=[(form, "%1、")], start=number)
    make.numbered(document, "甲")
    assert _text(document, tmp_path) == [f"{printed}甲"]


@pytest.mark.parametrize("start", ["abc", "-4", "99999999999", ""])
def test_a_list_with_a_senseless_start_counts_from_one(start: str, tmp_path: Path) -> None:
    document = make.new_document()
    make.add_numbering(document, start=start)
    make.numbered(document, "甲")
    assert _text(document, tmp_path) == ["第一条　甲"]


def test_insertions_are_kept_and_deletions_left_out_with_a_warning(tmp_path: Path) -> None:
    document = make.new_document()
    make.raw(
        document,
        make.run("补贴")
        + f'<w:ins w:id="1">{make.run("每月")}</w:ins>'
        + '<w:del w:id="2"><w:r><w:delText>每年</w:delText></w:r></w:del>'
        + make.run("发放。"),
    )
    assert _text(document, tmp_path) == ["补贴每月发放。"]
    (warning,) = read_document(tmp_path / "文件.docx").warnings
    assert KEPT in warning


def test_a_paragraph_whose_mark_is_deleted_goes_on_in_the_next(tmp_path: Path) -> None:
    document = make.new_document()
    deleted = '<w:pPr><w:rPr><w:del w:id="1"/></w:rPr></w:pPr>'
    make.raw(document, deleted + make.run("前半句，"))
    make.raw(document, make.run("后半句。"))
    assert _text(document, tmp_path) == ["前半句，后半句。"]


def test_hidden_text_is_left_out_with_a_warning(tmp_path: Path) -> None:
    document = make.new_document()
    make.raw(document, make.run("明文。") + make.run("暗文。", "<w:vanish/>"))
    make.raw(document, make.run("也是明文。", '<w:vanish w:val="0"/>'))
    assert _text(document, tmp_path) == ["明文。", "也是明文。"]
    assert read_document(tmp_path / "文件.docx").warnings == (
        "holds hidden text, which is left out",
    )


def test_a_text_box_is_read_once(tmp_path: Path) -> None:
    document = make.new_document()
    make.raw(document, make.run("正文。") + make.text_box("框中的话。"))
    assert sorted(_text(document, tmp_path)) == ["框中的话。", "正文。"]


def test_a_note_stands_behind_its_paragraph(tmp_path: Path) -> None:
    document = make.new_document()
    make.add_footnotes(document, "指自然月。", "含试用期。")
    make.raw(document, make.run("按月") + make.note_mark(1) + make.run("发放") + make.note_mark(2))
    make.raw(document, make.run("下一段。"))
    assert _text(document, tmp_path) == [
        "按月发放",
        "注1：指自然月。",
        "注2：含试用期。",
        "下一段。",
    ]


def test_a_soft_line_break_begins_a_line_and_field_codes_are_no_words(tmp_path: Path) -> None:
    document = make.new_document()
    make.raw(document, "<w:r><w:t>甲</w:t><w:br/><w:t>乙</w:t></w:r>")
    make.raw(
        document,
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>REF a</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        + make.run("第五条")
        + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
        + make.run("的规定"),
    )
    assert _text(document, tmp_path) == ["甲", "乙", "第五条的规定"]


def test_merged_cells_are_repeated_and_pipes_replaced(tmp_path: Path) -> None:
    document = make.new_document()
    make.line(document, "补贴标准如下：")
    make.add_merged_table(document).cell(2, 0).text = "博士|博士后"
    assert _text(document, tmp_path) == [
        "补贴标准如下：",
        "| 学历 | 补贴标准 单身 | 补贴标准 有配偶 |",
        "| --- | --- | --- |",
        "| 博士｜博士后 | 每月2000元 | 每月2500元 |",
        "| 硕士 | 每月1200元 | 每月1200元 |",
    ]


def test_a_frame_of_one_cell_is_text(tmp_path: Path) -> None:
    document = make.new_document()
    document.add_table(rows=1, cols=1).cell(0, 0).text = "甲。\n乙。"
    assert _text(document, tmp_path) == ["甲。", "乙。"]


def test_a_table_of_contents_is_left_out(tmp_path: Path) -> None:
    document = make.new_document()
    document.styles.add_style("toc 1", 1)
    document.add_paragraph("第一章　总则\t1", style="toc 1")
    make.line(document, "第一章　总则")
    assert _text(document, tmp_path) == ["第一章　总则"]


def _refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_document(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_an_encrypted_file_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "密.docx"
    path.write_bytes(
        bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600) + "EncryptedPackage".encode("utf-16-le")
    )
    assert (
        _refusal(path) == "密.docx: is protected by a password; save it without password and retry"
    )


def test_an_old_word_file_under_a_new_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "旧.docx"
    path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600))
    assert "old Word file" in _refusal(path)


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"", "empty"), (b"PK\x03\x04 broken", "damaged"), (b"no zip at all", "damaged")],
)
def test_damaged_files_are_refused(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "坏.docx"
    path.write_bytes(data)
    assert words in _refusal(path)


def _with_part(source: Path, target: Path, part: str, data: bytes | None) -> Path:
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", 8) as new:
        for entry in old.infolist():
            body = data if entry.filename == part else old.read(entry)
            if body is not None:
                new.writestr(entry.filename, body)
    return target


LAUGHS = '<!ENTITY e0 "哈">' + "".join(
    f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("entities", "cited", "words"),
    [
        ('<!ENTITY e "哈">', "e", "declares entities"),
        ('<!ENTITY e SYSTEM "file:///etc/hostname">', "e", "declares entities"),
        (LAUGHS, "e9", "is damaged"),
    ],
)
def test_entities_are_refused(entities: str, cited: str, words: str, tmp_path: Path) -> None:
    source = make.write_notice(tmp_path / "a.docx")
    xml = (
        f"<!DOCTYPE d [{entities}]><w:document xmlns:w="
        '"http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        f"<w:body><w:p><w:r><w:t>&{cited};</w:t></w:r></w:p></w:body></w:document>"
    )
    path = _with_part(source, tmp_path / "b.docx", "word/document.xml", xml.encode())
    assert words in _refusal(path)


def test_a_part_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.formats.docx_package._MAX_PART", 1_000_000)
    source = make.write_notice(tmp_path / "a.docx")
    path = _with_part(source, tmp_path / "b.docx", "word/document.xml", b" " * 1_000_001)
    assert "unpacks to more than 1 MB" in _refusal(path)


def test_a_zip_file_without_word_parts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "甲")
    assert "no Word file" in _refusal(path)


def test_a_file_without_words_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "空.docx"
    make.new_document().save(str(path))
    assert "holds no text" in _refusal(path)


def test_the_real_sample_and_the_long_file_are_read_whole(shared_data: Path) -> None:
    folder = shared_data / "real_files" / "docx"
    sample = read_document(folder / "demo_gongwen.docx")
    assert sample.text.count("| ") > 4
    long = read_document(folder / "licang_law_exam_bank.docx")
    assert sum(1 for line in long.text.split("\n") if line.strip()) > 10_000
