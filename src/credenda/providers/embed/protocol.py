"""The protocol of an embedder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, runtime_checkable

from credenda.errors import CredendaError, Unavailable

if TYPE_CHECKING:  # numpy costs 80 ms; a module that only refers to embedders must not load it
    import numpy as np
    from numpy.typing import NDArray

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


def call_embedder(embedder: Embedder, texts: Sequence[str], *, asked: bool = False) -> NDArray[np.float32]:
    """Embed texts, or queries, unchecked; raises `Unavailable` for whatever error the embedder raises."""
    way = embedder.embed_questions if asked and isinstance(embedder, QueryEmbedder) else embedder.embed
    try:
        return way(texts)
    except CredendaError:
        raise
    except Exception as error:  # the code of a library or of the caller
        raise Unavailable(
            f"{embedder.model_id} failed", why=type(error).__name__, fix="correct the embedder, and try again"
        ) from error


def embed_checked(embedder: Embedder, texts: Sequence[str], *, asked: bool = False) -> NDArray[np.float32]:
    """Embed texts, or queries; raises `Unavailable` for an error or invalid vectors, so that none is stored."""
    matrix = call_embedder(embedder, texts, asked=asked)
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
