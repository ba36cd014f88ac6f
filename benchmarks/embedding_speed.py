"""Speed and fidelity of the bundled model by number format, batch size and cut-off length.

Passages are articles drawn from a folder of Markdown statutes; each variant computes the same
ones, sorted by length, on one thread. Figures: passages per CPU-second of one core (steady on a
busy machine) and cosine to float32. Then: a question's latency on one and two threads, and the
throughput of ``Embedder`` on all cores. ONNX rows need ``onnx`` and are left out without it.

Run: python -m benchmarks.embedding_speed [--corpus DIR] [--articles 600] [--quick]
"""

from __future__ import annotations

import argparse
import copy
import os
import random
import re
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from configs.settings import EmbeddingConfig
from indexes.embeddings import load_embedder
from indexes.model_precision import quantise_linear

Batch = dict[str, torch.Tensor]
Encode = Callable[[Batch], npt.NDArray[np.float32]]
MakeBatches = Callable[[int, int], list[Batch]]  # batch size, cut-off length

REPO = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("POLICY_FUSION_DATA", REPO.parent / "shared" / "data"))
ARTICLE = re.compile(r"\n(?=第[〇一二三四五六七八九十百千零]+条)")
QUESTION = "在本市购买新能源小客车，个人可以领取多少补贴？"  # 虚构示例


def articles(corpus: Path, count: int) -> list[str]:
    """``count`` articles under their document's title, as they are embedded, shortest first."""
    found = [
        f"passage: {path.stem}\n{article.strip()}"
        for path in sorted(corpus.rglob("*.md"))
        for article in ARTICLE.split(path.read_text(encoding="utf-8"))[1:]
    ]
    return sorted(random.Random(0).sample(found, min(count, len(found))), key=len)


def pooled(hidden: torch.Tensor, mask: torch.Tensor) -> npt.NDArray[np.float32]:
    """Mean pooling and L2 normalisation in float32."""
    weight = mask[:, :, None].float()
    mean = (hidden.float() * weight).sum(1) / weight.sum(1)
    return np.asarray(torch.nn.functional.normalize(mean, dim=1).numpy())


def torch_variant(bert: Any) -> Encode:
    def encode(batch: Batch) -> npt.NDArray[np.float32]:
        with torch.inference_mode():
            return pooled(bert(**batch).last_hidden_state, batch["attention_mask"])

    return encode


