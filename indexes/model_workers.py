"""The threads that models compute on: as many as cores, each with one torch thread.

Two intra-operation threads that must meet after every matrix product make a 15 ms question take
seconds as soon as anything else runs on the machine; whole batches side by side do not (figures:
docs/models.md). One worker more than ``parallel_batches`` stays free for questions.

oneDNN keeps the kernel of each matrix shape it meets, 1024 of them, and no two batches have the
same shape: 2,000 texts were seen to grow a process to 1.7 GB. Sixty-four kernels are enough.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache

_KERNELS_VARIABLE = "ONEDNN_PRIMITIVE_CACHE_CAPACITY"
_KERNELS = 64

_lock = threading.Lock()


def parallel_batches() -> int:
    """How many batches are computed at once: the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def model_workers() -> ThreadPoolExecutor:
    """The process's one pool. Its threads import torch at first use."""
    with _lock:
        os.environ.setdefault(_KERNELS_VARIABLE, str(_KERNELS))  # read at torch's first product
        return _pool(os.getpid())


@cache
def _pool(_process: int) -> ThreadPoolExecutor:  # a forked child has none of its parent's threads
    return ThreadPoolExecutor(
        parallel_batches() + 1, thread_name_prefix="model", initializer=_one_torch_thread
    )


def _one_torch_thread() -> None:
    import torch

    torch.set_num_threads(1)
