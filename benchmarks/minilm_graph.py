"""Write the network of all-MiniLM-L6-v2 as a graph with eight-bit products and a scale for each token.

python -m benchmarks.minilm_graph      # into src/credenda/providers/embed/data, byte by byte the same

The weights are eight-bit integers with a scale for each column (`benchmarks/build_models.py`), which the graph
multiplies directly. The usual method (dynamic quantization) has one scale for all activations of a batch, so that a
text's vector depends on the other texts. Here every token has its own scale: the largest of its 384 numbers becomes
127.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from credenda.providers.embed.minilm import find_weights, map_tensors

# The part of the ONNX format needed to write a graph, without a further dependency.


Array = NDArray[np.generic]
Attribute = int | float | Sequence[int]

_VARINT: Final = 0
_BYTES: Final = 2
_LOW: Final = 0x7F
"""Seven bits of a number in each byte; the eighth means that more follow."""
_TYPES: Final[Mapping[int, type[np.generic]]] = {1: np.float32, 2: np.uint8, 3: np.int8, 6: np.int32, 7: np.int64}
"""TensorProto.DataType of the supported types."""
_NUMBERS: Final[Mapping[np.dtype[np.generic], int]] = {np.dtype(kind): number for number, kind in _TYPES.items()}
_IR_VERSION: Final = 9
_OPSETS: Final = {"": 18, "com.microsoft": 1}
_EXTERNAL_BYTES: Final = 1 << 10
"""Larger tensors stay outside the message: the runtime gets their memory instead of a copy."""


def _encode_varint(value: int) -> bytes:
    """Encode a number as a varint; a negative one as its two's complement of 64 bits."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > _LOW:
        out.append(value & _LOW | _LOW + 1)
        value >>= 7
    out.append(value)
    return bytes(out)


def _encode_number(field: int, value: int) -> bytes:
    return _encode_varint(field << 3 | _VARINT) + _encode_varint(value)


def _encode_message(field: int, value: bytes | str) -> bytes:
    content = value.encode() if isinstance(value, str) else value
    return _encode_varint(field << 3 | _BYTES) + _encode_varint(len(content)) + content


class GraphBuilder:
    """A graph under construction: operations in the order they run, and the tensors they need."""

    def __init__(self, *, external_bytes: int = _EXTERNAL_BYTES) -> None:
        """Start empty; tensors of more than `external_bytes` stay outside the file."""
        self._external_bytes = external_bytes
        self._body: list[bytes] = []
        self._names: set[str] = set()

    def tensor(self, name: str, value: Array) -> str:
        """Add a tensor, unless one of that name was added before, and return its name."""
        if name in self._names:
            return name
        self._names.add(name)
        value = np.require(value, requirements="C")
        head = (
            b"".join(_encode_number(1, size) for size in value.shape)
            + _encode_number(2, _NUMBERS[value.dtype])
            + _encode_message(8, name)
        )
        if value.nbytes > self._external_bytes:
            data = _encode_message(13, _encode_message(1, "location") + _encode_message(2, name)) + _encode_number(
                14, 1
            )
        else:
            data = _encode_message(9, value.tobytes())
        self._body.append(_encode_message(5, head + data))
        return name

    def node(self, operation: str, inputs: Sequence[str], *outputs: str, **attributes: Attribute) -> str:
        """Add an operation, of the runtime's own set if its name contains a colon, and return its first output."""
        domain, _, kind = operation.rpartition(":")
        names = b"".join(_encode_message(1, name) for name in inputs) + b"".join(
            _encode_message(2, name) for name in outputs
        )
        values = b"".join(_encode_message(5, _encode_attribute(name, value)) for name, value in attributes.items())
        self._body.append(_encode_message(1, names + _encode_message(4, kind) + values + _encode_message(7, domain)))
        return outputs[0]

    def to_bytes(self, inputs: Mapping[str, tuple[type[np.generic], int]], *outputs: str) -> bytes:
        """Return the file; each input has a type and a number of dimensions. The outputs are float32."""
        body = [*self._body, _encode_message(2, "graph")]
        body += [
            _encode_message(11, _encode_value(name, np.dtype(kind), rank)) for name, (kind, rank) in inputs.items()
        ]
        floats = _encode_message(2, _encode_message(1, _encode_number(1, 1)))
        body += [_encode_message(12, _encode_message(1, output) + floats) for output in outputs]
        sets = (_encode_message(1, domain) + _encode_number(2, version) for domain, version in _OPSETS.items())
        return b"".join(
            [
                _encode_number(1, _IR_VERSION),
                _encode_message(7, b"".join(body)),
                *(_encode_message(8, one) for one in sets),
            ]
        )


