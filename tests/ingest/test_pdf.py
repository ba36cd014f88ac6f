"""PDF files as a reader of the print sees them. All documents are 虚构示例."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from pypdf import PdfWriter
from reportlab.lib.pdfencrypt import StandardEncryption

from configs.errors import InputError
from indexes.schema import Document
from ingest.formats import pdf_ocr, read_document
from ingest.formats.pdf_lines import Line
from ingest.parse import parse_file
from tests.ingest import pdf_files as make

TITLE = "示例区人民政府关于印发《示例区青年人才租房补贴办法》的通知"
ROWS = [
    "| 学历 | 补贴标准 单身 | 补贴标准 有配偶 |",
    "| --- | --- | --- |",
    "| 博士 | 每月2000元 | 每月2500元 |",
    "| 硕士 | 每月1200元 | 每月1200元 |",
]


def _lines(path: Path) -> list[str]:
    return [line for line in read_document(path).text.split("\n") if line]


def _refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_document(path)
    message = str(caught.value)
    assert message.startswith(f"{path.name}: ")
    assert "\n" not in message
    return message


def test_a_notice_gives_title_number_dates_articles_table_and_pages(tmp_path: Path) -> None:
    path = make.write_notice(tmp_path / "a.pdf")
    (document,) = parse_file(path, "local", None, lambda: date(2025, 1, 1))
    assert isinstance(document, Document)
    assert document.title == TITLE
    facts = document.passages[0].metadata
    assert (facts.doc_number, facts.issuer) == ("示府规〔2024〕5号", "示例区人民政府")
    assert (facts.promulgated, facts.effective) == ("2024-06-03", "2024-07-01")
    articles = {p.metadata.article: p for p in document.passages if p.metadata.article}
    assert [articles[str(n)].content for n in range(1, 17)] == list(make.ARTICLES)
    assert articles["1"].metadata.page == 1
    table = document.passages[-1]
    assert table.content.endswith("\n".join(ROWS))
    assert table.metadata.page == 4


def test_the_text_is_the_paragraphs_and_nothing_that_stands_beside_them(tmp_path: Path) -> None:
    assert _lines(make.write_notice(tmp_path / "a.pdf")) == [
        f"# {TITLE}",
        "示府规〔2024〕5号",
        "各街道办事处，区政府各部门：",
        "现将《示例区青年人才租房补贴办法》印发给你们，请遵照执行。",
        "示例区人民政府",
        "2024年6月3日",
        "示例区青年人才租房补贴办法",
        *make.ARTICLES,
        "附件：租房补贴标准",
        *ROWS,
    ]


def test_pages_begin_where_their_first_words_stand_even_inside_a_sentence(tmp_path: Path) -> None:
    reading = read_document(make.write_notice(tmp_path / "a.pdf"))
    begins = [reading.text[start : start + 6] for start in reading.pages]
    # 23 lines a page, 10 of them the head; an article takes three lines. Page 1 ends with the first
    # line of 第五条, page 2 with the last of 第十二条.
    assert begins == ["# 示例区人", "日起十五个工", "第十三条　这", "附件：租房补"]
    assert reading.text[: reading.pages[1]].endswith("应当自收到申请之")


def test_two_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    assert _lines(make.write_columns(tmp_path / "a.pdf")) == [
        "# 示例区租房补贴办法",
        *make.ARTICLES[:6],
    ]


def test_a_note_at_the_foot_stands_behind_the_paragraph_that_the_page_breaks(
    tmp_path: Path,
) -> None:
    assert _lines(make.write_notes(tmp_path / "a.pdf")) == [
        "# 示例区租房补贴办法",
        "第一条　补贴按照自然月发放。",
        f"第二条　{make.SENTENCE}",
        "1 自然月从每月一日起算，到该月最后一日为止，不足一月的按照实际天数计算。",
        "第三条　本办法自2024年7月1日起施行。",
    ]


def test_a_notice_of_three_organs_names_them_all_and_keeps_its_annexed_table(
    tmp_path: Path,
) -> None:
    path = make.write_joint_notice(tmp_path / "a.pdf")
    (document,) = parse_file(path, "local", None, lambda: date(2025, 1, 1))
    assert isinstance(document, Document)
    assert document.title == (
        "示例市财政局 示例市税务局 示例市科学技术局关于印发《示例市农业机械补贴办法》的通知"
    )
    facts = document.passages[0].metadata
    assert facts.issuer == "示例市财政局、示例市税务局、示例市科学技术局"
    assert facts.doc_number == "示财农〔2024〕17号"
    assert facts.promulgated == "2024-06-03"
    assert "各县财政局、税务局、科学技术局：" in document.text
    assert [line for line in document.text.split("\n") if line.startswith("|")] == [
        "| 类别 | 设备 | 补贴标准（元） 企业 | 补贴标准（元） 个人 |",
        "| --- | --- | --- | --- |",
        "| 大型 | 播种机 | 30000 | 25000 |",
        "| 大型 | 收割机 | 50000 | 50000 |",
    ]


def test_a_page_that_is_turned_for_reading_is_read_upright(tmp_path: Path) -> None:
    assert _lines(make.write_turned(tmp_path / "a.pdf")) == [
        f"第一条　{make.SENTENCE}",
        "附件：租房补贴标准",
        *ROWS,
    ]


def test_a_table_goes_on_over_a_page_with_its_header_once(tmp_path: Path) -> None:
    path = make.write_long_table(tmp_path / "a.pdf")
    assert _lines(path) == [
        "附件：租房补贴标准",
        "| 街道 | 标准 |",
        "| --- | --- |",
        *(f"| 街道{n} | {n}00元 |" for n in range(1, 6)),
        "本表自2024年7月1日起执行。",
    ]
    reading = read_document(path)
    assert reading.text[reading.pages[1] :].startswith("| 街道4 |")


def test_a_merged_cell_that_a_page_breaks_is_repeated_on_the_next(tmp_path: Path) -> None:
    paper = make.Paper(tmp_path / "a.pdf", make.running)
    paper.table([("类别", "标准"), ("博士", "甲级"), ("", "乙级")], ("SPAN", (0, 1), (0, 2)))
    paper.new_page()
    paper.table([("", "丙级"), ("", "丁级"), ("硕士", "")], ("SPAN", (0, 0), (0, 1)))
    paper.save()
    assert _lines(tmp_path / "a.pdf")[2:] == [
        "| 博士 | 甲级 |",
        "| 博士 | 乙级 |",
        "| 博士 | 丙级 |",
        "| 博士 | 丁级 |",
        "| 硕士 |  |",
    ]


def test_a_row_that_a_page_breaks_inside_a_sentence_is_one_row(tmp_path: Path) -> None:
    first, second, third = make.SENTENCE[:35], make.SENTENCE[35:50], make.SENTENCE[50:]
    paper = make.Paper(tmp_path / "a.pdf", make.running)
    paper.table([("序号", "事项"), ("1", f"{first[:20]}\n{first[20:]}")])
    paper.new_page()
    paper.table([("", second)])
    paper.new_page()
    paper.table([("", third), ("2", "乙")])
    paper.save()
    assert _lines(tmp_path / "a.pdf")[2:] == [f"| 1 | {make.SENTENCE} |", "| 2 | 乙 |"]


def test_words_in_a_cell_are_joined_without_blanks(tmp_path: Path) -> None:
    paper = make.Paper(tmp_path / "a.pdf")
    paper.table([("项目", "条件"), ("租房补贴", "在本区缴纳社会\n保险满一年")])
    paper.save()
    assert _lines(tmp_path / "a.pdf")[-1] == "| 租房补贴 | 在本区缴纳社会保险满一年 |"


def test_a_table_without_rules_keeps_its_rows_apart(tmp_path: Path) -> None:
    paper = make.Paper(tmp_path / "a.pdf")
    paper.paragraph(f"第一条　{make.SENTENCE}")
    for cells in (("学历", "单身", "有配偶"), ("博士", "2000元", "2500元")):
        for index, cell in enumerate(cells):
            paper.canvas.setFont(make.FONT, make.SIZE)
            paper.canvas.drawString(make.LEFT + 190 * index, paper.y, cell)
        paper.y -= make.LEADING
    paper.save()
    assert _lines(tmp_path / "a.pdf")[1:] == ["学历　单身　有配偶", "博士　2000元　2500元"]


def test_a_signature_at_the_right_edge_is_lines_and_the_annex_behind_it_begins_anew(
    tmp_path: Path,
) -> None:
    paper = make.Paper(tmp_path / "a.pdf", make.running)
    for _ in range(3):
        paper.paragraph(make.SENTENCE)
    for words in ("示例市财政局", "2024年3月15日"):
        paper.canvas.setFont(make.FONT, make.SIZE)
        paper.canvas.drawRightString(make.RIGHT, paper.y, words)
        paper.y -= make.LEADING
    paper.new_page()
    paper.line("附件")
    paper.line("补贴标准按户计算。")
    paper.save()
    assert _lines(tmp_path / "a.pdf")[-4:] == [
        "示例市财政局",
        "2024年3月15日",
        "附件",
        "补贴标准按户计算。",
    ]


@pytest.mark.parametrize("number", ["1", "- 1 -", "— 1 —", "第 1 页", "第1页 共3页", "1/3", "·1·"])
def test_page_numbers_are_left_out(number: str, tmp_path: Path) -> None:
    paper = make.Paper(tmp_path / "a.pdf")
    paper.paragraph(f"第一条　{make.SENTENCE}")
    paper.canvas.drawCentredString(make.WIDTH / 2, 50, number)
    paper.save()
    assert _lines(tmp_path / "a.pdf") == [f"第一条　{make.SENTENCE}"]


def test_words_beyond_the_edge_of_the_paper_are_left_out(tmp_path: Path) -> None:
    paper = make.Paper(tmp_path / "a.pdf")
    paper.line("第一条　纸上的话。")
    paper.line("纸外的话。", make.WIDTH + 20)
    paper.save()
    assert _lines(tmp_path / "a.pdf") == ["第一条　纸上的话。"]


def test_type_printed_twice_for_boldness_is_read_once(tmp_path: Path) -> None:
    paper = make.Paper(tmp_path / "a.pdf")
    paper.line("第一条　甲方的权利。")
    paper.y += make.LEADING
    paper.line("第一条　甲方的权利。", make.LEFT + 0.4)
    paper.save()
    assert _lines(tmp_path / "a.pdf") == ["第一条　甲方的权利。"]


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_a_password_is_asked_for_only_where_reading_needs_it(
    algorithm: str, tmp_path: Path
) -> None:
    plain = make.write_notice(tmp_path / "a.pdf")
    for user, name in (("", "open.pdf"), ("secret", "closed.pdf")):
        writer = PdfWriter(clone_from=plain)
        writer.encrypt(user, "owner", algorithm=algorithm)
        writer.write(tmp_path / name)
    assert read_document(tmp_path / "open.pdf").text == read_document(plain).text
    assert "protected by a password; save it without" in _refusal(tmp_path / "closed.pdf")


@pytest.mark.parametrize("algorithm", ["RC4-40", "RC4-128", "AES-128", "AES-256-R5", "AES-256"])
@pytest.mark.parametrize("allowed", [0, 4, 2**32 - 4])
def test_a_file_that_only_forbids_printing_or_copying_is_read_as_any_other(
    algorithm: str, allowed: int, tmp_path: Path
) -> None:
    plain = make.write_notice(tmp_path / "a.pdf")
    writer = PdfWriter(clone_from=plain)
    writer.encrypt("", "owner", algorithm=algorithm, permissions_flag=allowed)
    writer.write(tmp_path / "b.pdf")
    assert read_document(tmp_path / "b.pdf") == read_document(plain)


@pytest.mark.parametrize("strength", [40, 128])
def test_encrypted_names_of_character_sets_are_read_too(strength: int, tmp_path: Path) -> None:
    locked = StandardEncryption("", ownerPassword="owner", canPrint=0, strength=strength)
    for name, options in (("a.pdf", {}), ("b.pdf", {"encrypt": locked})):
        paper = make.Paper(tmp_path / name, **options)
        for n in range(5):
            paper.line(f"第{n + 1}条　渔船应当登记，禁渔期不得捕捞。")
        paper.save()
    lines = _lines(tmp_path / "b.pdf")
    assert lines[0] == "第1条　渔船应当登记，禁渔期不得捕捞。"
    assert lines == _lines(tmp_path / "a.pdf")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"\xd0\xcf\x11\xe0 no pdf", "is no PDF"),
        (b"%PDF-1.4\nbroken", "is damaged"),
    ],
)
def test_damaged_files_are_refused(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "坏.pdf"
    path.write_bytes(data)
    assert words in _refusal(path)


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_a_file_cut_short_is_refused(share: float, tmp_path: Path) -> None:
    path = tmp_path / "短.pdf"
    data = make.write_notice(tmp_path / "a.pdf").read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    assert "is damaged" in _refusal(path)


def test_a_damaged_page_is_told_and_nothing_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = make.write_notice(tmp_path / "a.pdf", compressed=True)
    data = bytearray(path.read_bytes())
    begin = data.index(b"stream", data.index(b"/FlateDecode")) + 8
    data[begin + 400 : begin + 405] = b'!!!!"'  # still Ascii85, other bytes
    path.write_bytes(data)
    assert any("words may be missing" in w for w in read_document(path).warnings)
    assert not caplog.records


CATALOGUE = "<</Type/Catalog/Pages 2 0 R>>"


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "bodies",
    [
        (CATALOGUE, "<</Type/Pages/Kids[2 0 R]/Count 1>>"),
        (
            CATALOGUE,
            "<</Type/Pages/Kids[3 0 R]/Count 1>>",
            "<</Type/Page/Parent 2 0 R/MediaBox 4 0 R/Contents 4 0 R>>",
            "4 0 R",
        ),
        (
            CATALOGUE,
            "<</Type/Pages/Kids[3 0 R]/Count 1>>",
            "<</Type/Page/Parent 3 0 R>>",
        ),
        (
            CATALOGUE,
            "<</Type/Pages/Kids[3 0 R]/Count 1>>",
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Resources<</XObject<</F 4 0 R>>>>"
            "/Contents 5 0 R>>",
            "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</F 4 0 R>>>>"
            "/Length 5>>stream\n/F Do\nendstream",
            "<</Length 5>>stream\n/F Do\nendstream",
        ),
    ],
    ids=["page tree", "reference to itself", "parent", "form in itself"],
)
def test_reference_loops_end_in_a_refusal(bodies: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "loop.pdf"
    path.write_bytes(make.objects(*bodies))
    assert _refusal(path)


@pytest.mark.parametrize(
    ("write", "words"),
    [(make.write_scan, "a scan without text"), (make.write_garbled, "without meaning")],
)
def test_without_ocr_a_scan_or_a_garbled_text_is_refused_with_the_remedy(
    write: object, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf_ocr, "is_installed", lambda: False)
    message = _refusal(write(tmp_path / "scan.pdf"))  # type: ignore[operator]
    assert words in message
    assert "policy-fusion[ocr]" in message


@pytest.mark.parametrize("turned", [90, 180, 270])
def test_without_ocr_a_turned_scan_is_refused_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turned: int
) -> None:
    monkeypatch.setattr(pdf_ocr, "is_installed", lambda: False)
    message = _refusal(make.write_scan(tmp_path / "a.pdf", turned=turned))
    assert "is a scan without text; install the extra" in message


def test_without_ocr_a_picture_among_pages_of_text_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf_ocr, "is_installed", lambda: False)
    reading = read_document(make.write_scan(tmp_path / "a.pdf", page_of_text=True))
    assert reading.text.count(make.SENTENCE) == 3
    assert reading.warnings == ("page 2 holds only pictures: words in them are not read",)
    assert reading.pages == (0, len(reading.text))


def test_recognised_words_are_laid_out_like_printed_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recognise(path: Path, pages: list[int]) -> list[tuple[int, list[Line]]]:
        words = make.wrap(f"第一条　{make.SENTENCE}", make.RIGHT - make.LEFT)
        tops = range(100, 1000, 28)
        lines = [
            Line(w, make.LEFT + (32 if i == 0 else 0), make.LEFT + 16 * len(w), top, top + 16, 16)
            for i, (w, top) in enumerate(zip(words, tops, strict=False))
        ]
        return [(page, [*lines, Line("— 7 —", 280, 320, 780, 790, 12)]) for page in pages]

    monkeypatch.setattr(pdf_ocr, "is_installed", lambda: True)
    monkeypatch.setattr(pdf_ocr, "recognise", recognise)
    reading = read_document(make.write_scan(tmp_path / "a.pdf"))
    assert reading.text.split("\n")[0] == f"第一条　{make.SENTENCE}"
    assert "7" not in reading.text
    assert reading.warnings == (
        "page 1 holds only pictures: the text is recognised by a program and may be wrong",
    )


@pytest.mark.slow
def test_a_scan_is_recognised_offline_by_the_models_in_the_package(tmp_path: Path) -> None:
    if not pdf_ocr.is_installed():
        pytest.skip("the extra ocr is not installed")
    reading = read_document(make.write_scan(tmp_path / "a.pdf"))
    assert reading.text.split() == make.SCANNED.split()
