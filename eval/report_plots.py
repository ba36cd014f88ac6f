"""The pictures of a report, as PNG. Needs matplotlib.

Labels are English; a name with other characters is drawn where an installed font has them, else its
number in the report's tables, so that none becomes an empty box.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from configs.errors import InputError
from eval.report import FUSED, EvalReport
from eval.report_figures import ALL, Figures

CJK_FONTS = (
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Microsoft YaHei",
    "SimHei",
    "PingFang SC",
    "Heiti SC",
    "Arial Unicode MS",
)
_DPI = 110
_PARTS = {"p50": "median (p50)", "p95": "p95 (19 of 20 are faster)"}


def require_matplotlib() -> None:
    """Raises InputError with the remedy when it is not installed."""
    try:
        import matplotlib as _  # noqa: F401
    except ImportError as error:
        raise InputError(
            "the report's plots need matplotlib; run `pip install 'policy-fusion[report]'`"
        ) from error


def chinese_font() -> str | None:
    """The first installed family of ``CJK_FONTS``; matplotlib must be there."""
    from matplotlib import font_manager

    installed = {entry.name for entry in font_manager.fontManager.ttflist}
    return next((name for name in CJK_FONTS if name in installed), None)


def draw(report: EvalReport, data: Figures, font: str | None) -> dict[str, bytes]:
    """File name -> PNG; a plot without data is left out. ``font``: has Chinese characters."""
    import matplotlib as mpl

    # The Latin font first: its digits are more legible; the next one fills in what it lacks.
    families = ["DejaVu Sans", *([font] if font else [])]
    with mpl.rc_context({"font.family": families, "font.size": 9}):
        plots = {"mrr.png": _mrr(data, font)}
        if data.gains:
            plots["gain.png"] = _gains(data, font)
        if data.reliability:
            plots["reliability.png"] = _reliability(data)
        if report.latency:
            plots["latency.png"] = _latency(report, font)
        return {name: _png(figure) for name, figure in plots.items()}


def _name(name: str, number: int, font: str | None) -> str:
    return name if font or name.isascii() else f"no. {number}"


def _figure(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def _png(figure: Any) -> bytes:
    target = io.BytesIO()
    # Without the date and the version of the library, equal figures are equal files.
    figure.savefig(target, format="png", dpi=_DPI, metadata={"Software": None})
    return target.getvalue()


def _colours(systems: Mapping[str, Any]) -> dict[str, str]:
    """Fused dark, the sources paler, in colours that the colour-blind tell apart (Okabe, Ito)."""
    palette = ("#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#F0E442", "#D55E00")
    singles = [name for name in systems if name != FUSED]
    return {FUSED: "#222222"} | {n: palette[i % len(palette)] for i, n in enumerate(singles)}


def _mrr(data: Figures, font: str | None) -> Any:
    groups = (*data.of(ALL), *data.of("domain"))
    systems = list(groups[0].systems)
    figure, axis = _figure(9, 1.2 + 0.22 * len(groups) * (len(systems) + 1))
    colours, height = _colours(groups[0].systems), 0.85 / len(systems)
    for place, system in enumerate(systems):
        found = [group.systems[system] for group in groups]
        rows = [g + (place - (len(systems) - 1) / 2) * height for g in range(len(found))]
        for row, one in zip(rows, found, strict=True):
            axis.text(one.high + 0.008, row, f"{one.mean:.2f}", va="center", fontsize=7)
        axis.barh(
            rows,
            [one.mean for one in found],
            height,
            # A percentile interval holds the mean but for rounding; matplotlib wants lengths >= 0.
            xerr=[
                [max(0.0, one.mean - one.low) for one in found],
                [max(0.0, one.high - one.mean) for one in found],
            ],
            error_kw={"elinewidth": 0.9, "ecolor": "#888888", "capsize": 2},
            color=colours[system],
            label=system if system == FUSED else f"{_name(system, place, font)} alone",
        )
    names = [
        f"{'all' if g.kind == ALL else f'{_name(g.name, i, font)} questions'}\nn = {g.queries}"
        for i, g in enumerate(groups)
    ]
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.set_xlim(0, 1.1)
    axis.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axis.set_xlabel("MRR with 95 % interval")
    figure.legend(loc="outside upper center", ncols=len(systems), frameon=False)
    return figure


def _gains(data: Figures, font: str | None) -> Any:
    figure, axis = _figure(9, 1.1 + 0.42 * len(data.gains))
    sources = list(dict.fromkeys(gain.source for gain in data.gains))
    rows = []
    for row, gain in enumerate(data.gains):
        gap = gain.result.difference
        colour = "#009E73" if gap.low > 0 else "#D55E00" if gap.high < 0 else "#888888"
        axis.plot([gap.low, gap.high], [row, row], color=colour, linewidth=2)
        axis.plot([gap.mean], [row], marker="o", color=colour)
        axis.annotate(
            f"{gap.mean:+.3f}", (gap.mean, row), (0, 6), textcoords="offset points", ha="center"
        )
        source = _name(gain.source, sources.index(gain.source) + 1, font)
        asked = "all" if gain.group == ALL else source
        rows.append(f"{asked} questions: fused − {source}")
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set_yticks(range(len(rows)), rows)
    axis.set_ylim(len(rows) - 0.4, -0.7)
    axis.set_xlabel("difference of MRR with 95 % interval; right of 0: fused is better")
    return figure


def _reliability(data: Figures) -> Any:
    figure, axis = _figure(5.6, 5)
    axis.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    for one, colour in zip(data.reliability, ("#0072B2", "#D55E00"), strict=False):
        x, y = [p for p, _, _ in one.points], [share for _, share, _ in one.points]
        label = f"{one.name}: ECE {one.error:.3f}, n = {one.samples}"
        # Faint lines: a bin may hold a single question, the size of its dot tells.
        axis.plot(x, y, color=colour, linewidth=0.6, alpha=0.5)
        sizes = [10 + 150 * count / one.samples for _, _, count in one.points]
        axis.scatter(x, y, s=sizes, color=colour, alpha=0.7, label=label)
    axis.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axis.set_xlabel("predicted (size of a dot: number of questions)")
    axis.set_ylabel("observed share of right ones")
    figure.legend(loc="outside upper center", frameon=False)
    return figure


def _latency(report: EvalReport, font: str | None) -> Any:
    figure, axis = _figure(9, 3.4)
    for shift, part in ((-0.2, "p50"), (0.2, "p95")):
        values = [getattr(one, part) for one in report.latency.values()]
        bars = axis.bar(
            [i + shift for i in range(len(values))],
            values,
            0.38,
            color="#56B4E9" if part == "p50" else "#0072B2",
            label=_PARTS[part],
        )
        axis.bar_label(bars, fmt="{:.0f}", padding=2)
    names = [
        f"{_name(name, i, font)}\nn = {one.samples}"
        for i, (name, one) in enumerate(report.latency.items())
    ]
    axis.set_xticks(range(len(names)), names)
    axis.margins(y=0.12)
    axis.set_ylabel("ms per search")
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return figure