def _encode_value(name: str, kind: np.dtype[np.generic], rank: int) -> bytes:
    shape = b"".join(_encode_message(1, _encode_message(2, f"{name}_{axis}")) for axis in range(rank))
    return _encode_message(1, name) + _encode_message(
        2, _encode_message(1, _encode_number(1, _NUMBERS[kind]) + _encode_message(2, shape))
    )


def _encode_attribute(name: str, value: Attribute) -> bytes:
    """Encode an attribute with its AttributeType: 1 float, 2 integer, 7 integers."""
    if isinstance(value, float):
        body, kind = _encode_varint(2 << 3 | 5) + struct.pack("<f", value), 1
    elif isinstance(value, int):
        body, kind = _encode_number(3, value), 2
    else:
        body, kind = b"".join(_encode_number(8, one) for one in value), 7
    return _encode_message(1, name) + body + _encode_number(20, kind)


_LAYERS: Final = 6
_HEADS: Final = 12
_HEAD: Final = 32
"""Width of a head."""
_FAR: Final = 1e4
"""Of what lies so far off, the share is exactly 0."""
_WIDTH: Final = 384
_STEPS: Final = 127
"""Integers on either side of zero."""
_EPSILON: Final = 1e-12


def build_graph(tensors: Mapping[str, Array], *, unsigned: bool) -> bytes:
    """Return the graph; the runtime gets the tensors of more than 4,096 bytes beside it.

    Inputs are `ids` (n, t) int64 and `mask` (n, t) int32, 1 for a token; the output `states` is (n, t, 384) float32.
    `unsigned` adds 128 to the weights, for processors whose product of signed and unsigned numbers overflows.
    """
    builder = EncoderBuilder(tensors, GraphBuilder(), unsigned=unsigned)
    builder.embed()
    builder.encode(_LAYERS)
    graph = builder.graph
    graph.node("Reshape", [builder.states, "whole"], "states")
    return graph.to_bytes({"ids": (np.int64, 2), "mask": (np.int32, 2)}, "states")


