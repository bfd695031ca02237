"""all-MiniLM-L6-v2 on this machine: weights from a package, run by onnxruntime, without torch and without a network."""

from __future__ import annotations

import gzip
import hashlib
import json
import struct
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from credenda.errors import Unavailable, format_install
from credenda.lazy import load_runtime
from credenda.providers import embed
from credenda.text.normalize import join_surrogates

if TYPE_CHECKING:
    from tokenizers import Tokenizer

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
WEIGHTS_SHA256: Final = "1ec83b970c1a66925d93929f677ba2863b07d1124ccc6aa01b91e1bdaa8f8eed"
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
        out = np.empty((len(texts), _DIMS), np.float32)
        if not len(texts):
            return out
        pieces, model = _get_loaded()
        for places, states in _run_batches(model, pieces.numbers(texts)):
            means = states.mean(axis=1)
            out[places] = means / np.linalg.norm(means, axis=1, keepdims=True)
        return out

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


def _run_batches(model: OnnxModel, numbers: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
    """Yield the places of some texts of equal length, and the states of their tokens, (n, t, 384)."""
    for places in _group_batches([len(one) for one in numbers]):
        ids = np.array([numbers[place] for place in places], np.int64)
        yield places, model.run(ids=ids, mask=np.ones(ids.shape, np.int32))


@cache
def _load_projection() -> OnnxModel:
    """Return the projection of token states to (n, 64): principal axes, fitted by `benchmarks/fit_projection.py`."""
    packed = files("credenda.providers.embed").joinpath("data", "token_projection.f16").read_bytes()
    axes = np.frombuffer(packed, "<f2").astype(np.float32).reshape(_DIMS, _TOKEN_DIMS)
    return OnnxModel(*build_projection(axes))


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


def _get_loaded() -> tuple[WordPieces, OnnxModel]:
    """Return tokenizer and model, loaded once for the process by the first thread."""
    with _LOADING:
        return _load()


@cache
def _load() -> tuple[WordPieces, OnnxModel]:
    try:
        return WordPieces(_TOKENS), open_model(find_weights())
    except (ImportError, OSError, ValueError) as error:
        fix = f'{format_install()}, or set embedder = "none"; search by words works meanwhile'
        failed = Unavailable("the local model cannot be loaded", why=str(error), fix=fix)
        warnings.warn(str(failed), RuntimeWarning, stacklevel=2)  # whoever searches by words instead says nothing
        raise failed from error


def find_weights() -> Path:
    """Return the path of the installed weights after a check of their hash; raises `ImportError` or `ValueError`."""
    path = Path(import_module(_PACKAGE).__file__ or "").with_name(_WEIGHTS)
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != WEIGHTS_SHA256:
        raise ValueError(f"{path} is not the file that this version was tested with")
    return path


def open_model(weights: Path, *, unsigned: bool | None = None) -> OnnxModel:
    """Return the network, ready to run.

    `unsigned` selects the weight format; None asks the runtime which one is exact on this processor.
    """
    safe = _has_overflow() if unsigned is None else unsigned
    message, outside = build_graph(map_tensors(weights), tokens=_TOKENS, unsigned=safe)
    return OnnxModel(message, outside)


def _has_overflow() -> bool:
    """Return whether products of unsigned and signed numbers overflow on this processor."""
    message, rows, expected = build_overflow_probe()
    return bool((OnnxModel(message, {}).run(rows=rows) != expected).any())


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

        vocabulary = {piece: number for number, piece in enumerate(_load_pieces())}
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


def _load_pieces() -> list[str]:
    packed = files("credenda.providers.embed").joinpath("data", "vocabulary.txt.gz").read_bytes()
    return gzip.decompress(packed).decode("utf-8").splitlines()


# The graph of the model, written for the runtime from the weights that ship.


# The part of the ONNX format needed to write a graph, without a further dependency.


Array = NDArray[np.generic]
Attribute = int | float | Sequence[int]

_VARINT: Final = 0
_BYTES: Final = 2
_LOW: Final = 0x7F
"""Seven bits of a number in each byte; the eighth means that more follow."""
_TENSOR_TYPES: Final[Mapping[int, type[np.generic]]] = {
    1: np.float32,
    2: np.uint8,
    3: np.int8,
    6: np.int32,
    7: np.int64,
}
"""TensorProto.DataType of the supported types."""
_NUMBERS: Final[Mapping[np.dtype[np.generic], int]] = {np.dtype(kind): number for number, kind in _TENSOR_TYPES.items()}
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


Floats = NDArray[np.float32]

_LAYERS: Final = 6
_HEADS: Final = 12
_WIDTH: Final = 384
_STEPS: Final = 127
"""Integers on either side of zero."""
_EPSILON: Final = 1e-12


def build_graph(tensors: Mapping[str, Array], *, tokens: int, unsigned: bool) -> tuple[bytes, dict[str, Array]]:
    """Return the graph, and the tensors to pass to the runtime with it; raises `ValueError` for other weights.

    Inputs are `ids` (n, t) int64 and `mask` (n, t) int32, 1 for a token; the output `states` is (n, t, 384) float32.
    `unsigned` adds 128 to the weights, for processors whose product of signed and unsigned numbers overflows.
    """
    try:
        builder = _Builder(tensors, unsigned=unsigned)
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

    def __init__(self, tensors: Mapping[str, Array], *, unsigned: bool) -> None:
        self._tensors = tensors
        self._unsigned = unsigned
        self.graph = GraphBuilder()
        self.states = ""

    def embed(self, tokens: int) -> None:
        """Look up the tokens, add their positions, and concatenate all texts."""
        graph = self.graph
        graph.node("Gather", [self._take("words.weight"), "ids"], "found")
        graph.node("Cast", ["found"], "numbers", to=1)
        graph.node("Gather", [self._take("words.scale"), "ids"], "scales")
        graph.node("Mul", ["numbers", "scales"], "meant")
        graph.tensor("places", self._tensors["places"][:tokens])
        graph.node("Shape", ["ids"], "length", start=1, end=2)
        graph.node("Slice", ["places", self._axis(0), "length", self._axis(0)], "standing")
        graph.node("Add", ["meant", "standing"], "embedded")
        norm = [self._take(f"norm.{name}") for name in ("weight", "bias")]
        graph.node("LayerNormalization", ["embedded", *norm], "normal", axis=-1, epsilon=_EPSILON)
        self.states = graph.node("Reshape", ["normal", graph.tensor("flat", np.array([-1, _WIDTH], np.int64))], "rows")
        graph.node("Shape", ["ids"], "shape")
        graph.node("Concat", ["shape", self._axis(-1)], "whole", axis=0)
        graph.node("Shape", ["rows"], "count", start=0, end=1)
        graph.node("Expand", [self._middle(), "count"], "middles")

    def layer(self, layer: int) -> None:
        """Add attention and the two wide matrices, each followed by its norm."""
        graph = self.graph
        parts = [f"{layer}.{name}" for name in ("queries", "keys", "values")]
        graph.node("Reshape", [self._times(self.states, f"{layer}.seen"), "whole"], f"{layer}.split")
        graph.node("Split", [f"{layer}.split"], *parts, axis=-1, num_outputs=len(parts))
        inputs = [*parts, self._take(f"{layer}.seen.bias"), "mask"]
        graph.node("com.microsoft:MultiHeadAttention", inputs, f"{layer}.heads", num_heads=_HEADS)
        graph.node("Reshape", [f"{layer}.heads", "flat"], f"{layer}.rows")
        self._norm(f"{layer}.rows", f"{layer}.heard")
        inputs = [self._times(self.states, f"{layer}.wide"), self._take(f"{layer}.wide.bias")]
        graph.node("com.microsoft:BiasGelu", inputs, f"{layer}.active")
        self._norm(f"{layer}.active", f"{layer}.narrow")

    def _norm(self, rows: str, name: str) -> None:
        """Multiply, add a bias and the residual input, and normalise; the next part works on the result."""
        vectors = [self._take(f"{name}.{one}") for one in ("norm.weight", "norm.bias", "bias")]
        self.states = self.graph.node(
            "com.microsoft:SkipLayerNormalization",
            [self._times(rows, name), self.states, *vectors],
            f"{name}.normal",
            epsilon=_EPSILON,
        )

    def _times(self, rows: str, name: str) -> str:
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
        inputs += [graph.tensor("one", np.array(1, np.float32)), self._take(f"{name}.scale")]
        inputs += [self._middle(), *([graph.tensor("half", np.array(128, np.uint8))] if self._unsigned else [])]
        graph.node("com.microsoft:MatMulIntegerToFloat", inputs, f"{name}.sums")
        return graph.node("Mul", [f"{name}.sums", f"{name}.steps"], f"{name}.product")

    def _take(self, name: str) -> str:
        """Add a tensor of the file under its own name."""
        return self.graph.tensor(name, self._tensors[name])

    def _axis(self, axis: int) -> str:
        return self.graph.tensor(f"axis_{axis}", np.array([axis], np.int64))

    def _middle(self) -> str:
        """Return the name of the integer zero point."""
        return self.graph.tensor("middle", np.array(_STEPS + 1, np.uint8))


def _store_matrix(matrix: Array, *, unsigned: bool) -> Array:
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