def onnx_variants(bert: Any, sample: Batch, directory: Path) -> Iterator[tuple[str, Encode]]:
    import onnxruntime
    from onnxruntime.quantization import QuantType, quantize_dynamic

    class Hidden(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bert = bert

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
            return self.bert(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    names = ["input_ids", "attention_mask"]
    axes = {name: {0: "texts", 1: "tokens"} for name in [*names, "hidden"]}
    plain, int8 = str(directory / "plain.onnx"), str(directory / "int8.onnx")
    torch.onnx.export(
        Hidden().eval(),
        tuple(sample[name] for name in names),
        plain,
        input_names=names,
        output_names=["hidden"],
        dynamic_axes=axes,
        dynamo=False,
    )
    options: Any = {"weight_type": QuantType.QInt8, "per_channel": True}
    quantize_dynamic(plain, int8, op_types_to_quantize=["MatMul"], **options)
    for name, path in (("onnxruntime float32", plain), ("onnxruntime int8", int8)):
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(path, settings, ["CPUExecutionProvider"])

        def encode(batch: Batch, session: Any = session) -> npt.NDArray[np.float32]:
            (hidden,) = session.run(None, {key: batch[key].numpy() for key in names})
            return pooled(torch.from_numpy(hidden), batch["attention_mask"])

        yield name, encode


def measure(encode: Encode, batches: list[Batch]) -> tuple[float, npt.NDArray[np.float32]]:
    """Passages a CPU-second, and the vectors."""
    encode(batches[-1])
    start = time.process_time()
    vectors = np.concatenate([encode(batch) for batch in batches])
    return len(vectors) / (time.process_time() - start), vectors


def latency_ms(encode: Encode, batch: Batch, repeats: int = 40) -> tuple[float, float]:
    """Median and 95th percentile."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        encode(batch)
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times), sorted(times)[int(repeats * 0.95)]


def throughput_table(variants: dict[str, Encode], make: MakeBatches, quick: bool) -> None:
    print("| variant | batch | length | passages/CPU-s | cosine mean | min |")
    print("| --- | --- | --- | --- | --- | --- |")
    reference = measure(variants["torch float32"], make(16, 512))[1]

    def row(name: str, size: int, length: int) -> None:
        rate, vectors = measure(variants[name], make(size, length))
        cosine = (vectors * reference).sum(axis=1)
        figures = f"{rate:.1f} | {cosine.mean():.5f} | {cosine.min():.5f}"
        print(f"| {name} | {size} | {length} | {figures} |", flush=True)

    for name in variants:
        row(name, 16, 256)
    if not quick:
        for size in (4, 8, 32, 64, 128):
            row("torch bfloat16", size, 256)
        for length in (128, 512):
            row("torch bfloat16", 16, length)


def latency_table(variants: dict[str, Encode], question: Batch) -> None:
    print("\n| variant | threads | question ms | 95 % |")
    print("| --- | --- | --- | --- |")
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for name in ("torch float32", "torch bfloat16", "torch int8"):
            median, high = latency_ms(variants[name], question)
            print(f"| {name} | {threads} | {median:.1f} | {high:.1f} |", flush=True)
    torch.set_num_threads(1)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, default=DATA / "corpus")
    parser.add_argument("--articles", type=int, default=600)
    parser.add_argument("--models-dir", default=None)
    parser.add_argument("--quick", action="store_true", help="one batch size and length only")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    texts = articles(args.corpus, args.articles)
    common = {"query_instruction": "query: ", "text_instruction": "passage: "}
    config = EmbeddingConfig.model_validate({**common, "precision": "float32"})
    model = load_embedder(config, args.models_dir).llama()._model
    tokenizer, bert = model.tokenizer, model[0].auto_model

    def make(size: int, length: int) -> list[Batch]:
        options = {"padding": True, "truncation": True, "max_length": length}
        parts = [texts[i : i + size] for i in range(0, len(texts), size)]
        return [dict(tokenizer(part, return_tensors="pt", **options)) for part in parts]

    counts = np.array([len(ids) for ids in tokenizer(texts)["input_ids"]])
    over = ", ".join(f"{np.mean(counts > n):.1%} above {n}" for n in (128, 256, 512))
    print(f"{len(texts)} articles, mean {counts.mean():.0f} tokens, {over}\n")

    quantised = copy.deepcopy(bert)
    quantise_linear(quantised)
    variants = {
        "torch float32": torch_variant(bert),
        "torch bfloat16": torch_variant(copy.deepcopy(bert).to(torch.bfloat16)),
        "torch int8": torch_variant(quantised),
    }
    with tempfile.TemporaryDirectory() as scratch:
        if find_spec("onnx") and find_spec("onnxruntime"):
            variants.update(onnx_variants(copy.deepcopy(bert), make(4, 64)[0], Path(scratch)))
        throughput_table(variants, make, args.quick)
    latency_table(variants, dict(tokenizer([f"query: {QUESTION}"], return_tensors="pt")))

    used = EmbeddingConfig.model_validate({**common, "max_length": 256})
    embedder = load_embedder(used, args.models_dir)
    plain = [text.removeprefix("passage: ") for text in texts]
    embedder.embed_texts(plain[:32])
    start = time.perf_counter()
    embedder.embed_texts(plain)
    rate = len(plain) / (time.perf_counter() - start)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"\nEmbedder ({embedder.precision}): {rate:.0f} passages/s, load {load:.1f}")


if __name__ == "__main__":
    main()
