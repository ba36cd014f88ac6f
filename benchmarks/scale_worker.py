"""One part of ``benchmarks.scale`` in a process of its own, so that its memory is its own.

``python -m benchmarks.scale_worker PART --work DIR --size N`` writes ``DIR/N/PART.json``. Parts:
``dense``, ``keyword``, ``catalog``, ``cache`` build; ``exact`` compares with every vector;
``answer`` opens the finished index and asks all questions. Only the stores' own calls are timed,
not the making of passages.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks.scale_corpus import Block, Corpus, Vectors
from benchmarks.scale_meter import Meter, memory_mb, size_of, written_mb
from benchmarks.scale_place import DOMAIN, Place
from fusion.two_stage import FusionPlan, fuse_domain
from indexes.catalog import PassageCatalog
from indexes.chroma_store import CosineChromaVectorStore
from indexes.domain_index import DomainIndex
from indexes.embedding_cache import SLICE, EmbeddingCache, cache_key
from indexes.keyword_index import KeywordIndex
from indexes.schema import NATIONAL, Document, Filters, Hit, Passage, SignalName
from indexes.tokenizer import Tokenizer, simplified

DEPTH = 100
READ = 10
CUTS = (10, 100)
FILTERS = Filters(frozenset({NATIONAL, "310000"}), date(2024, 6, 1))
"""What a question about Shanghai asks for."""


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
    names = ("dense", "keyword", "dense_filtered", "keyword_filtered", "both")
    meters = {name: Meter() for name in names}
    rows: list[dict[str, Any]] = []
    for question in tqdm(known["questions"], desc=f"{place.size} answer", mininterval=5.0):
        query = question["query"]
        found: dict[SignalName, tuple[Hit, ...]] = {}
        with meters["dense"].running():
            found["dense"] = index.search("dense", query, DEPTH)
        with meters["keyword"].running():
            found["keyword"] = index.search("keyword", query, DEPTH)
        for signal in found:
            with meters[f"{signal}_filtered"].running():
                index.search(signal, query, DEPTH, FILTERS)
        with meters["both"].running():
            again: dict[SignalName, tuple[Hit, ...]] = {
                "dense": index.search("dense", query, DEPTH),
                "keyword": index.search("keyword", query, DEPTH),
            }
            fused = [one.fused.id for one in fuse_domain(plan, DOMAIN, again) or ()]
            index.passages(fused[:READ])
        lists: dict[str, Any] = {
            n: [(hit.id, hit.score) for hit in hits] for n, hits in found.items()
        }
        rows.append({**lists, "fused": fused})
    count = index.count()
    after = memory_mb()
    scan = Meter()
    with scan.running():  # what the engine reads once after an ingest: names, versions, repeals
        for reading in (index.catalog.documents, index.catalog.first_passages):
            for _ in reading(DOMAIN):
                pass
        for _ in index.catalog.contents_with(DOMAIN, "废止"):
            pass
    index.close()
    return {
        "count": count,
        "open_seconds": opening,
        "scan": scan.figures(),
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
