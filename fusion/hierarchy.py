"""Remarks on the rank and the figures of the rules that an answer cites.

Ranks after 立法法 (2023) arts. 98-102: 宪法 > 法律 > 行政法规 > 地方性法规, 规章 > 规范性文件.
Among 地方性法规 and the two kinds of 规章 only a place's regulation stands above the rule of its
government. Interpretations of the courts (司法解释) have no rank there and are named apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from fusion.citations import Citation
from fusion.markers import without_markers
from fusion.nodes import RankedPassage
from fusion.overlap import containment, grams
from indexes.schema import NATIONAL, PassageMetadata
from indexes.tokenizer import normalise, numeral

RANKS = {
    "宪法": 1,
    "法律": 2,
    "监察法规": 3,
    "行政法规": 3,
    "地方性法规": 4,
    "自治条例和单行条例": 4,
    "部门规章": 4,
    "地方政府规章": 4,
    "规范性文件": 6,
}
"""1 = highest; equal numbers are not ordered by rank."""

_NUMBER = r"(?:\d+(?:\.\d+)?|[零〇一二两三四五六七八九十百千万亿]+)"
_FIGURE = re.compile(
    rf"(?:百分之(?P<share>{_NUMBER})"
    rf"|(?P<number>{_NUMBER})\s*(?P<unit>万元|亿元|元|个工作日|工作日|个?自然日|日内?|天|个月|周年|年|%|％|倍))"
)
_UNITS = {
    "天": "日",
    "日内": "日",
    "自然日": "日",
    "个自然日": "日",
    "个工作日": "工作日",
    "周年": "年",
    "％": "%",
}
_TIMES = {"万元": 10_000, "亿元": 100_000_000}
_CLAUSE = re.compile(r"[^，,。；;：:！？!?\n]+")
_SAME_CLAUSE = 0.6  # share of the shorter clause's bigrams, without figures, that the other has
_SAME_POINT = 0.2  # share of the question's bigrams in both clauses: the point that is asked about


@dataclass(frozen=True, slots=True)
class Figure:
    """An amount of ``unit`` (元, 日, 工作日, 个月, 年, %, 倍) and the bigrams of its clause."""

    value: float
    unit: str
    text: str
    words: frozenset[str]


def hierarchy_notes(
    question: str, cited: Sequence[tuple[Citation, RankedPassage]]
) -> tuple[str, ...]:
    """Lines under an answer: differing figures first, the ranks of several levels last."""
    return tuple(
        line for line in (conflict_note(question, cited), rank_note(cited)) if line is not None
    )


def rank_note(cited: Sequence[tuple[Citation, RankedPassage]]) -> str | None:
    """``效力位阶（由高到低）：法律《…》[1] > …``; None where all cited are of one rank."""
    tiers: dict[int, dict[str, dict[str, list[int]]]] = {}
    aside: dict[str, list[int]] = {}
    several = {item.passage.metadata.level for _, item in cited}
    for citation, item in cited:
        meta = item.passage.metadata
        if meta.level == "司法解释":
            aside.setdefault(_name(meta), []).append(citation.marker)
        if meta.level not in RANKS:
            continue
        tier = RANKS[meta.level]
        if meta.level == "地方政府规章" and "部门规章" not in several:
            tier += 1  # below the regulations of its place; equal to the rules of ministries
        names = tiers.setdefault(tier, {}).setdefault(meta.level, {})
        names.setdefault(_name(meta), []).append(citation.marker)
    if len(tiers) + bool(aside) < 2:
        return None
    text = " > ".join(
        "、".join(f"{level}{_listed(names)}" for level, names in tiers[tier].items())
        for tier in sorted(tiers)
    )
    if aside:
        text += f"；另有司法解释{_listed(aside)}"
    return f"效力位阶（由高到低）：{text}。"


def conflict_note(question: str, cited: Sequence[tuple[Citation, RankedPassage]]) -> str | None:
    """A line where two cited rules give different figures in clauses of the same words; else None.

    Only rules of different documents that differ in rank, day or place; it names the principle
    that may decide, not the outcome.
    """
    asked = grams(question)
    for (first, one), (second, two) in combinations(cited, 2):
        a, b = one.passage.metadata, two.passage.metadata
        if (a.title, a.version) == (b.title, b.version):
            continue
        principle = _principle(a, b)
        found = _differing(asked, first.quote, second.quote)
        if principle and found:
            left, right = found
            return (
                f"提示：{_name(a)}[{first.marker}]为“{left.text}”，{_name(b)}[{second.marker}]为"
                f"“{right.text}”，所列数字不同；如属同一事项，{principle}，请核对原文。"
            )
    return None


def figures(text: str) -> Iterator[Figure]:
    """The figures of a text, in order; Chinese and Arabic numerals."""
    for clause in _CLAUSE.finditer(normalise(text)):
        words = grams(_FIGURE.sub(" ", clause[0]))
        for match in _FIGURE.finditer(clause[0]):
            value = _value(match["share"] or match["number"])
            if value is None:
                continue
            unit = "%" if match["share"] else match["unit"]
            unit, value = ("元", value * _TIMES[unit]) if unit in _TIMES else (unit, value)
            yield Figure(value, _UNITS.get(unit, unit), match[0], words)


def _differing(asked: frozenset[str], left: str, right: str) -> tuple[Figure, Figure] | None:
    """Two figures of one unit in clauses of the same words, where the texts share none of them."""
    ours, theirs = list(figures(left)), list(figures(right))
    for one in ours:
        for two in theirs:
            if one.unit != two.unit or one.value == two.value or not one.words or not two.words:
                continue
            shorter, longer = sorted((one.words, two.words), key=len)
            both = one.words & two.words
            same = containment(shorter, longer) >= _SAME_CLAUSE and len(both) >= 3
            # Scales repeat a clause with many figures (不足一年…, 满一年…): a shared figure is one.
            shared = {f.value for f in ours if f.unit == one.unit} & {
                f.value for f in theirs if f.unit == one.unit
            }
            if same and not shared and containment(asked, both) >= _SAME_POINT:
                return one, two
    return None


def _principle(a: PassageMetadata, b: PassageMetadata) -> str:
    """The principle of 立法法 that may decide between two rules; "" where nothing tells."""
    ranks = RANKS.get(a.level), RANKS.get(b.level)
    if None not in ranks and ranks[0] != ranks[1]:
        higher = a if (ranks[0] or 0) < (ranks[1] or 0) else b
        return f"上位法优于下位法（{_name(higher)}位阶较高）"
    if a.level != b.level or not a.level:
        return ""
    if a.jurisdiction_code != b.jurisdiction_code:
        local = [m for m in (a, b) if m.jurisdiction_code not in ("", NATIONAL)]
        return f"特别规定优于一般规定（{_name(local[0])}为地方规定）" if len(local) == 1 else ""
    if a.effective and b.effective and a.effective != b.effective:
        later = max(a, b, key=lambda m: m.effective or "")
        return f"新的规定优于旧的规定（{_name(later)}{later.effective}起施行）"
    return ""


def _value(text: str) -> float | None:
    if text.replace(".", "", 1).isascii():
        return float(text)
    try:
        return float(numeral(text))
    except (KeyError, ValueError):
        return None  # 百十万 and the like: no number, so nothing to compare


def _name(meta: PassageMetadata) -> str:
    title = without_markers(" ".join(meta.title.split()))
    return title if title.startswith("《") else f"《{title}》"


def _listed(names: dict[str, list[int]]) -> str:
    return "、".join(
        name + "".join(f"[{n}]" for n in sorted(markers)) for name, markers in names.items()
    )
