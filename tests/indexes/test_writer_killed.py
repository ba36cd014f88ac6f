from __future__ import annotations

import multiprocessing
import time
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

from indexes.catalog import PassageCatalog
from indexes.domain_index import DomainIndex
from indexes.schema import Document
from indexes.writer import DocumentChange, DomainWriter
from tests.fakes import FakeEmbedder
from tests.indexes import killing
from tests.indexes.passages import store_settings

SIGKILLED = -9


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.indexes.killing"])
    return context


def documents(directory: Path) -> dict[str, tuple[str, ...]]:
    catalog = PassageCatalog(directory / "catalog.sqlite")
    keys = [d.doc_key for d in catalog.documents("law")]
    held = {k: tuple(p.content for p in catalog.document_passages("law", k)) for k in keys}
    catalog.close()
    return held


def contents(made: tuple[Document, ...]) -> dict[str, tuple[str, ...]]:
    return {d.key: tuple(p.content for p in d.passages) for d in made}


def assert_searchable(directory: Path) -> None:
    """Every document of the catalog is the best hit, once, for its own words, in both signals."""
    index = DomainIndex.open(store_settings(directory), "law", FakeEmbedder())
    for texts in documents(directory).values():
        for text in texts:
            for signal in index.signals:
                hits = index.search(signal, text, 20)
                assert len({hit.id for hit in hits}) == len(hits)
                assert index.passages([hits[0].id])[hits[0].id].content == text
    index.close()


@pytest.mark.parametrize(("target", "when"), killing.BOUNDARIES)
def test_killed_at_any_boundary_every_document_stays_whole_and_searchable(
    tmp_path: Path, processes: ForkServerContext, target: str, when: str
) -> None:
    with DomainWriter.open(store_settings(tmp_path), "law", FakeEmbedder()) as writer:
        writer.apply([DocumentChange(d.key, d) for d in killing.OLD])
    old, new = contents(killing.OLD), contents(killing.NEW)

    child = processes.Process(target=killing.update_and_die, args=(str(tmp_path), target, when))
    child.start()
    child.join(60)
    assert child.exitcode == SIGKILLED

    switched = target in ("_discard", "dense.delete_ids")
    switched = switched or (target, when) == ("_switch", "after")
    assert documents(tmp_path) == (new if switched else old)
    assert_searchable(tmp_path)
    with DomainWriter.open(store_settings(tmp_path), "law", FakeEmbedder()) as writer:
        assert writer.verify() == []
        assert_searchable(tmp_path)
        writer.apply(killing.CHANGES)
        assert writer.verify() == []
    assert documents(tmp_path) == new
    assert_searchable(tmp_path)


def test_killed_at_random_moments_nothing_is_lost(
    tmp_path: Path, processes: ForkServerContext
) -> None:
    for pause in (0.05, 0.21, 0.47):
        ready = processes.Event()
        child = processes.Process(target=killing.ingest_forever, args=(str(tmp_path), ready))
        child.start()
        assert ready.wait(60)
        time.sleep(pause)
        child.kill()
        child.join(60)
        (texts,) = documents(tmp_path).values()
        assert len({text.split()[0] for text in texts}) == 1  # one round, whole
        assert len(texts) == 300 + int(texts[0].removeprefix("第").split("轮")[0])
        with DomainWriter.open(store_settings(tmp_path), "law", FakeEmbedder()) as writer:
            assert writer.verify() == []
