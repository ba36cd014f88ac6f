"""Fictitious documents (虚构示例) that the ingest tests write, and the settings they use."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from configs.settings import Settings
from indexes.catalog import PassageCatalog
from indexes.schema import Passage
from indexes.store_layout import StoreLayout
from ingest.pipeline import ingest
from ingest.report import IngestReport
from tests.fakes import FakeEmbedder
from tests.indexes.passages import store_settings

TODAY = date(2025, 1, 1)


def statute(
    title: str, articles: Sequence[str], *, effective: str = "2020-01-01", extra: str = ""
) -> str:
    """A statute in Markdown with front matter; ``extra`` holds further front matter lines."""
    numbers = "一二三四五六七八九十"
    body = "\n\n".join(f"第{numbers[i]}条 {text}" for i, text in enumerate(articles))
    front = f"title: {title}\njurisdiction: 全国\neffective: {effective}\n{extra}"
    return f"---\n{front}---\n# {title}\n\n{body}\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def write_records(path: Path, records: Mapping[str, str]) -> Path:
    """A JSONL file of documents: id -> text."""
    lines = [
        {
            "id": key,
            "title": f"{key}号通告（虚构示例）",
            "text": text,
            "meta": {"effective": "2020-01-01"},
        }
        for key, text in records.items()
    ]
    return write(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def run_ingest(
    store: Path,
    *paths: Path,
    domain: str = "law",
    today: date = TODAY,
    config: Settings | None = None,
    **options: Any,
) -> IngestReport:
    """Ingest with the fake model, into ``store`` with the settings of these tests or ``config``."""
    options.setdefault("embedder", FakeEmbedder())
    profile = config or settings(store)
    return ingest(profile, domain, paths, clock=lambda: today, progress=False, **options)


def settings(store: Path) -> Settings:
    return store_settings(store)


def stored(store: Path, domain: str = "law") -> dict[str, Passage]:
    """Everything the catalog lists, by id."""
    catalog = PassageCatalog(StoreLayout(store).catalog)
    try:
        return {passage.id: passage for _, passage in catalog.passages(domain)}
    finally:
        catalog.close()


def texts(store: Path, domain: str = "law") -> set[str]:
    return {passage.content for passage in stored(store, domain).values()}


def status(store: Path, title: str, version: str) -> tuple[str | None, str]:
    """(expires, status) that every passage of this version holds."""
    found = {
        (p.metadata.expires, p.metadata.status)
        for p in stored(store).values()
        if p.metadata.title == title and p.metadata.version == version
    }
    assert len(found) == 1, found
    return found.pop()
