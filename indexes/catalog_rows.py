"""How documents and passages stand in the rows of the catalog."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from indexes.schema import OPEN_END, Document, Passage, PassageMetadata, date_int


def passage_of(row: Sequence[Any]) -> Passage:
    """The passage of a row (id, domain, content, metadata)."""
    known = json.loads(row[3])
    known["heading_path"] = tuple(known["heading_path"])
    return Passage(id=row[0], source=row[1], content=row[2], metadata=PassageMetadata(**known))


def insert_document(
    connection: sqlite3.Connection,
    domain: str,
    doc_key: str,
    document: Document,
    rows: Mapping[str, str],
) -> None:
    """Write a document and its passages; ``rows``: passage id -> its row."""
    file = document.passages[0].metadata.file if document.passages else doc_key
    connection.execute(
        "INSERT INTO documents VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
        (
            domain,
            doc_key,
            document.title,
            document.version,
            file,
            len(document.passages),
            zlib.compress(document.text.encode("utf-8")),
            json.dumps(dict(document.extra), ensure_ascii=False),
        ),
    )
    connection.executemany(
        "INSERT INTO passages VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                p.id,
                domain,
                doc_key,
                position,
                rows[p.id],
                p.metadata.title,
                p.metadata.article,
                p.metadata.jurisdiction_code,
                date_int(p.metadata.effective, 0),
                date_int(p.metadata.expires, OPEN_END),
                json.dumps(asdict(p.metadata), ensure_ascii=False),
                p.content,
            )
            for position, p in enumerate(document.passages)
        ],
    )
