"""The Chinese wording of answers that no language model writes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from fusion.citations import Citation, cite
from fusion.coverage import SourceCoverage
from fusion.extractive import Excerpt, Unit, extract
from fusion.markers import without_markers
from fusion.nodes import RankedPassage
from fusion.resolved import ResolvedReference

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


_NAMED = 8  # titles that a name may stand for, in one line


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


def reference_notes(references: Sequence[ResolvedReference]) -> tuple[str, ...]:
    """A line for each article that the question names and that does not exist or apply."""
    notes = []
    for reference in references:
        title = f"《{reference.title.strip('《》')}》"
        name = f"{title}{article_name(reference.article)}"
        if reference.candidates:
            named = "、".join(
                f"《{title.strip('《》')}》" for title in reference.candidates[:_NAMED]
            )
            more = "等" if reference.candidates[_NAMED:] else ""
            notes.append(f"注意：{title}可能指{named}{more}，请写明地区或全称。")
        elif reference.missing == "document":
            ended = f"（《{reference.successor}》载明其废止）" if reference.successor else ""
            notes.append(f"注意：资料中没有{title}{ended}。")
        elif reference.missing == "article":
            near = article_name(reference.nearest)
            closest = f"，最接近的是{near}" if near else ""
            notes.append(f"注意：{title}没有{article_name(reference.article)}{closest}。")
        elif reference.excluded == "date":
            notes.append(f"注意：{name}在所问日期不具效力（已失效、已修改或尚未施行），仅供查阅。")
        elif reference.excluded == "place":
            notes.append(f"注意：{name}不适用于所选地区或不在所选资料范围内。")
    return tuple(map(without_markers, notes))  # titles and questions may hold what looks like one


def missing_note(missing: Sequence[str]) -> str:
    """One line on the parts of the question without a rule in the material; "" for none."""
    listed = "、".join(f"“{' '.join(part.split())}”" for part in missing)
    line = f"注意：资料中没有找到问题这一部分的规定：{listed}。"
    return without_markers(line) if listed else ""


def excerpts(
    question: str, items: Sequence[RankedPassage], max_sentences: int
) -> tuple[str, tuple[Citation, ...]]:
    """The best sentences, verbatim, one line a passage with its source; and their citations.

    Marker ``[n]`` stands for ``items[n - 1]``; what was left out between two sentences is shown as
    ……. The same words in two documents share a line. A citation quotes the passage's best excerpt.
    """
    chosen = extract(question, [(item.passage, item.score) for item in items], max_sentences)
    lines: dict[str, str] = {}
    for index, group in groupby(chosen, key=lambda excerpt: excerpt.index):
        item, marker = items[index], f"[{index + 1}]"
        text = _text(item.passage.content, [excerpt.unit for excerpt in group], marker)
        header = item.passage.metadata.table_header
        if header and text.startswith("|"):
            text = f"\n{without_markers(header)}\n{text}"  # rows say nothing without it
        text = text.replace(f"|{marker}", f"|\n{marker}")  # glued to a row it would break the table
        bare = text.replace(marker, "")
        if bare in lines:
            lines[bare] += marker
        else:
            named = "" if text.startswith("第") else article_name(item.passage.metadata.article)
            lines[bare] = f"{without_markers(source_name(item))}{named}：{text}"
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


def _text(content: str, units: Sequence[Unit], marker: str) -> str:
    """The units with their lead-ins; neighbours run on, and the marker closes each stretch."""
    text, end = "", -1
    for unit in units:
        if unit.lead is not None and unit.lead[1] > end:
            text += without_markers(content[slice(*unit.lead)])
            end = unit.lead[1]
        if end >= 0 and not content[end : unit.start].strip():
            text = text.removesuffix(marker) + without_markers(content[end : unit.end]) + marker
        else:
            quoted = without_markers(content[unit.start : unit.end])
            text += ("……" if text else "") + quoted + marker
        end = unit.end
    return text


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
