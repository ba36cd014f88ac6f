"""The report as Markdown (CommonMark with tables), for people who decide."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from eval.answers import AnswerReport
from eval.evaluation import Evaluation
from eval.perturbation import Perturbation
from eval.report import FUSED, NO_KIND, EvalReport
from eval.report_figures import ALL, Figures, Group
from eval.significance import Interval
from eval.wordings import WORDINGS

WORST = 30
"""Failures that are listed; ``report.json`` has them all."""

# What Markdown reads within a line; what it reads at the start of one never stands there.
_PUNCTUATION = re.compile(r"([\\`*_\[\]<>|~&])")


def markdown(evaluation: Evaluation, data: Figures, plots: Collection[str]) -> str:
    """The whole report; ``plots`` are the files that lie beside it."""
    report = evaluation.report
    parts = [
        ["# Evaluation report / 评测报告", *_summary(evaluation, data)],
        ["## What was measured / 评测对象", *_measured(evaluation)],
        ["## Search quality / 检索质量", *_headline(report, data), "", *_plot("mrr.png", plots)],
        ["## By domain / 分领域", *_groups((*data.of(ALL), *data.of("domain")))],
        ["## By kind and file / 分类型、分文件", *_groups((*data.of("kind"), *data.of("file")))],
        ["## Fused against single sources / 融合与单一来源", *_gains(data)],
        _plot("gain.png", plots),
        ["## Is the confidence honest? / 把握度是否可信", *_reliability(data)],
        _plot("reliability.png", plots),
        ["## Speed / 速度", *_latency(report), "", *_plot("latency.png", plots)],
        ["## Sources that did not answer / 未能答复的来源", *_coverage(report)],
    ]
    if evaluation.answers is not None:
        parts.append(["## Answers / 答案", *_answers(evaluation.answers)])
    if evaluation.wordings is not None:
        parts.append(["## Other wordings / 换一种问法", *_wordings(evaluation.wordings)])
    parts.append(["## Worst failures / 最差的问题", *_failures(evaluation)])
    lines: list[str] = []
    for head, *rest in filter(None, parts):
        lines += [head, "", *rest, ""]
    return "\n".join(lines)


def escape(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


def _summary(evaluation: Evaluation, data: Figures) -> Iterator[str]:
    report = evaluation.report
    hit = data.headline[f"hit_rate@{report.top_k}"]
    yield (
        f"- Of {report.overall.queries} questions that the documents answer, {hit.mean:.0%} "
        f"({hit.low:.0%} to {hit.high:.0%}) have the right rule among the first {report.top_k}; "
        f"{data.headline['hit_rate@1'].mean:.0%} have it first."
    )
    yield (
        f"- 资料能回答的{report.overall.queries}个问题中，{hit.mean:.0%}（95 % 区间 {hit.low:.0%}—"
        f"{hit.high:.0%}）在前{report.top_k}条中有正确规定，"
        f"{data.headline['hit_rate@1'].mean:.0%}排在第一条。"
    )
    if report.advantage is not None:
        gap = report.advantage.difference
        verdict = "better than" if gap.low > 0 else "worse than" if gap.high < 0 else "level with"
        yield (
            f"- Fused search is {verdict} the best single source, "
            f"{escape(report.best_single or '')}: MRR {gap.mean:+.3f} ({_range(gap, signed=True)})."
        )
    if report.incomplete:
        yield f"- Warning: {report.incomplete} questions were not answered by all sources."


def _measured(evaluation: Evaluation) -> Iterator[str]:
    report, origin = evaluation.report, evaluation.provenance
    yield f"- Day: {origin.day.isoformat()}"
    yield f"- Profile: {escape(origin.profile)} (settings {origin.settings})"
    yield f"- Store: {origin.store}"
    yield (
        f"- Questions: {report.overall.queries} with an answer in the documents; "
        f"{report.unanswerable} without, which count for confidence and abstention only"
    )
    yield ""
    yield from _table(
        ("domain", "passages", "changes so far", "model"),
        [
            (escape(name), f"{one.passages:,}", str(one.version), escape(one.model or "not there"))
            for name, one in origin.domains.items()
        ],
        left=1,
    )
    counted = (
        ("file", Counter(q.file for q in report.questions)),
        ("kind", Counter(q.kind or NO_KIND for q in report.questions)),
        ("domain", Counter(domain for q in report.questions for domain in q.domains)),
    )
    rows = [(what, escape(n), str(c)) for what, count in counted for n, c in sorted(count.items())]
    yield ""
    yield from _table(("questions by", "name", "number"), rows, left=2)


def _headline(report: EvalReport, data: Figures) -> Iterator[str]:
    names = {
        "mrr": f"MRR@{report.top_k}: 1 / rank of the first right result",
        **{
            f"hit_rate@{k}": f"right one among the first {k}"
            for k in sorted({1, 5, 10, report.top_k})
        },
    }
    rows = [
        (escape(names.get(metric, metric)), f"{one.mean:.3f}", _range(one))
        for metric, one in data.headline.items()
    ]
    yield (
        "Intervals are bootstrapped over the questions. With few questions or failures they are "
        "too narrow: 1.000 to 1.000 says that none of these failed, not that none will."
    )
    yield ""
    yield from _table(("measure", "mean", "95 % interval"), rows)


def _groups(groups: Sequence[Group]) -> Iterator[str]:
    if not groups:
        yield "All questions are of one kind and one file."
        return
    systems = list(groups[0].systems)
    heads = [f"{name} alone" if name != FUSED else name for name in systems]
    yield "MRR with 95 % interval; the questions of a row are the same for all columns."
    yield ""
    rows = [
        (
            escape(group.name),
            str(group.queries),
            *(f"{one.mean:.3f} ({_range(one)})" for one in group.systems.values()),
        )
        for group in groups
    ]
    yield from _table(("questions", "number", *map(escape, heads)), rows)


def _gains(data: Figures) -> Iterator[str]:
    if not data.gains:
        yield "No source answered alone; there is nothing to compare with."
        return
    rows = [
        (
            "all" if gain.group == ALL else f"of {escape(gain.group)}",
            escape(gain.source),
            f"{gain.result.difference.mean:+.3f}",
            _range(gain.result.difference, signed=True),
            f"{gain.result.p_value:.4f}",
        )
        for gain in data.gains
    ]
    yield "A source on its own questions is the hard comparison: it knows where to look."
    yield ""
    yield from _table(("questions", "fused minus", "MRR", "95 % interval", "p"), rows, left=2)


def _reliability(data: Figures) -> Iterator[str]:
    if not data.reliability:
        yield "The profile states no confidence."
        return
    yield (
        "The confidence says how likely the documents answer the question. On the diagonal, of the "
        "questions with confidence .7 seven in ten have a right result. Expected calibration error "
        "(ECE, 15 bins): 0 is perfect. The share of unanswerable questions in the files moves it."
    )
    yield ""
    rows = [(one.name, str(one.samples), f"{one.error:.3f}") for one in data.reliability]
    yield from _table(("what", "questions", "ECE"), rows)


def _latency(report: EvalReport) -> Iterator[str]:
    rows = [
        (escape(name), f"{one.p50:.0f}", f"{one.p95:.0f}", str(one.samples))
        for name, one in report.latency.items()
    ]
    yield from _table(("system", "p50, ms", "p95, ms", "searches timed"), rows)


def _coverage(report: EvalReport) -> Iterator[str]:
    if report.unavailable:
        yield f"- Never answered: {escape(', '.join(report.unavailable))}. Ingest them first."
    if report.incomplete:
        yield f"- {report.incomplete} of {report.overall.queries} questions lacked a source:"
        yield from (f"  - {escape(name)}: {n} times" for name, n in report.failures.items())
    if not report.unavailable and not report.incomplete:
        yield "None: every source answered every question."


def _answers(found: AnswerReport) -> Iterator[str]:
    counts = found.abstention
    yield from _table(
        ("", "answered", "declined (资料不足)"),
        [
            (
                "documents hold an answer",
                str(counts.answered_answerable),
                str(counts.declined_answerable),
            ),
            ("they do not", str(counts.answered_unanswerable), str(counts.declined_unanswerable)),
        ],
    )
    yield ""
    shares = [
        ("abstention: precision", counts.precision),
        ("abstention: recall", counts.recall),
        ("abstention: F1", counts.f1),
        ("statements that are cited", found.cited_sentences),
    ]
    intervals = [
        ("citations that are right (precision)", found.citation_precision),
        ("right rules that are cited (recall; declined = 0)", found.citation_recall),
        ("answers with every sentence cited", found.fully_cited),
        ("key points that are said", found.key_points),
    ]
    rows = [(name, _share(value), "") for name, value in shares]
    rows += [
        (name, _share(one.mean if one else None), _range(one) if one else "")
        for name, one in intervals
    ]
    yield from _table(("measure", "mean", "95 % interval"), rows)
    yield ""
    yield f"Latency: p50 {found.latency_p50_ms:.0f} ms, p95 {found.latency_p95_ms:.0f} ms."
    if found.unavailable:
        yield f"No source could be asked for {found.unavailable} questions; they count as declined."


def _wordings(found: Perturbation) -> Iterator[str]:
    yield (
        f"The same {found.queries} questions, reworded by rules; MRR@{found.top_k} as they are: "
        f"{found.mrr:.3f}. A rule that does not fit leaves a question as it is."
    )
    yield ""
    rows = []
    for name, one in found.wordings.items():
        gap = one.result.difference if one.result else None
        before, after = (one.result.second, one.result.first) if one.result else (None, None)
        rows.append(
            (
                name,
                str(one.changed),
                _share(before),
                _share(after),
                f"{gap.mean:+.3f}" if gap else "–",
                _range(gap, signed=True) if gap else "",
            )
        )
    heads = ("wording", "reworded", "before", "after", "difference", "95 % interval")
    yield from _table(heads, rows)
    yield ""
    for name, rule in WORDINGS.items():
        yield f"- {name}: {escape((rule.__doc__ or '').strip())}"


def _failures(evaluation: Evaluation) -> Iterator[str]:
    failed = evaluation.failures
    if not failed:
        yield "None."
        return
    yield (
        f"{len(failed)} questions have no right result among the first "
        f"{evaluation.report.top_k}; the worst {min(WORST, len(failed))}:"
    )
    yield ""
    rows = [
        (
            escape(one.query),
            escape("; ".join(one.gold)),
            escape(one.first) or "nothing",
            str(one.rank) if one.rank else "> 100",
            _share(one.confidence),
            escape(f"{one.file}: {one.key}"),
        )
        for one in failed[:WORST]
    ]
    heads = ("question", "right", "came first instead", "rank", "confidence", "where")
    yield from _table(heads, rows, left=3)


def _plot(name: str, plots: Collection[str]) -> list[str]:
    return [f"![{name.removesuffix('.png')}]({name})"] if name in plots else []


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> Iterator[str]:
    """A pipe table; the first ``left`` columns are aligned left, the others right."""
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join('---' if i < left else '---:' for i in range(len(heads)))} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _range(one: Interval, *, signed: bool = False) -> str:
    return f"{one.low:+.3f} to {one.high:+.3f}" if signed else f"{one.low:.3f} to {one.high:.3f}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
