"""Which number format an embedding model computes in on this machine (figures: docs/models.md)."""

from __future__ import annotations

import warnings
from typing import Any, Literal

Wanted = Literal["auto", "float32", "bfloat16", "int8"]
Precision = Literal["float32", "bfloat16", "int8"]


def resolve_precision(wanted: Wanted) -> Precision:
    """``auto`` is bfloat16 where the CPU multiplies it in AMX tiles, else float32.

    AVX-512 BF16 without tiles was slower than float32. int8 is never chosen: it moves vectors
    (cosine .988 to float32), so a store built with it carries another fingerprint.
    """
    if wanted != "auto":
        return wanted
    return "bfloat16" if has_amx_bf16() else "float32"


def torch_dtype(precision: Precision) -> Any:
    """The ``torch.dtype`` that weights are loaded in (int8 is quantised from float32)."""
    import torch

    return torch.bfloat16 if precision == "bfloat16" else torch.float32


def quantise_linear(module: Any) -> None:
    """Quantise a model's linear layers to int8 in place (weights per channel)."""
    import torch
    from torch.ao.quantization import per_channel_dynamic_qconfig, quantize_dynamic

    layers: Any = {torch.nn.Linear: per_channel_dynamic_qconfig}
    with warnings.catch_warnings():  # the API announces a successor package, which is not needed
        warnings.simplefilter("ignore")
        quantize_dynamic(  # type: ignore[no-untyped-call]
            module, layers, dtype=torch.qint8, inplace=True
        )


def has_amx_bf16() -> bool:
    """Whether this CPU has bfloat16 matrix tiles; False where torch cannot tell."""
    import torch

    capabilities: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("amx_bf16"))
