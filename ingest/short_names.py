"""Short names that a document gives to others: 《机动车停放服务条例》（以下简称《停车条例》）."""

from __future__ import annotations

import re

_STATE = "中华人民共和国"
_DEFINED = re.compile(
    r"《(?P<title>[^《》\n]{3,80})》(?:[（(][^（()）\n]{0,40}[)）])?\s*"
    r"[（(]\s*(?:以下|下)\s*(?:简称|称)(?:为)?\s*[《“\"]?(?P<short>[^《》“”\"（()），。\n]{2,30})[》”\"]?\s*[)）]"
)
# What means another document in every text that says it.
_LOCAL = re.compile(
    r"^(?:[本该各上述]|新|原|老)"
    r"|^(?:通知|办法|条例|规定|意见|决定|细则|解释|公告|法|规划|方案|标准|目录)$"
)


def short_names(text: str, own_title: str) -> list[list[str]]:
    """``[[title, short name], …]``, each pair once, in order; the document's own name included
    only when another document is meant by it. Names such as 《办法》 or 本条例 are left out."""
    found: dict[tuple[str, str], None] = {}
    for match in _DEFINED.finditer(text):
        title = match["title"].strip().removeprefix(_STATE)
        short = match["short"].strip()
        if title not in (short, own_title) and not _LOCAL.search(short):
            found[title, short] = None
    return [[title, short] for title, short in found]
