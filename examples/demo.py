"""Ingest the three example domains, ask a question that needs two of them, show the answer.

Run by ``make demo``. A second run finds every file unchanged and embeds nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import cast

from policy_fusion import PolicyAnswer, PolicyQueryEngine, Settings, ingest, load_settings

EXAMPLES = Path(__file__).resolve().parent
DOMAINS = ("law", "fiscal", "local")


def bring_in_examples(settings: Settings) -> None:
    """Ingest each domain's folder; only what changed is written."""
    for domain in DOMAINS:
        report = ingest(settings, domain, [EXAMPLES / domain], progress=False)
        label = settings.domains[domain].label
        print(
            f"{domain:<6} {label}: {report.added} files added, {report.changed} changed, "
            f"{report.unchanged} unchanged; {report.passages} passages written",
            flush=True,
        )


def patient(settings: Settings) -> Settings:
    """The same settings with ten seconds a domain: a demo may meet a busy machine."""
    domains = {
        name: domain.model_copy(update={"timeout_ms": 10_000})
        for name, domain in settings.domains.items()
    }
    return settings.model_copy(update={"domains": domains})


def show(answer: PolicyAnswer) -> None:
    """The text with its markers, then what each marker stands for."""
    print(answer)
    print("\n依据 / sources")
    for c in answer.citations:
        article = f" 第{c.article}条" if c.article else ""
        print(f"[{c.marker}] 《{c.title}》{c.doc_number}{article}（{c.domain}，{c.jurisdiction}）")
        print(f"    {c.effective or '日期不明'} 起施行 · {c.file}")
    for source in answer.coverage:
        remarks = "".join(f"; {remark}" for remark in (source.reason, *source.notes) if remark)
        print(f"{source.source}: {source.status}, {source.hits} hits{remarks}")


def main() -> None:
    """Parse the arguments, ingest, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("question")
    parser.add_argument("--as-of", default=None, help="the day that counts (default today)")
    parser.add_argument("--jurisdiction", default=None, help="a place, for instance 上海市")
    parser.add_argument("--config", default=None, help="a profile (default: configs/default.yaml)")
    parser.add_argument("--store", default=None, help="store directory (default: the profile's)")
    given = parser.parse_args()
    settings = load_settings(given.config)
    if given.store:
        settings = settings.with_store(given.store)
    bring_in_examples(settings)
    print(f"\n问 / question: {given.question}\n", flush=True)
    with PolicyQueryEngine.from_config(patient(settings)) as engine:
        answer = engine.query(given.question, as_of=given.as_of, jurisdiction=given.jurisdiction)
        show(cast(PolicyAnswer, answer))


if __name__ == "__main__":
    main()
