"""A cache of query vectors."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Final

from credenda import limits
from credenda.providers.embed.protocol import Embedder, TokenEmbedder, TokenVectors, embed_checked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DIGEST_BYTES: Final = 16


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
        found = self._find(keys)
        missing = [place for place, key in enumerate(keys) if key not in found]
        if missing:
            fresh = embed_checked(embedder, [texts[place] for place in missing], asked=True)
            found |= {keys[place]: row.copy() for place, row in zip(missing, fresh, strict=True)}
            self._keep(found)
        return np.array([found[key] for key in keys], np.float32)

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

    def _find(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        with self._lock:
            found = {key: self._held[key] for key in keys if key in self._held}
            for key in found:
                self._held.move_to_end(key)
        return found

    def _keep(self, found: dict[bytes, NDArray[np.float32]]) -> None:
        with self._lock:
            self._held.update(found)
            while len(self._held) > self._most:
                self._held.popitem(last=False)


def _make_key(model_id: str, text: str) -> bytes:
    return hashlib.blake2b(f"{model_id}\n{text}".encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
