"""How many statements of an answer are cited: every sentence should lead to its source."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fusion.answer import PolicyAnswer
from fusion.nodes import RankedPassage
from fusion.verification import verify
from fusion.wording import source_name

_MARKER = re.compile(r"\[(\d{1,3})\]")
_OTHER_VERSIONS = "在所问日期不适用的版本"
# What the engine itself remarks on coverage, dates and ranks is no statement on the law.
_REMARK = re.compile(rf"^(?:注意|提示|效力位阶|{_OTHER_VERSIONS}).*$", re.MULTILINE)


def cited_statements(
    answer: PolicyAnswer, items: Sequence[RankedPassage], question: str
) -> list[bool]:
    """Per statement of the answer whether it is cited; ``items`` are its source passages.

    A sentence is cited that carries a marker, or is quoted word for word from a passage that the
    answer cites (a quotation of several sentences has one marker, at its end). Headings,
    connectives and the engine's own remarks are no statements.
    """
    cited = [items[c.marker - 1] for c in answer.citations if 1 <= c.marker <= len(items)]
    text = _REMARK.sub("", str(answer.response).partition(f"{_OTHER_VERSIONS}，")[0])
    for item in cited:
        text = text.replace(source_name(item), "")
    sources = [
        _squeeze(f"{one.passage.metadata.table_header}{one.passage.content}") for one in cited
    ]
    found = []
    for sentence in verify(text, items, question).sentences:
        if sentence.verdict == "lead" or not re.search(r"\w", _MARKER.sub("", sentence.text)):
            continue
        marked = bool(_MARKER.search(sentence.text))
        found.append(marked or _quoted(sentence.text, sources))
    return found


def _quoted(sentence: str, sources: Sequence[str]) -> bool:
    """Whether every stretch of the sentence (between ……) stands in one of the sources."""
    parts = [_squeeze(part) for part in sentence.split("……")]
    # 《甲办法》第三条：… names its source before the words.
    bare = [re.sub(r"^(?:第\d+条(?:之.)?)?：", "", part) for part in parts]
    return all(any(part in source for source in sources) for part in bare if part)


def _squeeze(text: str) -> str:
    return "".join(text.split())
