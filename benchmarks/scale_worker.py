"""One part of ``benchmarks.scale`` in a process of its own, so that its memory is its own.

``python -m benchmarks.scale_worker PART --work DIR --size N`` writes ``DIR/N/PART.json``. Parts:
``dense``, ``keyword``, ``catalog``, ``cache`` build; ``exact`` compares with every vector;
``answer`` opens the finished index and asks all questions. Only the stores' own calls are timed,
not the making of passages.
"""

from __future__ import annotations

import argparse
import json
import pickle
import resource
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks.scale_corpus import Block, Corpus, Vectors, blocks
from configs.errors import InputError
from configs.settings import Settings, load_settings
from fusion.two_stage import FusionPlan, fuse_domain
from indexes.catalog import PassageCatalog
from indexes.chroma_store import CosineChromaVectorStore
from indexes.domain_index import DomainIndex
from indexes.embedding_cache import SLICE, EmbeddingCache, cache_key
from indexes.keyword_index import KeywordIndex
from indexes.schema import Document, Hit, Passage, SignalName
from indexes.store_layout import StoreLayout
from indexes.tokenizer import Tokenizer, simplified

DOMAIN = "law"
DEPTH = 100
READ = 10
CUTS = (10, 100)
STALE_S = 900.0
"""After so long without a row the vector store is not being written any more."""


@dataclass
class Meter:
    """Wall and CPU seconds (all threads) spent inside ``running``, and those of each entry."""

    wall: list[float] = field(default_factory=list)
    cpu: float = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self.wall.append(time.perf_counter() - wall)
        self.cpu += time.process_time() - cpu

    def figures(self) -> dict[str, Any]:
        return {"seconds": sum(self.wall), "cpu_seconds": self.cpu}


@dataclass(frozen=True)
class GivenEmbedder:
    """Gives the vectors it was made with; ``key`` stands for the model that computed them."""

    fingerprint: Any
    vectors: dict[str, list[float]]

    def embed_query(self, text: str) -> list[float]:
        return self.vectors[text]

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        return np.asarray([self.vectors[text] for text in texts], np.float32)


@dataclass(frozen=True)
class GivenFingerprint:
    """The key of the model of the store that the vectors come from."""

    key: str
    dimension: int


@dataclass(frozen=True)
class Place:
    """Where a size of a run has its files; ``size`` in passages.

    ``minutes``: after these the vector store stops growing, once it holds all real passages; the
    other parts follow it.
    """

    work: Path
    size: int
    minutes: float | None = None

    @property
    def folder(self) -> Path:
        return self.work / str(self.size)

    @property
    def layout(self) -> StoreLayout:
        return StoreLayout(self.folder / "store")

    def settings(self) -> Settings:
        """The run's profile with this size's store."""
        profile = json.loads((self.work / "questions.json").read_text("utf-8"))["profile"]
        return load_settings(profile).with_store(self.layout.root)

    def questions(self) -> dict[str, Any]:
        """``fingerprint``, ``profile``, ``always`` and the questions with their vectors."""
        known: dict[str, Any] = json.loads((self.work / "questions.json").read_text("utf-8"))
        return known

    def corpus(self) -> Corpus:
        with (self.work / "corpus.pickle").open("rb") as file:
            known: Corpus = pickle.load(file)
        return known

    def blocks(self, corpus: Corpus, name: str) -> Iterator[Block]:
        """The blocks of this size, with a progress bar."""
        always = self.questions()["always"]
        every = list(blocks(len(corpus.passages), self.size, always, corpus.seed))
        with tqdm(total=self.size, desc=f"{self.size} {name}", mininterval=5.0) as bar:
            for block in every:
                after = bar.n + len(block.places)
                if self.minutes is not None and name != "dense" and not self.reached(after):
                    return
                yield block
                bar.update(len(block.places))

    def reached(self, rows: int) -> bool:
        """Wait until the vector store holds so many rows; False when it ends with fewer.

        Raises InputError when it does not grow any more.
        """
        began, known = time.monotonic(), -1
        while True:
            ended = (self.folder / "dense.json").is_file()
            now = int(self.progress.read_text("utf-8") or 0) if self.progress.is_file() else 0
            if now >= rows or ended:
                return now >= rows
            if now != known:
                began, known = time.monotonic(), now
            elif time.monotonic() - began > STALE_S:
                raise InputError("the vector store does not grow any more; run it again")
            time.sleep(1.0)

    @property
    def progress(self) -> Path:
        """The file that says how many rows the vector store holds."""
        return self.folder / "dense.rows"

    def filled(self, name: str) -> Iterator[tuple[Corpus, Block, list[Passage]]]:
        """The blocks with their passages."""
        corpus = self.corpus()
        for block in self.blocks(corpus, name):
            yield corpus, block, [corpus.passage(block.copy, p, DOMAIN) for p in block.places]


# -- building ---------------------------------------------------------------------------------


