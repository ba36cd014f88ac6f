"""Is this installation sound? Models, stores, whether their counts agree, missing metadata."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from configs.errors import PolicyFusionError
from configs.settings import DomainConfig, Settings
from indexes.catalog import PassageCatalog
from indexes.chroma_store import CosineChromaVectorStore
from indexes.embeddings import load_embedder
from indexes.keyword_index import KeywordIndex
from indexes.store_layout import StoreLayout
from indexes.tokenizer import Tokenizer
from ingest.ledger import LEDGER_NAME, Ledger
from ingest.levels import NEWS

if TYPE_CHECKING:
    from indexes.embeddings import TextEmbedder

MAX_MISSING = 0.05
"""Share of passages above which a missing required field is a problem."""

REQUIRED = ("title", "file", "jurisdiction", "effective")


@dataclass(frozen=True, slots=True)
class DomainHealth:
    """One domain. ``counts``: passages by store; ``missing``: field -> share (0-1) unknown.

    ``ingested`` is False where nothing was ingested; then only the model is told.
    """

    name: str
    label: str
    model: str
    dimension: int
    fingerprint: str
    ingested: bool
    store_fingerprint: str
    documents: int
    counts: Mapping[str, int]
    files: int
    quarantined: int
    missing: Mapping[str, float]
    telemetry: bool

    @property
    def agree(self) -> bool:
        """All stores hold the same number of passages."""
        return len(set(self.counts.values())) <= 1


@dataclass(frozen=True, slots=True)
class HealthReport:
    """``problems`` make the check fail and say what to do; ``notes`` are worth knowing."""

    store: str
    domains: tuple[DomainHealth, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def telemetry(self) -> bool:
        """Whether any vector store would send usage figures away."""
        return any(health.telemetry for health in self.domains)

    @property
    def ok(self) -> bool:
        """No problem was found."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """Plain data, one entry a domain."""
        return {
            "ok": self.ok,
            "store": self.store,
            "telemetry": "on" if self.telemetry else "off",
            "problems": list(self.problems),
            "notes": list(self.notes),
            "domains": {
                health.name: {
                    **asdict(health),
                    "counts": dict(health.counts),
                    "agree": health.agree,
                    "missing": {k: round(v, 4) for k, v in health.missing.items()},
                }
                for health in self.domains
            },
        }

    def table(self) -> RenderableType:
        """One column a domain, then problems and notes."""
        table = Table(title=f"store {self.store}", title_justify="left")
        table.add_column("", no_wrap=True)
        for health in self.domains:
            table.add_column(f"{health.name} {health.label}", overflow="fold")
        rows: dict[str, list[str]] = {
            "model": [health.model for health in self.domains],
            "dimension": [str(health.dimension or "") for health in self.domains],
            "fingerprint": [health.fingerprint for health in self.domains],
            "built with": [health.store_fingerprint for health in self.domains],
            "files": [f"{health.files:,}" for health in self.domains],
            "documents": [f"{health.documents:,}" for health in self.domains],
            "quarantined": [f"{health.quarantined:,}" for health in self.domains],
        }
        for store in dict.fromkeys(name for health in self.domains for name in health.counts):
            rows[f"passages, {store}"] = [
                f"{health.counts[store]:,}" if store in health.counts else ""
                for health in self.domains
            ]
        for name in REQUIRED:
            rows[f"{name} unknown"] = [
                f"{health.missing[name]:.1%}" if name in health.missing else ""
                for health in self.domains
            ]
        for name, cells in rows.items():
            table.add_row(name, *cells)
        lines = [
            f"telemetry: {'on' if self.telemetry else 'off'}",
            *(f"problem: {text}" for text in self.problems),
            *(f"note: {text}" for text in self.notes),
            "ok" if self.ok else "not ok",
        ]
        return Group(table, *(Text(line, no_wrap=True, overflow="ignore") for line in lines))


def examine(
    settings: Settings, *, embedders: Mapping[str, TextEmbedder] | None = None
) -> HealthReport:
    """Look at every domain of the settings; what is wrong is in the report, never raised."""
    problems: list[str] = []
    notes: list[str] = []
    layout = StoreLayout(Path(settings.store.dir))
    damage = _damage(layout)
    if damage:
        problems.append(damage)
    domains = tuple(
        _domain(
            settings,
            name,
            config,
            None if damage else layout,
            (embedders or {}).get(name),
            problems,
            notes,
        )
        for name, config in settings.domains.items()
    )
    if not damage and not any(health.ingested for health in domains):
        problems.append(
            f"nothing is ingested in {settings.store.dir}; run `policy-fusion ingest DOMAIN PATH`"
        )
    return HealthReport(
        store=settings.store.dir,
        domains=domains,
        problems=tuple(problems),
        notes=tuple(notes),
    )


def _domain(
    settings: Settings,
    name: str,
    config: DomainConfig,
    layout: StoreLayout | None,
    embedder: TextEmbedder | None,
    problems: list[str],
    notes: list[str],
) -> DomainHealth:
    model, dimension, fingerprint = config.embedding.model, 0, ""
    try:
        found = (embedder or load_embedder(config.embedding, settings.models_dir)).fingerprint
        model, dimension, fingerprint = found.name, found.dimension, found.key
    except PolicyFusionError as error:
        problems.append(f"{name}: {error}")
    built, documents, missing = None, 0, {}
    counts: dict[str, int] = {}
    telemetry = False
    if layout and layout.catalog.is_file():
        catalog = PassageCatalog(layout.catalog)
        built = catalog.fingerprint(name)
        documents = sum(1 for _ in catalog.documents(name))
        # A report or explainer takes no effect: only rules must tell their day.
        unknown = catalog.missing_metadata(name, without={"effective": NEWS})
        missing = {k: v for k, v in unknown.items() if k in REQUIRED}
        counts["catalog"] = catalog.count(name)
        catalog.close()
    files = quarantined = 0
    if layout and (layout.root / LEDGER_NAME).is_file():
        with Ledger(layout.root) as ledger:
            files = ledger.totals(name)[0]
            quarantined = len(ledger.quarantined(name))
            if unfinished := ledger.unfinished(name):
                notes.append(
                    f"{name}: an ingest of {len(unfinished)} files did not end;"
                    " run the same ingest again"
                )
    ingested = bool(counts.get("catalog"))
    if layout and ingested:
        found_counts, telemetry = _stores(settings, name, config, layout, problems)
        counts |= found_counts
    health = DomainHealth(
        name=name,
        label=config.label,
        model=model,
        dimension=dimension,
        fingerprint=fingerprint,
        ingested=ingested,
        store_fingerprint=built or "",
        documents=documents,
        counts=counts,
        files=files,
        quarantined=quarantined,
        missing=missing,
        telemetry=telemetry,
    )
    _judge(health, problems, notes)
    return health


def _damage(layout: StoreLayout) -> str:
    """Why catalog or ledger cannot be read at all; "" when they can, or are not there."""
    try:
        if layout.catalog.is_file():
            catalog = PassageCatalog(layout.catalog)
            catalog.store_version("")
            catalog.close()
        if (layout.root / LEDGER_NAME).is_file():
            Ledger(layout.root).close()
    except (sqlite3.DatabaseError, PolicyFusionError) as error:
        return f"{layout.root}: damaged ({error}); put a backup back, or ingest into a new store"
    return ""


def _stores(
    settings: Settings,
    name: str,
    config: DomainConfig,
    layout: StoreLayout,
    problems: list[str],
) -> tuple[dict[str, int], bool]:
    counts: dict[str, int] = {}
    telemetry = False
    try:
        dense = CosineChromaVectorStore.open(settings.store, layout.chroma, config.collection, None)
        counts["vector store"] = dense.count()
        telemetry = bool(dense.client._client.get_settings().anonymized_telemetry)
        dense.close()
        tokenizer = Tokenizer.from_dictionary(config.keyword.dictionary)
        keyword = KeywordIndex(layout.keyword(name), tokenizer, config.keyword)
        counts["keyword index"] = keyword.count()
    except PolicyFusionError as error:
        problems.append(f"{name}: {error}")
    return counts, telemetry


def _judge(health: DomainHealth, problems: list[str], notes: list[str]) -> None:
    name = health.name
    if not health.ingested:
        notes.append(f"{name}: nothing is ingested")
    if health.ingested and health.fingerprint and health.fingerprint != health.store_fingerprint:
        problems.append(
            f"{name}: built with the model {health.store_fingerprint}, {health.fingerprint} is"
            " configured; configure the old one, or ingest into a new store"
        )
    if not health.agree:
        told = ", ".join(f"{store} {count}" for store, count in health.counts.items())
        problems.append(
            f"{name}: the stores hold different numbers of passages ({told}); if no ingest is"
            " running, run one: it mends them"
        )
    for field in REQUIRED:
        share = health.missing.get(field, 0.0)
        if share > MAX_MISSING:
            problems.append(
                f"{name}: {field} is unknown for {share:.1%} of the passages (limit"
                f" {MAX_MISSING:.0%}); give it as front matter or in the records' meta"
            )
    if health.telemetry:
        problems.append(f"{name}: Chroma's telemetry is on; set ANONYMIZED_TELEMETRY=False")
    if health.quarantined:
        notes.append(
            f"{name}: {health.quarantined} files or records are in quarantine;"
            " ingest again to see why"
        )
