"""How latency, memory and quality of one domain index go with the number of passages.

Every size holds the passages that answer ``--questions-count`` labelled questions, real passages
drawn at random and, beyond the real ones, perturbed copies (``benchmarks.scale_corpus``). Each
part is built and asked in a process of its own; a size whose figures are in ``results.jsonl`` of
``--work`` is skipped, and so is a finished part of a size. Search settings: the law domain's.

Run: python -m benchmarks.scale --store DIR --questions DIR [--sizes 1000 10000] [--work DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scale_corpus import BLOCK, Block, Corpus, copy_id, read_corpus
from benchmarks.scale_place import DOMAIN, Place
from benchmarks.scale_report import plot, table
from benchmarks.scale_worker import CUTS
from configs.errors import InputError
from configs.settings import load_settings
from eval.datasets import Question, load_questions
from eval.metrics import Judged, mean, score
from eval.relevance import covers, gold_unit, gold_units, normalise_title
from indexes.embeddings import load_embedder
from indexes.tokenizer import simplified

SIZES = (1_000, 10_000, 100_000, 1_000_000)
MAX_GOLD = 3
"""Passages that may answer one question: of more, the smallest size could not hold them all."""

EPSILON = 1e-5
"""Cosines this close are ties: Chroma computes in another order than numpy."""


def covering(corpus: Corpus, question: Question, titles: Mapping[str, Sequence[int]]) -> list[int]:
    """Places of the passages that answer a question; ``titles``: keys of ``title_places``."""
    wanted = {p for gold in question.gold for p in titles.get(_key(gold.record, gold.title), ())}
    return sorted(
        p for p in wanted if any(covers(gold, corpus.passages[p]) for gold in question.gold)
    )


def title_places(corpus: Corpus) -> dict[str, list[int]]:
    """Places by record, or by normalised title where there is none."""
    found: dict[str, list[int]] = defaultdict(list)
    for place, passage in enumerate(corpus.passages):
        found[_key(passage.metadata.record or None, passage.metadata.title)].append(place)
    return found


def _key(record: str | None, title: str) -> str:
    return f"record:{record}" if record else normalise_title(title)


def sampled(
    corpus: Corpus, questions: Sequence[Question], count: int
) -> list[tuple[Question, list[int]]]:
    """``count`` random questions that 1 to ``MAX_GOLD`` passages answer, with these places."""
    titles = title_places(corpus)
    usable = []
    for question in questions:
        places = covering(corpus, question, titles) if question.answerable else []
        if 0 < len(places) <= MAX_GOLD:
            usable.append((question, places))
    if not usable:
        raise InputError("the store answers none of the questions; give those of its corpus")
    return random.Random(corpus.seed).sample(usable, min(count, len(usable)))


def prepare(work: Path, profile: str, store: Path, questions: Path, count: int, seed: int) -> None:
    """Write the corpus and the questions with their vectors and answers into ``work``."""
    settings = load_settings(profile).with_store(store)
    corpus = read_corpus(settings, seed)
    chosen = sampled(corpus, load_questions([questions]), count)
    embedder = load_embedder(settings.domains[DOMAIN].embedding, settings.models_dir)
    if embedder.fingerprint.key != corpus.fingerprint:
        raise InputError("the store was built with another model than the profile names")
    rows = []
    for question, places in chosen:
        units: dict[str, list[str]] = {}
        for place in places:
            passage = corpus.passages[place]
            own = {gold_unit(gold) for gold in question.gold if covers(gold, passage)}
            units[copy_id(passage.id, 0, DOMAIN)] = sorted(own)
        rows.append(
            {
                "key": question.key,
                "query": question.query,
                "gold": gold_units(question),
                "units": units,
                "vector": [float(x) for x in embedder.embed_query(simplified(question.query))],
            }
        )
    with (work / "corpus.pickle").open("wb") as file:
        pickle.dump(corpus, file)
    known = {
        "profile": profile,
        "fingerprint": corpus.fingerprint,
        "always": sorted({place for _, places in chosen for place in places}),
        "real": len(corpus.passages),
        "near": [float(x) for x in np.percentile(corpus.near, [5, 50, 95])],
        "copies": copy_cosines(corpus),
        "questions": rows,
    }
    (work / "questions.json").write_text(json.dumps(known, ensure_ascii=False), "utf-8")


def copy_cosines(corpus: Corpus) -> list[float]:
    """5th, 50th and 95th percentile of the first copies' cosines to their originals."""
    total = len(corpus.passages)
    found = []
    for start in range(0, total, BLOCK):
        places = tuple(range(start, min(start + BLOCK, total)))
        copies = corpus.vectors_of(Block(1, start, places))
        found.append((copies * corpus.vectors[list(places)]).sum(axis=1))
    return [float(x) for x in np.percentile(np.concatenate(found), [5, 50, 95])]


