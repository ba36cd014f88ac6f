"""Word files of the kinds that offices send, made while the tests run. All texts are 虚构示例."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docx import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.shared import Pt

TITLE = "示例区人民政府关于印发《示例区青年人才租房补贴办法》的通知"
NUMBER = "示府规〔2024〕5号"
ARTICLES = (
    "为了支持青年人才在本区安居，制定本办法。",
    "本办法所称青年人才，是指毕业不满五年、在本区缴纳社会保险的人员。",
    "租房补贴按照附件所列标准按月发放，最长三十六个月。",
    "本办法自2024年7月1日起施行，有效期五年。",
)
TABLE = (
    ("学历", "补贴标准", "补贴标准"),
    ("学历", "单身", "有配偶"),
    ("博士", "每月2000元", "每月2500元"),
    ("硕士", "每月1200元", "每月1200元"),
)
"""The cells as Reading gives them: 学历 spans two rows, 补贴标准 and the last row two columns."""

_FOOTNOTES = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
LEVELS = (
    ("chineseCountingThousand", "第%1条"),
    ("chineseCountingThousand", "（%2）"),
    ("decimal", "%3."),
)


def write_notice(path: Path) -> Path:
    """A 公文: red head, number, title on two lines, 主送机关, numbered articles, annexed table."""
    document = new_document()
    document.sections[0].header.paragraphs[0].text = "页眉：内部资料"
    document.sections[0].footer.paragraphs[0].text = "— 1 —"
    line(document, "示例区人民政府文件", size=36, centred=True)
    line(document, NUMBER, size=16, centred=True)
    line(document, "示例区人民政府关于印发", size=22, centred=True)
    line(document, "《示例区青年人才租房补贴办法》的通知", size=22, centred=True)
    line(document, "各街道办事处，区政府各部门：")
    line(document, "现将《示例区青年人才租房补贴办法》印发给你们，请遵照执行。")
    line(document, "示例区人民政府")
    line(document, "2024年6月3日")
    line(document, "示例区青年人才租房补贴办法", size=22, centred=True)
    add_numbering(document)
    for text in ARTICLES:
        numbered(document, text)
    line(document, "附件：租房补贴标准")
    add_merged_table(document)
    document.save(str(path))
    return path


def new_document() -> Any:
    """A document whose plain text is set in 16 points."""
    document = Document()
    document.styles["Normal"].font.size = Pt(16)
    return document


def line(document: Any, text: str, *, size: float = 16, centred: bool = False) -> Any:
    paragraph = document.add_paragraph()
    paragraph.add_run(text).font.size = Pt(size)
    if centred:
        paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
    return paragraph


def add_numbering(
    document: Any,
    *,
    list_id: int = 90,
    start: int | str = 1,
    levels: Sequence[tuple[str, str]] = LEVELS,
) -> None:
    """A list 第一条 / （一） / 1. under ``list_id``; ``start``: of its first level."""
    written = "".join(
        f'<w:lvl w:ilvl="{index}"><w:start w:val="{start if index == 0 else 1}"/>'
        f'<w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for index, (form, text) in enumerate(levels)
    )
    root = document.part.numbering_part.element
    first = root.find(f"{{{root.nsmap['w']}}}num")
    abstract = parse_xml(
        f'<w:abstractNum {nsdecls("w")} w:abstractNumId="{list_id}">{written}</w:abstractNum>'
    )
    first.addprevious(abstract) if first is not None else root.append(abstract)
    root.append(
        parse_xml(
            f'<w:num {nsdecls("w")} w:numId="{list_id}">'
            f'<w:abstractNumId w:val="{list_id}"/></w:num>'
        )
    )


def add_restart(document: Any, list_id: int, of: int, start: int = 1) -> None:
    """A further list of the same kind as ``of`` that counts from ``start`` again."""
    document.part.numbering_part.element.append(
        parse_xml(
            f'<w:num {nsdecls("w")} w:numId="{list_id}"><w:abstractNumId w:val="{of}"/>'
            f'<w:lvlOverride w:ilvl="0"><w:startOverride w:val="{start}"/></w:lvlOverride></w:num>'
        )
    )


def numbered(document: Any, text: str, *, level: int = 0, list_id: int = 90) -> Any:
    paragraph = document.add_paragraph(text)
    properties = paragraph._p.get_or_add_pPr()
    properties.append(
        parse_xml(
            f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{level}"/>'
            f'<w:numId w:val="{list_id}"/></w:numPr>'
        )
    )
    return paragraph


def add_merged_table(document: Any) -> Any:
    """TABLE with its merged cells."""
    table = document.add_table(rows=len(TABLE), cols=3)
    table.cell(0, 0).merge(table.cell(1, 0))
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(3, 1).merge(table.cell(3, 2))
    for row, cells in enumerate(TABLE):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    return table


def raw(document: Any, inner: str) -> None:
    """A paragraph of raw XML (``w:`` elements) at the end."""
    document.element.body.insert_element_before(
        parse_xml(f"<w:p {nsdecls('w', 'wp', 'a', 'r')} {_EXTRA}>{inner}</w:p>"), "w:sectPr"
    )


_EXTRA = (
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
)


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def text_box(text: str) -> str:
    """A drawn box as Word writes it: the text twice, in Choice and in Fallback."""
    content = f"<w:txbxContent><w:p>{run(text)}</w:p></w:txbxContent>"
    return (
        "<w:r><mc:AlternateContent>"
        f'<mc:Choice Requires="wps"><w:drawing><wps:txbx>{content}</wps:txbx></w:drawing>'
        "</mc:Choice>"
        f"<mc:Fallback><w:pict><v:textbox>{content}</v:textbox></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r>"
    )


def add_footnotes(document: Any, *texts: str) -> None:
    """A footnotes part with the notes 1, 2, … ; cite them by ``note_mark(n)``."""
    notes = "".join(
        f'<w:footnote w:id="{n}"><w:p><w:r><w:footnoteRef/></w:r>{run(text)}</w:p></w:footnote>'
        for n, text in enumerate(texts, 1)
    )
    part = Part(
        PackURI("/word/footnotes.xml"),
        _FOOTNOTES,
        f"<w:footnotes {nsdecls('w', 'r')}>{notes}</w:footnotes>".encode(),
        document.part.package,
    )
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)


def note_mark(n: int) -> str:
    return f'<w:r><w:footnoteReference w:id="{n}"/></w:r>'
