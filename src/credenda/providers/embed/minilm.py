"""all-MiniLM-L6-v2 on this machine: weights from a package, run by onnxruntime, without torch and without a network."""

from __future__ import annotations

import gzip
import hashlib
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, cast

from credenda.errors import Unavailable, format_install
from credenda.lazy import load_runtime
from credenda.providers import embed
from credenda.text.normalize import join_surrogates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from credenda.providers.embed.factory import TokenVectors

    Array = NDArray[np.generic]


_MODEL_ID: Final = "minilm-l6-v2-int8-1"
_DIMS: Final = 384
_TOKEN_MODEL_ID: Final = f"{_MODEL_ID}/tokens-1"
_TOKEN_DIMS: Final = 64
_TOKENS_KEPT: Final = 128
"""Most tokens of a text that get a vector."""
_TOKENS: Final = 256
"""The model reads only as many tokens of a text as it was trained on."""
_BATCH_TOKENS: Final = 256
"""Most tokens run at once: activations stay in the processor's cache; with twice as many each takes a tenth longer."""
_SPECIAL: Final = 2
"""Special tokens of every text, at its ends."""
_PACKAGE: Final = "credenda_models"
_WEIGHTS: Final = "minilm.safetensors"
_CLAIMS: Final = "claims.safetensors"
_WORDS: Final = "words.weight"
_INSIDE_BYTES: Final = 1_024
"""Tensors up to this size stand in the graph itself."""
WEIGHTS_SHA256: Final = "1ec83b970c1a66925d93929f677ba2863b07d1124ccc6aa01b91e1bdaa8f8eed"
CLAIMS_SHA256: Final = "66d5b99765812663b87597ff710dccebb5ad3cb572063ab5547c61b08a542e3f"
_NEEDED: Final = ("onnxruntime", "tokenizers", _PACKAGE)

_LOADING: Final = Lock()


def list_missing() -> list[str]:
    """Return the requirements of the model that are not installed, without importing any of them."""
    return [name for name in _NEEDED if find_spec(name) is None]


class MiniLmEmbedder:
    """A small English embedding model: 384 dimensions, the first 256 tokens of a text.

    The model is loaded at the first text and shared by the whole process. Each text runs on the calling thread, so that
    several may run at once. Only texts of equal length run together and every token is rounded separately, so a vector
    depends on its text alone.
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
        return _embed(texts, claims=False)

    def embed_claims(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors (n, 384) of claims and of questions about them, from the encoder taught with both."""
        return _embed(texts, claims=True)

    @property
    def token_model_id(self) -> str:
        """Name of the model and of the projection of its token states."""
        return _TOKEN_MODEL_ID

    @property
    def token_dims(self) -> int:
        """Dimensions of every token vector."""
        return _TOKEN_DIMS

    def embed_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[TokenVectors]]:
        """Return the vectors of `embed`, and the first 128 tokens of each text as projected states of unit length."""
        import numpy as np

        out = np.empty((len(texts), _DIMS), np.float32)
        tokens: dict[int, TokenVectors] = {}
        pieces, model = _get_loaded()
        projection, split = _load_projection(), pieces.split(texts)
        for places, states in _run_batches(model, [numbers for numbers, _ in split]):
            means = states.mean(axis=1)
            out[places] = means / np.linalg.norm(means, axis=1, keepdims=True)
            kept = slice(1, min(states.shape[1] - 1, _TOKENS_KEPT + 1)) if states.shape[1] > _SPECIAL else slice(0, 1)
            rows = np.ascontiguousarray(states[:, kept]).reshape(-1, _DIMS)
            projected = projection.run(rows=rows).reshape(len(places), -1, _TOKEN_DIMS)
            projected /= np.linalg.norm(projected, axis=2, keepdims=True)
            for place, vectors in zip(places, projected, strict=True):
                tokens[place] = embed.factory.TokenVectors(vectors, split[place][1][kept])
        return out, [tokens[place] for place in range(len(texts))]


def _embed(texts: Sequence[str], *, claims: bool) -> NDArray[np.float32]:
    import numpy as np

    out = np.empty((len(texts), _DIMS), np.float32)
    if not len(texts):
        return out
    pieces, model = _get_loaded(claims=claims)
    for places, states in _run_batches(model, pieces.numbers(texts)):
        means = states.mean(axis=1)
        out[places] = means / np.linalg.norm(means, axis=1, keepdims=True)
    return out


