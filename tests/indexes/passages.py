"""Fictitious documents (虚构示例) and settings for the storage tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from configs.settings import DomainConfig, EmbeddingConfig, Settings, StoreConfig
from indexes.schema import Document, Passage, PassageMetadata


def store_settings(directory: Path, **store: Any) -> Settings:
    config = {"reopen_seconds": 0.0, **store}
    return Settings(
        store=StoreConfig(dir=str(directory), **config),
        domains={
            "law": DomainConfig(label="法律", collection="test_law", embedding=EmbeddingConfig()),
            "local": DomainConfig(
                label="地方", collection="test_local", embedding=EmbeddingConfig()
            ),
        },
    )


def passage(
    content: str = "虚构示例",
    *,
    title: str = "示例条例",
    article: str = "1",
    domain: str = "law",
    version: str = "2021-01-01",
    code: str = "100000",
    **metadata: Any,
) -> Passage:
    meta = PassageMetadata(
        title=title,
        file=metadata.pop("file", f"{title}.md"),
        article=article,
        version=version,
        jurisdiction_code=code,
        **metadata,
    )
    return Passage(f"{domain}:{title}@{version}#a{article}", domain, content, meta)


def document(
    title: str, articles: Mapping[str, str], *, key: str | None = None, **metadata: Any
) -> Document:
    domain = metadata.pop("domain", "law")
    passages = []
    text = ""
    for article, content in articles.items():
        span = {"start": len(text), "end": len(text) + len(content)}
        passages.append(
            passage(content, title=title, article=article, domain=domain, **span, **metadata)
        )
        text += content + "\n"
    return Document(domain, key or title, title, "2021-01-01", text, tuple(passages))
