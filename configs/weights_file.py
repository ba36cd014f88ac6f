"""Tuned fusion parameters as a versioned file beside the profile that uses them.

``weights:`` in a profile names such a file, or a folder of them (``configs.weights_folder``); its
values replace the profile's weights, depths, calibrations and fusion parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from configs.errors import ConfigError
from configs.settings import (
    CalibrationConfig,
    FusionMode,
    Settings,
    SignalConfig,
    Weight,
    first_problem,
)

Floor = Annotated[float, Field(gt=0.0, lt=1.0)]


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SignalWeights(_Frozen):
    """What tuning says of one signal: as in ``SignalConfig``."""

    weight: Weight
    depth: Annotated[int, Field(ge=1, le=10_000)]
    calibration: CalibrationConfig

    @classmethod
    def of(cls, config: SignalConfig) -> SignalWeights:
        """The tunable part of a signal's settings."""
        return cls(weight=config.weight, depth=config.depth, calibration=config.calibration)


class DomainWeights(_Frozen):
    """A domain's weight and its signals; ``model``: fingerprint of the embedding model whose
    scores the calibrations were fitted on, "" if unknown."""

    weight: Weight
    dense: SignalWeights
    keyword: SignalWeights
    model: str = ""


class FusionParameters(_Frozen):
    """The tunable part of ``FusionConfig``."""

    mode: FusionMode
    inner_mode: FusionMode
    floor: Floor
    inner_floor: Floor
    rrf_k: Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


class Provenance(_Frozen):
    """Where the weights come from. ``held_out``: per file [before, after] of mean MRR@10 on
    questions that were held out; ``p_value`` of the paired randomisation test on them."""

    created: date
    questions: Mapping[str, int] = {}
    held_out: Mapping[str, tuple[float, float]] = {}
    p_value: float | None = None
    seed: int | None = None
    trials: int | None = None
    note: str = ""


class FusionWeights(_Frozen):
    """One version of tuned fusion parameters; ``parent``: the version that it replaced."""

    version: Annotated[int, Field(ge=1, le=9999)]
    parent: int | None = None
    provenance: Provenance
    fusion: FusionParameters
    domains: Mapping[str, DomainWeights]

    @classmethod
    def of(
        cls,
        settings: Settings,
        version: int,
        provenance: Provenance,
        *,
        parent: int | None = None,
        models: Mapping[str, str] | None = None,
    ) -> FusionWeights:
        """The tunable part of a profile as a version. ``models``: fingerprints by domain."""
        fusion = settings.fusion
        return cls(
            version=version,
            parent=parent,
            provenance=provenance,
            fusion=FusionParameters(
                mode=fusion.mode,
                inner_mode=fusion.inner_mode,
                floor=fusion.floor,
                inner_floor=fusion.inner_floor,
                rrf_k=fusion.rrf_k,
            ),
            domains={
                name: DomainWeights(
                    weight=domain.weight,
                    dense=SignalWeights.of(domain.dense),
                    keyword=SignalWeights.of(domain.keyword),
                    model=(models or {}).get(name, ""),
                )
                for name, domain in settings.domains.items()
            },
        )

    def applied_to(self, settings: Settings) -> Settings:
        """The profile with these values; domains that only one of the two knows stay as they are.

        Raises ConfigError when the result is no valid profile (all weights 0, say).
        """
        domains = {
            name: domain.model_copy(update=_update(domain, self.domains[name]))
            if name in self.domains
            else domain
            for name, domain in settings.domains.items()
        }
        fusion = settings.fusion.model_copy(update=self.fusion.model_dump())
        changed = settings.model_copy(update={"domains": domains, "fusion": fusion})
        try:
            return Settings.model_validate(changed.model_dump())
        except ValidationError as error:
            raise ConfigError(f"weights version {self.version}: {first_problem(error)}") from error


def read_weights(path: Path) -> FusionWeights:
    """Read a weights file. Raises ConfigError naming the file and what is wrong."""
    try:
        return FusionWeights.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path}: no readable weights file ({type(error).__name__}); correct 'weights' in the "
            "profile, or remove it to use the profile's own values"
        ) from error
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_problem(error)}") from error


def _update(domain: object, weights: DomainWeights) -> dict[str, object]:
    def signal(name: str) -> SignalConfig:
        old: SignalConfig = getattr(domain, name)
        new: SignalWeights = getattr(weights, name)
        values = {"weight": new.weight, "depth": new.depth, "calibration": new.calibration}
        return old.model_copy(update=values)

    return {"weight": weights.weight, "dense": signal("dense"), "keyword": signal("keyword")}
