"""The files of one size of ``benchmarks.scale`` and what they say."""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks.scale_corpus import Block, Corpus, blocks
from configs.errors import InputError
from configs.settings import Settings, load_settings
from indexes.schema import Passage
from indexes.store_layout import StoreLayout

DOMAIN = "law"
"""The domain that the index stands for: its search settings are used."""

STALE_S = 900.0
"""After so long without a row the vector store is not being written any more."""


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
                after = int(bar.n) + len(block.places)
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
