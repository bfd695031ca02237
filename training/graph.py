"""Write the encoder of a reader with a scale for each piece: `python -m training.graph FOLDER --name NAME`.

Dynamic quantization has one scale for all pieces that run together, so that a sentence would be read otherwise in
other company. With a scale for each piece sentences run together, and each is read as if it were alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from benchmarks.minilm_graph import EncoderBuilder, GraphBuilder

__all__ = ["convert"]

_NAMES: Final = {"out": "heard", "inner": "wide", "outer": "narrow"}
"""Matrices of a layer of `network.Layer`, and their names in the graph; the first three stand side by side."""
_SEEN: Final = ("query", "key", "value")
_NORMS: Final = {"norm_attention": "heard", "norm": "narrow"}
_WHOLE: Final = 1 << 31

Array = NDArray[np.generic]


class _ReaderBuilder(EncoderBuilder):
    def embed(self) -> None:
        """Look up the pieces and the kind of each, and add their positions."""
        graph = self.graph
        for name, chosen in (("words", "ids"), ("kinds", "typ")):
            graph.node("Gather", [self.take(f"{name}.weight"), chosen], f"{name}.found")
            scale = [self.take(f"{name}.{part}") for part in ("scale", "middle")]
            graph.node("DequantizeLinear", [f"{name}.found", *scale], f"{name}.meant")
        graph.node("Add", ["words.meant", "kinds.meant"], "meant")
        self.place("meant")

    def tag(self) -> None:
        """Add the scores of the roles."""
        graph = self.graph
        graph.node("Add", [self.times(self.states, "tags"), self.take("tags.bias")], "scores")
        graph.node("Reshape", ["scores", "whole"], "tags")
        graph.node("Reshape", [self.states, "whole"], "states")


def _name_tensors(model: onnx.ModelProto) -> tuple[dict[str, Array], int]:
    """Return the tensors of an exported encoder under the names of the graph, and its number of layers."""
    found = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    matrices = {
        node.name.removesuffix("/MatMul_quant").removeprefix("/").replace("/", "."): node.input[1]
        for node in model.graph.node
        if node.op_type == "MatMulInteger"
    }

    def get(name: str) -> tuple[Array, Array]:
        stem = matrices[name].removesuffix("_quantized")
        if found[f"{stem}_zero_point"].any():
            raise ValueError(f"{name} is not symmetric")
        return found[f"{stem}_quantized"], found[f"{stem}_scale"]

    inside = "reader.encoder"
    tensors = {f"norm.{part}": found[f"{inside}.norm.{part}"] for part in ("weight", "bias")}
    for name in ("words", "kinds"):
        tensors[f"{name}.weight"] = found[f"{inside}.{name}.weight_quantized"]
        tensors[f"{name}.scale"] = found[f"{inside}.{name}.weight_scale"]
        tensors[f"{name}.middle"] = found[f"{inside}.{name}.weight_zero_point"]
    stem = f"{inside}.places.weight"
    middle = found[f"{stem}_zero_point"].astype(np.float32)
    tensors["places"] = (found[f"{stem}_quantized"].astype(np.float32) - middle) * found[f"{stem}_scale"]
    tensors["tags.weight"], tensors["tags.scale"] = get("tags")
    tensors["tags.bias"] = found["reader.tags.bias"]
    layers = len({name.split(".")[2] for name in matrices if ".layers." in name})
    for layer in range(layers):
        own, parts = f"{inside}.layers.{layer}", [get(f"encoder.layers.{layer}.{name}") for name in _SEEN]
        tensors[f"{layer}.seen.weight"] = np.concatenate([matrix for matrix, _ in parts], axis=1)
        tensors[f"{layer}.seen.scale"] = np.concatenate([scale for _, scale in parts])
        tensors[f"{layer}.seen.bias"] = np.concatenate([found[f"{own}.{name}.bias"] for name in _SEEN])
        for name, called in _NAMES.items():
            tensors[f"{layer}.{called}.weight"], tensors[f"{layer}.{called}.scale"] = get(
                f"encoder.layers.{layer}.{name}"
            )
            tensors[f"{layer}.{called}.bias"] = found[f"{own}.{name}.bias"]
        for name, called in _NORMS.items():
            for part in ("weight", "bias"):
                tensors[f"{layer}.{called}.norm.{part}"] = found[f"{own}.{name}.{part}"]
    return tensors, layers


def convert(exported: bytes) -> bytes:
    """Return the graph of an encoder that `export.py` exported and quantized, with the same weights.

    Its inputs are `ids`, `mask` and `typ` (n, t) int64, its outputs `states` (n, t, 384) and `tags` (n, t, 21).
    """
    tensors, layers = _name_tensors(onnx.load_from_string(exported))
    builder = _ReaderBuilder(tensors, GraphBuilder(external_bytes=_WHOLE))
    builder.embed()
    builder.encode(layers)
    builder.tag()
    inputs: Mapping[str, tuple[type[np.generic], int]] = dict.fromkeys(("ids", "mask", "typ"), (np.int64, 2))
    return builder.graph.to_bytes(inputs, "states", "tags")


def _run(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m training.graph", description=__doc__)
    parser.add_argument("folder", type=Path, help="a reader that was exported with one scale for all pieces")
    parser.add_argument("--name", required=True)
    options = parser.parse_args(arguments)
    path, card_path = options.folder / "encoder.onnx", options.folder / "reader.json"
    written, card = convert(path.read_bytes()), json.loads(card_path.read_text("utf-8"))
    card["reader_id"], card["together"] = options.name, True
    card["sha256"]["encoder.onnx"] = hashlib.sha256(written).hexdigest()
    path.write_bytes(written)
    card_path.write_text(json.dumps(card, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    _run(sys.argv[1:])
