"""The network of all-MiniLM-L6-v2 as a graph with eight-bit products and a scale for each token.

The package stores the weights as eight-bit integers with a scale for each column. Its own graph converts them to floats
at every start and computes in float32; this one multiplies them directly. The usual method (dynamic quantization) has
one scale for all activations of a batch, so that a text's vector depends on the other texts. Here every token has its
own scale: the largest of its 384 numbers becomes 127.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from credenda.providers.embed.onnx_format import GraphBuilder

__all__ = ["build_graph", "build_overflow_probe", "build_projection"]

Array = NDArray[np.generic]
Floats = NDArray[np.float32]

_LAYERS: Final = 6
_HEADS: Final = 12
_WIDTH: Final = 384
_STEPS: Final = 127
"""Integers on either side of zero."""
_EPSILON: Final = 1e-12
_MATRICES: Final = ("query", "key", "value", "attention", "wide", "narrow")
"""The matrices of a layer in the order of the file, which names them by number."""
_EMBEDDINGS: Final = "inner.embeddings"
_FIRST_MATRIX: Final = re.compile(r"val_(\d+)_q")


class _Weights:
    """The tensors of the file by their role."""

    def __init__(self, tensors: Mapping[str, Array]) -> None:
        """Take the tensors by their names in the file."""
        self._tensors = tensors
        numbers = sorted(int(found[1]) for found in map(_FIRST_MATRIX.fullmatch, tensors) if found)
        self._matrices = [f"val_{number}" for number in numbers]
        if len(numbers) != _LAYERS * len(_MATRICES):
            raise ValueError("this is not the file with the weights")

    def matrix(self, layer: int, *names: str) -> tuple[NDArray[np.int8], Floats]:
        """Return matrices side by side, (inputs, outputs), and the scale of each column."""
        found = [self._matrices[layer * len(_MATRICES) + _MATRICES.index(name)] for name in names]
        whole = np.concatenate([self._tensors[f"{name}_q"] for name in found], axis=1)
        scales = np.concatenate([self._tensors[f"{name}_scale"].ravel() for name in found])
        return whole.astype(np.int8, copy=False), scales.astype(np.float32, copy=False)

    def vectors(self, layer: int, *names: str) -> Floats:
        """Return biases or the weights of a norm, one after the other."""
        found = [self._tensors[f"inner.encoder.layer.{layer}.{name}"] for name in names]
        return np.concatenate(found).astype(np.float32, copy=False)

    def embedding(self, name: str) -> tuple[Array, Array]:
        """Return a table of embeddings and the scale of each row."""
        return self._tensors[f"{_EMBEDDINGS}.{name}.weight_q"], self._tensors[f"{_EMBEDDINGS}.{name}.weight_scale"]

    def plain(self, name: str) -> Floats:
        """Return a part of the embeddings that is stored as floats."""
        return self._tensors[f"{_EMBEDDINGS}.{name}"].astype(np.float32, copy=False)


def build_graph(tensors: Mapping[str, Array], *, tokens: int, unsigned: bool) -> tuple[bytes, dict[str, Array]]:
    """Return the graph, and the tensors to pass to the runtime with it; raises `ValueError` for other weights.

    Inputs are `ids` (n, t) int64 and `mask` (n, t) int32, 1 for a token; the output `states` is (n, t, 384) float32.
    `unsigned` adds 128 to the weights, for processors whose product of signed and unsigned numbers overflows.
    """
    try:
        builder = _Builder(_Weights(tensors), unsigned=unsigned)
        builder.embed(tokens)
        for layer in range(_LAYERS):
            builder.layer(layer)
    except KeyError as error:
        raise ValueError("this is not the file with the weights") from error
    graph = builder.graph
    graph.node("Reshape", [builder.states, "whole"], "states")
    return graph.to_bytes({"ids": (np.int64, 2), "mask": (np.int32, 2)}, "states"), graph.outside


class _Builder:
    """Adds parts to a graph in order; `states` names the rows, one per token, that the next part works on."""

    def __init__(self, weights: _Weights, *, unsigned: bool) -> None:
        self._weights = weights
        self._unsigned = unsigned
        self.graph = GraphBuilder()
        self.states = ""

    def embed(self, tokens: int) -> None:
        """Look up the tokens, add their positions, and concatenate all texts."""
        graph, weights = self.graph, self._weights
        table, scales = weights.embedding("word_embeddings")
        graph.node("Gather", [graph.tensor("words", table), "ids"], "found")
        graph.node("Cast", ["found"], "numbers", to=1)
        graph.node("Gather", [graph.tensor("word_scales", scales), "ids"], "scales")
        graph.node("Mul", ["numbers", "scales"], "meant")
        places, place_scales = weights.embedding("position_embeddings")
        standing = places[:tokens].astype(np.float32) * place_scales[:tokens].astype(np.float32)
        first = weights.plain("token_type_embeddings.weight")[0]
        graph.tensor("places", standing + first)
        graph.node("Shape", ["ids"], "length", start=1, end=2)
        graph.node("Slice", ["places", self._axis(0), "length", self._axis(0)], "standing")
        graph.node("Add", ["meant", "standing"], "embedded")
        norm = [graph.tensor(f"embedded_{name}", weights.plain(f"LayerNorm.{name}")) for name in ("weight", "bias")]
        graph.node("LayerNormalization", ["embedded", *norm], "normal", axis=-1, epsilon=_EPSILON)
        self.states = graph.node("Reshape", ["normal", graph.tensor("flat", np.array([-1, _WIDTH], np.int64))], "rows")
        graph.node("Shape", ["ids"], "shape")
        graph.node("Concat", ["shape", self._axis(-1)], "whole", axis=0)
        graph.node("Shape", ["rows"], "count", start=0, end=1)
        graph.node("Expand", [self._middle(), "count"], "middles")

    def layer(self, layer: int) -> None:
        """Add attention and the two wide matrices, each followed by its norm."""
        graph, weights = self.graph, self._weights
        parts = ("query", "key", "value")
        bias = weights.vectors(layer, *(f"attention.self.{name}.bias" for name in parts))
        graph.node("Reshape", [self._times(self.states, layer, *parts), "whole"], f"{layer}.seen")
        graph.node("Split", [f"{layer}.seen"], *(f"{layer}.{name}s" for name in parts), axis=-1, num_outputs=3)
        inputs = [*(f"{layer}.{name}s" for name in parts), graph.tensor(f"{layer}.seen_bias", bias), "mask"]
        graph.node("com.microsoft:MultiHeadAttention", inputs, f"{layer}.heads", num_heads=_HEADS)
        graph.node("Reshape", [f"{layer}.heads", "flat"], f"{layer}.heard")
        self._norm(self._times(f"{layer}.heard", layer, "attention"), layer, "attention.output")
        bias = weights.vectors(layer, "intermediate.dense.bias")
        inputs = [self._times(self.states, layer, "wide"), graph.tensor(f"{layer}.wide_bias", bias)]
        graph.node("com.microsoft:BiasGelu", inputs, f"{layer}.active")
        self._norm(self._times(f"{layer}.active", layer, "narrow"), layer, "output")

    def _norm(self, rows: str, layer: int, name: str) -> None:
        """Add a bias and the residual input, and normalise; the next part works on the result."""
        kept = ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")
        vectors = [
            self.graph.tensor(f"{layer}.{name}.{one}", self._weights.vectors(layer, f"{name}.{one}")) for one in kept
        ]
        inputs = [rows, self.states, *vectors]
        self.states = self.graph.node(
            "com.microsoft:SkipLayerNormalization", inputs, f"{layer}.{name}.rows", epsilon=_EPSILON
        )

    def _times(self, rows: str, layer: int, *names: str) -> str:
        """Multiply rows by matrices: quantise row by row, sum exactly, scale back."""
        graph, name = self.graph, f"{layer}.{names[0]}"
        graph.node("ReduceMax", [rows, self._axis(-1)], f"{name}.high", keepdims=1)
        graph.node("ReduceMin", [rows, self._axis(-1)], f"{name}.low", keepdims=1)
        graph.node("Neg", [f"{name}.low"], f"{name}.depth")
        least = graph.tensor("least", np.array(_EPSILON, np.float32))  # a scale is a divisor
        graph.node("Max", [f"{name}.high", f"{name}.depth", least], f"{name}.range")
        step = graph.tensor("step", np.array(1 / _STEPS, np.float32))
        graph.node("Mul", [f"{name}.range", step], f"{name}.steps")
        graph.node("Squeeze", [f"{name}.steps", self._axis(-1)], f"{name}.scales")
        graph.node("QuantizeLinear", [rows, f"{name}.scales", "middles"], f"{name}.whole", axis=0)
        matrix, columns = self._weights.matrix(layer, *names)
        inputs = [f"{name}.whole", graph.tensor(f"{name}.matrix", _store_matrix(matrix, unsigned=self._unsigned))]
        inputs += [graph.tensor("one", np.array(1, np.float32)), graph.tensor(f"{name}.columns", columns)]
        inputs += [self._middle(), *([graph.tensor("half", np.array(128, np.uint8))] if self._unsigned else [])]
        graph.node("com.microsoft:MatMulIntegerToFloat", inputs, f"{name}.sums")
        return graph.node("Mul", [f"{name}.sums", f"{name}.steps"], f"{name}.product")

    def _axis(self, axis: int) -> str:
        return self.graph.tensor(f"axis_{axis}", np.array([axis], np.int64))

    def _middle(self) -> str:
        """Return the name of the integer zero point."""
        return self.graph.tensor("middle", np.array(_STEPS + 1, np.uint8))


def _store_matrix(matrix: NDArray[np.int8], *, unsigned: bool) -> Array:
    return matrix.view(np.uint8) ^ np.uint8(128) if unsigned else matrix


def build_overflow_probe() -> tuple[bytes, NDArray[np.uint8], int]:
    """Return a graph that multiplies `rows` (1, n) by a signed matrix, such rows, and the expected sum.

    Processors without a dedicated instruction add two products in 16 bits, where the largest overflow.
    """
    size = 64
    graph = GraphBuilder()
    graph.node("MatMulInteger", ["rows", graph.tensor("matrix", np.full((size, size), 127, np.int8))], "sums")
    graph.node("Cast", ["sums"], "floats", to=1)
    return graph.to_bytes({"rows": (np.uint8, 2)}, "floats"), np.full((1, size), 255, np.uint8), 255 * 127 * size


def build_projection(axes: Floats) -> tuple[bytes, dict[str, Array]]:
    """Return a graph that multiplies `rows` (n, 384) by the axes (384, d), and the tensors to pass with it.

    A product by numpy would wake all threads of its library for each batch, and they wait busily: twice the processor
    time of the whole encoding.
    """
    graph = GraphBuilder()
    graph.node("MatMul", ["rows", graph.tensor("axes", axes)], "projected")
    return graph.to_bytes({"rows": (np.float32, 2)}, "projected"), graph.outside
