"""Where an ingest spends its time, and what an update of 1 % of the files costs.

Each stage runs alone on the same passages (parse, embed, store with all vectors cached), then the
whole into an empty store. If the stages overlapped perfectly, the whole would take as long as the
slowest; without any overlap, their sum. The update appends an article to one file in a hundred.
CPU-seconds (of this process and the parsers) are the steadier figures on a machine with other work:
the whole cannot take less than its CPU-seconds over the cores.

Run: python -m benchmarks.ingest_speed [--corpus DIR] [--files 300] [--embedder fake|bundled]
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TypeVar

from configs.settings import Settings, load_settings
from indexes.batching import DocumentChange
from indexes.embeddings import TextEmbedder, load_embedder
from indexes.schema import Document
from indexes.writer import DomainWriter
from ingest.parse import parse_file
from ingest.parsing import FileParser
from ingest.parsing_pool import available_cores
from ingest.parsing_worker import ParseTask
from ingest.pipeline import ingest
from tests.fakes import FakeEmbedder

T = TypeVar("T")
REPO = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("POLICY_FUSION_DATA", REPO.parent / "shared" / "data"))
DOMAIN = "law"
TODAY = date(2025, 1, 1)
NEW_ARTICLE = "\n\n第九百九十九条 本条为测速而加（虚构示例）。\n"


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds by the clock, and of all cores together."""

    wall: float
    cpu: float


def timed(run: Callable[[], T]) -> tuple[T, Spent]:
    """The result, and what it took."""
    started, before = time.perf_counter(), os.times()
    result = run()
    after = os.times()
    cpu = sum(after[:4]) - sum(before[:4])  # user and system, own and of ended children
    return result, Spent(time.perf_counter() - started, cpu)


def copied(corpus: Path, folder: Path, count: int) -> list[Path]:
    """A random sample of the corpus under ``folder``, its folders kept."""
    files = sorted(corpus.rglob("*.md"))
    chosen = sorted(random.Random(0).sample(files, min(count, len(files))))
    targets = [folder / file.relative_to(corpus) for file in chosen]
    for file, target in zip(chosen, targets, strict=True):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    return targets


def parse_all(settings: Settings, folder: Path, files: list[Path]) -> list[Document]:
    tasks = [ParseTask(file, DOMAIN, folder, TODAY) for file in files]
    sizes = [file.stat().st_size for file in files]
    with FileParser(tasks, sizes, settings.ingest, parse_file) as parser:
        items = [item for n in range(len(files)) for item in parser.items(n)]
    return [item for item in items if isinstance(item, Document)]


def store_all(settings: Settings, embedder: TextEmbedder, documents: list[Document]) -> Spent:
    """What writing the documents takes when every vector is cached."""
    texts = [p.embedding_text() for document in documents for p in document.passages]
    with DomainWriter.open(settings, DOMAIN, embedder) as writer:
        writer.cache.embed(embedder, texts)
        changes = [DocumentChange(document.key, document) for document in documents]
        refused = writer.conflicts(changes)
        wanted = [change for change in changes if change.doc_key not in refused]
        return timed(lambda: writer.apply(wanted))[1]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--corpus", type=Path, default=DATA / "corpus" / DOMAIN)
    options.add_argument("--files", type=int, default=300)
    options.add_argument("--embedder", choices=("fake", "bundled"), default="fake")
    given = options.parse_args()
    profile = load_settings()
    embedder: TextEmbedder = FakeEmbedder()
    if given.embedder == "bundled":
        embedder = load_embedder(profile.domains[DOMAIN].embedding, profile.models_dir)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        folder = work / "files"
        files = copied(given.corpus, folder, given.files)
        documents, parse = timed(lambda: parse_all(profile, folder, files))
        texts = [p.embedding_text() for document in documents for p in document.passages]
        ordered = sorted(texts, key=len)
        slices = [ordered[n : n + 512] for n in range(0, len(ordered), 512)]
        _, embed = timed(lambda: [embedder.embed_texts(part) for part in slices])
        store = store_all(profile.with_store(work / "stages"), embedder, documents)
        settings = profile.with_store(work / "whole")

        def run() -> Spent:
            return timed(
                lambda: ingest(settings, DOMAIN, [folder], embedder=embedder, progress=False)
            )[1]

        whole = run()
        unchanged = run()
        changed = files[::100]
        for file in changed:
            file.write_text(file.read_text(encoding="utf-8") + NEW_ARTICLE, encoding="utf-8")
        update = run()
    stages = {"parse": parse, "embed": embed, "store": store}
    print(f"{len(files)} files, {len(texts)} passages, {given.embedder} model,"
          f" {available_cores()} cores")  # fmt: skip
    for stage, spent in {**stages, "whole": whole}.items():
        rate = len(texts) / spent.wall
        print(f"{stage:6} {rate:10.1f} passages/s {spent.wall:8.2f} s {spent.cpu:8.2f} CPU-s")
    walls = [spent.wall for spent in stages.values()]
    print(f"whole / slowest stage {whole.wall / max(walls):.2f}")
    print(f"whole / sum of stages {whole.wall / sum(walls):.2f}")
    print(f"CPU-seconds of the whole over all cores {whole.cpu / available_cores():.2f}")
    for name, spent in {f"update of {len(changed)} files": update, "no change": unchanged}.items():
        print(f"{name} / whole {spent.wall / whole.wall:.3f} ({spent.wall:.2f} s)")


if __name__ == "__main__":
    main()
