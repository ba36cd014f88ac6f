"""Typed settings: what a YAML profile may say, checked at load.

A typo fails at load and names the file and the key (``extra="forbid"`` everywhere).
"""

from __future__ import annotations

from datetime import datetime
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from configs.errors import ConfigError
from configs.schedule import ConfidenceWindow, check_windows

FusionMode = Literal[
    "weighted_geometric_mean", "reciprocal_rerank", "relative_score", "dist_based_score", "simple"
]
Unit = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Weight = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EmbeddingConfig(_Strict):
    """One embedding model.

    ``provider: bundled`` is the offline e5-small built from an installed package;
    ``huggingface`` loads ``model`` (hub name or local directory) with sentence-transformers.
    ``precision``: ``auto`` picks the fastest that keeps quality on this CPU.
    ``adapter``: the domain's map of query vectors, a path or a file name in ``configs/weights``.
    """

    provider: Literal["bundled", "huggingface"] = "bundled"
    model: str = "e5-small-zh"
    revision: str | None = None
    query_instruction: str = ""
    text_instruction: str = ""
    max_length: Annotated[int, Field(ge=8, le=8192)] = 512
    batch_size: Annotated[int, Field(ge=1, le=4096)] = 64
    precision: Literal["auto", "float32", "bfloat16", "int8"] = "auto"
    adapter: Annotated[str, Field(min_length=1)] | None = None


class CalibrationConfig(_Strict):
    """Monotone map from a raw score to (0, 1).

    ``platt``: ``1 / (1 + exp(-(slope * score + intercept)))`` (Platt 1999); ``isotonic``: straight
    lines between the knots (``x`` raw scores, strictly rising; ``y`` in [0, 1], never falling),
    the outer values beyond them; ``identity`` clips the raw score to [0, 1].
    """

    kind: Literal["platt", "identity", "isotonic"] = "identity"
    slope: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] = 1.0
    intercept: Annotated[float, Field(allow_inf_nan=False)] = 0.0
    x: tuple[Annotated[float, Field(ge=-1e12, le=1e12)], ...] = ()
    y: tuple[Unit, ...] = ()

    @model_validator(mode="after")
    def _knots(self) -> CalibrationConfig:
        if self.kind != "isotonic":
            if self.x or self.y:
                raise ValueError(f"knots x and y belong to kind isotonic, not to {self.kind}")
            return self
        if len(self.x) != len(self.y) or len(self.x) < 2:
            raise ValueError("isotonic needs as many x as y, at least two of each")
        if any(a >= b for a, b in pairwise(self.x)):
            raise ValueError("the knots' x must rise strictly")
        if any(a > b for a, b in pairwise(self.y)):
            raise ValueError("the knots' y must never fall")
        return self


class SignalConfig(_Strict):
    """One way to search one domain: its weight inside the domain, its depth, its calibration."""

    weight: Weight = 1.0
    depth: Annotated[int, Field(ge=1, le=10_000)] = 100
    calibration: CalibrationConfig = CalibrationConfig()


class KeywordConfig(SignalConfig):
    """The BM25 signal: jieba words + character bigrams; ``dictionary``: a jieba user file.

    Title and headings count like the content's words; the boosts add that much of the BM25 that
    the title alone (the headings alone) has, 0 adds nothing.
    """

    dictionary: str | None = None
    title_boost: Weight = 0.2
    heading_boost: Weight = 0.2


class DomainConfig(_Strict):
    """One knowledge domain: its collection, models, signals and its weight across domains."""

    label: str
    collection: str
    embedding: EmbeddingConfig
    dense: SignalConfig = SignalConfig()
    keyword: KeywordConfig = KeywordConfig()
    weight: Weight = 1.0
    timeout_ms: Annotated[int, Field(ge=1, le=600_000)] = 800


class StoreConfig(_Strict):
    """Where passages live. ``chroma: server`` shares one Chroma over HTTP (``chroma run``)."""

    dir: str = ".policy-fusion/store"
    chroma: Literal["embedded", "server"] = "embedded"
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535)] = 8000
    reopen_seconds: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 2.0


class IngestConfig(_Strict):
    """The limits of reading files, which protect the rest of an ingest from one bad file.

    ``parse_workers``: processes that parse, 0 = one a core. Per file: ``parse_seconds`` of wall
    clock (for each document, where a file holds many), ``parse_memory_mb`` MiB of memory,
    ``max_file_mb`` million bytes of size. What exceeds one of them goes to quarantine.
    """

    parse_workers: Annotated[int, Field(ge=0, le=256)] = 0
    parse_seconds: Annotated[float, Field(gt=0.0, le=86_400.0)] = 120.0
    parse_memory_mb: Annotated[int, Field(ge=256, le=1_000_000)] = 2048
    max_file_mb: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] = 200.0


