"""Passages and unit vectors for ``benchmarks.scale``: real ones first, perturbed copies beyond.

A copy keeps the corpus' mean vector ``m`` and mixes the rest with Gaussian noise ``g`` of the
corpus' own covariance: ``m + a (v - m) + sqrt(1 - a^2) g``, normalised, so that copies lie where
passages lie. ``a`` is drawn so that the copy is as near to its original as some real passage's
near neighbour is. Isotropic noise would leave that region: no question would ever meet a copy.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from configs.errors import InputError
from configs.settings import Settings
from indexes.catalog import PassageCatalog
from indexes.embedding_cache import EmbeddingCache, cache_key
from indexes.schema import Passage, PassageId
from indexes.store_layout import StoreLayout

Vectors = npt.NDArray[np.float32]
BLOCK = 2000
"""Passages written at a time, as an ingest does."""

NEIGHBOURS = 10
SAME = 0.999
"""Cosine from which a neighbour is the same article in another version, not another article."""

COPY = "副本"
_SENTENCE = re.compile(r"[^。；！？\n]*[。；！？\n]+|[^。；！？\n]+")
_CLAUSE = re.compile(r"[^，、：]*[，、：]+|[^，、：]+")


@dataclass(frozen=True, slots=True)
class Block:
    """At most ``BLOCK`` passages: copy number ``copy`` (0: real) of the corpus' ``places``.

    ``start``: where the run of ``BLOCK`` places that the block is a part of begins.
    """

    copy: int
    start: int
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Real passages in catalog order with their unit vectors, shape (n, dimension).

    ``documents``: per passage its document's key; ``near``: cosines of real near neighbours, from
    which a copy's distance is drawn; ``root`` (dimension, dimension): a square root of the vectors'
    covariance; ``fingerprint``: the key of the embedding model.
    """

    passages: tuple[Passage, ...]
    documents: tuple[str, ...]
    vectors: Vectors
    near: Vectors
    mean: Vectors
    root: Vectors
    fingerprint: str
    seed: int

    @classmethod
    def of(
        cls,
        passages: Sequence[Passage],
        documents: Sequence[str],
        vectors: Vectors,
        fingerprint: str,
        seed: int,
        sample: int = 1000,
    ) -> Corpus:
        """Measure the neighbours of ``sample`` passages, and mean and covariance of all."""
        mean = vectors.mean(axis=0)
        values, axes = np.linalg.eigh(np.cov(vectors - mean, rowvar=False))
        root = (axes * np.sqrt(np.maximum(values, 0.0))).T.astype(np.float32)
        near = neighbour_cosines(vectors, sample, seed)
        return cls(tuple(passages), tuple(documents), vectors, near, mean, root, fingerprint, seed)

    def passage(self, copy: int, place: int, domain: str) -> Passage:
        """The passage as it goes into the index of ``domain``."""
        real = self.passages[place]
        id_ = copy_id(real.id, copy, domain)
        if not copy:
            return replace(real, id=id_, source=domain)
        rng = random.Random(f"{self.seed}:{copy}:{place}")
        other = self.passages[rng.randrange(len(self.passages))]
        metadata = replace(
            real.metadata,
            title=f"{real.metadata.title}（{COPY}{copy}）",
            file=f"{COPY}{copy}/{real.metadata.file}",
            record="",
        )
        return Passage(id_, domain, exchanged(real.content, other.content, rng), metadata)

    def vectors_of(self, block: Block) -> Vectors:
        """Unit vectors of a block, shape (passages, dimension)."""
        real = self.vectors[list(block.places)]
        if not block.copy:
            return real
        # The noise of a place must not depend on where a size cuts its run short.
        rng = np.random.default_rng([self.seed, block.copy, block.start])
        noise = rng.standard_normal((BLOCK, len(self.mean)), dtype=np.float32) @ self.root
        wanted = rng.choice(self.near, size=BLOCK)
        count = len(block.places)
        return blended(real, self.mean, noise[:count], wanted[:count])


def copy_id(id_: str, copy: int, domain: str) -> str:
    """The id in the index of ``domain`` of a real passage (copy 0) or of its copy."""
    parts = PassageId.parse(id_)
    tail = f"·{COPY}{copy}" if copy else ""
    return str(replace(parts, domain=domain, document=f"{parts.domain}·{parts.document}{tail}"))


