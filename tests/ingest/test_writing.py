"""Batches on their way into the store: what overlaps, and what an error leaves behind."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from indexes.writer import DocumentChange, DomainWriter
from ingest import pipeline
from ingest.ledger import Ledger
from tests.fakes import FakeEmbedder
from tests.ingest.documents import run_ingest, statute, texts, write

WAIT_S = 20.0


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files, one a batch."""
    monkeypatch.setattr(pipeline, "BATCH_PASSAGES", 1)
    write(tmp_path / "d" / "甲.md", statute("甲条例（虚构示例）", ["渔船登记。"]))
    write(tmp_path / "d" / "乙.md", statute("乙条例（虚构示例）", ["林地保护。"]))
    return tmp_path / "d"


@dataclass
class Signalling(FakeEmbedder):
    """Tells when it has embedded a second time."""

    again: threading.Event = field(default_factory=threading.Event)

    def embed_texts(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if self.texts:
            self.again.set()
        return super().embed_texts(texts)


def test_a_batch_is_written_while_the_next_is_embedded(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder, overlapped = Signalling(), list[bool]()
    real = DomainWriter.apply

    def apply(self: DomainWriter, changes: Sequence[DocumentChange]) -> None:
        if changes and not overlapped:
            overlapped.append(embedder.again.wait(WAIT_S))
        real(self, changes)

    monkeypatch.setattr(DomainWriter, "apply", apply)
    report = run_ingest(tmp_path / "store", root, embedder=embedder)
    assert overlapped == [True]
    assert (report.added, report.passages) == (2, 2)
    assert len(texts(tmp_path / "store")) == 2


@dataclass
class Stopped(FakeEmbedder):
    """Is interrupted at the second batch, as by Ctrl-C."""

    def embed_texts(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if self.texts:
            raise KeyboardInterrupt
        return super().embed_texts(texts)


def test_an_interrupted_ingest_leaves_whole_documents_and_the_next_completes_it(
    root: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    with pytest.raises(KeyboardInterrupt):
        run_ingest(store, root, embedder=Stopped())
    # 乙 comes first in the order of paths; its write ends, unrecorded, before the store is closed.
    assert texts(store) == {"第一条 林地保护。"}
    with Ledger(store) as ledger:
        assert ledger.files("law") == {}
    embedder = FakeEmbedder()
    run_ingest(store, root, embedder=embedder)
    assert texts(store) == {"第一条 林地保护。", "第一条 渔船登记。"}
    assert len(embedder.texts) == 1  # the other is in the cache


def test_an_error_of_writing_reaches_the_caller_and_nothing_of_it_is_recorded(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"

    def fail(self: DomainWriter, changes: Sequence[DocumentChange]) -> None:
        raise RuntimeError("the vector store is gone")

    with monkeypatch.context() as broken:
        broken.setattr(DomainWriter, "apply", fail)
        with pytest.raises(RuntimeError, match="gone"):
            run_ingest(store, root)
    with Ledger(store) as ledger:
        assert ledger.files("law") == {}
    assert run_ingest(store, root).added == 2
    assert len(texts(store)) == 2
