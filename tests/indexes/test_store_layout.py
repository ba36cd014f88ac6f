from __future__ import annotations

from pathlib import Path

import pytest

from configs.errors import StoreBusyError
from indexes.store_layout import StoreLayout


def test_the_second_writer_is_told_to_wait_and_gets_in_after_the_first(tmp_path: Path) -> None:
    layout = StoreLayout(tmp_path)
    held = layout.lock_writer()
    with pytest.raises(StoreBusyError, match="wait"):
        layout.lock_writer(wait_s=0.05)
    held.release()
    layout.lock_writer(wait_s=0.05).release()


def test_the_gate_lets_one_in_at_a_time(tmp_path: Path) -> None:
    layout = StoreLayout(tmp_path)
    with layout.chroma_gate(), pytest.raises(StoreBusyError), layout.chroma_gate(wait_s=0.05):
        pytest.fail("two are inside")
    with layout.chroma_gate(wait_s=0.05):
        pass
