"""The pictures of a report, as PNG. Needs matplotlib; labels are English and Chinese where a font
has Chinese characters, else English alone, so that none becomes an empty box."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from eval.report import FUSED, EvalReport
from eval.report_bars import Figures

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
INSTALL = "pip install 'policy-fusion[eval]'"
_DPI = 110


class Labels:
    """Words for axes: in both languages with a Chinese font, in English without."""

    def __init__(self, font: str | None) -> None:
        self.font = font

    def both(self, english: str, chinese: str) -> str:
        """The label of an axis."""
        return f"{english} {chinese}" if self.font else english

    def name(self, name: str, number: int) -> str:
        """A domain's or a file's name; its number in the report's table where it has no glyphs."""
        return name if self.font or name.isascii() else f"no. {number}"


def chinese_font() -> str | None:
    """The first installed family of ``CJK_FONTS``. Raises ImportError without matplotlib."""
    from matplotlib import font_manager

    installed = {entry.name for entry in font_manager.fontManager.ttflist}
    return next((name for name in CJK_FONTS if name in installed), None)


def draw(report: EvalReport, data: Figures, font: str | None) -> dict[str, bytes]:
    """File name -> PNG; a plot without data is left out. Raises ImportError without matplotlib."""
    import matplotlib as mpl

    labels = Labels(font)
    # The Latin font first: its digits are more legible; the next one fills in what it lacks.
    families = ["DejaVu Sans", *([font] if font else [])]
    with mpl.rc_context({"font.family": families, "font.size": 9}):
        plots = {"mrr.png": _mrr(data, labels)}
        if data.gains:
            plots["gain.png"] = _gains(data, labels)
        if report.latency:
            plots["latency.png"] = _latency(report, labels)
        if data.reliability:
            plots["reliability.png"] = _reliability(data, labels)
        return {name: _png(figure) for name, figure in plots.items()}


def _figure(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def _png(figure: Any) -> bytes:
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=_DPI)
    return target.getvalue()


def _colours(systems: Mapping[str, Any]) -> dict[str, str]:
    """Fused dark, the sources paler, in colours that the colour-blind tell apart (Okabe, Ito)."""
    palette = ("#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#F0E442", "#D55E00")
    singles = [name for name in systems if name != FUSED]
    return {FUSED: "#222222"} | {n: palette[i % len(palette)] for i, n in enumerate(singles)}


def _mrr(data: Figures, labels: Labels) -> Any:
    systems = list(data.groups[0].systems)
    figure, axis = _figure(9, 1.2 + 0.26 * len(data.groups) * (len(systems) + 1))
    colours, height = _colours(data.groups[0].systems), 0.85 / len(systems)
    for place, system in enumerate(systems):
        found = [group.systems[system] for group in data.groups]
        axis.barh(
            [g + (place - (len(systems) - 1) / 2) * height for g in range(len(found))],
            [one.mean for one in found],
            height,
            # A percentile interval holds the mean but for rounding; matplotlib wants lengths >= 0.
            xerr=[
                [max(0.0, one.mean - one.low) for one in found],
                [max(0.0, one.high - one.mean) for one in found],
            ],
            error_kw={"elinewidth": 0.9, "ecolor": "#888888", "capsize": 2},
            color=colours[system],
            label=_system(system, labels),
        )
    names = []
    for number, group in enumerate(data.groups, start=1):
        kinds = {"domain": ("domain", "领域"), "file": ("file", "文件"), "all": ("all", "全部")}
        kind = labels.both(*kinds[group.kind])
        name = "" if group.kind == "all" else f" {labels.name(group.name, number)}"
        names.append(f"{kind}{name}\nn = {group.queries}")
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.set_xlim(0, 1)
    axis.set_xlabel(labels.both("MRR, 95 % interval", "平均倒数排名，95 % 区间"))
    figure.legend(loc="outside upper center", ncols=len(systems), frameon=False)
    return figure


def _gains(data: Figures, labels: Labels) -> Any:
    figure, axis = _figure(9, 1.1 + 0.42 * len(data.gains))
    for row, gain in enumerate(data.gains):
        gap = gain.result.difference
        colour = "#009E73" if gap.low > 0 else "#D55E00" if gap.high < 0 else "#888888"
        axis.plot([gap.low, gap.high], [row, row], color=colour, linewidth=2)
        axis.plot([gap.mean], [row], marker="o", color=colour)
        axis.annotate(
            f"{gap.mean:+.3f}", (gap.mean, row), (0, 6), textcoords="offset points", ha="center"
        )
    axis.axvline(0, color="black", linewidth=0.8)
    rows = []
    for number, gain in enumerate(data.gains, start=1):
        source = labels.name(gain.source, number)
        asked = labels.both("all questions", "全部问题")
        if gain.group == gain.source:
            asked = f"{labels.both('questions of', '本领域问题')} {source}"
        rows.append(f"{asked}: − {source}")
    axis.set_yticks(range(len(rows)), rows)
    axis.set_ylim(len(rows) - 0.4, -0.7)
    axis.set_xlabel(labels.both("MRR, fused minus single source", "融合减单一来源的平均倒数排名"))
    return figure


def _latency(report: EvalReport, labels: Labels) -> Any:
    figure, axis = _figure(9, 3.4)
    for shift, part in ((-0.2, "p50"), (0.2, "p95")):
        values = [getattr(one, part) for one in report.latency.values()]
        bars = axis.bar(
            [i + shift for i in range(len(values))],
            values,
            0.38,
            color="#56B4E9" if part == "p50" else "#0072B2",
            label=labels.both(*_PARTS[part]),
        )
        axis.bar_label(bars, fmt="{:.0f}", padding=2)
    names = [
        f"{_system(name, labels)}\nn = {one.samples}" for name, one in report.latency.items()
    ]
    axis.set_xticks(range(len(names)), names)
    axis.margins(y=0.12)
    axis.set_ylabel(labels.both("ms per search", "毫秒/次"))
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return figure


_PARTS = {"p50": ("median (p50)", "中位数"), "p95": ("19 of 20 are faster (p95)", "95 % 分位")}


def _reliability(data: Figures, labels: Labels) -> Any:
    figure, axis = _figure(5.6, 5)
    axis.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    words = {"score": ("passage score", "段落得分"), "confidence": ("confidence", "答案把握")}
    for one, colour in zip(data.reliability, ("#0072B2", "#D55E00"), strict=False):
        total = sum(count for _, _, count in one.points)
        x, y = [p for p, _, _ in one.points], [share for _, share, _ in one.points]
        name = f"{labels.both(*words[one.name])}, ECE {one.error:.3f}, n = {total}"
        axis.plot(x, y, color=colour, linewidth=1, label=name)
        sizes = [10 + 150 * count / total for _, _, count in one.points]
        axis.scatter(x, y, s=sizes, color=colour)
    axis.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axis.set_xlabel(labels.both("predicted", "预测"))
    axis.set_ylabel(labels.both("observed share of right ones", "实际正确的比例"))
    figure.legend(loc="outside upper center", frameon=False)
    return figure


def _system(name: str, labels: Labels) -> str:
    return labels.both("fused", "融合") if name == FUSED else labels.name(name, 0)