class EncoderBuilder:
    """Adds parts to a graph in order; `states` names the rows, one per token, that the next part works on."""

    def __init__(self, tensors: Mapping[str, Array], graph: GraphBuilder, *, unsigned: bool = False) -> None:
        self._tensors = tensors
        self._unsigned = unsigned
        self.graph = graph
        self.states = ""

    def embed(self) -> None:
        """Look up the tokens, and add their positions."""
        graph = self.graph
        graph.node("Gather", [self.take("words.weight"), "ids"], "found")
        graph.node("Cast", ["found"], "numbers", to=1)
        graph.node("Gather", [self.take("words.scale"), "ids"], "scales")
        graph.node("Mul", ["numbers", "scales"], "meant")
        self.place("meant")

    def place(self, meant: str) -> None:
        """Add the positions of the tokens, normalise, and concatenate all texts."""
        graph = self.graph
        graph.node("Shape", ["ids"], "length", start=1, end=2)
        graph.node("Slice", [self.take("places"), self._axis(0), "length", self._axis(0)], "standing")
        graph.node("Add", [meant, "standing"], "embedded")
        norm = [self.take(f"norm.{name}") for name in ("weight", "bias")]
        graph.node("LayerNormalization", ["embedded", *norm], "normal", axis=-1, epsilon=_EPSILON)
        self.states = graph.node("Reshape", ["normal", graph.tensor("flat", np.array([-1, _WIDTH], np.int64))], "rows")
        graph.node("Shape", ["ids"], "shape")
        graph.node("Concat", ["shape", self._axis(-1)], "whole", axis=0)
        graph.node("Shape", ["rows"], "count", start=0, end=1)
        graph.node("Expand", [self._middle(), "count"], "middles")

    def encode(self, layers: int) -> None:
        """Add the layers; where `mask` is 0, nothing is seen."""
        graph = self.graph
        graph.node("Concat", ["shape", graph.tensor("heads", np.array([3, _HEADS, _HEAD], np.int64))], "parted", axis=0)
        graph.node("Cast", ["mask"], "shown", to=1)
        graph.node("Sub", ["shown", graph.tensor("one", np.array(1, np.float32))], "absent")
        graph.node("Mul", ["absent", graph.tensor("far", np.array(_FAR, np.float32))], "away")
        graph.node("Unsqueeze", ["away", graph.tensor("axes_1_2", np.array([1, 2], np.int64))], "hidden")
        for layer in range(layers):
            self._layer(layer)

    def _layer(self, layer: int) -> None:
        """Add attention and the two wide matrices, each followed by its norm.

        The runtime's own fused attention and fused norm take longer than their parts, the norm five times as long.
        """
        graph = self.graph
        graph.node("Add", [self.times(self.states, f"{layer}.seen"), self.take(f"{layer}.seen.bias")], f"{layer}.all")
        graph.node("Reshape", [f"{layer}.all", "parted"], f"{layer}.parted")
        graph.node("Transpose", [f"{layer}.parted"], f"{layer}.apart", perm=[2, 0, 3, 1, 4])
        parts = [f"{layer}.{name}" for name in ("queries", "keys", "values")]
        graph.node("Split", [f"{layer}.apart"], *(f"{part}.one" for part in parts), axis=0, num_outputs=len(parts))
        for part in parts:
            graph.node("Squeeze", [f"{part}.one", self._axis(0)], part)
        scale = float(_HEAD**-0.5)
        graph.node("com.microsoft:FusedMatMul", parts[:2], f"{layer}.alike", transB=1, alpha=scale)
        graph.node("Add", [f"{layer}.alike", "hidden"], f"{layer}.near")
        graph.node("Softmax", [f"{layer}.near"], f"{layer}.shares", axis=-1)
        graph.node("MatMul", [f"{layer}.shares", parts[2]], f"{layer}.mixed")
        graph.node("Transpose", [f"{layer}.mixed"], f"{layer}.heads", perm=[0, 2, 1, 3])
        graph.node("Reshape", [f"{layer}.heads", "flat"], f"{layer}.rows")
        self._norm(f"{layer}.rows", f"{layer}.heard")
        inputs = [self.times(self.states, f"{layer}.wide"), self.take(f"{layer}.wide.bias")]
        graph.node("com.microsoft:BiasGelu", inputs, f"{layer}.active")
        self._norm(f"{layer}.active", f"{layer}.narrow")

    def _norm(self, rows: str, name: str) -> None:
        """Multiply, add a bias and the residual input, and normalise; the next part works on the result."""
        graph = self.graph
        graph.node("Add", [self.times(rows, name), self.take(f"{name}.bias")], f"{name}.moved")
        graph.node("Add", [f"{name}.moved", self.states], f"{name}.added")
        inputs = [f"{name}.added", *(self.take(f"{name}.norm.{one}") for one in ("weight", "bias"))]
        self.states = graph.node("LayerNormalization", inputs, f"{name}.normal", axis=-1, epsilon=_EPSILON)

    def times(self, rows: str, name: str) -> str:
        """Multiply rows by a matrix: quantise row by row, sum exactly, scale back."""
        graph = self.graph
        graph.node("ReduceMax", [rows, self._axis(-1)], f"{name}.high", keepdims=1)
        graph.node("ReduceMin", [rows, self._axis(-1)], f"{name}.low", keepdims=1)
        graph.node("Neg", [f"{name}.low"], f"{name}.depth")
        least = graph.tensor("least", np.array(_EPSILON, np.float32))  # a scale is a divisor
        graph.node("Max", [f"{name}.high", f"{name}.depth", least], f"{name}.range")
        step = graph.tensor("step", np.array(1 / _STEPS, np.float32))
        graph.node("Mul", [f"{name}.range", step], f"{name}.steps")
        graph.node("Squeeze", [f"{name}.steps", self._axis(-1)], f"{name}.scales")
        graph.node("QuantizeLinear", [rows, f"{name}.scales", "middles"], f"{name}.whole", axis=0)
        matrix = _store_matrix(self._tensors[f"{name}.weight"], unsigned=self._unsigned)
        inputs = [f"{name}.whole", graph.tensor(f"{name}.weight", matrix)]
        inputs += [graph.tensor("one", np.array(1, np.float32)), self.take(f"{name}.scale")]
        inputs += [self._middle(), *([graph.tensor("half", np.array(128, np.uint8))] if self._unsigned else [])]
        graph.node("com.microsoft:MatMulIntegerToFloat", inputs, f"{name}.sums")
        return graph.node("Mul", [f"{name}.sums", f"{name}.steps"], f"{name}.product")

    def take(self, name: str) -> str:
        """Add a tensor of the file under its own name."""
        return self.graph.tensor(name, self._tensors[name])

    def _axis(self, axis: int) -> str:
        return self.graph.tensor(f"axis_{axis}", np.array([axis], np.int64))

    def _middle(self) -> str:
        """Return the name of the integer zero point."""
        return self.graph.tensor("middle", np.array(_STEPS + 1, np.uint8))


