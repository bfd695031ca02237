"""`credenda bench vectors`: how many of the exact ten nearest vectors a memory finds that no index in memory holds.

Each size is a user of its own, beside whom those of the other sizes stand in the same index. Vectors lie in groups, as
those of texts do, and questions lie near a vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from credenda.bootstrap import build_parts
from credenda.clock import seconds
from credenda.index.quantize import decode_rows, encode
from credenda.index.resident import copy_vectors, find_nearest_codes
from credenda.storage.store import Store, Vector, Writer

_MODEL: Final = "bench-vectors"
_BITS: Final = 16
_TOGETHER: Final = 512
_WANTED: Final = 10
_A_GROUP: Final = 40
_SPREAD: Final = 0.7
_NEAR: Final = 0.3
_SEED: Final = 89

Floats = NDArray[np.float32]


def run_vectors(
    target: str, *, sizes: Sequence[int], dims: int, questions: int, nominated: int, note: Callable[[str], None]
) -> dict[str, Any]:
    """Measure a database, which should be empty; return a JSON document."""
    parts = build_parts(target, user="vectors", embedder="none", llm="none")
    try:
        rows: list[dict[str, Any]] = []
        for size in sizes:
            rows.append(measure_recall(parts.store, size, dims=dims, questions=questions, nominated=nominated))
            note(f"{size:,} vectors: {rows[-1]}")
        return {"dims": dims, "questions": questions, "nominated": nominated, "sizes": rows}
    finally:
        parts.release()


def measure_recall(store: Store, size: int, *, dims: int, questions: int, nominated: int) -> dict[str, Any]:
    """File `size` vectors for a user, copy them to the index, if the backend has one, and ask for the ten nearest."""
    user, draw = f"vectors {size}", np.random.default_rng(_SEED + size)
    matrix = _draw_vectors(draw, size, dims)
    for start in range(0, size, _TOGETHER):
        _file(store, user, matrix[start : start + _TOGETHER], start)
    began = seconds()
    indexed = _copy_all(store, user)
    copied_seconds = seconds() - began
    asked = _normalise(matrix[draw.integers(0, size, questions)] + _NEAR * _draw_noise(draw, questions, dims))
    found, times = 0, list[float]()
    for question in asked:
        exact = _rank(matrix, question)
        began = seconds()
        with store.reader(user) as reader:
            codes = find_nearest_codes(reader, _MODEL, question, nominated)
            vectors = reader.vectors(codes, _MODEL)
        near = decode_rows([one.data for one in vectors], _BITS, dims)
        ranked = {vectors[int(at)].code for at in _rank(near, question)}
        times.append(seconds() - began)
        found += len({int(at) + 1 for at in exact} & ranked)
    return {
        "vectors": size,
        "indexed": indexed,
        "recall@10": round(found / (questions * min(_WANTED, size)), 4),
        "median_ms": round(median(times) * 1_000, 2),
        "copy_ms_a_vector": round(copied_seconds / size * 1_000, 3),
    }


def _draw_noise(draw: np.random.Generator, count: int, dims: int) -> Floats:
    return (draw.standard_normal((count, dims)) / np.sqrt(dims)).astype(np.float32)


def _draw_vectors(draw: np.random.Generator, count: int, dims: int) -> Floats:
    """Draw vectors around some centres, at the precision in which they are stored."""
    centres = _normalise(_draw_noise(draw, max(1, count // _A_GROUP), dims))
    drawn = centres[draw.integers(0, len(centres), count)] + _SPREAD * _draw_noise(draw, count, dims)
    return _normalise(drawn).astype(np.float16).astype(np.float32)


def _normalise(vectors: NDArray[np.floating]) -> Floats:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def _rank(matrix: Floats, question: Floats) -> NDArray[np.intp]:
    return np.argsort(-(matrix @ question), kind="stable")[:_WANTED]


def _file(store: Store, user: str, vectors: Floats, start: int) -> None:
    def work(writer: Writer) -> None:
        for place, vector in enumerate(vectors):
            code = start + place + 1
            data = encode(vector, _BITS)
            writer.put(Vector(code=code, model_id=_MODEL, dims=len(vector), bits=_BITS, scale=1.0, data=data))

    store.commit(user, work)


def _copy_all(store: Store, user: str) -> bool:
    """Copy all vectors to the index of the backend; return whether it has one."""
    copied = False
    while True:
        with store.reader(user) as reader:
            copies = copy_vectors(reader, _MODEL)
        if copies is None:
            return copied
        store.commit(user, lambda writer, copies=copies: writer.put(copies))
        copied = True
