"""Real saved pages of government sites: titles, numbers and cells as a person reads them there."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from configs.errors import InputError
from ingest.formats import read_document
from ingest.parse import parse_file

_OFFICE = "广州市人民政府办公厅"
_HR = "广州市人力资源和社会保障局"
# By the number at the start of the file's name: title of the page, 发文字号 ("" without one).
_PAGES = {
    "01b": ("小学招生5月7日起网上报名！天河区义务教育阶段学校招生工作细则公布", ""),
    "02": ("2026年广州市天河区积分制入学学位申请指引", ""),
    "03": ("2026年天河区港澳居民随迁子女（或持证适龄儿童少年）学位申请指引", ""),
    "05": ("广州市天河区教育局关于印发《2026年广州市天河区幼儿园招生工作方案》的通知", ""),
    "06": (
        "广州市医疗保险服务中心关于开展2026年度广州市城乡居民基本医疗保险集中参保缴费工作的通告",
        "",
    ),
    "07": ("无需个人垫付！广州异地就医备案，上“穗好办”快速办理！", ""),
    "08": (
        "广州市卫生健康委等4部门关于印发推进广州市家庭医生签约服务高质量发展实施方案的通知",
        "穗卫函〔2023〕1930号",
    ),
    "09": ("本月起，这笔钱直接发放至个人！", ""),
    "10": ("广东多项医保新措1月1日起实施", ""),
    "10b": (
        "广州市医疗保障局 广州市财政局 广州市卫生健康委员会关于印发"
        "广州市社会医疗保险统筹基金支付门诊特定病种费用范围及标准的通知",
        "穗医保规字〔2019〕4号",
    ),
    "11": (f"{_OFFICE}关于印发广州市公共租赁住房管理办法的通知", "穗府办规〔2024〕13号"),
    "11b": ("关于推出供应广州市2025年第一批户籍家庭公共租赁住房常态分配房源的通告", ""),
    "12": ("关于受理天河区人才公寓申请的公告", ""),
    "13": (
        "广州市住房和城乡建设局关于进一步加强户籍家庭住房保障工作的通知",
        "穗建规字〔2024〕5号",
    ),
    "15": ("创业担保贷款常见问题", ""),
    "16": ("广州市高校毕业生创业补贴，请查收", ""),
    "17": ("广州市天河区深化支持港澳青年创新创业高质量发展实施办法", "穗天科工信规字〔2023〕1号"),
    "18": (
        f"{_HR}广州市财政局关于印发广州市就业见习基地管理办法的通知",
        "穗人社规字〔2019〕6号",
    ),
    "20": ("【人社】广州市劳动人事争议仲裁网上申请流程", ""),
    "26": (
        "广州市民政局 广州市财政局关于印发我市2025年最低生活保障及相关社会救助标准的通知",
        "穗民规字〔2025〕2号",
    ),
    "27b": (
        "广州市残疾人联合会关于印发广州市残疾人辅助器具适配工作管理办法的通知",
        "穗残联规字〔2019〕2号",
    ),
    "27c": ("广州市困难残疾人生活补贴和重度残疾人护理补贴实施办法", ""),
    "28": (f"{_OFFICE}关于进一步加强特困人员救助供养工作的通知", "穗府办规〔2021〕7号"),
    "29": (f"{_OFFICE}关于印发广州市临时救助实施细则的通知", "穗府办规〔2021〕19号"),
    "30": (
        "广州市民政局 广州市财政局 广州市市场监督管理局关于印发"
        "广州市老年人助餐配餐服务管理办法的通知",
        "穗民规字〔2024〕3号",
    ),
    "31": (f"{_OFFICE}关于印发广州市居家社区养老服务管理办法的通知", "穗府办规〔2022〕13号"),
    "32": (
        "广州市医疗保障局 广州市财政局 广州市民政局 广州市卫生健康委员会关于印发"
        "广州市长期护理保险试行办法的通知",
        "穗医保规字〔2024〕1号",
    ),
    "33": ("广州市老年人优待办法", "广州市人民政府令第179号"),
    # The names of these two files were mixed up when they were saved; the pages say this.
    "35": (
        f"{_HR} 广州市公安局关于印发广州市引进人才入户管理办法实施细则的通知",
        "穗人社规字〔2022〕2号",
    ),
    "35c": (f"{_OFFICE}关于印发广州市引进人才入户管理办法的通知", "穗府办规〔2020〕10号"),
    "36b": (f"{_OFFICE}关于重新发布广州市积分制入户管理办法的通知", "穗府办规〔2025〕8号"),
    "37": ("市场主体登记管理条例", "国务院令第746号"),
}
# Page, a cell of the header, and a row's first words and the cell under that header.
_CELLS = [
    ("06", "参保缴费渠道", "大中专学生", "由所在学校统一协助办理参保登记手续"),
    ("08", "二级指标", "签约数量指标", "2.签约服务覆盖率"),
    ("10b", "职工医保", "系统性红斑狼疮", "400元/月"),
    ("10b", "城乡居民医保", "小儿脑性瘫痪", "640元/月"),
    ("14", "办公电话", "石牌街", "87564410"),
    ("35b", "年龄要求", "硕士研究生", "45周岁以下"),
    ("36b", "指标内容及分值", "违法违规情况", "每次减10分"),
]


def _file(shared_data: Path, number: str) -> Path:
    return next((shared_data / "real_files" / "html_gz").glob(f"{number}_*.html"))


@pytest.mark.parametrize("number", _PAGES)
def test_title_and_number_are_those_of_the_page(shared_data: Path, number: str) -> None:
    path = _file(shared_data, number)

    document = next(parse_file(path, "local", path.parent, lambda: date(2026, 11, 30)))

    assert not hasattr(document, "reason")
    facts = document.passages[0].metadata  # type: ignore[union-attr]
    assert (facts.title, facts.doc_number) == _PAGES[number]
    assert facts.jurisdiction


def test_every_page_parses_without_the_sites_words_but_for_a_list_of_links(
    shared_data: Path,
) -> None:
    refused = []
    for path in sorted((shared_data / "real_files" / "html_gz").glob("*.html")):
        try:
            reading = read_document(path)
        except InputError as error:
            refused.append((path.name[:3], str(error).split(": ")[1]))
            continue
        assert len(reading.text) > 200
        for words in ("ICP备", "网站标识码", "扫一扫在手机打开", "当前位置", "浏览次数", "<td"):
            assert words not in reading.text, path.name
    assert refused == [("20b", "is a list of links; save the page of the document itself")]


@pytest.mark.parametrize(("number", "header", "row", "cell"), _CELLS)
def test_a_cell_stands_in_its_row_under_its_header(
    shared_data: Path, number: str, header: str, row: str, cell: str
) -> None:
    lines = read_document(_file(shared_data, number)).text.split("\n")
    found = []
    heads: list[str] = []
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        cells = line.strip("| ").split(" | ")
        if below.startswith("| ---"):
            heads = cells
        elif line.startswith("| ") and any(c.startswith(row) for c in cells):
            found += [c for h, c in zip(heads, cells, strict=False) if header in h]
    assert any(cell in c for c in found), found