def _run_batches(model: OnnxModel, numbers: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
    """Yield the places of some texts of equal length, and the states of their tokens, (n, t, 384)."""
    import numpy as np

    for places in _group_batches([len(one) for one in numbers]):
        ids = np.array([numbers[place] for place in places], np.int64)
        yield places, model.run(ids=ids, mask=np.ones(ids.shape, np.int32))


@cache
def _load_projection() -> OnnxModel:
    """Return the projection of token states to (n, 64): principal axes, fitted by `benchmarks/fit_projection.py`."""
    import numpy as np

    packed = files("credenda.providers.embed").joinpath("data", "token_projection.f16").read_bytes()
    axes = np.frombuffer(packed, "<f2").astype(np.float32).reshape(_DIMS, _TOKEN_DIMS)
    return OnnxModel(_read_graph("token_projection"), {"axes": axes})


def _group_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Group texts of equal length, the shortest first: without padding no computation is wasted."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        length = lengths[place]
        if batch and (length != lengths[batch[-1]] or (len(batch) + 1) * length > _BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _get_loaded(*, claims: bool = False) -> tuple[WordPieces, OnnxModel]:
    """Return tokenizer and model, that of texts or of claims, loaded once for the process by the first thread."""
    with _LOADING:
        return _load(claims=claims)


@cache
def _load(*, claims: bool) -> tuple[embed.minilm.WordPieces, OnnxModel]:
    try:
        return _load_pieces(), open_model(find_weights(), find_claim_weights() if claims else None)
    except (ImportError, OSError, ValueError) as error:
        fix = f'{format_install()}, or set embedder = "none"; search by words works meanwhile'
        failed = Unavailable("the local model cannot be loaded", why=str(error), fix=fix)
        warnings.warn(str(failed), RuntimeWarning, stacklevel=2)  # whoever searches by words instead says nothing
        raise failed from error


@cache
def _load_pieces() -> WordPieces:
    return WordPieces(_TOKENS)


def find_weights() -> Path:
    """Return the path of the installed weights after a check of their hash; raises `ImportError` or `ValueError`."""
    return _find_checked(_WEIGHTS, WEIGHTS_SHA256)


def find_claim_weights() -> Path:
    """Return the path of the weights that claims have instead, as `find_weights` does."""
    return _find_checked(_CLAIMS, CLAIMS_SHA256)


def _find_checked(name: str, digest: str) -> Path:
    path = Path(import_module(_PACKAGE).__file__ or "").with_name(name)
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != digest:
        raise ValueError(f"{path} is not the file that this version was tested with")
    return path


def open_model(weights: Path, changed: Path | None = None, *, unsigned: bool | None = None) -> OnnxModel:
    """Return the network, ready to run, with the tensors of another file in place of those of the same name.

    `unsigned` selects the weight format; None asks the runtime which one is exact on this processor.
    """
    import numpy as np

    is_unsigned = _has_overflow() if unsigned is None else unsigned
    tensors = map_tensors(weights) | (map_tensors(changed) if changed is not None else {})
    outside = {name: value for name, value in tensors.items() if value.nbytes > _INSIDE_BYTES}
    if _WORDS not in outside:
        raise ValueError("this is not the file with the weights")
    if is_unsigned:
        outside |= {
            name: value.view(np.uint8) ^ np.uint8(128)
            for name, value in outside.items()
            if value.dtype == np.int8 and name != _WORDS
        }
    return OnnxModel(_read_graph("minilm_unsigned" if is_unsigned else "minilm"), outside)


def _has_overflow() -> bool:
    """Return whether products of unsigned and signed numbers overflow on this processor."""
    import numpy as np

    rows = np.full((1, 64), 255, np.uint8)
    return bool((OnnxModel(_read_graph("overflow_probe"), {}).run(rows=rows) != 255 * 127 * 64).any())


def _read_graph(name: str) -> bytes:
    """Read a graph that `benchmarks/minilm_graph.py` wrote."""
    return files("credenda.providers.embed").joinpath("data", f"{name}.onnx").read_bytes()


class OnnxModel:
    """A graph in onnxruntime: several threads may run it at once, each on the calling thread."""

    def __init__(self, message: bytes, outside: Mapping[str, Array]) -> None:
        """Prepare a graph; `outside` are tensors that it refers to, used in place."""
        runtime = load_runtime()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL  # the order is already right
        options.enable_cpu_mem_arena = False  # it grows to the largest batch ever seen and never shrinks
        options.log_severity_level = 3
        self._outside = [runtime.OrtValue.ortvalue_from_numpy(value) for value in outside.values()]  # keeps them alive
        options.add_external_initializers(list(outside), self._outside)
        self._session = runtime.InferenceSession(message, options, providers=["CPUExecutionProvider"])

    def run(self, **inputs: Array) -> NDArray[np.float32]:
        """Return the output for inputs by name."""
        (output,) = self._session.run(None, inputs)
        return output


# Tensors of a safetensors file: a length of 8 bytes, a JSON object with types, shapes and places, and the numbers.


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


# Tokenization of text into word piece numbers, as in BERT base uncased and the models trained after it.


_WORD_CHARACTERS: Final = 100
"""A longer word is unknown."""


class WordPieces:
    """The tokenizer of BERT base uncased, built from the vocabulary that ships.

    Splits text exactly as the `tokenizer.json` published with all-MiniLM-L6-v2 does, except for the model's special
    tokens: "[SEP]" inside a text is four ordinary pieces, not the end of a sentence.
    """

    def __init__(self, tokens: int | None) -> None:
        """Cut texts to `tokens` pieces, including the special tokens at both ends; None cuts nothing."""
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

        packed = files("credenda.providers.embed").joinpath("data", "vocabulary.txt.gz").read_bytes()
        vocabulary = {
            piece: number for number, piece in enumerate(gzip.decompress(packed).decode("utf-8").splitlines())
        }
        pieces: Tokenizer = Tokenizer(
            models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=_WORD_CHARACTERS)  # noqa: S106 - a piece of text
        )
        pieces.normalizer = normalizers.BertNormalizer()
        pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        pieces.post_processor = processors.BertProcessing(
            ("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"])
        )
        if tokens is not None:
            pieces.enable_truncation(tokens)  # pyright: ignore[reportUnknownMemberType] - its stub leaves **kwargs open
        self._pieces = pieces

    def numbers(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the piece numbers of each text, at least the two special tokens."""
        return [numbers for numbers, _ in self.split(texts)]

    def split(self, texts: Sequence[str]) -> list[tuple[list[int], list[tuple[int, int]]]]:
        """Return for each text the piece numbers and the characters of each piece; special tokens have none."""
        found = (self._pieces.encode(join_surrogates(text)) for text in texts)
        return [(one.ids, one.offsets) for one in found]

    def split_plain(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the numbers of all pieces of a text and the characters of each, without special tokens."""
        found = self._pieces.encode(join_surrogates(text), add_special_tokens=False)
        return found.ids, found.offsets
