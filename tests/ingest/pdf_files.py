"""PDF files of the kinds that offices send, made while the tests run. All texts are 虚构示例."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont
from reportlab.lib import colors
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Table

FONT = "STSong-Light"
WIDTH, HEIGHT = 595.0, 842.0
LEFT, RIGHT, TOP, BOTTOM = 80.0, 515.0, 740.0, 100.0
SIZE, LEADING = 16.0, 28.0

pdfmetrics.registerFont(UnicodeCIDFont(FONT))


class Paper:
    """Sets text as a word processor does: justified lines, first line indented by two characters.

    ``furniture(canvas, n)`` draws what stands on every page n (from 1).
    """

    def __init__(
        self,
        path: Path,
        furniture: Callable[[Any, int], None] | None = None,
        **options: Any,
    ) -> None:
        self.canvas = Canvas(str(path), pagesize=(WIDTH, HEIGHT), **options)
        self._furniture = furniture
        self.page = 0
        self.y = TOP
        self._begin()

    def _begin(self) -> None:
        self.page += 1
        self.y = TOP
        if self._furniture:
            self._furniture(self.canvas, self.page)

    def new_page(self) -> None:
        self.canvas.showPage()
        self._begin()

    def line(self, text: str, x: float = LEFT, size: float = SIZE) -> None:
        if self.y < BOTTOM:
            self.new_page()
        self.canvas.setFont(FONT, size)
        self.canvas.drawString(x, self.y, text)
        self.y -= LEADING

    def centred(self, text: str, size: float = SIZE) -> None:
        self.line(text, (WIDTH - pdfmetrics.stringWidth(text, FONT, size)) / 2, size)

    def right(self, text: str) -> None:
        self.line(text, RIGHT - pdfmetrics.stringWidth(text, FONT, SIZE) - 2 * SIZE)

    def paragraph(self, text: str, left: float = LEFT, right: float = RIGHT) -> None:
        for index, piece in enumerate(wrap(text, right - left)):
            self.line(piece, left + (2 * SIZE if index == 0 else 0))

    def table(self, rows: Sequence[Sequence[str]], *spans: Any, **options: Any) -> None:
        """A ruled table; ``spans`` are reportlab's styles, as ("SPAN", (0, 0), (0, 1))."""
        grid = ("GRID", (0, 0), (-1, -1), 0.5, colors.black)
        style = [grid, ("FONT", (0, 0), (-1, -1), FONT, 12), *spans]
        table = Table(rows, style=style, **options)
        _, height = table.wrapOn(self.canvas, RIGHT - LEFT, self.y)
        table.drawOn(self.canvas, LEFT, self.y + LEADING / 2 - height)
        self.y -= height + LEADING / 2

    def save(self) -> None:
        self.canvas.save()


def wrap(text: str, width: float, size: float = SIZE, indent: int = 2) -> list[str]:
    """The lines of a paragraph whose first line is indented."""
    lines, line, room = list[str](), "", width - indent * size
    for char in text:
        if pdfmetrics.stringWidth(line + char, FONT, size) > room and char not in "。，；：、”）":
            lines.append(line)
            line, room = "", width
        line += char
    return [*lines, line]


def running(canvas: Any, n: int) -> None:
    """A running head and a page number as in a 公文."""
    canvas.setFont(FONT, 10.5)
    canvas.drawCentredString(WIDTH / 2, 800, "示例区人民政府公报　2024年第3期")
    canvas.setFont(FONT, 14)
    number = f"— {n} —"
    canvas.drawString(LEFT if n % 2 == 0 else RIGHT - 50, 60, number)


