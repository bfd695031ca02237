"""The local model: the file it needs, the graph made from it, and that it answers alike on every machine."""

from __future__ import annotations

import gzip
import hashlib
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from benchmarks.minilm_graph import build_files
from credenda.errors import Invalid, Unavailable
from credenda.providers.embed import minilm
from credenda.providers.embed.factory import open_embedder
from credenda.providers.embed.minilm import MiniLmEmbedder, WordPieces, find_weights, map_tensors, open_model
from tests.waiting import PATIENCE_SECONDS

TEXTS = [
    f"{who} {did} {what}{end}"
    for who in ("Caroline", "The old gardener", "My sister's friend from Graz")
    for did in ("planted", "forgot", "wrote about", "could never have painted")
    for what in ("a pear tree", "the adoption papers", "what happened at the lake in 1997, long before the flood")
    for end in (".", "?", " — and then, of course, it rained for three days straight!")
]

FIRST = [-0.02917359, -0.13276221, -0.04417071, 0.06805374, 0.02265145, -0.16457748]
"""Of the first token of "this is a test", where no product overflows."""


def test_meaning_is_nearer_than_words() -> None:
    asked, meant, worded = MiniLmEmbedder().embed(
        ["Which pets does she own?", "Her two cats sleep on the sofa", "Which shops does she own?"]
    )
    other = MiniLmEmbedder().embed(["The exhaust of the car was repaired"])[0]
    assert float(asked @ meant) > float(asked @ other) + 0.15
    assert np.isfinite(worded).all()


def test_vectors_are_those_of_the_published_model() -> None:
    """The numbers are those of a computation in float64 with the published float32 weights."""
    one, two = MiniLmEmbedder().embed(["That is a happy person", "That is a very happy person"])
    assert one[:6] == pytest.approx([-0.0339, 0.0919, 0.0487, -0.0349, -0.0648, -0.0267], abs=0.02)
    assert float(one @ two) == pytest.approx(0.9429, abs=0.005)


def test_a_vector_is_the_same_to_the_last_bit_in_any_company() -> None:
    engine = MiniLmEmbedder()
    together = engine.embed(TEXTS)
    alone = np.concatenate([engine.embed([text]) for text in TEXTS])
    mixed = engine.embed(["x", *reversed(TEXTS), *TEXTS])
    assert np.abs(together - alone).max() < 1e-6
    assert np.abs(mixed[len(TEXTS) + 1 :] - together).max() < 1e-6


def test_processors_that_overflow_get_the_same_vectors_by_another_way() -> None:
    ids = np.array([[101, 2023, 2003, 1037, 3231, 102]], np.int64)
    mask = np.ones(ids.shape, np.int32)
    signed, unsigned, chosen = (
        open_model(find_weights(), unsigned=way).run(ids=ids, mask=mask) for way in (False, True, None)
    )
    assert unsigned[0, 0, :6] == pytest.approx(FIRST, abs=1e-5)
    assert np.abs(chosen - unsigned).max() < 1e-5
    assert (np.abs(signed - unsigned).max() > 1e-5) == minilm._has_overflow()  # noqa: SLF001 - what the choice hangs on


def test_the_graphs_that_ship_are_those_that_the_script_writes() -> None:
    data = files("credenda.providers.embed") / "data"
    for name, content in build_files(map_tensors(find_weights())).items():
        assert (data / name).read_bytes() == content, name


def test_padding_does_not_change_a_text() -> None:
    model = open_model(find_weights())
    short = [101, 5572, 102]
    alone = model.run(ids=np.array([short], np.int64), mask=np.ones((1, 3), np.int32))[0]
    padded = model.run(ids=np.array([[*short, 0, 0]], np.int64), mask=np.array([[1, 1, 1, 0, 0]], np.int32))[0, :3]
    assert np.abs(alone - padded).max() < 1e-4


def test_many_threads_share_the_model() -> None:
    engine = MiniLmEmbedder()
    expected = engine.embed(TEXTS)
    wrong: list[float] = []

    def ask() -> None:
        found = MiniLmEmbedder().embed(TEXTS)
        if not np.array_equal(found, expected):
            wrong.append(float(np.abs(found - expected).max()))

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_file_with_another_hash_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "foreign_weights").mkdir()
    (tmp_path / "foreign_weights" / "__init__.py").write_text("")
    (tmp_path / "foreign_weights" / "minilm.safetensors").write_bytes(b"not the model")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(minilm, "_PACKAGE", "foreign_weights")
    minilm._load.cache_clear()  # noqa: SLF001 - a process loads the model once, and this test wants it loaded anew
    with pytest.raises(Unavailable, match="tested with"), pytest.warns(RuntimeWarning, match=r"pip install \., or set"):
        MiniLmEmbedder().embed(["tea"])
    monkeypatch.undo()
    assert MiniLmEmbedder().embed(["tea"]).shape == (1, 384)


def test_where_a_part_is_missing_it_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(open_embedder("auto"), MiniLmEmbedder)
    monkeypatch.setattr(minilm, "_NEEDED", ("onnxruntime", "a_package_that_is_nowhere"))
    with pytest.warns(RuntimeWarning, match=r'pip install \., or set embedder = "none"'):
        assert open_embedder("auto") is None
    with pytest.raises(Invalid, match=r"pip install \.; or use"):
        open_embedder("minilm")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff" * 64,
        b"\x02\0\0\0\0\0\0\0{}",
        b"\x02\0\0\0\0\0\0\0[]",
        b'\x0d\0\0\0\0\0\0\0{"places": 1}',
    ],
)
def test_bytes_that_are_no_weights_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"safetensors|weights"):
        open_model(path, unsigned=False)


def test_the_vocabulary_is_the_published_one() -> None:
    packed = files("credenda.providers.embed").joinpath("data", "vocabulary.txt.gz").read_bytes()
    digest = hashlib.sha256(gzip.decompress(packed)).hexdigest()
    assert digest == "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


def test_text_becomes_word_pieces() -> None:
    pieces = WordPieces(8)
    assert pieces.numbers(["Hello, World!", "", "\ud800", "naïve", "[SEP]", "unaffable"]) == [
        [101, 7592, 1010, 2088, 999, 102],
        [101, 102],
        [101, 102],
        [101, 15743, 102],
        [101, 1031, 19802, 1033, 102],
        [101, 14477, 20961, 3468, 102],
    ]
    (long,) = pieces.numbers(["word " * 50])
    assert (len(long), long[0], long[-1]) == (8, 101, 102)


_OFFLINE = """
import socket, sys
def refuse(*_, **__): raise OSError("no network in this test")
socket.socket.connect = socket.getaddrinfo = refuse
from credenda.providers.embed.factory import open_embedder
engine = open_embedder("auto")
assert engine is not None
assert not {"numpy", "onnxruntime", "tokenizers"} & set(sys.modules), "opening must load nothing"
engine.embed(["tea"])
assert "onnxruntime" in sys.modules
print(sorted(name for name in sys.modules if name.split(".")[0] in {"huggingface_hub", "torch", "onnx"}))
"""


def test_it_needs_no_network_and_no_hub() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _OFFLINE], capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