class FusionConfig(_Strict):
    """How rankings are combined.

    ``mode`` across domains and ``inner_mode`` inside a domain (dense + keyword); ``floor`` and
    ``inner_floor`` are the ε in (0, 1) that a missing score counts as; ``rrf_k`` is RRF's constant.
    ``router``: a file of a learned prior on the domains of a question, or ``packaged``.
    """

    mode: FusionMode = "weighted_geometric_mean"
    inner_mode: FusionMode = "weighted_geometric_mean"
    floor: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.01
    inner_floor: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.01
    rrf_k: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] = 60.0
    top_k: Annotated[int, Field(ge=1, le=10_000)] = 10
    candidates: Annotated[int, Field(ge=1, le=10_000)] = 100
    allow_partial: bool = True
    router: str | None = None


class HistoryConfig(_Strict):
    """A log of every query and of verdicts on what it showed, in the store's directory.

    ``queries``: keep the question's text, its hash or nothing. At most ``max_rows`` queries, none
    older than ``max_days``; ``depth`` hits a signal are kept.
    """

    enabled: bool = False
    queries: Literal["text", "hash", "none"] = "text"
    max_rows: Annotated[int, Field(ge=1, le=100_000_000)] = 100_000
    max_days: Annotated[int, Field(ge=1, le=36_500)] = 365
    depth: Annotated[int, Field(ge=1, le=10_000)] = 50


class RerankConfig(_Strict):
    """Reordering of the fused head.

    ``learned``: the offline ranker over the signals; ``cross_encoder``: bge-reranker or alike by
    sentence-transformers. ``budget_ms`` bounds the time; what was left unranked is in the trace.
    """

    kind: Literal["none", "learned", "cross_encoder"] = "learned"
    model: str = ""
    top_n: Annotated[int, Field(ge=1, le=1000)] = 50
    max_length: Annotated[int, Field(ge=16, le=8192)] = 512
    budget_ms: Annotated[int, Field(ge=1, le=600_000)] = 2000
    batch_size: Annotated[int, Field(ge=1, le=1024)] = 8


class LLMConfig(_Strict):
    """Any OpenAI-compatible endpoint (DeepSeek, Qwen, vLLM, Ollama, llama.cpp …).

    ``api_key_env`` names the environment variable that holds the key; keys never stand in files.
    """

    api_base: str
    model: str
    api_key_env: str | None = None
    context_window: Annotated[int, Field(ge=256)] = 8192
    max_tokens: Annotated[int, Field(ge=16)] = 1024
    temperature: Annotated[float, Field(ge=0.0, le=2.0)] = 0.0
    timeout_s: Annotated[float, Field(gt=0.0)] = 60.0
    max_retries: Annotated[int, Field(ge=0, le=10)] = 2


class ContextConfig(_Strict):
    """What an LLM reads (docs/answers.md). ``trade_off`` is MMR's lambda: 1 = relevance alone.

    Of passages with the same figures, dates and place whose bigrams agree by ``same`` (Jaccard,
    0–1) or more, one is given. ``neighbours``: at most so many articles beside the ranked ones
    (the rest of the best article, those that it refers to, the next and the previous one).
    """

    trade_off: Unit = 0.9
    same: Unit = 0.8
    neighbours: Annotated[int, Field(ge=0, le=20)] = 4


class SynthesisConfig(_Strict):
    """The answer. Without ``llm`` it is extractive: the best sentences, verbatim, with citations.

    Below ``min_confidence`` (0–1) the answer is 资料不足 and no LLM is called; the windows of
    ``schedule`` replace it at their hours. ``confidence``: ``agreement`` of the signals, or
    ``learned`` (trees fitted on answerable and unanswerable questions of the default profile's
    models).
    """

    llm: LLMConfig | None = None
    max_passages: Annotated[int, Field(ge=1, le=50)] = 6
    max_sentences: Annotated[int, Field(ge=1, le=50)] = 6
    confidence: Literal["agreement", "learned"] = "agreement"
    min_confidence: Unit = 0.2
    schedule: tuple[ConfidenceWindow, ...] = ()
    context: ContextConfig = ContextConfig()

    @field_validator("schedule")
    @classmethod
    def _apart(cls, value: tuple[ConfidenceWindow, ...]) -> tuple[ConfidenceWindow, ...]:
        check_windows(value)
        return value

    def at(self, moment: datetime) -> SynthesisConfig:
        """With the ``min_confidence`` of that moment (local time)."""
        window = next((w for w in self.schedule if w.holds(moment)), None)
        if window is None:
            return self
        return self.model_copy(update={"min_confidence": window.min_confidence})


