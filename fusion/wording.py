"""The Chinese wording of answers that no language model writes."""

from __future__ import annotations

from collections.abc import Sequence

from fusion.citations import Citation, cite
from fusion.coverage import SourceCoverage
from fusion.extractive import Excerpt, extract
from fusion.nodes import RankedPassage

INSUFFICIENT = "资料不足"

_STATUS = {"amended": "已修改", "repealed": "已废止", "not_yet": "尚未施行"}
_ORDINALS = "零一二三四五六七八九十"


def article_name(article: str) -> str:
    """``54`` -> ``第54条``, ``120-1`` -> ``第120条之一``; empty for no article."""
    number, _, sub = article.partition("-")
    if not number:
        return ""
    if sub.isdecimal() and int(sub) < len(_ORDINALS):
        sub = _ORDINALS[int(sub)]
    return f"第{number}条" + (f"之{sub}" if sub else "")


def source_name(item: RankedPassage) -> str:
    """Title, 发文字号, and what a reader must know of the dates, on one line."""
    meta = item.passage.metadata
    title = " ".join(meta.title.split())
    name = title if title.startswith("《") else f"《{title}》"
    facts = [
        meta.doc_number,
        f"{meta.effective}起施行" if meta.effective else "",
        f"{meta.expires}起失效" if meta.expires else "",
        _STATUS.get(meta.status, ""),
    ]
    known = "，".join(fact for fact in facts if fact)
    return f"{name}（{known}）" if known else name


def excerpts(
    question: str, items: Sequence[RankedPassage], max_sentences: int
) -> tuple[str, tuple[Citation, ...]]:
    """The best sentences, verbatim, one a line with its source and marker; and their citations.

    Marker ``[n]`` stands for ``items[n - 1]``. The same words in two documents share a line. A
    citation quotes the best excerpt of its passage.
    """
    ranked = [(item.passage, item.score) for item in items]
    chosen = extract(question, ranked, max_sentences)
    lines: dict[str, str] = {}
    led: set[tuple[int, int, int]] = set()
    for excerpt in chosen:
        item = items[excerpt.index]
        text = _text(item, excerpt, led)
        marker = f"[{excerpt.index + 1}]"
        if text in lines:
            lines[text] += marker
        else:
            article = article_name(item.passage.metadata.article)
            named = "" if text.startswith("第") else article
            lines[text] = f"{source_name(item)}{named}：{text}{marker}"
    return "\n".join(lines.values()), _cite_excerpts(items, chosen)


def insufficient(
    question: str,
    items: Sequence[RankedPassage],
    coverage: Sequence[SourceCoverage],
) -> tuple[str, tuple[Citation, ...]]:
    """What was searched and what came closest, without an answer."""
    searched = "、".join(entry.label for entry in coverage if entry.ok) or "已有资料"
    head = f"{INSUFFICIENT}：在{searched}中没有找到足以回答该问题的规定。"
    text, citations = excerpts(question, items[:3], 3)
    return (f"{head}\n最接近的内容（未必相关）：\n{text}" if text else head), citations


def _text(item: RankedPassage, excerpt: Excerpt, led: set[tuple[int, int, int]]) -> str:
    content, unit = item.passage.content, excerpt.unit
    text = content[unit.start : unit.end]
    if unit.lead is None or (excerpt.index, *unit.lead) in led:
        return text
    led.add((excerpt.index, *unit.lead))
    return f"{content[slice(*unit.lead)]}……{text}"


def _cite_excerpts(
    items: Sequence[RankedPassage], chosen: Sequence[Excerpt]
) -> tuple[Citation, ...]:
    best: dict[int, Excerpt] = {}
    for excerpt in chosen:
        if excerpt.index not in best or excerpt.value > best[excerpt.index].value:
            best[excerpt.index] = excerpt
    return tuple(
        cite(index + 1, items[index], best[index].unit.start, best[index].unit.end)
        for index in sorted(best)
    )
