"""The model loads while the store is opened and files are read, and only when it will be needed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from configs.errors import ModelMissingError
from indexes.query_adapter import AdaptedEmbedder, QueryAdapter
from indexes.schema import Document
from ingest import pipeline
from ingest.parse import parse_file
from ingest.readers import BadRecord
from tests.fakes import FakeEmbedder
from tests.ingest.documents import run_ingest, settings, statute, texts, write

FISH = statute("渔业条例（虚构示例）", ["渔船应当登记。", "禁渔期不得捕捞。"])
TREE = statute("林业条例（虚构示例）", ["林地应当保护。"])


@dataclass
class Loading(FakeEmbedder):
    """``loads`` counts; loading ends when ``go`` is set, with ``error`` if there is one."""

    loads: int = 0
    go: threading.Event = field(default_factory=threading.Event)
    error: Exception | None = None

    def __post_init__(self) -> None:
        self.go.set()

    def warm_up(self) -> None:
        self.loads += 1
        assert self.go.wait(30)
        if self.error is not None:
            raise self.error

    def embed_texts(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if self.error is not None:
            raise self.error
        return super().embed_texts(texts)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    write(folder / "渔业条例.md", FISH)
    write(folder / "林业条例.md", TREE)
    return folder


def edited(root: Path) -> None:
    write(root / "渔业条例.md", FISH.replace("登记", "按时登记"))


def edited_to_the_same_length(root: Path) -> None:
    write(root / "渔业条例.md", FISH.replace("登记", "注册"))


def added(root: Path) -> None:
    write(root / "草原条例.md", statute("草原条例（虚构示例）", ["草原应当休养。"]))


@pytest.mark.parametrize("change", [edited, edited_to_the_same_length, added])
def test_new_text_has_the_model_loaded_once(
    store: Path, root: Path, change: Callable[[Path], None]
) -> None:
    first = Loading()
    run_ingest(store, root, embedder=first)
    assert first.loads == 1
    change(root)
    second = Loading()
    assert run_ingest(store, root, embedder=second).passages > 0
    assert second.loads == 1


def untouched(_root: Path) -> None:
    pass


def touched(root: Path) -> None:
    os.utime(root / "渔业条例.md", ns=(1, 1))


def moved(root: Path) -> None:
    (root / "渔业条例.md").rename(root / "渔业.md")


def removed(root: Path) -> None:
    (root / "渔业条例.md").unlink()


@pytest.mark.parametrize("change", [untouched, touched, moved, removed])
def test_without_new_text_the_model_is_not_loaded(
    store: Path, root: Path, change: Callable[[Path], None]
) -> None:
    write(root / "空白.md", " \n")  # stays in quarantine and is tried again each time
    run_ingest(store, root)
    change(root)
    embedder = Loading()
    assert run_ingest(store, root, embedder=embedder, prune=True).quarantined
    assert embedder.loads == 0


_read = threading.Event()


def parse_and_tell(
    path: Path, domain: str, root: Path | None, clock: Callable[[], date]
) -> Iterator[Document | BadRecord]:
    yield from parse_file(path, domain, root, clock)
    _read.set()


def test_files_are_read_while_the_model_loads(store: Path, root: Path) -> None:
    embedder = Loading(go=_read)
    _read.clear()  # loading ends when a file was read, so reading cannot wait for it
    pipeline.ingest(
        settings(store), "law", [root], embedder=embedder, progress=False, parse=parse_and_tell
    )
    assert embedder.loads == 1
    assert len(texts(store)) == 3


def test_a_model_that_cannot_be_loaded_is_told_as_without_warming(store: Path, root: Path) -> None:
    broken = Loading(error=ModelMissingError("model 'e' cannot be loaded; check the name"))
    with pytest.raises(ModelMissingError, match="model 'e' cannot be loaded; check the name"):
        run_ingest(store, root, embedder=broken)
    assert run_ingest(store, root, embedder=Loading()).passages == 3  # the store is free


def test_an_adapted_model_warms_its_base(store: Path, root: Path) -> None:
    base = Loading(dimension=2)
    adapter = QueryAdapter(
        matrix=np.zeros((2, 2), np.float32),
        shift=np.zeros(2, np.float32),
        probe="问",
        probe_vector=np.ones(2, np.float32),
        instruction="",
        base="fake",
        provenance="",
    )
    run_ingest(store, root, embedder=AdaptedEmbedder(base, adapter, "a.npz"))
    assert base.loads == 1
