"""What an ingest did, for people (a rich table) and for programs (JSON)."""

from __future__ import annotations

import resource
import sys
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ingest.ledger import Quarantined
from ingest.walk import Skipped

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Counts of files, except ``documents``/``passages`` (written now) and ``quarantined``.

    ``quarantined`` lists every file, record or document of this call's files that is in quarantine,
    with its reason. ``reparsed``: unchanged files read again because the parser changed.
    ``linked``: documents whose validity was set from another document (new version, repeal).
    ``seconds`` wall clock, ``peak_rss_mb`` the process' peak resident memory in MiB.
    """

    domain: str
    added: int
    changed: int
    reparsed: int
    removed: int
    unchanged: int
    documents: int
    passages: int
    linked: int
    quarantined: tuple[Quarantined, ...]
    skipped: tuple[Skipped, ...]
    warnings: tuple[str, ...]
    seconds: float
    peak_rss_mb: float

    @property
    def passages_per_second(self) -> float:
        """Passages written per second of the whole call; 0 when nothing was written."""
        return self.passages / self.seconds if self.seconds > 0 else 0.0

    @property
    def all_failed(self) -> bool:
        """Something is in quarantine and nothing was fine."""
        fine = self.added + self.changed + self.reparsed + self.removed + self.unchanged
        return bool(self.quarantined) and fine == 0

    def to_json(self) -> dict[str, Any]:
        """Plain data: the counts, and lists with a reason for what was left out."""
        return {
            **{
                name: getattr(self, name)
                for name in (
                    *("domain", "added", "changed", "reparsed", "removed", "unchanged"),
                    *("documents", "passages", "linked"),
                )
            },
            "quarantined": len(self.quarantined),
            "skipped": len(self.skipped),
            "seconds": round(self.seconds, 3),
            "passages_per_second": round(self.passages_per_second, 1),
            "peak_rss_mb": round(self.peak_rss_mb, 1),
            "quarantine": [asdict(entry) for entry in self.quarantined],
            "skipped_paths": [asdict(entry) for entry in self.skipped],
            "warnings": list(self.warnings),
        }

    def table(self) -> RenderableType:
        """The counts as a table, then the first reasons of what was left out."""
        table = Table(title=f"ingest {self.domain}", title_justify="left")
        table.add_column("what")
        table.add_column("count", justify="right")
        rows = {
            "files added": self.added,
            "files changed": self.changed,
            "files re-read (parser changed)": self.reparsed,
            "files removed": self.removed,
            "files unchanged": self.unchanged,
            "quarantined": len(self.quarantined),
            "skipped": len(self.skipped),
            "documents written": self.documents,
            "passages written": self.passages,
            "validity linked": self.linked,
        }
        for name, count in rows.items():
            if count or name in ("files added", "files unchanged", "quarantined"):
                table.add_row(name, f"{count:,}")
        table.add_row("seconds", f"{self.seconds:.1f}")
        table.add_row("passages/s", f"{self.passages_per_second:.1f}")
        table.add_row("peak memory (MiB)", f"{self.peak_rss_mb:,.0f}")
        lines = [
            *_listing("quarantined", [(_place(q), q.reason) for q in self.quarantined]),
            *_listing("skipped", [(s.path, s.reason) for s in self.skipped]),
            *_listing("warning", [(text, "") for text in self.warnings]),
        ]
        return Group(table, *lines)


def peak_rss_mb() -> float:
    """Peak resident memory of this process in MiB (Linux counts in KiB, macOS in bytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def _place(entry: Quarantined) -> str:
    return f"{entry.path}#{entry.key}" if entry.key else entry.path


def _listing(kind: str, entries: list[tuple[str, str]]) -> list[Text]:
    lines = [
        f"{kind}: {place}" + (f" ({reason})" if reason else "")
        for place, reason in entries[:_SHOWN]
    ]
    if len(entries) > _SHOWN:
        lines.append(f"{kind}: … and {len(entries) - _SHOWN} more (all with --json)")
    return [Text(line, no_wrap=True, overflow="ignore") for line in lines]
