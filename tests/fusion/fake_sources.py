"""Knowledge domains in memory. All rules here are 虚构示例."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np

from configs.settings import Settings
from fusion.two_stage import FusionPlan
from indexes.schema import Filters, Hit, Passage, PassageMetadata, SignalName
from tests.fakes import FakeEmbedder


def passage(
    domain: str, title: str, article: str, content: str, version: str = "2020-01-01", **known: Any
) -> Passage:
    facts = {"effective": version, "jurisdiction": "全国", "jurisdiction_code": "100000", **known}
    meta = PassageMetadata(
        title=title, file=f"{title}.md", article=article, version=version, **facts
    )
    return Passage(f"{domain}:{title}@{version}#a{article or 0}", domain, content, meta)


LAW = (
    passage(
        "law",
        "劳动规则（虚构示例）",
        "47",
        "第四十七条　经济补偿按劳动者在本单位工作的年限，每满一年支付一个月工资。",
        heading_path=("第四章 解除",),
    ),
    passage("law", "劳动规则（虚构示例）", "10", "第十条　建立劳动关系，应当订立书面劳动合同。"),
)
FISCAL = (
    passage(
        "fiscal",
        "小微企业减税通知（虚构示例）",
        "",
        "对月销售额十万元以下的小规模纳税人免征增值税。",
        doc_number="示财税〔2023〕1号",
    ),
)
LOCAL = (
    passage(
        "local",
        "示例市新能源车补贴办法（虚构示例）",
        "3",
        "第三条　购买新能源车的个人，每辆补贴一万元。",
        version="2024-01-01",
        expires="2025-01-01",
        jurisdiction="上海市",
        jurisdiction_code="310000",
    ),
)


@dataclass
class FakeSource:
    """Searches its passages by two toy signals; ``before`` runs first in every search."""

    name: str
    stored: Sequence[Passage]
    signals: tuple[SignalName, ...] = ("dense", "keyword")
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)
    before: Callable[[SignalName], object] = lambda signal: None
    before_reading: Callable[[], object] = lambda: None
    calls: list[tuple[str, str, int]] = field(default_factory=list)

    def search(self, signal: SignalName, query: str, k: int, filters: Filters) -> Sequence[Hit]:
        self.calls.append((signal, query, k))
        self.before(signal)
        admitted = [p for p in self.stored if filters.admits(p.metadata)]
        if not admitted:
            return ()
        if signal == "dense":
            vectors = self.embedder.embed_texts([p.embedding_text() for p in admitted])
            scores = (vectors @ np.asarray(self.embedder.embed_query(query))).tolist()
        else:
            text = set(query)
            scores = [len(text & set(p.content)) / len(text) for p in admitted]
        pairs = zip(admitted, scores, strict=True)
        hits = [Hit(p.id, float(s)) for p, s in pairs if signal == "dense" or s > 0]
        return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.id))[:k])

    def passages(self, ids: Sequence[str]) -> Mapping[str, Passage]:
        self.before_reading()
        return {p.id: p for p in self.stored if p.id in set(ids)}


def sources() -> list[FakeSource]:
    return [FakeSource("law", LAW), FakeSource("fiscal", FISCAL), FakeSource("local", LOCAL)]


def settings(**changes: Any) -> Settings:
    labels = {"law": "国家法律库", "fiscal": "财税政策库", "local": "地方政策库"}
    domains = {
        name: {"label": label, "collection": name, "embedding": {}}
        for name, label in labels.items()
    }
    return Settings.model_validate({"domains": domains, "rerank": {"kind": "none"}, **changes})


def plan(**changes: Any) -> FusionPlan:
    return FusionPlan.from_settings(settings(**changes))


LABELS = {name: domain.label for name, domain in settings().domains.items()}


def sleep(seconds: float) -> Callable[..., None]:
    def run(*_: object) -> None:
        time.sleep(seconds)

    return run


def hang(until: threading.Event) -> Callable[..., None]:
    def run(*_: object) -> None:
        until.wait(30)

    return run


def fail(error: Exception) -> Callable[..., None]:
    def run(*_: object) -> None:
        raise error

    return run


TODAY = date(2024, 6, 1)
