"""The components of one open memory, a bundle that every operation takes."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event, Lock
from typing import TYPE_CHECKING

from credenda import index, limits
from credenda.clock import SECOND_US, Clock, pause, seconds
from credenda.config import Settings
from credenda.errors import Unavailable
from credenda.model.claim import Extractor
from credenda.providers.embed.factory import ClaimEmbedder, Embedder, QueryVectorCache, TokenAsk, TokenEmbedder
from credenda.storage.store import Access, Store
from credenda.text.fence import ESTIMATE, TokenCounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from credenda.index.cache import IndexCache
    from credenda.providers.llm.client import ModelClient


_own_calls: ContextVar[int] = ContextVar("credenda_own_calls", default=0)
"""How many of the calls counted are those that the current work is part of."""


class ActiveCalls:
    """Counts the calls of a user in progress, so that background work can yield to them.

    A background thread beside a busy interpreter costs a caller up to 50 ms a commit; a thread that waits here has no
    measurable cost. A program that calls in quick succession is not disturbed in between: it counts as idle only after
    a short quiet period. The end of a call wakes no thread, because the next call would pay for it (measured: 35 µs an
    acknowledgement).
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._calls = 0
        self._ended = 0.0

    def __enter__(self) -> None:
        with self._lock:
            self._calls += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._calls -= 1
            self._ended = seconds()

    @contextmanager
    def suspend(self) -> Generator[None]:
        """Count one call less inside the block: it waits for background work, which must not wait for it."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    @contextmanager
    def take_part(self) -> Generator[None]:
        """Let long work inside the block wait for every call but one: the call that it is done in."""
        token = _own_calls.set(1)
        try:
            yield
        finally:
            _own_calls.reset(token)

    def wait_idle(self, timeout_seconds: float) -> None:
        """Wait until no other call is in progress and none was recently, up to a bound: work must not starve."""
        deadline = seconds() + timeout_seconds
        while (now := seconds()) < deadline:
            quiet_at = (now if self._calls > _own_calls.get() else self._ended) + limits.QUIET_SECONDS
            if now >= quiet_at:
                return
            pause(min(quiet_at, deadline) - now)


class AccessBuffer:
    """Buffered impressions of memories, written with the next commit: a search never waits for a write lock."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: dict[tuple[str, str, int], Access] = {}

    def add(self, access: Access) -> None:
        """Buffer an impression; one entry counts those of the same memory in the same session and day."""
        with self._lock:
            key = access.memory_id, access.session, access.day
            before = self._waiting.get(key)
            self._waiting[key] = access if before is None else replace(access, shown=before.shown + access.shown)

    def drain(self) -> list[Access]:
        """Return all impressions and empty the buffer."""
        with self._lock:
            waiting, self._waiting = list(self._waiting.values()), {}
        return waiting

    def __len__(self) -> int:
        return len(self._waiting)


class ModelCalls:
    """Counts the calls of models to each session within a minute; it knows the sessions that were written to last."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._times: OrderedDict[str, deque[int]] = OrderedDict()

    def count(self, session: str, now_us: int) -> int:
        """Count a call, and return how many there were within the time, of which more than too many count as one."""
        since_us = now_us - limits.BURST_SECONDS * SECOND_US
        with self._lock:
            times = self._times.setdefault(session, deque(maxlen=limits.BURST_CALLS + 1))
            self._times.move_to_end(session)
            if len(self._times) > limits.BURST_SESSIONS:
                self._times.popitem(last=False)
            times.append(now_us)
            return sum(one > since_us for one in times)


class LazyIndexCache:
    """The in-memory indexes of this process, created on first use: they load numpy, which few commands need.

    All open memories share one instance, so that its bound applies to the process.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._cache: IndexCache | None = None

    @property
    def in_use(self) -> bool:
        """Whether any search used it yet."""
        return self._cache is not None

    def cache(self) -> index.cache.IndexCache:
        """Return the cache of indexes."""
        with self._lock:
            if self._cache is None:
                self._cache = index.cache.IndexCache()
            return self._cache


