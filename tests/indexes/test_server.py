from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from configs.errors import SourceUnavailableError
from indexes.chroma_client import open_collection
from indexes.domain_index import DomainIndex
from indexes.schema import Filters
from indexes.writer import DocumentChange, DomainWriter
from tests.fakes import FakeEmbedder
from tests.indexes.passages import document, store_settings


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """A Chroma server of its own on a free port."""
    program = Path(sys.executable).with_name("chroma")
    if not program.is_file():
        pytest.skip("the chroma command is not installed beside this Python")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = int(free.getsockname()[1])
    command = [program, "run", "--path", tmp_path / "server", "--host", "127.0.0.1"]
    server = subprocess.Popen(
        [*map(str, command), "--port", str(number)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while not _listens(number):
            assert server.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield number
    finally:
        server.kill()
        server.wait()


@pytest.mark.slow
def test_a_shared_server_serves_writer_and_reader_and_its_end_is_said(
    tmp_path: Path, port: int
) -> None:
    settings = store_settings(tmp_path / "store", chroma="server", port=port)
    old = document("甲法", {"1": "渔业资源应当保护。", "2": "工作时间。"}, page=4)
    new = document("甲法", {"1": "林业资源应当保护。"}, code="310000")
    with DomainWriter.open(settings, "law", FakeEmbedder()) as writer:
        writer.apply([DocumentChange("甲法", old)])
        assert writer.verify() == []
        reader = DomainIndex.open(settings, "law", FakeEmbedder())
        assert reader.search("dense", "渔业资源", 1)[0].id == old.passages[0].id
        writer.apply([DocumentChange("甲法", new)])
        assert writer.verify() == []
        place = Filters(jurisdictions=frozenset({"310000"}))
        for filters in (Filters(), place):
            hits = reader.search("dense", "林业资源", 5, filters)
            assert [hit.id for hit in hits] == [new.passages[0].id]
        assert reader.search("dense", "林业", 5, Filters(jurisdictions=frozenset({"1"}))) == ()
        reader.close()
    system, collection = open_collection(
        settings.store, tmp_path, "test_law", FakeEmbedder().fingerprint.key, create=False
    )
    got = collection.get(include=["metadatas"])
    assert "page" not in (got["metadatas"] or [{}])[0]
    system.stop()
    dead = store_settings(tmp_path / "store", chroma="server", port=1)
    with pytest.raises(SourceUnavailableError, match="chroma run"):
        DomainIndex.open(dead, "law", FakeEmbedder())
