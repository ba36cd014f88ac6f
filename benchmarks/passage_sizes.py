"""How long passages are: characters and model tokens by kind, and the share of 400-800 tokens.

Kinds: an article in one passage, a part of a long article, a table, other paragraphs. Tokens are
those of the domain's own embedding model for the text that it is given (title, headings, content),
special tokens included.

Run: python -m benchmarks.passage_sizes [--data DIR] [--every N]
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path

import numpy as np

from configs.errors import InputError
from configs.settings import Settings, load_settings
from indexes.embeddings import bundled_model_dir
from indexes.schema import Document, Passage
from ingest.parse import SUPPORTED_SUFFIXES, parse_file
from ingest.walk import FoundFile, find_files

REPO = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("POLICY_FUSION_DATA", REPO.parent / "shared" / "data"))
TODAY = date(2025, 1, 1)
BAND = (400, 800)
QUANTILES = (5, 25, 50, 75, 95, 99)


@dataclass(frozen=True, slots=True)
class Size:
    """One passage: its characters, the tokens of what its model is given, whether it reads all."""

    characters: int
    tokens: int
    read_whole: bool


def kind_of(passage: Passage) -> str:
    """``table``, ``article`` (whole), ``part of an article``, or ``paragraphs``."""
    lines = passage.content.split("\n")
    if passage.metadata.table_header or any(line.startswith("| ---") for line in lines):
        return "table"
    if not passage.metadata.article:
        return "paragraphs"
    return "part of an article" if passage.metadata.part else "article"


def documents(data: Path, every: int) -> Iterator[Document]:
    """The documents of ``corpus``, ``records`` and ``real_files``: one in ``every``."""
    sources = [(data / "corpus" / name, name) for name in ("law", "fiscal", "local")]
    sources += [(data / "records" / f"{name}.jsonl", name) for name in ("fiscal", "local")]
    sources.append((data / "real_files", "local"))
    for path, domain in sources:
        files = find_files([path], SUPPORTED_SUFFIXES).files
        many = path.suffix != ".jsonl"
        for found in files[::every] if many else files:
            items = _items(found, domain)
            yield from islice(items, 0, None, 1 if many else every)


def _items(found: FoundFile, domain: str) -> Iterator[Document]:
    """The documents of one file that can be read."""
    with contextlib.suppress(InputError):  # what ingest would put into quarantine
        for item in parse_file(found.path, domain, found.root, lambda: TODAY):
            if isinstance(item, Document):
                yield item


def sizes(settings: Settings, data: Path, every: int) -> dict[str, list[Size]]:
    """Kind of passage -> the sizes of all passages of that kind."""
    from tokenizers import Tokenizer

    directory = bundled_model_dir(settings.models_dir)
    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    found: dict[str, list[Size]] = defaultdict(list)
    for document in documents(data, every):
        model = settings.domains[document.domain].embedding
        texts = [model.text_instruction + passage.embedding_text() for passage in document.passages]
        for passage, coded in zip(document.passages, tokenizer.encode_batch(texts), strict=True):
            tokens = len(coded.ids)
            size = Size(len(passage.readable()), tokens, tokens <= model.max_length)
            found[kind_of(passage)].append(size)
    return found


def row(kind: str, members: list[Size]) -> list[str]:
    """One line of the table, cells as text."""
    characters = np.asarray([size.characters for size in members])
    tokens = np.asarray([size.tokens for size in members])
    low, high = BAND
    whole = np.asarray([size.read_whole for size in members])
    shares = (tokens < low, (tokens >= low) & (tokens <= high), tokens > high, ~whole)
    return [
        kind,
        f"{len(members):,}",
        *(f"{np.percentile(values, q):.0f}" for values in (characters, tokens) for q in QUANTILES),
        *(f"{100 * np.mean(share):.1f}" for share in shares),
    ]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--data", type=Path, default=DATA)
    options.add_argument("--every", type=int, default=1, help="take one document in N")
    given = options.parse_args()
    found = sizes(load_settings(), given.data, given.every)
    everything = [size for members in found.values() for size in members]
    head = ["kind", "passages"]
    head += [f"{unit} p{q}" for unit in ("chars", "tokens") for q in QUANTILES]
    head += [
        f"% below {BAND[0]}",
        f"% {BAND[0]}-{BAND[1]}",
        f"% above {BAND[1]}",
        "% cut by the model",
    ]
    print("| " + " | ".join(head) + " |")
    print("| --- |" + " ---: |" * (len(head) - 1))
    for kind, members in (*sorted(found.items()), ("all", everything)):
        print("| " + " | ".join(row(kind, members)) + " |")


if __name__ == "__main__":
    main()