def _store_matrix(matrix: Array, *, unsigned: bool) -> Array:
    return matrix.view(np.uint8) ^ np.uint8(128) if unsigned else matrix


def build_overflow_probe() -> bytes:
    """Return a graph that multiplies `rows` (n, 64) by a signed matrix.

    Processors without a dedicated instruction add two products in 16 bits, where the largest overflow.
    """
    size = 64
    graph = GraphBuilder(external_bytes=1 << 12)
    graph.node("MatMulInteger", ["rows", graph.tensor("matrix", np.full((size, size), 127, np.int8))], "sums")
    graph.node("Cast", ["sums"], "floats", to=1)
    return graph.to_bytes({"rows": (np.uint8, 2)}, "floats")


def build_projection() -> bytes:
    """Return a graph that multiplies `rows` (n, 384) by the `axes` (384, 64), which the runtime gets beside it.

    A product by numpy would wake all threads of its library for each batch, and they wait busily: twice the processor
    time of the whole encoding.
    """
    graph = GraphBuilder()
    graph.node("MatMul", ["rows", graph.tensor("axes", np.zeros((_WIDTH, 64), np.float32))], "projected")
    return graph.to_bytes({"rows": (np.float32, 2)}, "projected")


def build_files(tensors: Mapping[str, Array]) -> dict[str, bytes]:
    """Return the four graphs that ship, by the names of their files."""
    return {
        "minilm.onnx": build_graph(tensors, unsigned=False),
        "minilm_unsigned.onnx": build_graph(tensors, unsigned=True),
        "overflow_probe.onnx": build_overflow_probe(),
        "token_projection.onnx": build_projection(),
    }


if __name__ == "__main__":
    for name, content in build_files(map_tensors(find_weights())).items():
        (Path(__file__).parents[1] / "src/credenda/providers/embed/data" / name).write_bytes(content)
