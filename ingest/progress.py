"""How far an ingest is: a bar on a terminal, a line now and then elsewhere; always on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

if TYPE_CHECKING:
    from indexes.embeddings import FloatArray, ModelFingerprint, TextEmbedder

LINE_SECONDS = 10.0


class CountingEmbedder:
    """A ``TextEmbedder`` that tells ``on_texts`` how many passages it embedded."""

    def __init__(self, embedder: TextEmbedder, on_texts: Callable[[int], None]) -> None:
        self._embedder = embedder
        self._on_texts = on_texts

    @property
    def fingerprint(self) -> ModelFingerprint:
        return self._embedder.fingerprint

    def embed_query(self, text: str) -> list[float]:
        return self._embedder.embed_query(text)

    def embed_texts(self, texts: Sequence[str]) -> FloatArray:
        vectors = self._embedder.embed_texts(texts)
        self._on_texts(len(texts))
        return vectors


class Progress:
    """Counts passages; their total is estimated from the share of bytes that was parsed."""

    def __init__(
        self, label: str, *, enabled: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._label = label
        self._enabled = enabled
        self._clock = clock
        self._started = self._spoken = clock()
        self._bar: tqdm[Any] | None = None
        self._total_bytes = self._parsed_bytes = 0
        self._parsed = self._written = self._embedded = 0

    def start(self, total_bytes: int) -> None:
        """``total_bytes`` is the size of all files that will be parsed."""
        self._total_bytes = total_bytes
        self._started = self._spoken = self._clock()
        if self._enabled and total_bytes and sys.stderr.isatty():
            self._bar = tqdm(desc=self._label, unit=" passages", file=sys.stderr)

    def parsed(self, size: int, passages: int) -> None:
        """``passages`` were parsed from further ``size`` bytes."""
        self._parsed_bytes += size
        self._parsed += passages

    def embedded(self, passages: int) -> None:
        """Some passages that are not in the indexes yet went through the model."""
        self._embedded += passages
        self._show(self._written + self._embedded)

    def written(self, passages: int) -> None:
        """A batch is in the indexes."""
        self._written += passages
        self._embedded = max(0, self._embedded - passages)
        self._show(self._written)

    def close(self) -> None:
        """End the bar."""
        if self._bar is not None:
            self._bar.close()

    def _show(self, done: int) -> None:
        share = self._parsed_bytes / self._total_bytes if self._total_bytes else 1.0
        total = max(done, round(self._parsed / share) if share else done)
        if self._bar is not None:
            self._bar.total = total
            self._bar.n = done
            self._bar.refresh()
            return
        now = self._clock()
        if self._enabled and now - self._spoken >= LINE_SECONDS and done:
            self._spoken = now
            rate = done / (now - self._started)
            left = (total - done) / rate
            print(
                f"{self._label}: {done:,} of about {total:,} passages, {rate:.1f}/s,"
                f" about {left:.0f} s left",
                file=sys.stderr,
                flush=True,
            )
