"""Words of a web site in text that was copied from one of its pages: path, buttons, imprint."""

from __future__ import annotations

import re

from ingest.dates import DATE

_IMPRINT = re.compile(
    r"网站标识码|ICP\s*备\s*\d|公网安备\s*\d|版权所有\s*[：:]|^Copyright\b", re.IGNORECASE
)
"""Only the foot of a site says this; a form may well ask for a 主办单位."""
_BUTTON = re.compile(
    r"[大中小×|>›»]|-->|首页|登录|注册|打印|分享|收藏|关闭|返回顶部|相关(?:文章|新闻|链接|附件|政策与解读)"
    r"|[\[【(（]?(?:字号|字体|浏览字号)[：:]?.{0,8}[\]】)）]?|编\s*辑\s*[：:].{1,12}|责\s*编\s*[：:].{1,12}"
)
_ORGAN = re.compile(r"(?:政府|厅|室|委员会|局|中心|部|署|会|院)$")
_SENTENCE = re.compile(r"[。；！？]|第\S{1,8}条")
_HEAD_LINES = 20
_FOOT_CHARS = 60


def without_site_words(text: str) -> str:
    """``text`` without the site's path and buttons at its head and the site's foot.

    The foot is what surrounds an imprint (网站标识码, ICP备) and holds no sentence: from the last
    sentence, date or signature before it to the next sentence behind it.
    """
    lines = text.split("\n")
    said = [n for n, line in enumerate(lines) if line.strip()]
    dropped = _path(lines, said[:_HEAD_LINES]) | _foot(lines, said)
    for n in reversed([n for n in said if n not in dropped]):
        if not _BUTTON.fullmatch(lines[n].strip()):
            break
        dropped.add(n)
    return "\n".join(line for n, line in enumerate(lines) if n not in dropped)


def _path(lines: list[str], head: list[int]) -> set[int]:
    """首页 > 政策 > 通知, on one line or on several, and single buttons."""
    dropped: set[int] = set()
    arrow = False
    for n in head:
        words = lines[n].strip()
        step = bool(re.fullmatch(r"[>›»].*", words))
        name = arrow and len(words) <= 12 and not _SENTENCE.search(words)
        if step or name or _BUTTON.fullmatch(words) or re.match(r"首页\s*[>›»]", words):
            dropped.add(n)
        arrow = step and len(words) == 1
    return dropped


def _foot(lines: list[str], said: list[int]) -> set[int]:
    """The lines of the foot, which is in the last half of the text."""
    marks = [k for k, n in enumerate(said) if _IMPRINT.search(lines[n]) and not _text(lines[n])]
    marks = [k for k in marks if k > len(said) // 2]
    if not marks:
        return set()
    first, last = marks[0], marks[-1]
    while first > 0 and not _text(lines[said[first - 1]]):
        first -= 1
    while first < marks[0] and _ORGAN.search(lines[said[first]]):
        first += 1  # a signature
    while last + 1 < len(said) and not _text(lines[said[last + 1]]):
        last += 1
    return set(said[first : last + 1])


def _text(line: str) -> bool:
    """Whether a line is part of a document: a sentence, a date, or too long for a button."""
    words = line.strip()
    return bool(_SENTENCE.search(words)) or bool(DATE.search(words)) or len(words) > _FOOT_CHARS