class Views:
    """Counts the open memories that share one store and one model, so that the last one to close releases them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._open = 1

    def join(self) -> None:
        """Count one more; raises `Unavailable` when the last one has left."""
        with self._lock:
            if not self._open:
                raise Unavailable("this memory is closed", fix="open it again")
            self._open += 1

    def leave(self) -> bool:
        """Count one less, and say whether it was the last one."""
        with self._lock:
            self._open -= 1
            return not self._open


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """One tenant's view of an open memory."""

    user_id: str
    store: Store
    clock: Clock
    settings: Settings
    extractor: Extractor
    embedder: Embedder | None
    resident: LazyIndexCache
    counter: TokenCounter = ESTIMATE
    """The token counter of contexts and of the core."""
    llm: ModelClient | None = None
    """The client of a language model; None if only the reader extracts."""
    questions: QueryVectorCache = field(default_factory=QueryVectorCache)
    accesses: AccessBuffer = field(default_factory=AccessBuffer)
    active_calls: ActiveCalls = field(default_factory=ActiveCalls)
    model_calls: ModelCalls = field(default_factory=ModelCalls)
    jobs_ready: Event = field(default_factory=Event)
    """Set when a job was queued; the background worker waits for it."""
    llm_jobs_ready: Event = field(default_factory=Event)
    """Set when a message waits for a model; the model thread waits for it."""
    reader_problem: str = ""
    """Why messages give no beliefs here, although a reader is wanted; "" where it runs, or none is wanted."""
    read_only: bool = False
    store_name: str = ""
    """The name of the database among those that this process has open."""
    owner: str = ""
    """Names this process in leases: host:pid:nonce."""
    views: Views = field(default_factory=Views)
    """The open memories that share `store` and `llm`."""

    def for_user(self, user_id: str) -> Parts:
        """Make the view of another tenant, which shares all but what belongs to a tenant.

        Raises `Unavailable` when the store is closed. The view counts in `views` until it leaves.
        """
        self.views.join()
        return replace(
            self,
            user_id=user_id,
            questions=QueryVectorCache(),
            accesses=AccessBuffer(),
            model_calls=ModelCalls(),
            jobs_ready=Event(),
            llm_jobs_ready=Event(),
        )

    def release(self) -> None:
        """Leave the views; the last one closes the model and the store."""
        if not self.views.leave():
            return
        with ExitStack() as held:
            held.callback(self.store.close)
            if self.llm is not None:
                held.callback(self.llm.close)

    @property
    def telemetry_store(self) -> tuple[str, bool]:
        """The tenant's tag, and whether spans may hold words."""
        with self.store.reader(self.user_id) as reader:
            return reader.tenant.tag, self.settings.telemetry_content

    @property
    def ask(self) -> Callable[[Sequence[str]], NDArray[np.float32]] | None:
        """The embedding function for queries; None if search is by words only."""
        return None if self.embedder is None else partial(self.questions.embed, self.embedder)

    @property
    def ask_claims(self) -> Callable[[str], NDArray[np.float32]] | None:
        """The function that embeds a question to be compared with claims; None if the embedder has no such way."""
        made = self.embedder
        return partial(self.questions.embed_asked, made) if made and isinstance(made, ClaimEmbedder) else None

    @property
    def token_embedder(self) -> TokenEmbedder | None:
        """The embedder, if it returns vectors of tokens and the settings ask for them."""
        made = self.embedder
        return made if self.settings.token_vectors and isinstance(made, TokenEmbedder) else None

    @property
    def ask_tokens(self) -> TokenAsk | None:
        """The function that returns the tokens of a query; None if token vectors are not compared."""
        made = self.token_embedder
        return None if made is None else TokenAsk(made.token_model_id, partial(self.questions.embed_tokens, made))

    @property
    def indexes(self) -> IndexCache:
        """The in-memory indexes of this process."""
        return self.resident.cache()
