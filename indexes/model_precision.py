"""Which number format an embedding model computes in on this machine (figures: docs/models.md)."""

from __future__ import annotations

from typing import Any, Literal

Wanted = Literal["auto", "float32", "bfloat16", "int8"]
Precision = Literal["float32", "bfloat16"]


def resolve_precision(wanted: Wanted) -> Precision:
    """``auto`` is bfloat16 where the CPU has AMX tiles or AVX-512 BF16, else float32."""
    if wanted == "auto":
        return "bfloat16" if _fast_bfloat16() else "float32"
    return "float32" if wanted == "int8" else wanted


def torch_dtype(precision: Precision) -> Any:
    """The ``torch.dtype`` of ``precision``."""
    import torch

    return {"float32": torch.float32, "bfloat16": torch.bfloat16}[precision]


def _fast_bfloat16() -> bool:
    """Ask torch; its capability functions are not part of every release, so absence means no."""
    import torch

    capabilities: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("amx_bf16") or capabilities.get("avx512_bf16"))
