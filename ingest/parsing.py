"""Which files are parsed here and which in processes of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from configs.settings import IngestConfig
from ingest.parsing_pool import ParsingPool
from ingest.parsing_worker import Failure, ParsedItem, Parser, ParseTask, out_of_memory, parse_items

PLAIN_SUFFIXES = frozenset({".md", ".txt", ".jsonl"})
"""What the project reads by itself; every other format goes through foreign, riskier code."""

FEW = 8
SMALL_BYTES = 2**20


class FileParser:
    """Parses files in order; a context manager. ``items(n)`` must be called for n = 0, 1, 2 …

    Fewer than ``FEW`` small plain files are parsed in this process, which takes milliseconds where
    starting another takes a second; everything else is parsed within the limits of ``config``.
    ``sizes``: bytes of each task's file.
    """

    def __init__(
        self,
        tasks: Sequence[ParseTask],
        sizes: Sequence[int],
        config: IngestConfig,
        parse: Parser,
    ) -> None:
        self._tasks, self._config, self._parse = tasks, config, parse
        plain = {
            n
            for n, (task, size) in enumerate(zip(tasks, sizes, strict=True))
            if task.path.suffix.lower() in PLAIN_SUFFIXES and size <= SMALL_BYTES
        }
        here = plain if len(plain) < FEW else set()
        away = [n for n in range(len(tasks)) if n not in here]
        self._number = {n: number for number, n in enumerate(away)}
        self._pool = ParsingPool([tasks[n] for n in away], config, parse)

    def __enter__(self) -> Self:
        self._pool.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    def items(self, n: int) -> Iterator[ParsedItem]:
        """What is in file ``n``; a Failure, if any, is the last."""
        if n in self._number:
            yield from self._pool.items(self._number[n])
            return
        try:
            yield from parse_items(self._tasks[n], self._parse)
        except MemoryError:
            yield Failure(out_of_memory(self._config.parse_memory_mb))
