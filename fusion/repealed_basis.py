"""Rules that carry out a law which is repealed: whether they still apply, nothing tells for sure.

Interpretations and implementing rules end with their law or by a decision that the store may lack,
so an answer that cites one says that its law is gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date

from fusion.markers import without_markers
from indexes.schema import PassageMetadata
from indexes.succession import Succession, plain_title

_CARRIES_OUT = re.compile(r"(?:适用|执行|实施|贯彻)《([^《》]+)》")


def basis_notes(
    known: Succession, rules: Iterable[PassageMetadata], day: date
) -> Mapping[str, str]:
    """Title of a rule -> the line that its law is repealed on ``day``, for those where it is."""
    notes: dict[str, str] = {}
    for meta in rules:
        match = _CARRIES_OUT.search(meta.title)
        if match is None or meta.title in notes:
            continue
        by = known.repealed_by(plain_title(match[1]), day)
        if by is None or (meta.effective or "") >= (by.metadata.effective or ""):
            continue
        notes[meta.title] = without_markers(
            f"注意：《{meta.title.strip('《》')}》所依据的《{match[1]}》已由《{by.metadata.title}》"
            f"废止（{by.metadata.effective}），请核对其是否仍然有效。"
        )
    return notes
