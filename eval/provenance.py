"""What an evaluation was made of: profile, store and day, so that figures can be told apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from configs.settings import Settings
from indexes.catalog import PassageCatalog
from indexes.store_layout import StoreLayout


@dataclass(frozen=True, slots=True)
class DomainStore:
    """One domain as it was searched: passages, committed changes so far, key of its model."""

    passages: int
    version: int
    model: str | None


@dataclass(frozen=True, slots=True)
class Provenance:
    """``profile``: as it was named; ``settings``: fingerprint of its values (the store's place
    apart); ``store``: fingerprint of ``domains``. Fingerprints are 12 hexadecimal digits."""

    profile: str
    settings: str
    store: str
    domains: Mapping[str, DomainStore]
    day: date

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "day": self.day.isoformat()}


def provenance(
    settings: Settings, profile: str | None = None, *, clock: Callable[[], date] = date.today
) -> Provenance:
    """Of this profile and its store, which may be empty; ``clock`` gives the day."""
    path = StoreLayout(Path(settings.store.dir)).catalog
    domains = dict.fromkeys(settings.domains, DomainStore(0, 0, None))
    if path.is_file():
        catalog = PassageCatalog(path)
        try:
            domains = {name: _domain(catalog, name) for name in settings.domains}
        finally:
            catalog.close()
    values = settings.model_dump(mode="json", exclude={"store": {"dir"}})
    return Provenance(
        Path(profile).name if profile else "default",
        _fingerprint(values),
        _fingerprint({name: asdict(one) for name, one in domains.items()}),
        domains,
        clock(),
    )


def _domain(catalog: PassageCatalog, name: str) -> DomainStore:
    return DomainStore(catalog.count(name), catalog.store_version(name), catalog.fingerprint(name))


def _fingerprint(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
