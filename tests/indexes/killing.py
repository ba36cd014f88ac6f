"""What the kill and the concurrency tests run in processes of their own."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from indexes.domain_index import DomainIndex
from indexes.schema import Filters
from indexes.writer import DocumentChange, DomainWriter
from tests.fakes import FakeEmbedder
from tests.indexes.passages import document, store_settings

BOUNDARIES = (
    ("cache.embed", "after"),
    ("catalog.add_pending", "after"),
    ("_write_dense", "after"),
    ("keyword.add", "after"),
    ("_write_keyword", "after"),
    ("_switch", "before"),
    ("_switch", "after"),
    ("dense.delete_ids", "after"),
    ("_discard", "after"),
)
OLD = (
    document("甲法", {"1": "渔业资源应当保护。", "2": "共同的内容不变。", "3": "废止的条文。"}),
    document("乙法", {"1": "住房公积金缴存办法。"}),
)
NEW = (
    document("甲法", {"1": "林业资源应当保护。", "2": "共同的内容不变。"}),
    document("丙法", {"1": "养老保险缴费比例。"}),
)
CHANGES = [*(DocumentChange(d.key, d) for d in NEW), DocumentChange("乙法", None)]


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _deadly(function: Callable[..., Any], when: str) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> None:
        if when == "after":
            function(*args, **kwargs)
        _die()

    return run


def update_and_die(directory: str, target: str, when: str) -> None:
    """Apply CHANGES, killed (SIGKILL) before or after the call named ``target``."""
    with DomainWriter.open(store_settings(Path(directory)), "law", FakeEmbedder()) as writer:
        *path, name = target.split(".")
        owner: Any = getattr(writer, path[0]) if path else writer
        # Pydantic models refuse unknown attributes, hence object.__setattr__.
        object.__setattr__(owner, name, _deadly(getattr(owner, name), when))
        writer.apply(CHANGES)


def ingest_forever(directory: str, ready: Any) -> None:
    """Replace one growing document again and again, until killed."""
    with DomainWriter.open(store_settings(Path(directory)), "law", FakeEmbedder()) as writer:
        for round_ in range(10_000):
            texts = {str(n): f"第{round_}轮 内容{n}" for n in range(300 + round_)}
            writer.apply([DocumentChange("长法", document("长法", texts))])
            ready.set()


def ingest_rounds(directory: str, rounds: int) -> None:
    """Add one document a round; its only passage tells the round."""
    with DomainWriter.open(store_settings(Path(directory)), "law", FakeEmbedder()) as writer:
        for n in range(rounds):
            fresh = document(f"第{n}号通告", {"1": f"通告内容{n} 渔业"}, code="310000")
            filler = document("充数法", {str(i): f"第{n}轮充数{i}" for i in range(150)})
            writer.apply([DocumentChange(d.key, d) for d in (fresh, filler)])
            time.sleep(0.05)


def search_until(directory: str, last: str, results: Any) -> None:
    """Search both signals until ``last`` is the best dense hit; report errors and the delay."""
    index = DomainIndex.open(
        store_settings(Path(directory), reopen_seconds=0.2), "law", FakeEmbedder()
    )
    place = Filters(jurisdictions=frozenset({"310000"}))
    found: dict[str, float] = {}
    searches = 0
    deadline = time.monotonic() + 60.0
    try:
        while len(found) < 2 and time.monotonic() < deadline:
            for signal_name in index.signals:
                for filters in (Filters(), place):
                    hits = index.search(signal_name, f"{last} 1 通告内容 渔业", 400, filters)
                    known = index.passages([hit.id for hit in hits])
                    assert hits
                    # A document may be replaced between the two calls, never seen in halves.
                    assert all(p.content for p in known.values())
                    searches += 1
                    if any(f"{last}@" in hit.id for hit in hits):
                        found.setdefault(signal_name, time.time())
        results.put(("ok" if len(found) == 2 else "never fresh", searches, max(found.values())))
    except BaseException as error:
        results.put((repr(error), searches, 0.0))