def blended(real: Vectors, mean: Vectors, noise: Vectors, cosines: Vectors) -> Vectors:
    """Unit vectors that have on average the given cosines to ``real``.

    ``real``, ``noise``: (n, dimension); ``mean``: (dimension,); ``cosines``: (n,). The least that
    can be had is the squared length of the mean, the cosine of two unrelated passages.
    """
    common = float(mean @ mean)
    kept = np.clip((cosines - common) / (1.0 - common), 0.0, 1.0)[:, None]
    moved = mean + kept * (real - mean) + np.sqrt(1.0 - kept**2) * noise
    return np.asarray(moved / np.linalg.norm(moved, axis=1, keepdims=True), dtype=np.float32)


def exchanged(text: str, other: str, rng: random.Random) -> str:
    """``text`` with about half of its sentences replaced by sentences of ``other``.

    A text of one sentence exchanges clauses; the number of pieces stays.
    """
    pieces, others = _SENTENCE.findall(text), _SENTENCE.findall(other)
    if len(pieces) < 2 or not others:
        pieces, others = _CLAUSE.findall(text), _CLAUSE.findall(other)
    if not others:
        return text
    return "".join(rng.choice(others) if rng.random() < 0.5 else piece for piece in pieces)


def neighbour_cosines(vectors: Vectors, sample: int, seed: int) -> Vectors:
    """Cosines of random passages to their ``NEIGHBOURS`` nearest other ones, one flat array."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(vectors), size=min(sample, len(vectors)), replace=False)
    found = []
    for start in range(0, len(chosen), 100):
        part = chosen[start : start + 100]
        cosines = vectors[part] @ vectors.T
        cosines[np.arange(len(part)), part] = -1.0
        cosines[cosines >= SAME] = -1.0
        depth = min(NEIGHBOURS, len(vectors) - 1)
        best = np.partition(cosines, -depth, axis=1)[:, -depth:]
        found.append(best[best > -1.0])
    return np.concatenate(found).astype(np.float32)


def blocks(total: int, size: int, always: Sequence[int], seed: int) -> Iterator[Block]:
    """The blocks of an index of ``size`` passages over ``total`` real ones, in document order.

    Real ones: ``always`` and random others, every smaller size within every larger one; then copy
    1, 2, … of the whole corpus. Raises InputError when ``size`` cannot hold ``always``.
    """
    if size < len(always):
        raise InputError(
            f"size {size} cannot hold the {len(always)} passages that answer the questions; "
            "give a larger size or fewer --questions-count"
        )
    fixed = set(always)
    others = [place for place in range(total) if place not in fixed]
    random.Random(seed).shuffle(others)
    real = sorted([*fixed, *others[: size - len(fixed)]])
    for start in range(0, len(real), BLOCK):
        yield Block(0, start, tuple(real[start : start + BLOCK]))
    left, copy = size - len(real), 0
    while left > 0:
        copy += 1
        for start in range(0, min(left, total), BLOCK):
            yield Block(copy, start, tuple(range(start, min(start + BLOCK, total, left))))
        left -= total


def read_corpus(settings: Settings, seed: int) -> Corpus:
    """All passages of a store in the order of domains and documents, vectors from its cache.

    Raises InputError when the domains have different embedding models or a vector is not there.
    """
    layout = StoreLayout(Path(settings.store.dir))
    catalog, cache = PassageCatalog(layout.catalog), EmbeddingCache(layout.embeddings)
    keys = {catalog.fingerprint(domain) for domain in settings.domains}
    if len(keys) != 1 or None in keys:
        raise InputError("the domains differ in their embedding model; give a store with one model")
    fingerprint = str(keys.pop())
    passages: list[Passage] = []
    documents: list[str] = []
    for domain in settings.domains:
        for document in catalog.documents(domain):
            found = catalog.document_passages(domain, document.doc_key)
            passages += found
            documents += [f"{domain}/{document.doc_key}"] * len(found)
    vectors: list[Vectors] = []
    for start in range(0, len(passages), BLOCK):
        part = passages[start : start + BLOCK]
        wanted = [cache_key(fingerprint, passage.embedding_text()) for passage in part]
        known = cache.get(wanted)
        if not known.keys() >= set(wanted):
            raise InputError("the store's embedding cache lacks vectors; ingest the corpus again")
        vectors += [known[key] for key in wanted]
    catalog.close()
    cache.close()
    return Corpus.of(passages, documents, np.stack(vectors), fingerprint, seed)