def build_dense(place: Place) -> dict[str, Any]:
    """Write the vector store as an ingest does; ``first``/``last``: rows a second at both ends."""
    layout, meter = place.layout, Meter()
    stop = time.monotonic() + 60.0 * (place.minutes or float("inf"))
    layout.create()
    settings = place.settings()
    collection = settings.domains[DOMAIN].collection
    key = place.questions()["fingerprint"]

    def opened() -> CosineChromaVectorStore:
        return CosineChromaVectorStore.open(
            settings.store, layout.chroma, collection, key, create=True
        )

    with meter.running():
        store = opened()
    counts: list[int] = []
    walls: list[float] = []
    for corpus, block, passages in place.filled("dense"):
        vectors = corpus.vectors_of(block)
        with meter.running(), layout.chroma_gate():
            store.upsert([p.id for p in passages], passages, vectors)
        counts.append(len(passages))
        walls.append(meter.wall[-1])
        if store.saves_too_often(sum(counts)):  # as DomainWriter does
            with meter.running():
                store.plan_saves(sum(counts))
                store.close()
                store = opened()
        place.progress.write_text(str(sum(counts)), "utf-8")
        # Only then is what was written the same as a run of that size would have written.
        if time.monotonic() > stop and sum(counts) >= len(corpus.passages):
            break
    with meter.running():
        store.close()
    tenth = max(1, len(counts) // 10)
    return {
        **meter.figures(),
        "rows": sum(counts),
        "bytes": size_of(layout.chroma),
        "first": sum(counts[:tenth]) / sum(walls[:tenth]),
        "last": sum(counts[-tenth:]) / sum(walls[-tenth:]),
    }


def build_keyword(place: Place) -> dict[str, Any]:
    """Write the keyword index, with a commit a block as an ingest does."""
    config = place.settings().domains[DOMAIN].keyword
    tokenizer = Tokenizer.from_dictionary(config.dictionary)
    path, meter = place.layout.keyword(DOMAIN), Meter()
    with meter.running():
        index = KeywordIndex(path, tokenizer, config, create=True)
    for _, _, passages in place.filled("keyword"):
        with meter.running():
            rows = [p.id for p in passages]
            index.delete_ids(rows)
            index.add(rows, passages)
            index.commit()
    with meter.running():
        index.close()
    return {**meter.figures(), "bytes": size_of(path)}


def build_catalog(place: Place) -> dict[str, Any]:
    """Write the catalog: notes, one switch a block, notes cleared."""
    layout, meter = place.layout, Meter()
    layout.create()
    catalog = PassageCatalog(layout.catalog, create=True)
    catalog.set_fingerprint(DOMAIN, place.questions()["fingerprint"])
    for corpus, block, passages in place.filled("catalog"):
        documents = _documents(corpus, block, passages)
        rows = {p.id: p.id for p in passages}
        with meter.running():
            catalog.add_pending(DOMAIN, rows)
            catalog.switch(DOMAIN, documents, rows, [])
            catalog.clear_pending(DOMAIN)
    with meter.running():
        catalog.close()
    return {**meter.figures(), "bytes": layout.catalog.stat().st_size}


def build_cache(place: Place) -> dict[str, Any]:
    """Write the embedding cache, a look-up and a transaction for each of its slices."""
    layout, meter = place.layout, Meter()
    layout.create()
    cache = EmbeddingCache(layout.embeddings)
    for corpus, block, passages in place.filled("cache"):
        vectors = corpus.vectors_of(block)
        for start in range(0, len(passages), SLICE):
            part = passages[start : start + SLICE]
            keys = [cache_key(corpus.fingerprint, p.embedding_text()) for p in part]
            with meter.running():
                cache.get(keys)
                cache.put(dict(zip(keys, vectors[start : start + SLICE], strict=True)))
    with meter.running():
        cache.close()
    return {**meter.figures(), "bytes": layout.embeddings.stat().st_size}


def _documents(
    corpus: Corpus, block: Block, passages: Sequence[Passage]
) -> list[tuple[str, Document | None]]:
    """The passages by document; one that a block cuts off goes on as another document."""
    found: list[tuple[str, Document | None]] = []
    pairs = zip(block.places, passages, strict=True)
    for key, members in groupby(pairs, key=lambda pair: corpus.documents[pair[0]]):
        own = tuple(passage for _, passage in members)
        head = own[0].metadata
        text = "\n".join(p.content for p in own)
        name = f"{block.copy}/{block.start}/{key}"
        found.append((name, Document(DOMAIN, name, head.title, head.version, text, own)))
    return found


# -- asking -----------------------------------------------------------------------------------


def exact(place: Place) -> dict[str, Any]:
    """Per cut k the cosine of each question's k-th nearest passage, by comparing with all."""
    questions = np.asarray([q["vector"] for q in place.questions()["questions"]], np.float32)
    corpus, meter = place.corpus(), Meter()
    best = np.zeros((len(questions), 0), np.float32)
    for block in place.blocks(corpus, "exact"):
        vectors = corpus.vectors_of(block)
        with meter.running():
            best = nearest(best, questions @ vectors.T)
    ordered = -np.sort(-best, axis=1)
    kth = {str(k): ordered[:, min(k, ordered.shape[1]) - 1].tolist() for k in CUTS}
    return {**meter.figures(), "kth": kth}


def nearest(best: Vectors, cosines: Vectors) -> Vectors:
    """The ``DEPTH`` highest of both per row, in no order; shapes (n, at most DEPTH) and (n, m)."""
    both = np.concatenate([best, cosines], axis=1)
    return both if both.shape[1] <= DEPTH else np.partition(both, -DEPTH, axis=1)[:, -DEPTH:]


def answer(place: Place) -> dict[str, Any]:
    """Open the index as a reader and ask every question; times in ms, hits as (id, score)."""
    known = place.questions()
    settings = place.settings()
    vectors = {simplified(q["query"]): q["vector"] for q in known["questions"]}
    dimension = len(next(iter(vectors.values())))
    embedder = GivenEmbedder(GivenFingerprint(known["fingerprint"], dimension), vectors)
    plan = FusionPlan.from_settings(settings)
    before = memory_mb()
    start = time.perf_counter()
    index = DomainIndex.open(settings, DOMAIN, embedder)
    index.search("dense", known["questions"][0]["query"], 1)  # opens the vector store
    opening = time.perf_counter() - start
    opened = memory_mb()
    meters = {name: Meter() for name in ("dense", "keyword", "both")}
    rows: list[dict[str, Any]] = []
    for question in tqdm(known["questions"], desc=f"{place.size} answer", mininterval=5.0):
        query = question["query"]
        found: dict[SignalName, tuple[Hit, ...]] = {}
        with meters["dense"].running():
            found["dense"] = index.search("dense", query, DEPTH)
        with meters["keyword"].running():
            found["keyword"] = index.search("keyword", query, DEPTH)
        with meters["both"].running():
            again: dict[SignalName, tuple[Hit, ...]] = {
                "dense": index.search("dense", query, DEPTH),
                "keyword": index.search("keyword", query, DEPTH),
            }
            fused = [one.fused.id for one in fuse_domain(plan, DOMAIN, again) or ()]
            index.passages(fused[:READ])
        lists = {name: [(hit.id, hit.score) for hit in hits] for name, hits in found.items()}
        rows.append({**lists, "fused": fused})
    count = index.count()
    after = memory_mb()
    index.close()
    return {
        "count": count,
        "open_seconds": opening,
        "memory_mb": {"before": before, "opened": opened, "after": after},
        "ms": {name: [1000.0 * wall for wall in meter.wall] for name, meter in meters.items()},
        "cpu_ms": {name: 1000.0 * m.cpu / len(m.wall) for name, m in meters.items()},
        "rows": rows,
    }


def remains(place: Place, part: str) -> None:
    """Delete what a killed run of this part left."""
    layout = place.layout
    files = {"catalog": layout.catalog, "cache": layout.embeddings}
    folders = {"dense": layout.chroma, "keyword": layout.keyword(DOMAIN)}
    if part in folders:
        shutil.rmtree(folders[part], ignore_errors=True)
    if part == "dense":
        place.progress.unlink(missing_ok=True)
    if part in files:
        for suffix in ("", "-wal", "-shm"):
            files[part].with_name(files[part].name + suffix).unlink(missing_ok=True)


# -- the process ------------------------------------------------------------------------------


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def memory_mb() -> dict[str, float]:
    """Peak resident memory of this process, and what of it is now its own (not mapped files)."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0}
    # getrusage would count the parent's memory at the fork, too.
    lines = dict(line.split(":", 1) for line in status.read_text("utf-8").splitlines())
    names = {"peak": "VmHWM", "now": "VmRSS", "own": "RssAnon"}
    return {key: int(lines[name].split()[0]) / 1024.0 for key, name in names.items()}


def written_mb() -> float:
    """MB that this process has sent to the disk; 0 where the system does not say."""
    path = Path("/proc/self/io")
    if not path.is_file():
        return 0.0
    lines = dict(line.split(": ") for line in path.read_text("utf-8").splitlines())
    return int(lines["write_bytes"]) / 1e6


PARTS: dict[str, Callable[[Place], dict[str, Any]]] = {
    "dense": build_dense,
    "keyword": build_keyword,
    "catalog": build_catalog,
    "cache": build_cache,
    "exact": exact,
    "answer": answer,
}


def main() -> None:
    """Run one part and write its figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--minutes", type=float)
    given = parser.parse_args()
    place = Place(given.work, given.size, given.minutes)
    remains(place, given.part)
    result = PARTS[given.part](place)
    result["peak_mb"] = memory_mb()["peak"]
    result["written_mb"] = written_mb()
    path = place.folder / f"{given.part}.json"
    path.with_suffix(".part").write_text(json.dumps(result), "utf-8")
    path.with_suffix(".part").replace(path)


if __name__ == "__main__":
    main()
