"""Writes a report's files: Markdown with its pictures, one HTML page that needs nothing, JSON."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping
from pathlib import Path

from configs.errors import InputError
from eval.evaluation import Evaluation
from eval.report_plots import chinese_font, draw, require_matplotlib
from eval.report_text import markdown

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, "Noto Sans CJK SC", "Microsoft YaHei", sans-serif;
       max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222; }}
table {{ border-collapse: collapse; margin: 1em 0; }}
th, td {{ border-bottom: 1px solid #ddd; padding: .25em .7em; vertical-align: top; }}
th {{ border-bottom: 2px solid #888; }}
h2 {{ margin-top: 2em; border-bottom: 1px solid #ddd; }}
img {{ max-width: 100%; }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def check_report_packages() -> None:
    """Raises InputError when a report could not be written: before the searches, not after."""
    require_matplotlib()
    try:
        import markdown_it as _  # noqa: F401
    except ImportError as error:
        raise InputError(
            "the HTML report needs markdown-it-py; run `pip install 'policy-fusion[report]'`"
        ) from error


def write_report(evaluation: Evaluation, directory: Path, *, seed: int = 0) -> tuple[Path, ...]:
    """Write ``report.md`` (with its PNG files), ``report.html`` and ``report.json``; their paths.

    An older report in the directory is overwritten. Raises InputError when a package is missing or
    the directory cannot be written.
    """
    check_report_packages()
    data = evaluation.figures(seed=seed)
    plots = draw(evaluation.report, data, chinese_font())
    text = markdown(evaluation, data, plots)
    values = json.dumps(evaluation.to_dict(data), ensure_ascii=False, indent=2, sort_keys=True)
    contents: dict[str, bytes] = {
        **plots,
        "report.md": text.encode(),
        "report.html": to_html(text, plots).encode(),
        "report.json": f"{values}\n".encode(),
    }
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (directory / name).write_bytes(content)
    except OSError as error:
        raise InputError(
            f"{directory}: the report cannot be written ({error.strerror}); name another directory"
        ) from error
    return tuple(directory / name for name in contents)


def to_html(text: str, plots: Mapping[str, bytes]) -> str:
    """The Markdown as one page with its pictures inside. Raw HTML in the text is shown as text."""
    from markdown_it import MarkdownIt

    body = str(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))
    for name, content in plots.items():
        data = base64.b64encode(content).decode("ascii")
        body = body.replace(f'src="{name}"', f'src="data:image/png;base64,{data}"')
    title = text.partition("\n")[0].lstrip("# ")
    return _PAGE.format(title=html.escape(title), body=body)
