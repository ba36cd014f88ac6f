"""An evaluation for readers: one table of quality, a few lines on the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from eval.metrics import RECALL_DEPTH

if TYPE_CHECKING:
    from eval.report import EvalReport, Slice


def quality_table(report: EvalReport) -> Table:
    """MRR, hit rate, nDCG and recall: fused, per domain, single sources, kinds, files."""
    k = report.top_k
    recall = f"recall@{RECALL_DEPTH}"
    columns = {
        "mrr": f"MRR@{k}",
        **{f"hit_rate@{depth}": f"hit@{depth}" for depth in (1, 5, 10)},
        f"ndcg@{k}": f"nDCG@{k}",
        recall: recall,
    }
    table = Table(title="Retrieval quality", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("system", no_wrap=True, overflow="ellipsis", max_width=34)
    for heading in ("queries", *columns.values()):
        table.add_column(heading, justify="right", no_wrap=True)

    def section(prefix: str, slices: Mapping[str, Slice], suffix: str = "") -> None:
        for name, one in slices.items():
            cells = [f"{one.metrics[metric]:.3f}" for metric in columns]
            table.add_row(Text(f"{prefix}{name}{suffix}"), str(one.queries), *cells)
        if slices:
            table.add_section()

    section("", {"fused, all questions": report.overall})
    section("fused, ", report.per_domain, " questions")
    section("", report.single_source, " alone, all questions")
    section("", report.own_domain, " alone, own questions")
    if len(report.per_kind) > 1:
        section("fused, kind ", report.per_kind)
    if len(report.per_file) > 1:
        section("fused, ", report.per_file)
    return table


def notes(report: EvalReport) -> Text:
    """Interval, comparison with single sources, balanced figures, latency, failures."""
    lines = [
        f"MRR@{report.top_k} 95 % interval {report.mrr_interval.low:.3f} to "
        f"{report.mrr_interval.high:.3f}; {report.unanswerable} unanswerable questions apart"
    ]
    if report.advantage is not None:
        gap = report.advantage.difference
        lines.append(
            f"fused minus best single source ({report.best_single}): {gap.mean:+.3f} "
            f"[{gap.low:+.3f}, {gap.high:+.3f}], p = {report.advantage.p_value:.4f}"
        )
    if (balanced := report.balanced) is not None:
        lines.append(
            f"balanced, {balanced.per_domain} questions a domain: fused {balanced.fused:.3f}; "
            f"single sources on average {balanced.single_source_mean:.3f}"
            f"{_times(balanced.ratio)}; each on its own domain {balanced.own_domain_mean:.3f}"
            f"{_times(balanced.own_domain_ratio)}"
        )
    for name, one in report.latency.items():
        lines.append(
            f"latency {name}: p50 {one.p50:.0f} ms, p95 {one.p95:.0f} ms ({one.samples} searches)"
        )
    if report.latency_ratio is not None:
        lines.append(
            f"fused takes {report.latency_ratio:.2f} times the slowest source's median "
            f"({report.slowest_source})"
        )
    if report.incomplete:
        failed = ", ".join(f"{name} {count}" for name, count in report.failures.items())
        lines.append(
            f"warning: {report.incomplete} questions not answered by all domains: {failed}"
        )
    if report.unavailable:
        lines.append(f"warning: never answered: {', '.join(report.unavailable)}; ingest them first")
    return Text("\n".join(lines))


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f" (fused is {ratio:.2f} times that)"
