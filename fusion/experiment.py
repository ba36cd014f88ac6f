"""Which of two variants a session gets: the same one always, decided without any memory."""

from __future__ import annotations

import hashlib
from typing import Literal

from configs.errors import InputError

Arm = Literal["a", "b"]


def arm_of(session: str, experiment: str, share_b: float = 0.5) -> Arm:
    """The arm of a session, by SHA-256 of experiment and session.

    ``experiment`` keeps two experiments independent; ``share_b`` in [0, 1] of the sessions get b.
    Raises InputError for a blank session, since all of those would be one, or a share outside.
    """
    if not session.strip():
        raise InputError("a session is needed to choose a variant; pass one that stays the same")
    if not 0.0 <= share_b <= 1.0:
        raise InputError(f"share_b is {share_b}; it must lie in [0, 1]")
    digest = hashlib.sha256(f"{experiment}\x00{session}".encode("utf-8", "surrogatepass")).digest()
    return "b" if int.from_bytes(digest[:8], "big") < share_b * 2**64 else "a"
