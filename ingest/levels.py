"""The rank of a document in the order of norms (效力级别), or that it is only news about one.

Ranks after 《中华人民共和国立法法》; 新闻解读 is this project's name for reports and explainers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

NEWS = "新闻解读"
LEVELS = (
    "宪法",
    "法律",
    "监察法规",
    "行政法规",
    "司法解释",
    "地方性法规",
    "自治条例和单行条例",
    "部门规章",
    "地方政府规章",
    "规范性文件",
    NEWS,
)
_COURT = re.compile(r"最高人民(?:法院|检察院)")
_STATUTE_NAME = re.compile(
    r"(?:条例|规定|办法|细则|规则|决定|章程|守则|准则|标准)(?:[（(](?:试行|暂行|修订|草案)[)）])?$"
)
_LOCAL_REGULATION = re.compile(
    r"条例(?:实施细则)?$|实施[《〈].{2,40}[》〉]的?(?:办法|细则|规定|若干规定)$|若干规定$"
)
_REMARK = re.compile(r"(?<=[^）)])(?:[（(](?!修正|[一二三四五六七八九十])[^（()）]{1,30}[)）])+$")
_GOVERNMENT_MADE = re.compile(r"人民政府[^\n]{0,12}(?:常务会议|全体会议|公布|发布|令)")
_ARTICLE = re.compile(r"^[ \t　]*第[一二三]条(?:[ \t　]|$)", re.MULTILINE)
_FORMAL_NAME = re.compile(
    r"(?:通知|公告|通告|意见|决定|方案|办法|规定|细则|措施|条例|批复|函|令|通报|指南|指引|规范|规划"
    r"|计划|标准|政策|清单|预案|倡议书|公开信|守则|要点|建议|提示|须知|规程|目录|安排|流程|修正案)"
    r"(?:[（(].{1,30}[)）])?$"
)
_FORMAL_START = re.compile(
    r"各(?:区|县|市|省|有关|自治|地|级|盟|街道|单位|部门|相关|镇|乡|设区)[^。]{0,80}[：:]"
    r"|(?:通知|通告|公告|制定|决定)[^。]{0,25}(?:如下|以下)|印发给你们"
)
_NEWS = re.compile(
    r"新华社|日电|本报讯|本报记者|记者(?!证)|通讯员|发布会|解读|一图|图解|问答|热点\d*问|快讯"
    r"|讯[（(]|据悉|央视|编辑[：:]|来源[：:]"
)
_NEWS_TITLE = re.compile(
    r"^[^关于]{2,24}(?:发布|出台|公布|推出)(?!会)(?!.*(?:通知|公告|通告)$)|解读|问答|图解|一图|看懂"
    r"|一文|发布会|[！!？?]$|热点.{0,8}问|记者|速看|问题解答"
)


def level_of(
    *,
    title: str,
    history: Sequence[str],
    issuer: str,
    number: str,
    local: bool,
    folders: Sequence[str],
    tags: Sequence[str],
    body: str,
) -> str:
    """One of LEVELS. ``local``: its place is narrower than the country; ``tags`` and ``folders``:
    words of the file's name and of the folders above it."""
    for tag in (*tags, *reversed(folders)):
        if tag in LEVELS:
            return tag
    head = "\n".join(history)
    title = _REMARK.sub("", title)
    if re.fullmatch(r"(?:中华人民共和国)?宪法(?:修正案.*)?", title):
        return "宪法"
    if "监察委员会" in issuer and not local and _STATUTE_NAME.search(title):
        return "监察法规"
    if _COURT.search(issuer):
        return "司法解释"
    if re.search(r"人民代表大会|人大常委会", issuer):
        if issuer.startswith("全国"):
            return "法律"
        own = re.search(r"自治(?:州|县)(?:自治)?条例", title) or re.search(
            "自治(?:州|县)人民", issuer
        )
        return "自治条例和单行条例" if own and title.endswith("条例") else "地方性法规"
    return _of_government(
        title, head, issuer, local=local, numbered="〔" in number or "公告" in number, body=body
    )


def _of_government(
    title: str, head: str, issuer: str, *, local: bool, numbered: bool, body: str
) -> str:
    decree = re.search(r"令\s*(?:\d{4}年)?第\s*\S{1,8}\s*号", head + "\n" + body[:300])
    if not local and re.search(r"国务院[^\n]*令|国务院[^\n]*(?:批准|公布|发布|批转)", head):
        return "行政法规"
    if issuer.startswith("国务院") and _STATUTE_NAME.search(title) and _ARTICLE.search(body):
        return "行政法规"
    if decree and _STATUTE_NAME.search(title):
        return "地方政府规章" if local else "部门规章"
    if _ARTICLE.search(body):
        if local and _GOVERNMENT_MADE.search(head) and _STATUTE_NAME.search(title):
            return "地方政府规章"
        if local and (_LOCAL_REGULATION.search(title) or "人民代表大会" in title):
            return "地方性法规"
        if local and not numbered and re.search(r"规定$", title):
            return "地方性法规"  # a guess from the name alone: governments mostly make 办法
        if not local and re.search(r"(?<!党)(?:条例)$", title):
            return "行政法规"
        if not local and history_organ(head) and _STATUTE_NAME.search(title):
            return "部门规章"
    if not numbered and is_news(title, body):
        return NEWS
    return "规范性文件"


def history_organ(head: str) -> bool:
    """Whether a ministry published it (1986年5月7日 民政部发布)."""
    return bool(re.search(r"(?:部|局|委员会|署|行)(?:令|公布|发布)", head))


def is_news(title: str, body: str) -> bool:
    """A report or explainer, not the document itself: by its title, else by how it is written."""
    title = _REMARK.sub("", title)
    if _NEWS_TITLE.search(title):
        return True
    opening, ending = body[:300], body[300:][-150:]
    formal = bool(_FORMAL_NAME.search(title)) + bool(_FORMAL_START.search(body[:600]))
    if _ARTICLE.search(body):
        formal += 1
    news = len(_NEWS.findall(opening)) + len(_NEWS.findall(ending))
    return news > formal if formal else True
