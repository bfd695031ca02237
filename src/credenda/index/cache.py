"""A cache of the tenants' in-memory indexes: loaded or built, updated at every access, dropped when unused."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from credenda import limits
from credenda.errors import Corrupt, LimitExceeded
from credenda.index.resident import ResidentIndex
from credenda.storage.sql.reader import TaskProgress
from credenda.storage.store import IndexPosition, Reader, Snapshot

_DELTA_DOCUMENTS: Final = 20_000
"""Documents read in one step: a build merges postings once per step."""
_DELTAS_MAX: Final = 100_000
"""More steps than any update needs; a store whose heads keep moving is broken."""
_SAVE_LEAST: Final = 256
_SAVE_SHARE: Final = 32
"""A snapshot is written again after 256 + rows / 32 changes; reading those again costs a start some 10 ms."""


def name_snapshot(model_id: str | None, tag: str = "") -> str:
    """Return the name of the snapshot of a tenant's index for a model.

    It includes the tenant's tag, so that a snapshot imported from another tenant is never used.
    """
    return f"index:{model_id or 'none'}" + (f":{tag}" if tag else "")


class _IndexKey(NamedTuple):
    """The key of an index: the tag changes when a tenant was erased and began anew under the same name."""

    store: str
    user_id: str
    tag: str
    model_id: str | None


@dataclass(slots=True)
class _CachedIndex:
    """One tenant's current index; `lock` is taken while it is loaded or updated."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    index: ResidentIndex | None = None
    nbytes: int = 0
    base_bytes: int = 0
    """Bytes of the index without its cached vectors, computed when it changes."""
    taken: float = 0.0
    """The time after which the newest view was taken that the index was compared with (`TaskProgress.taken`)."""
    too_large: bytes = b""
    """The lineage of a tenant that exceeded the bound; the index is then not built again at every search."""


class IndexCache:
    """Indexes by (store, tenant, model), with the least recently used dropped first. Safe to call from any thread.

    Searches use versions that never change: an update folds into a fork, which shares memory with its original and
    replaces it. A lock during scoring would make each search wait for updates and for other searches; a fork costs 2
    µs, and folding one row into it 0.4 ms at 10,000 rows, 1.5 ms at 100,000. For one tenant, `get` waits only while
    another caller updates the index.

    An index is used only for the history that it was built from. A restored or replaced database may have the same
    numbers for other rows, so each index carries the lineage of its rows, and every view must have that lineage at the
    position of the index. If it has not, the index is dropped and built again, unless the view is older than the index.
    """

    def __init__(self, *, tenants_max: int = limits.RESIDENT_TENANTS, bytes_max: int = limits.RESIDENT_BYTES) -> None:
        self._tenants_max = tenants_max
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._entries: OrderedDict[_IndexKey, _CachedIndex] = OrderedDict()

    def get(self, reader: Reader, *, model_id: str | None = None, store: str = "") -> ResidentIndex:
        """Return the tenant's index as of the reader's view or later. The result never changes afterwards.

        `store` distinguishes databases that share a cache. Raises `LimitExceeded` for a tenant of more than
        `limits.RESIDENT_DOCUMENTS` documents; use the full-text index for it.
        """
        key = _IndexKey(store, reader.tenant.user_id, reader.tenant.tag, model_id)
        with self._lock:
            self._drop_erased(key)
            entry = self._entries.setdefault(key, _CachedIndex())
            self._entries.move_to_end(key)
        with entry.lock:
            index = _update(reader, entry, model_id)
            if index is not entry.index or index is None:
                entry.index = index
                entry.base_bytes = 0 if index is None else index.nbytes
            entry.nbytes = 0 if index is None else entry.base_bytes + index.hot.nbytes
        self._make_room(key)
        if index is None:
            raise LimitExceeded(
                "this user has too many documents for an index in memory",
                why=f"more than {limits.RESIDENT_DOCUMENTS}",
                fix="search the full-text index instead",
            )
        return index

    def held(self, reader: Reader, *, model_id: str | None = None, store: str = "") -> ResidentIndex | None:
        """Return the tenant's index if it is in memory, without loading or updating it."""
        key = _IndexKey(store, reader.tenant.user_id, reader.tenant.tag, model_id)
        with self._lock:
            self._drop_erased(key)
            entry = self._entries.get(key)
        return entry.index if entry is not None else None

    def needs_saving(self, index: ResidentIndex) -> bool:
        """Return whether the index has changed enough since its last snapshot for a new one."""
        return index.unsaved >= _SAVE_LEAST + len(index) // _SAVE_SHARE

    def image(self, index: ResidentIndex, tag: str = "") -> Snapshot:
        """Return a snapshot to store, and mark the index and its later versions as saved up to here."""
        index.mark_saved()
        return Snapshot(name=name_snapshot(index.model_id, tag), blobs=index.to_blobs())

    def drop(self, user_id: str, *, store: str = "") -> None:
        """Drop a tenant's indexes, as an erasure must."""
        with self._lock:
            for key in [key for key in self._entries if key.user_id == user_id and key.store == store]:
                del self._entries[key]

    def _drop_erased(self, key: _IndexKey) -> None:
        """Drop the indexes of an earlier tenant with the same name, which another process may have erased."""
        for other in [one for one in self._entries if one[:2] == key[:2] and one.tag != key.tag]:
            del self._entries[other]

    def _make_room(self, used: _IndexKey) -> None:
        """Drop the least recently used indexes until the rest fits; the one just used stays, however large."""
        with self._lock:
            held = sum(entry.nbytes for entry in self._entries.values())
            for key in list(self._entries):
                if len(self._entries) <= self._tenants_max and held <= self._bytes_max:
                    return
                if key != used:
                    held -= self._entries.pop(key).nbytes