def run_part(place: Place, part: str) -> dict[str, Any]:
    """The figures of one part; runs it in a new process unless they are there."""
    path = place.folder / f"{part}.json"
    if not path.is_file():
        place.folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "benchmarks.scale_worker", part]
        options = ["--work", str(place.work), "--size", str(place.size)]
        if place.minutes is not None:
            options += ["--minutes", str(place.minutes)]
        done = subprocess.run([*command, *options], check=False)
        if done.returncode:
            raise InputError(f"size {place.size}: {part} failed; see its message above")
    known: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return known


def quality(questions: Sequence[Mapping[str, Any]], ranked: Sequence[Sequence[str]]) -> Any:
    """MRR@10 and recall@100 of the ranked ids of each question."""
    judged = {}
    for question, ids in zip(questions, ranked, strict=True):
        seen: set[str] = set()
        ranking: list[str | None] = []
        for id_ in ids:
            new = [unit for unit in question["units"].get(id_, ()) if unit not in seen]
            ranking.append(new[0] if new else None)
            seen.update(new[:1])
        judged[question["key"]] = Judged(tuple(question["gold"]), tuple(ranking))
    found = mean(list(score(judged).values()))
    return {"mrr@10": found["mrr"], "recall@100": found["recall@100"]}


def recall(scores: Sequence[Sequence[float]], kth: Sequence[float], cut: int) -> float:
    """Mean share of the first ``cut`` hits that are as near as the exact ``cut``-th passage.

    By distance, not by id, so that duplicates count alike (Aumüller et al. 2020, ANN-Benchmarks).
    """
    shares = [
        sum(score >= least - EPSILON for score in own[:cut]) / cut
        for own, least in zip(scores, kth, strict=True)
    ]
    return float(np.mean(shares))


def measure(place: Place, jobs: int) -> dict[str, Any]:
    """All figures of one size, or of what the vector store reached in ``place.minutes``."""
    with ThreadPoolExecutor(jobs) as pool:
        parts = ("dense", "keyword", "catalog", "cache", "exact")
        figures = dict(zip(parts, pool.map(lambda p: run_part(place, p), parts), strict=True))
    reached = figures["dense"]["rows"]
    if reached < place.size:
        place.folder.rename(place.work / str(reached))
        place = Place(place.work, reached)
    asked = run_part(place, "answer")
    known = place.questions()
    questions, rows = known["questions"], asked.pop("rows")
    kth = figures.pop("exact")["kth"]
    cosines = [[score for _, score in row["dense"]] for row in rows]
    ids = {
        "dense": [[id_ for id_, _ in row["dense"]] for row in rows],
        "keyword": [[id_ for id_, _ in row["keyword"]] for row in rows],
        "fused": [row["fused"] for row in rows],
    }
    times = {
        name: [float(x) for x in np.percentile(ms, [50, 95])] for name, ms in asked["ms"].items()
    }
    return {
        "size": place.size,
        "real": min(place.size, known["real"]),
        "build": figures,
        "answer": {**asked, "ms": times},
        "quality": {name: quality(questions, ranked) for name, ranked in ids.items()},
        "hnsw_recall": {str(cut): recall(cosines, kth[str(cut)], cut) for cut in CUTS},
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def main() -> None:
    """Measure what is missing; print the table and, with ``--plot``, draw it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--store", type=Path, required=True, help="a store of the whole corpus")
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--questions-count", type=int, default=300)
    parser.add_argument("--config", default="default")
    parser.add_argument("--work", type=Path, help="default: a temporary folder")
    parser.add_argument("--jobs", type=int, default=1, help="parts built at a time")
    parser.add_argument(
        "--minutes", type=float, help="of writing the vector store; then its size is what counts"
    )
    parser.add_argument("--keep", action="store_true", help="keep the store of a measured size")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", type=Path, help="PNG file")
    given = parser.parse_args()
    work = given.work or Path(tempfile.mkdtemp(prefix="scale-"))
    work.mkdir(parents=True, exist_ok=True)
    if not (work / "questions.json").is_file():
        prepare(work, given.config, given.store, given.questions, given.questions_count, given.seed)
    results = work / "results.jsonl"
    lines = results.read_text("utf-8").splitlines() if results.is_file() else []
    done = {row["size"]: row for row in map(json.loads, lines)}
    for size in sorted(given.sizes):
        if size not in done:
            row = measure(Place(work, size, given.minutes), given.jobs)
            done[row["size"]] = row
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            if not given.keep:
                shutil.rmtree(work / str(row["size"]) / "store")
    rows = [done[size] for size in sorted(done)]
    print(table(rows))
    if given.plot:
        plot(rows, given.plot)
    if given.work is None:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