SENTENCE = (
    "区人力资源部门应当自收到申请之日起十五个工作日内完成审核，并将结果书面告知申请人；"
    "材料不齐的，应当一次告知需要补正的全部内容。"
)
NUMERALS = (*"一二三四五六七八九十", *(f"十{n}" for n in "一二三四五六"))
ARTICLES = (
    *(f"第{n}条　这是第{i}条。{SENTENCE}" for i, n in enumerate(NUMERALS[:-1], 1)),
    "第十六条　本办法自2024年7月1日起施行，有效期五年。",
)
"""They fill three pages, so that sentences run over both page ends."""
SPANS = (("SPAN", (0, 0), (0, 1)), ("SPAN", (1, 0), (2, 0)), ("SPAN", (1, 3), (2, 3)))
CELLS = (
    ("学历", "补贴标准", ""),
    ("", "单身", "有配偶"),
    ("博士", "每月2000元", "每月2500元"),
    ("硕士", "每月1200元", ""),
)


def write_notice(path: Path, *, compressed: bool = False) -> Path:
    """A 公文 with red head, title on two lines, articles over three pages and an annexed table."""
    options = {"pageCompression": 1} if compressed else {}
    paper = Paper(path, running, **options)
    paper.centred("示例区人民政府文件", 36)
    paper.centred("示府规〔2024〕5号")
    paper.centred("示例区人民政府关于印发", 22)
    paper.centred("《示例区青年人才租房补贴办法》的通知", 22)
    paper.line("各街道办事处，区政府各部门：")
    paper.paragraph("现将《示例区青年人才租房补贴办法》印发给你们，请遵照执行。")
    paper.right("示例区人民政府")
    paper.right("2024年6月3日")
    paper.centred("示例区青年人才租房补贴办法", 22)
    for article in ARTICLES:
        paper.paragraph(article)
    paper.new_page()
    paper.line("附件：租房补贴标准")
    paper.table(CELLS, *SPANS, colWidths=[100, 150, 150])
    paper.save()
    return path


def write_columns(path: Path) -> Path:
    """A title across the page above two columns whose lines stand at different heights."""
    paper = Paper(path, running)
    paper.centred("示例区租房补贴办法", 22)
    top = paper.y
    for (left, right), articles, shift in (
        ((80, 280), ARTICLES[:3], 0),
        ((315, 515), ARTICLES[3:6], 9),
    ):
        paper.y = top - shift
        for article in articles:
            paper.paragraph(article, left, right)
    paper.save()
    return path


def write_notes(path: Path) -> Path:
    """A raised note mark, the note at the foot, and a sentence that goes on on the next page."""
    paper = Paper(path, running)
    paper.centred("示例区租房补贴办法", 22)
    words = "第一条　补贴按照自然月"
    end = LEFT + 2 * SIZE + pdfmetrics.stringWidth(words, FONT, SIZE)
    paper.canvas.setFont(FONT, 8)
    paper.canvas.drawString(end, paper.y + 7, "1")
    paper.canvas.setFont(FONT, SIZE)
    paper.canvas.drawString(end + 6, paper.y, "发放。")
    paper.line(words, LEFT + 2 * SIZE)
    first, *rest = wrap("第二条　" + SENTENCE, RIGHT - LEFT)
    paper.line(first, LEFT + 2 * SIZE)
    paper.canvas.setFont(FONT, 10.5)
    paper.canvas.drawString(LEFT, 130, "1 自然月从每月一日起算，到该月最后一日为止，不足一月的按")
    paper.canvas.drawString(LEFT, 115, "照实际天数计算。")
    paper.new_page()
    for piece in rest:
        paper.line(piece)
    paper.paragraph("第三条　本办法自2024年7月1日起施行。")
    paper.save()
    return path


def write_long_table(path: Path) -> Path:
    """A table that goes on on the second page, where its header is repeated."""
    paper = Paper(path, running)
    paper.line("附件：租房补贴标准")
    header = ("街道", "标准")
    paper.table([header, *((f"街道{n}", f"{n}00元") for n in range(1, 4))])
    paper.new_page()
    paper.table([header, *((f"街道{n}", f"{n}00元") for n in range(4, 6))])
    paper.line("本表自2024年7月1日起执行。")
    paper.save()
    return path


JOINT = ("示例市财政局", "示例市税务局", "示例市科学技术局")
DEVICES = (
    ("类别", "设备", "补贴标准（元）", ""),
    ("", "", "企业", "个人"),
    ("大型", "播种机", "30000", "25000"),
    ("", "收割机", "50000", ""),
)


