from __future__ import annotations

import multiprocessing
import time
from pathlib import Path

from indexes.writer import DocumentChange, DomainWriter
from tests.fakes import FakeEmbedder
from tests.indexes import killing
from tests.indexes.passages import document, store_settings

ROUNDS = 8


def test_two_readers_search_while_a_third_process_ingests(tmp_path: Path) -> None:
    with DomainWriter.open(store_settings(tmp_path), "law", FakeEmbedder()) as writer:
        first = document("通告总则", {"1": "通告内容 渔业"}, code="310000")
        writer.apply([DocumentChange(first.key, first)])
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["tests.indexes.killing"])
    results = processes.Queue()
    last = f"第{ROUNDS - 1}号通告"
    readers = [
        processes.Process(target=killing.search_until, args=(str(tmp_path), last, results))
        for _ in range(2)
    ]
    for reader in readers:
        reader.start()
    ingest = processes.Process(target=killing.ingest_rounds, args=(str(tmp_path), ROUNDS))
    ingest.start()
    ingest.join(120)
    ended = time.time()
    assert ingest.exitcode == 0
    reports = [results.get(timeout=90) for _ in readers]
    for reader in readers:
        reader.join(30)
    for outcome, searches, fresh_at in reports:
        assert outcome == "ok"
        assert searches > 0
        assert fresh_at - ended < 10.0
