"""The part of the ONNX format needed to write a graph, without a further dependency.

An ONNX file is one Protocol Buffers message. Field numbers are those of `onnx.proto` (github.com/onnx/onnx), the
encoding is protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

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
_EXTERNAL_BYTES: Final = 1 << 12
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

    def __init__(self) -> None:
        self._body: list[bytes] = []
        self._names: set[str] = set()
        self.outside: dict[str, Array] = {}
        """Tensors that the message only refers to; the runtime gets them separately."""

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
        if value.nbytes > _EXTERNAL_BYTES:
            self.outside[name] = value
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

    def to_bytes(self, inputs: Mapping[str, tuple[type[np.generic], int]], output: str) -> bytes:
        """Return the file; each input has a type and a number of dimensions. The output is float32."""
        body = [*self._body, _encode_message(2, "graph")]
        body += [
            _encode_message(11, _encode_value(name, np.dtype(kind), rank)) for name, (kind, rank) in inputs.items()
        ]
        body.append(
            _encode_message(
                12, _encode_message(1, output) + _encode_message(2, _encode_message(1, _encode_number(1, 1)))
            )
        )
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
