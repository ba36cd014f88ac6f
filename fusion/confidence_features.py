"""What tells an answered question from one that the material does not answer.

Numbers from a question and its reranked passages; pure and deterministic.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from statistics import median

from fusion.features import (
    FEATURE_NAMES,
    Question,
    features,
    reference_features,
    signal_features,
)
from fusion.nodes import RankedPassage
from fusion.overlap import containment, grams
from indexes.tokenizer import normalise

LOOKED_AT = 5
"""Passages whose words and scores count; of the others only cosines and places do."""

_OF_BEST = (
    *("dense_raw", "dense_score", "keyword_raw", "keyword_score", "both_signals"),
    *("content_overlap", "title_overlap", "title_in_question"),
    *("place_match", "place_conflict", "national"),
)
_HIGHEST = ("dense_raw", "keyword_raw", "dense_score", "content_overlap")
CONFIDENCE_FEATURES = (
    "rerank_best",  # logit of the best reranked score
    "rerank_gap",  # the same minus that of the fifth
    "rerank_mean",
    *(f"best_{name}" for name in _OF_BEST),
    *(f"highest_{name}" for name in _HIGHEST),
    "covered",  # share of the question's bigrams in the five passages
    "dense_spread",  # best cosine minus the median of all candidates
    "names_place",
    "place_met",  # a rule of the named place is among the candidates
    "place_missed",  # a place is named and no candidate is of it or of what governs it
    "length",  # characters of the question / 50
    "asks_figure",  # 多少, 几 …
    "asks_today",  # 今年, 现在, 2026年 …
    "figure_missing",  # a figure is asked for and the best passage has none
    "figures",  # share of the five passages that have one
    "one_domain",  # share of the five from the best one's domain
    "one_title",  # share of the five from the best one's document
)
_FIGURE_ASKED = re.compile(r"多少|几|哪天|什么时候")
_TODAY = re.compile(r"20(?:2[4-9]|[3-9]\d)|今年|现在|最新|目前|去年|今天")
_FIGURE = re.compile(r"\d|[一二三四五六七八九十百千万]+(?:元|日|年|月|倍)|[％%]|百分之")


def confidence_features(query: str | Question, items: Sequence[RankedPassage]) -> tuple[float, ...]:
    """The numbers of ``CONFIDENCE_FEATURES``, in that order; ``items`` reranked, best first.

    Scores are taken as probabilities (the reranker's logistic scores). Raises ValueError without
    items: nothing found needs no model.
    """
    if not items:
        raise ValueError("no passages")
    question = query if isinstance(query, Question) else Question.read(query)
    passages = [item.passage for item in items[:LOOKED_AT]]
    top = [
        dict(zip(FEATURE_NAMES, features(question, item.passage, item.trace), strict=True))
        for item in items[:LOOKED_AT]
    ]
    rows = [  # reading the words of a hundred passages would cost as much as ranking them
        signal_features(item.trace) | reference_features(question, item.passage) for item in items
    ]
    logits = [_logit(item.score) for item in items[:LOOKED_AT]]
    cosines = [row["dense_raw"] for row in rows if row["dense_raw"] > 0]
    words = frozenset[str]().union(*(grams(p.content + p.metadata.title) for p in passages))
    has_figure = [bool(_FIGURE.search(normalise(p.content))) for p in passages]
    asks_figure = bool(_FIGURE_ASKED.search(question.plain))
    met = any(row["place_match"] for row in rows)
    governed = any(row["place_superior"] for row in rows)
    values = {
        "rerank_best": logits[0],
        "rerank_gap": logits[0] - logits[-1],
        "rerank_mean": sum(logits) / len(logits),
        **{f"best_{name}": top[0][name] for name in _OF_BEST},
        **{f"highest_{name}": max(row[name] for row in top) for name in _HIGHEST},
        "covered": containment(question.grams, words),
        "dense_spread": max(cosines) - median(cosines) if cosines else 0.0,
        "names_place": float(bool(question.places)),
        "place_met": float(met),
        "place_missed": float(bool(question.places) and not met and not governed),
        "length": len(question.plain) / 50,
        "asks_figure": float(asks_figure),
        "asks_today": float(bool(_TODAY.search(question.plain))),
        "figure_missing": float(asks_figure and not has_figure[0]),
        "figures": sum(has_figure) / len(has_figure),
        "one_domain": sum(p.source == passages[0].source for p in passages) / len(passages),
        "one_title": sum(p.metadata.title == passages[0].metadata.title for p in passages)
        / len(passages),
    }
    return tuple(float(values[name]) for name in CONFIDENCE_FEATURES)


def _logit(score: float) -> float:
    inside = min(1 - 1e-9, max(1e-9, score))
    return math.log(inside / (1 - inside))
