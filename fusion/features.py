"""What the learned reranker looks at: numbers from a question, a passage and its fusion trace.

Pure and deterministic. Every feature is bounded, none is scaled by the list it stands in; but for
the ranks, the same pair has the same features in any list.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fusion.overlap import containment, grams
from indexes.jurisdiction import ancestors, places_in
from indexes.schema import NATIONAL, Passage
from indexes.tokenizer import article_token, normalise

FEATURE_NAMES = (
    "dense_score",  # calibrated, 0 where the signal did not return the passage
    "dense_raw",  # cosine
    "dense_rank",  # 1 / rank
    "keyword_score",
    "keyword_raw",
    "keyword_rank",
    "both_signals",  # 1 where both returned it
    "domain_score",  # fused inside the domain, as a share of the attainable
    "fused_rank",  # 1 / place in the fused list, 0 where unknown
    "title_in_question",  # 1 where the question names the title
    "title_overlap",  # share of the title's bigrams in the question
    "question_in_title",  # share of the question's bigrams in the title
    "heading_overlap",  # share of the headings' bigrams in the question
    "content_overlap",  # share of the question's bigrams in the content
    "content_only",  # share of the question's bigrams in the content, not in the title
    "article_match",  # 1 where the question names this article
    "article_conflict",  # 1 where it names articles, not this one
    "doc_number_match",  # 1 where the question names this 发文字号
    "place_match",  # 1 where the question names this rule's place
    "place_superior",  # 1 where it names a place governed by this rule's city or province
    "place_conflict",  # 1 where the rule does not apply in any place the question names
    "national",
    "level",  # 1 = 法律 … 0 = unknown
    "in_force",
    "repealed",
    "effective_year",  # 1980 = 0, 2030 = 1; 0.5 where unknown
    "is_article",
    "length",  # log(1 + characters) / 10
)

_ARTICLE = re.compile(
    r"第([零〇○一二两三四五六七八九十百千万0-9]+)条(?:之([一二三四五六七八九十0-9]+))?"
)
_LEVELS = {
    "宪法": 1.0,
    "法律": 1.0,
    "行政法规": 0.8,
    "司法解释": 0.7,
    "部门规章": 0.6,
    "地方性法规": 0.5,
    "地方政府规章": 0.4,
    "规范性文件": 0.3,
}
_BARE = re.compile(r"^中华人民共和国|[《》\s]|[（(][^）)]*[）)]$")
_PUNCTUATION = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Question:
    """What is read from the question once for all passages."""

    plain: str
    grams: frozenset[str]
    articles: frozenset[str]
    places: frozenset[str]
    allowed: frozenset[str]

    @classmethod
    def read(cls, text: str) -> Question:
        """Parse the question's words, article numbers and places."""
        plain = normalise(text)
        articles = frozenset(
            article_token(match[1], match[2]).removeprefix("art:")
            for match in _ARTICLE.finditer(plain)
        )
        places = frozenset(place.code for place in places_in(text)) - {NATIONAL}
        allowed = frozenset(code for place in places for code in ancestors(place))
        return cls(_PUNCTUATION.sub("", plain), grams(text), articles, places, allowed)


def features(
    query: str | Question, passage: Passage, trace: Mapping[str, Any], fused_rank: int = 0
) -> tuple[float, ...]:
    """The numbers of ``FEATURE_NAMES``, in that order, each in [-1, 1] (lengths up to about 1.4).

    ``trace`` is the passage's fusion trace; without one the signal features are 0. ``fused_rank``
    is its 1-based place in the fused list, 0 where there is none.
    """
    question = query if isinstance(query, Question) else Question.read(query)
    values = {
        **signal_features(trace),
        **_words(question, passage),
        **reference_features(question, passage),
    }
    values |= _standing(passage)
    values["fused_rank"] = 1.0 / fused_rank if fused_rank > 0 else 0.0
    return tuple(values[name] for name in FEATURE_NAMES)


def signal_features(trace: Mapping[str, Any]) -> dict[str, float]:
    """The features that need the trace alone, by name."""
    inner = trace.get("signals", {})
    found = {row["source"]: row for row in inner.get("sources", ()) if row["rank"] is not None}
    values: dict[str, float] = {}
    for name in ("dense", "keyword"):
        row = found.get(name)
        values[f"{name}_score"] = float(row["calibrated"]) if row else 0.0
        values[f"{name}_raw"] = min(1.0, max(-1.0, float(row["raw"]))) if row else 0.0
        values[f"{name}_rank"] = 1.0 / row["rank"] if row else 0.0
    values["both_signals"] = float(len(found) == 2)
    values["domain_score"] = float(inner["score"] / inner["scale"]) if inner else 0.0
    return values


def _words(question: Question, passage: Passage) -> dict[str, float]:
    meta = passage.metadata
    bare = _BARE.sub("", meta.title)
    title, content = grams(bare), grams(passage.content)
    plain_title = _PUNCTUATION.sub("", normalise(bare))
    return {
        "title_in_question": float(len(plain_title) > 1 and plain_title in question.plain),
        "title_overlap": containment(title, question.grams),
        "question_in_title": containment(question.grams, title),
        "heading_overlap": containment(grams(" ".join(meta.heading_path)), question.grams),
        "content_overlap": containment(question.grams, content),
        "content_only": containment(question.grams, content - title),
        "length": math.log1p(len(passage.content)) / 10,
    }


def reference_features(question: Question, passage: Passage) -> dict[str, float]:
    """Whether the passage is what the question names, and of its place, by name."""
    meta, code = passage.metadata, passage.metadata.jurisdiction_code
    number = _PUNCTUATION.sub("", normalise(meta.doc_number))
    named = meta.article in question.articles
    local = bool(code) and code != NATIONAL
    return {
        "article_match": float(named),
        "article_conflict": float(bool(question.articles) and not named),
        "doc_number_match": float(bool(number) and number in question.plain),
        "place_match": float(code in question.places),
        "place_superior": float(local and code in question.allowed - question.places),
        "place_conflict": float(bool(question.places) and local and code not in question.allowed),
        "national": float(code == NATIONAL),
    }


def _standing(passage: Passage) -> dict[str, float]:
    meta = passage.metadata
    year = int(meta.effective[:4]) if meta.effective else None
    return {
        "level": _LEVELS.get(meta.level, 0.0),
        "in_force": float(meta.status == "in_force"),
        "repealed": float(meta.status == "repealed"),
        "effective_year": 0.5 if year is None else min(1.0, max(0.0, (year - 1980) / 50)),
        "is_article": float(bool(meta.article)),
    }
