"""Gives every finished query an id and hands it to the history, without slowing the query."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from configs.settings import Settings
from fusion.history import QueryLog, caller, log_of
from fusion.history_store import HistoryStore
from fusion.nodes import RetrievalResult
from fusion.two_stage import FusionPlan
from indexes.store_layout import StoreLayout


def _new_id() -> str:
    return uuid.uuid4().hex


def _utc_now() -> datetime:
    return datetime.now(UTC)


class HistoryRecorder:
    """Records results as the profile's ``history`` says. Thread-safe."""

    def __init__(
        self,
        store: HistoryStore,
        settings: Settings,
        *,
        new_id: Callable[[], str] = _new_id,
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        self.store = store
        self._config = settings.history
        self._plan = FusionPlan.from_settings(settings)
        self._weights = weights_version(settings)
        self._new_id, self._clock = new_id, clock

    def record(self, result: RetrievalResult) -> RetrievalResult:
        """The result with its ``query_id``; the record is made and written in the background."""
        query_id, at, who = self._new_id(), self._clock(), caller()
        named = replace(result, trace=MappingProxyType({**result.trace, "query_id": query_id}))

        def make() -> QueryLog:
            return log_of(
                result,
                self._plan,
                query_id=query_id,
                at=at,
                keep=self._config.queries,
                who=who,
                weights=self._weights,
                depth=self._config.depth,
            )

        self.store.put(make)
        return named


def open_recorder(settings: Settings) -> HistoryRecorder | None:
    """The recorder of a profile, None where history is off."""
    return HistoryRecorder(open_history(settings), settings) if settings.history.enabled else None


def open_history(settings: Settings) -> HistoryStore:
    """The history in the profile's store directory."""
    config = settings.history
    path = StoreLayout(Path(settings.store.dir)).history
    return HistoryStore(path, max_rows=config.max_rows, max_days=config.max_days)


def weights_version(settings: Settings) -> int | None:
    """The version of the weights file that the profile was read with; None for its own values."""
    stem = Path(settings.weights).stem if settings.weights else ""
    return int(stem) if stem.isascii() and stem.isdigit() else None