def _update(reader: Reader, entry: _CachedIndex, model_id: str | None) -> ResidentIndex | None:
    """Return the index of an entry as of the reader's view or later; None for a tenant that is too large."""
    progress = reader.duties
    if entry.too_large and entry.too_large == progress.lineage(IndexPosition()):
        return None
    before, after = progress.taken
    known = entry.index
    if known is not None and not _is_continued(progress, known):
        if before <= entry.taken:  # a later view has updated the index already
            return known
        known = None
    index = _catch_up(reader, known or _load(reader, model_id))
    entry.taken = max(entry.taken, after)
    entry.too_large = progress.lineage(IndexPosition()) if index is None else b""
    if index is not None and index is not known:
        index.lineage = progress.lineage(index.heads)
    return index


def _is_continued(progress: TaskProgress, index: ResidentIndex) -> bool:
    """Return whether a view has the rows that the index was built from."""
    return index.heads.vector <= progress.heads.vector and index.lineage == progress.lineage(index.heads)


def _load(reader: Reader, model_id: str | None) -> ResidentIndex:
    """Return the index from the stored snapshot; an empty one, to be built, without a usable snapshot."""
    blobs = reader.snapshot(name_snapshot(model_id, reader.tenant.tag))
    if blobs:
        try:
            index = ResidentIndex.from_blobs(blobs)
        except ValueError:  # damaged or outdated: the store has all its data
            return ResidentIndex(model_id=model_id)
        if index.model_id == model_id and _is_continued(reader.duties, index):
            return index
    return ResidentIndex(model_id=model_id)


def _catch_up(reader: Reader, index: ResidentIndex) -> ResidentIndex | None:
    """Return a version of the index that has read everything in the reader's view; the same one if nothing is new.

    None if it contains more documents than an index may.
    """
    current = index
    if not _is_ahead(reader.duties.heads, index.heads):
        index.drop_waiting()
        return index
    for _ in range(_DELTAS_MAX):
        delta = reader.delta(current.heads, current.model_id, _DELTA_DOCUMENTS)
        if not _is_ahead(delta.heads, current.heads):
            current.drop_waiting()
            return current
        if current is index:
            current = index.fork()
        current.fold(delta)
        if len(current) > limits.RESIDENT_DOCUMENTS:
            return None
    raise Corrupt(
        "an index cannot be updated",
        why="the store's heads keep moving",
        fix="run `credenda doctor`",
    )


def _is_ahead(one: IndexPosition, other: IndexPosition) -> bool:
    return one.event > other.event or one.change > other.change or one.vector > other.vector
