"""Table and plot of the figures of ``benchmarks.scale``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
Figure = Callable[[Row], str]
PARTS = ("dense", "keyword", "catalog", "cache")
SYSTEMS = ("dense", "keyword", "fused")


def lines_of_table() -> list[tuple[str, Figure]]:
    """Label and figure of each line."""
    asked = {
        "dense": "dense",
        "keyword": "keyword",
        "both": "both + reading 10",
        "dense_filtered": "dense, day and place",
        "keyword_filtered": "keyword, day and place",
    }
    return [
        ("of them real", lambda row: f"{row['real']:,}"),
        *((f"build {part}, s (CPU s)", partial(_build, part)) for part in PARTS),
        *((f"{part} on disk, MB", partial(_size, part)) for part in PARTS),
        ("peak memory of building dense, MB", lambda r: f"{r['build']['dense']['peak_mb']:,.0f}"),
        ("written for dense, MB", lambda r: f"{r['build']['dense']['written_mb']:,.0f}"),
        ("opening, s", lambda r: f"{r['answer']['open_seconds']:.2f}"),
        ("peak memory of answering, MB", lambda r: f"{_answering(r)['peak']:,.0f}"),
        ("without mapped files, MB", lambda r: f"{_answering(r)['own']:,.0f}"),
        *((f"{asked[n]}, p50 / p95 ms (CPU ms)", partial(_times, n)) for n in asked),
        ("names, versions, repeals read, s", lambda r: f"{r['answer']['scan']['seconds']:.1f}"),
        *((f"{n}: MRR@10 / recall@100", partial(_quality, n)) for n in SYSTEMS),
        ("HNSW recall@10 / @100", _recall),
    ]


def _answering(row: Row) -> Row:
    memory: Row = row["answer"]["memory_mb"]["after"]
    return memory


def _build(part: str, row: Row) -> str:
    figures = row["build"][part]
    return f"{figures['seconds']:,.1f} ({figures['cpu_seconds']:,.1f})"


def _size(part: str, row: Row) -> str:
    return f"{row['build'][part]['bytes'] / 1e6:,.0f}"


def _times(name: str, row: Row) -> str:
    low, high = row["answer"]["ms"][name]
    return f"{low:.1f} / {high:.1f} ({row['answer']['cpu_ms'][name]:.1f})"


def _quality(name: str, row: Row) -> str:
    values = row["quality"][name]
    return f"{values['mrr@10']:.3f} / {values['recall@100']:.3f}"


def _recall(row: Row) -> str:
    return f"{row['hnsw_recall']['10']:.3f} / {row['hnsw_recall']['100']:.3f}"


def table(rows: Sequence[Row]) -> str:
    """A Markdown table with one column a size."""
    head = ["passages", *(f"{row['size']:,}" for row in rows)]
    body = [[label, *(figure(row) for row in rows)] for label, figure in lines_of_table()]
    rule = ["---"] + ["---:"] * len(rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, rule, *body])


def plot(rows: Sequence[Row], path: Path) -> None:
    """Four panels over the number of passages: latency, memory, quality, recall of HNSW."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    sizes = [row["size"] for row in rows]
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.5), layout="constrained")
    (latency, memory), (quality, recall) = axes
    for name, colour in (("dense", "C0"), ("keyword", "C1"), ("both", "C2")):
        for place, style, label in ((0, "-", "p50"), (1, "--", "p95")):
            values = [row["answer"]["ms"][name][place] for row in rows]
            latency.plot(sizes, values, style, color=colour, marker="o", label=f"{name} {label}")
    memory.plot(sizes, [_answering(r)["peak"] for r in rows], marker="o", label="answering, peak")
    memory.plot(
        sizes, [r["build"]["dense"]["peak_mb"] for r in rows], marker="o", label="building, peak"
    )
    disk = [sum(r["build"][part]["bytes"] for part in PARTS) / 1e6 for r in rows]
    memory.plot(sizes, disk, marker="o", label="disk, all parts")
    for name in SYSTEMS:
        values = [row["quality"][name]["mrr@10"] for row in rows]
        quality.plot(sizes, values, marker="o", label=name)
    for cut in ("10", "100"):
        values = [row["hnsw_recall"][cut] for row in rows]
        recall.plot(sizes, values, marker="o", label=f"recall@{cut}")
    titles = ("ms a question", "MB", "MRR@10", "HNSW recall against exact search")
    for axis, title in zip(axes.flat, titles, strict=True):
        axis.set(xscale="log", title=title, xlabel="passages")
        axis.grid(alpha=0.3)
        axis.axvline(max(row["real"] for row in rows), color="grey", linestyle=":")
        axis.legend(fontsize=8)
    latency.set_yscale("log")
    memory.set_yscale("log")
    quality.set_ylim(0.0, 1.0)
    recall.set_ylim(top=1.005)
    figure.savefig(path, dpi=90)
    plt.close(figure)