class ReferenceConfig(_Strict):
    """Direct look-up of named articles, if ``enabled``.

    ``aliases``: a UTF-8 file of lines ``short name,title`` beside the packaged
    ``configs/title_aliases.csv``."""

    enabled: bool = True
    aliases: str | None = None


class Settings(_Strict):
    """A whole profile. ``models_dir`` None = the user's cache directory; ``weights``: a file of
    tuned fusion parameters, or a folder of versions, whose values replace those given here."""

    models_dir: str | None = None
    store: StoreConfig = StoreConfig()
    domains: dict[str, DomainConfig]
    ingest: IngestConfig = IngestConfig()
    fusion: FusionConfig = FusionConfig()
    rerank: RerankConfig = RerankConfig()
    synthesis: SynthesisConfig = SynthesisConfig()
    references: ReferenceConfig = ReferenceConfig()
    history: HistoryConfig = HistoryConfig()
    weights: str | None = None

    @field_validator("domains")
    @classmethod
    def _names(cls, value: dict[str, DomainConfig]) -> dict[str, DomainConfig]:
        if not value:
            raise ValueError("at least one domain is needed")
        for name in value:
            if not (name.isascii() and name.isidentifier() and name.islower()):
                raise ValueError(f"domain name {name!r} must be lower-case ASCII letters")
        return value

    @model_validator(mode="after")
    def _some_weight(self) -> Settings:
        if all(domain.weight == 0 for domain in self.domains.values()):
            raise ValueError("all domain weights are 0: give at least one domain a weight")
        for name, domain in self.domains.items():
            if domain.dense.weight == 0 and domain.keyword.weight == 0:
                raise ValueError(f"domains.{name}: dense and keyword weights are both 0")
        collections = [domain.collection for domain in self.domains.values()]
        if len(set(collections)) != len(collections):
            raise ValueError("two domains share one collection: give each its own")
        return self

    def with_store(self, directory: str | Path) -> Settings:
        """The same settings with another store directory."""
        return self.model_copy(
            update={"store": self.store.model_copy(update={"dir": str(directory)})}
        )


def load_settings(path: str | Path | None = None) -> Settings:
    """Read a YAML profile.

    ``path``: a file; or the name of a packaged profile (``default``, ``huggingface``, also in the
    form ``configs/default.yaml`` when no such file exists); None = ``default``.
    Raises ConfigError naming the file and the key.
    """
    name, text = _read_profile(path)
    try:
        raw = yaml.safe_load(text)
    except yaml.YAMLError as error:
        place = " ".join(str(error).split())
        raise ConfigError(f"{name}: not valid YAML ({place}); correct that line") from error
    if not isinstance(raw, dict):
        raise ConfigError(
            f"{name}: must be a mapping with a 'domains' key; see configs/default.yaml"
        )
    try:
        settings = Settings.model_validate(raw)
    except ValidationError as error:
        raise ConfigError(f"{name}: {first_problem(error)}") from error
    if settings.weights is None:
        return settings
    from configs.weights_file import read_weights
    from configs.weights_folder import resolve_weights

    path = resolve_weights(settings.weights, Path(name).parent)
    return read_weights(path).applied_to(settings.model_copy(update={"weights": str(path)}))


def _read_profile(path: str | Path | None) -> tuple[str, str]:
    wanted = Path("default" if path is None else path)
    if wanted.is_file():
        try:
            return str(wanted), wanted.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"{wanted}: cannot be read ({error}); it must be UTF-8 text"
            ) from error
    packaged = resources.files("configs").joinpath(f"{wanted.stem}.yaml")
    if wanted.suffix in ("", ".yaml") and wanted.parent in (Path(), Path("configs")):
        try:
            return f"configs/{wanted.stem}.yaml", packaged.read_text(encoding="utf-8")
        except FileNotFoundError:
            pass
    raise ConfigError(f"{wanted}: no such configuration file; give a YAML file or 'default'")


def first_problem(error: ValidationError) -> str:
    """The first problem of a validation in one line: the key, and what is wrong with it."""
    problems = error.errors()
    first = problems[0]
    key = ".".join(str(part) for part in first["loc"]) or "(top level)"
    if first["type"] == "extra_forbidden":
        text = f"unknown key '{key}'; remove it or correct its spelling"
    else:
        text = f"key '{key}': {first['msg']}"
    more = len(problems) - 1
    return text + (f" (and {more} more)" if more else "")
