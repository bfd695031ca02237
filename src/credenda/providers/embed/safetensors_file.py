"""Tensors of a safetensors file: a length of 8 bytes, a JSON object with types, shapes and places, and the numbers.

The format is documented at https://github.com/huggingface/safetensors#format.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["map_tensors", "read_header"]

_HEADER_BYTES: Final = 1 << 20
_LENGTH_BYTES: Final = 8
_ABOUT_FILE: Final = "__metadata__"
_TYPES: Final = {"F32": "<f4", "F16": "<f2", "I8": "<i1", "I64": "<i8"}


def read_header(path: Path) -> tuple[Mapping[str, Any], int]:
    """Read the tensor descriptions of a file, and the offset of their numbers; raises `ValueError`."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        if not 0 < size <= _HEADER_BYTES:
            raise ValueError(f"{path.name} is no safetensors file")
        return cast("Mapping[str, Any]", json.loads(file.read(size))), _LENGTH_BYTES + size


def map_tensors(path: Path) -> dict[str, NDArray[np.generic]]:
    """Return the tensors of a file by name, as views of the mapped file; raises `ValueError` for another file."""
    import numpy as np

    header, start = read_header(path)
    mapped = np.memmap(path, np.uint8, "r").data
    found: dict[str, NDArray[np.generic]] = {}
    try:
        for name, about in header.items():
            if name != _ABOUT_FILE:
                first, last = (start + int(place) for place in about["data_offsets"])
                found[name] = np.frombuffer(mapped[first:last], _TYPES[about["dtype"]]).reshape(about["shape"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path.name} has tensors of another form") from error
    return found
