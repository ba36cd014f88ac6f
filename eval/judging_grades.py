"""From judges' grades to graded relevance, agreement and the nDCG of every system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import ir_measures
from pydantic import BaseModel, ConfigDict, ValidationError

from configs.errors import InputError
from eval.agreement import Agreement, agreement
from eval.judging_sheets import merged
from eval.significance import Interval, bootstrap_mean


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Pooled(_Frozen):
    """One question: code -> passage id, and system -> its codes, best first."""

    key: str
    query: str
    passages: Mapping[str, str]
    rankings: Mapping[str, tuple[str, ...]]


class Key(_Frozen):
    """What the judges must not know."""

    depth: int
    seed: int
    questions: tuple[Pooled, ...]

    @property
    def codes(self) -> frozenset[str]:
        """All codes of the sheet."""
        return frozenset(code for question in self.questions for code in question.passages)


@dataclass(frozen=True, slots=True)
class Grading:
    """``relevance``: question key -> passage id -> grade, the mean of the judges, half up.

    ``ndcg``: system -> interval of its mean nDCG at ``depth`` over the ``questions`` that have a
    relevant result; ``graded`` and ``ungraded`` count results of the sheet.
    """

    depth: int
    questions: int
    graded: int
    ungraded: int
    agreement: Agreement
    ndcg: Mapping[str, Interval]
    relevance: Mapping[str, Mapping[str, int]]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def read_key(path: Path) -> Key:
    """Raises InputError for a file that is no key."""
    try:
        return Key.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name the key") from error
    except ValidationError as error:
        raise InputError(f"{path}: is no key; name the one that the export wrote") from error


def grade(key: Key, sheets: Mapping[str, Mapping[str, int]], *, seed: int = 0) -> Grading:
    """Of the sheets (judge -> code -> grade) of two or more judges.

    Raises InputError for fewer, a code that the key does not have, results that no two judges
    share, or when nothing is relevant.
    """
    if len(sheets) < 2:
        raise InputError("one sheet is not enough; give the sheets of two or more judges")
    for name, grades in sheets.items():
        if strange := sorted(set(grades) - key.codes):
            raise InputError(f"{name}: {strange[0]} is not of this key; give the sheet's own key")
    everything = merged(sheets)
    shared = [grades for _, grades in sorted(everything.items()) if len(grades) == len(sheets)]
    if not shared:
        raise InputError("no result was graded by all judges; let them grade the same sheet")
    relevance = {code: int(sum(g) / len(g) + 0.5) for code, g in everything.items()}
    asked = [q for q in key.questions if any(relevance.get(code, 0) for code in q.passages)]
    if not asked:
        raise InputError("no result was graded above 0; nDCG needs a relevant one")
    qrels = {q.key: {c: relevance[c] for c in q.passages if c in relevance} for q in asked}
    systems = list(dict.fromkeys(name for q in asked for name in q.rankings))
    ndcg = {}
    for name in systems:
        run = {
            q.key: {code: float(-rank) for rank, code in enumerate(q.rankings.get(name, ()))}
            for q in asked
        }
        values = dict.fromkeys(qrels, 0.0)
        for one in ir_measures.iter_calc([ir_measures.nDCG @ key.depth], qrels, run):
            values[one.query_id] = float(one.value)
        ndcg[name] = bootstrap_mean(list(values.values()), seed=seed)
    return Grading(
        depth=key.depth,
        questions=len(asked),
        graded=len(everything),
        ungraded=len(key.codes) - len(everything),
        agreement=agreement(shared),
        ndcg=ndcg,
        relevance={
            q.key: {id_: relevance[c] for c, id_ in q.passages.items() if c in relevance}
            for q in key.questions
        },
    )
