"""What the retriever asks of a knowledge domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from indexes.schema import Filters, Hit, Passage, SignalName


class SearchSource(Protocol):
    """One knowledge domain: searched by one or more signals, passages read by id.

    ``indexes.domain_index.DomainIndex`` is one. Calls come from several threads at once, and may
    raise anything or never return: the retriever bounds what it waits for.
    """

    @property
    def name(self) -> str:
        """The domain's name, e.g. ``law``."""
        ...

    @property
    def signals(self) -> Sequence[SignalName]:
        """The signals this domain can be searched by."""
        ...

    def search(self, signal: SignalName, query: str, k: int, filters: Filters) -> Sequence[Hit]:
        """The best ``k`` hits of one signal, best first."""
        ...

    def passages(self, ids: Sequence[str]) -> Mapping[str, Passage]:
        """The stored passages of these ids; unknown ids are left out."""
        ...
