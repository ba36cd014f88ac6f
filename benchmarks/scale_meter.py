"""Time, memory and disk of a part of ``benchmarks.scale``."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Meter:
    """Wall and CPU seconds (all threads) spent inside ``running``, and those of each entry."""

    wall: list[float] = field(default_factory=list)
    cpu: float = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self.wall.append(time.perf_counter() - wall)
        self.cpu += time.process_time() - cpu

    def figures(self) -> dict[str, Any]:
        return {"seconds": sum(self.wall), "cpu_seconds": self.cpu}


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def memory_mb() -> dict[str, float]:
    """Peak resident memory of this process, and what of it is now its own (not mapped files)."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0}
    # getrusage would count the parent's memory at the fork, too.
    lines = dict(line.split(":", 1) for line in status.read_text("utf-8").splitlines())
    names = {"peak": "VmHWM", "now": "VmRSS", "own": "RssAnon"}
    return {key: int(lines[name].split()[0]) / 1024.0 for key, name in names.items()}


def written_mb() -> float:
    """MB that this process has sent to the disk; 0 where the system does not say."""
    path = Path("/proc/self/io")
    if not path.is_file():
        return 0.0
    lines = dict(line.split(": ") for line in path.read_text("utf-8").splitlines())
    return int(lines["write_bytes"]) / 1e6
