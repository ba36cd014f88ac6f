"""What every signal returned for labelled questions, recorded once: fusion is tuned on this alone.

Searching costs minutes, fusing recorded lists milliseconds, so that thousands of parameter sets
can be tried. The record is a gzip file of JSON lines: a head (format, embedding fingerprint of
every domain), then one line a question.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from tqdm import tqdm

from configs.errors import InputError
from configs.settings import Settings
from eval.datasets import Question
from eval.relevance import covers, gold_unit
from indexes.domain_index import DomainIndex
from indexes.embeddings import TextEmbedder, load_embedder
from indexes.jurisdiction import allowed_codes
from indexes.schema import Filters, Hit, Passage, SignalName

FORMAT = "policy-fusion signal lists 1"
Signals = Mapping[str, Mapping[SignalName, tuple[Hit, ...]]]


@dataclass(frozen=True, slots=True)
class Recorded:
    """One question: ``signals[domain][signal]`` best first, and per id the gold units it covers.

    ``units`` has only ids that cover one. ``vector``: the question's embedding (unit length) by the
    model of the first domain, () where none was there.
    """

    question: Question
    signals: Signals
    units: Mapping[str, tuple[str, ...]]
    vector: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """Recorded questions and the embedding fingerprint of every domain they were asked in."""

    rows: tuple[Recorded, ...]
    fingerprints: Mapping[str, str]

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains' names, sorted."""
        return tuple(sorted(self.fingerprints))


def record(
    settings: Settings,
    questions: Sequence[Question],
    *,
    today: date,
    embedders: Mapping[str, TextEmbedder] | None = None,
) -> History:
    """Ask every signal of every domain, as deep as the profile says; shows a progress bar.

    ``today`` is the day for questions without ``as_of``; ``embedders``, by domain, take the place
    of the profile's. Raises SourceUnavailableError for a
    domain that was never ingested, and what opening an index raises.
    """
    rows: list[Recorded] = []
    with ExitStack() as stack:
        models = {
            name: load_embedder(domain.embedding, settings.models_dir)
            for name, domain in settings.domains.items()
        } | dict(embedders or {})
        indexes: dict[str, DomainIndex] = {}
        for name in settings.domains:
            indexes[name] = DomainIndex.open(settings, name, models[name])
            stack.callback(indexes[name].close)
        first = next(iter(models.values()))
        for question in tqdm(questions, desc="signal lists", disable=None):
            signals = _search(settings, indexes, question, today)
            passages: dict[str, Passage] = {}
            for name, index in indexes.items():
                own = {hit.id for hits in signals[name].values() for hit in hits}
                passages.update(index.passages(sorted(own)))
            vector = tuple(round(float(x), 6) for x in first.embed_query(question.query))
            rows.append(Recorded(question, signals, units_of(question, passages), vector))
        prints = {name: embedder.fingerprint.key for name, embedder in models.items()}
    return History(tuple(rows), prints)


def units_of(question: Question, passages: Mapping[str, Passage]) -> dict[str, tuple[str, ...]]:
    """Passage id -> the gold units that it covers; ids that cover none are left out."""
    covered = {}
    for id_, passage in passages.items():
        units = dict.fromkeys(
            gold_unit(gold) for gold in question.gold if covers(gold, passage, question.as_of)
        )
        if units:
            covered[id_] = tuple(units)
    return covered


def save(history: History, path: Path) -> None:
    """Write the record; an existing file is replaced."""
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=4) as file:
        print(json.dumps({"format": FORMAT, "fingerprints": dict(history.fingerprints)}), file=file)
        for row in history.rows:
            print(json.dumps(_to_json(row), ensure_ascii=False), file=file)


def load(path: Path) -> History:
    """Read a record. Raises InputError when the file is none."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            head = json.loads(next(file, "{}"))
            if head.get("format") != FORMAT:
                raise InputError(f"{path}: no record of signal lists; make it again with --record")
            rows = tuple(_from_json(json.loads(line)) for line in file)
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path}: cannot be read as a record of signal lists ({type(error).__name__}); "
            "delete it, it is then made again"
        ) from error
    return History(rows, head["fingerprints"])


def _search(
    settings: Settings, indexes: Mapping[str, DomainIndex], question: Question, today: date
) -> dict[str, dict[SignalName, tuple[Hit, ...]]]:
    codes = allowed_codes(question.jurisdiction) if question.jurisdiction else None
    filters = Filters(codes, question.as_of or today)
    return {
        name: {
            signal: index.search(signal, question.query, _depth(settings, name, signal), filters)
            for signal in index.signals
        }
        for name, index in indexes.items()
    }


def _depth(settings: Settings, domain: str, signal: SignalName) -> int:
    config = settings.domains[domain]
    return config.dense.depth if signal == "dense" else config.keyword.depth


def _to_json(row: Recorded) -> dict[str, Any]:
    return {
        "question": row.question.model_dump(mode="json"),
        "signals": {
            domain: {signal: [[h.id, h.score] for h in hits] for signal, hits in by.items()}
            for domain, by in row.signals.items()
        },
        "units": row.units,
        "vector": row.vector,
    }


def _from_json(data: Mapping[str, Any]) -> Recorded:
    return Recorded(
        # By way of JSON text: strict models take tuples and dates from JSON only.
        Question.model_validate_json(json.dumps(data["question"])),
        {
            domain: {
                _signal(signal): tuple(Hit(id_, score) for id_, score in hits)
                for signal, hits in by.items()
            }
            for domain, by in data["signals"].items()
        },
        {id_: tuple(units) for id_, units in data["units"].items()},
        tuple(data["vector"]),
    )


def _signal(name: str) -> SignalName:
    if name == "dense":
        return "dense"
    if name == "keyword":
        return "keyword"
    raise ValueError(f"no signal {name!r}")