def write_joint_notice(path: Path) -> Path:
    """A 公文 of three organs: red head on three lines, addressee, list of annexes, joint
    signature, and the annexed table with merged cells on a page of its own."""
    paper = Paper(path, running)
    for organ in JOINT:
        if organ == JOINT[1]:
            paper.canvas.setFont(FONT, 30)
            paper.canvas.drawString(RIGHT - 75, paper.y, "文件")
        paper.line(organ, LEFT + 40, 30)
        paper.y -= 10
    paper.centred("示财农〔2024〕17号")
    paper.centred("示例市财政局 示例市税务局 示例市科学技术局", 22)
    paper.centred("关于印发《示例市农业机械补贴办法》的通知", 22)
    paper.line("各县财政局、税务局、科学技术局：")
    paper.paragraph(
        "现将《示例市农业机械补贴办法》印发给你们，请结合实际认真贯彻执行（虚构示例）。"
    )
    paper.paragraph("附件：1. 农业机械补贴标准")
    paper.right("示例市财政局　示例市税务局")
    paper.right("示例市科学技术局")
    paper.right("2024年6月3日")
    paper.new_page()
    paper.line("附件1")
    paper.centred("农业机械补贴标准", 22)
    spans = [("SPAN", (0, 0), (0, 1)), ("SPAN", (1, 0), (1, 1)), ("SPAN", (2, 0), (3, 0))]
    spans += [("SPAN", (0, 2), (0, 3)), ("SPAN", (2, 3), (3, 3))]
    paper.table(DEVICES, *spans, colWidths=[90, 110, 110, 110])
    paper.save()
    return path


def write_turned(path: Path) -> Path:
    """A wide table on a page that is turned for reading, behind an upright page."""
    paper = Paper(path, running)
    paper.paragraph(f"第一条　{SENTENCE}")
    paper.canvas.showPage()
    paper.canvas.setPageRotation(90)
    paper.canvas.translate(WIDTH, 0)
    paper.canvas.rotate(90)
    paper.y = 480.0
    paper.line("附件：租房补贴标准")
    paper.table(CELLS, *SPANS, colWidths=[120, 160, 160])
    paper.save()
    return path


def write_scan(path: Path, *, page_of_text: bool = False, turned: int = 0) -> Path:
    """A page that is one picture, perhaps behind a page of text; ``turned``: degrees by which the
    page is shown turned."""
    paper = Paper(path)
    paper.canvas.setPageRotation(turned)
    if page_of_text:
        for n in range(3):
            paper.paragraph(f"第{NUMERALS[n]}条　{SENTENCE}")
        paper.new_page()
    picture = Image.new("RGB", (827, 1169), "white")
    ImageDraw.Draw(picture).text((120, 150), SCANNED, font=ImageFont.load_default(60), fill="black")
    paper.canvas.drawImage(ImageReader(picture), 0, 0, WIDTH, HEIGHT)
    paper.save()
    return path


SCANNED = "NOTICE 2024"


def objects(*bodies: str) -> bytes:
    """A PDF of raw objects 1, 2, …; the first is the catalogue."""
    data, places = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(bodies) + 1
    return data + (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}"
        f"trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{len(data)}\n%%EOF"
    ).encode("latin-1")


def write_garbled(path: Path) -> Path:
    """Words in a font without a Unicode table: glyph numbers alone."""
    stream = f"BT /F 16 Tf 50 50 Td <{'0101020203030404' * 8}> Tj ET"
    path.write_bytes(
        objects(
            "<</Type/Catalog/Pages 2 0 R>>",
            "<</Type/Pages/Kids[3 0 R]/Count 1>>",
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R"
            "/Resources<</Font<</F 5 0 R>>>>>>",
            f"<</Length {len(stream)}>>stream\n{stream}\nendstream",
            "<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[6 0 R]>>",
            "<</Type/Font/Subtype/CIDFontType2/BaseFont/X/CIDSystemInfo"
            "<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/DW 1000>>",
        )
    )
    return path
