"""Any endpoint with OpenAI's `POST /embeddings`: OpenAI itself, a gateway, or a server on this machine."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from threading import Event, Lock
from typing import TYPE_CHECKING, Final, cast
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from credenda import limits
from credenda.errors import CredendaError, Invalid, Unavailable
from credenda.text.normalize import join_surrogates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_BLANK: Final = "(blank)"
"""Replaces text without a visible character, which endpoints refuse."""
_BUSY: Final = 429
_SERVER_FAILS: Final = 500
_NORM_LEAST: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingEndpoint:
    """The endpoint for texts, and its options."""

    url: str
    """Up to and without `/embeddings`."""
    model: str
    key: str = field(default="", repr=False)
    """Sent as a bearer token; "" sends none."""
    dims: int = 0
    """Dimensions to request; 0 takes the model's default."""
    plain_http_anywhere: bool = False
    """Whether texts and key may be sent unencrypted to another machine."""


class _RefusalError(CredendaError):
    """The endpoint could not answer now; with the wait that it asks for, if any."""

    def __init__(self, why: str, wait_seconds: float | None = None, *, again: bool = True) -> None:
        super().__init__("the embedding endpoint did not answer", why=why)
        self.wait_seconds = wait_seconds
        self.again = again


class RemoteEmbedder:
    """Sends texts to an endpoint in bounded requests and validates the vectors.

    A busy or failing endpoint is retried a few times, after the wait it asks for or twice the last one; a single text,
    such as a query, is sent only once, so that a search does not wait and uses words instead. Neither key nor texts
    appear in errors. The id of the model includes the endpoint, so that equal names at two endpoints stay apart.
    """

    def __init__(self, endpoint: EmbeddingEndpoint, *, wait: Callable[[float], object] | None = None) -> None:
        """Take an endpoint without a request; `wait` takes seconds. Raises `Invalid` for a bad address."""
        # Parse the address; raises `Invalid` for an address that texts must not be sent to.
        fix = "give embedder_url like https://api.openai.com/v1"
        try:
            place = urlsplit(endpoint.url)
            host = place.hostname
            _ = place.port
        except ValueError:
            raise Invalid("embedder_url is not an address", fix=fix) from None
        if place.scheme not in {"http", "https"} or not host:
            raise Invalid("embedder_url is not an address", why="it needs http or https and a host", fix=fix)
        if place.username is not None or place.password is not None or place.query or place.fragment:
            raise Invalid("embedder_url holds more than an address", fix="give the key as CREDENDA_EMBEDDER_KEY")
        if place.scheme == "http" and host not in _LOOPBACK and not endpoint.plain_http_anywhere:
            raise Invalid(
                f"texts would go to {host} unencrypted",
                why="embedder_url begins with http://",
                fix='use https, or allow it with embedder_plain_http = "anywhere"',
            )
        if not endpoint.model.strip():
            raise Invalid("the embedder has no model", fix='write it like "openai:text-embedding-3-small"')
        self._place = place
        self._endpoint = endpoint
        self._wait = wait or Event().wait
        # Build the sender of requests. It follows no redirection: texts and key are for this host alone.
        opener = OpenerDirector()
        for handler in (ProxyHandler(), HTTPHandler(), HTTPSHandler(), HTTPDefaultErrorHandler(), HTTPErrorProcessor()):
            opener.add_handler(handler)
        self._opener = opener
        self._lock = Lock()
        self._dims = endpoint.dims

    @property
    def model_id(self) -> str:
        """Name of endpoint and model, with the dimensions if they were chosen."""
        chosen = f"@{self._endpoint.dims}" if self._endpoint.dims else ""
        return f"openai:{self._place.netloc}{self._place.path.rstrip('/')}/{self._endpoint.model}{chosen}"

    @property
    def dims(self) -> int:
        """Dimensions of every vector; requested once unless they were given or seen."""
        with self._lock:
            known = self._dims
        return known or self.embed([_BLANK]).shape[1]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dims) float32 with rows of unit length; raises `Unavailable` if the endpoint fails."""
        import numpy as np

        if not len(texts):
            return np.empty((0, self.dims), np.float32)
        attempts = 1 if len(texts) == 1 else limits.EMBED_ATTEMPTS
        parts = [self._ask(portion, attempts) for portion in _split_requests(texts)]
        with self._lock:
            self._dims = self._dims or parts[0].shape[1]
            expected = self._dims
        if any(part.shape[1] != expected for part in parts):
            raise self._unusable(f"its vectors do not have {expected} dimensions")
        return np.concatenate(parts)

    def _ask(self, texts: Sequence[str], attempts: int) -> NDArray[np.float32]:
        wait = limits.EMBED_WAIT_SECONDS
        for attempt in range(1, attempts + 1):
            try:
                return self._vectors(self._post(texts), len(texts))
            except _RefusalError as error:
                asked = error.wait_seconds
                last = attempt == attempts or not error.again
                if last or (asked is not None and asked > limits.EMBED_WAIT_SECONDS_MAX):
                    raise self._unusable(error.why) from error
                self._wait(wait if asked is None else asked)
                wait = min(wait * 2, limits.EMBED_WAIT_SECONDS_MAX)
        raise AssertionError("attempts is at least 1")

    def _post(self, texts: Sequence[str]) -> object:
        """Send one request and return the body of its response; raises `_RefusalError`."""
        given = self._endpoint
        body: dict[str, object] = {"model": given.model, "input": list(texts), "encoding_format": "float"}
        if given.dims:
            body["dimensions"] = given.dims
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "credenda"}
        if given.key:
            headers["Authorization"] = f"Bearer {given.key}"
        url = f"{given.url.rstrip('/')}/embeddings"
        request = Request(url, json.dumps(body).encode(), headers, method="POST")  # noqa: S310 - _checked saw the scheme
        try:
            with self._opener.open(request, timeout=limits.EMBED_REQUEST_SECONDS) as answer:
                content = cast("bytes", answer.read(limits.EMBED_RESPONSE_BYTES + 1))
        except HTTPError as error:
            with error:
                raise _to_refusal(error.code, error.headers.get("Retry-After")) from None
        except (OSError, HTTPException) as error:
            raise _RefusalError(f"{type(error).__name__} at {self._place.netloc}") from None
        if len(content) > limits.EMBED_RESPONSE_BYTES:
            raise _RefusalError("its answer is longer than any vectors need", again=False)
        try:
            return cast("object", json.loads(content))
        except ValueError:
            raise _RefusalError("its answer is not JSON", again=False) from None

    def _vectors(self, answer: object, count: int) -> NDArray[np.float32]:
        """Return the vectors in the order of the texts; raises `_RefusalError` unless each has a usable one."""
        import numpy as np

        # Return the embeddings by their index; raises `_RefusalError` unless there is one for each text.
        data = cast("Mapping[str, object]", answer).get("data") if isinstance(answer, dict) else None
        found: dict[object, object] = {}
        for item in cast("list[object]", data) if isinstance(data, list) else []:
            if isinstance(item, dict):
                entry = cast("Mapping[str, object]", item)
                index = entry.get("index")
                found[index if type(index) is int else None] = entry.get("embedding")
        if not isinstance(data, list) or len(cast("list[object]", data)) != count or set(found) != set(range(count)):
            raise _RefusalError(f"it did not answer with one vector for each of {count} texts", again=False)
        rows = [found[index] for index in range(count)]
        try:
            matrix = np.array(rows, np.float64)
        except (ValueError, TypeError, OverflowError):
            raise _RefusalError("its vectors are not rows of numbers of one length", again=False) from None
        if matrix.ndim != 2 or not matrix.shape[1]:  # noqa: PLR2004 - a matrix has two dimensions
            raise _RefusalError("its vectors are not rows of numbers of one length", again=False)
        if self._endpoint.dims and matrix.shape[1] != self._endpoint.dims:
            raise _RefusalError(f"it gave {matrix.shape[1]} dimensions instead of {self._endpoint.dims}", again=False)
        norms = np.sqrt((matrix**2).sum(axis=1, keepdims=True))
        if not np.isfinite(norms).all() or (norms < _NORM_LEAST).any():
            raise _RefusalError("one of its vectors is zero or not finite", again=False)
        return (matrix / norms).astype(np.float32)

    def _unusable(self, why: str) -> Unavailable:
        return Unavailable(
            f"{self.model_id} gave no vectors",
            why=why,
            fix="check the endpoint and the settings embedder_*; search by words works meanwhile",
        )


def _split_requests(texts: Sequence[str]) -> Iterator[list[str]]:
    """Split texts into requests of bounded count and length."""
    portion: list[str] = []
    size = 0
    for text in texts:
        sent = join_surrogates(text)[: limits.EMBED_TEXT_CHARACTERS] if text.strip() else _BLANK
        full = len(portion) == limits.EMBED_REQUEST_TEXTS or size + len(sent) > limits.EMBED_REQUEST_CHARACTERS
        if portion and full:
            yield portion
            portion, size = [], 0
        portion.append(sent)
        size += len(sent)
    yield portion


def _to_refusal(status: int, retry_after: str | None) -> _RefusalError:
    """Convert a status to an error; only a busy or failing server is retried."""
    again = status == _BUSY or status >= _SERVER_FAILS
    return _RefusalError(f"it answered {status}", _parse_retry_after(retry_after) if again else None, again=again)


def _parse_retry_after(value: str | None) -> float | None:
    """Parse a Retry-After in seconds; a date or anything else counts as none."""
    try:
        found = float(value or "")
    except ValueError:
        return None
    return found if math.isfinite(found) and found >= 0 else None
