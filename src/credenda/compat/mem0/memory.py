"""`Memory`: mem0's methods, implemented with Credenda."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Final, Self

from credenda import limits
from credenda.bootstrap import build_parts, build_user_parts
from credenda.client import Credenda
from credenda.clock import Clock, parse_time, to_datetime
from credenda.compat.mem0 import responses as arguments
from credenda.compat.mem0.responses import (
    SHARED_USER,
    Asked,
    Item,
    Record,
    build_change_rows,
    build_history_rows,
    build_records,
    find_chain,
    find_tip,
    read_changes,
    read_filters,
    record_of_event,
    record_of_hit,
)
from credenda.config import load_settings
from credenda.errors import Invalid, NotFound, Unavailable
from credenda.ids import IdKind, parse_id, parse_id_number
from credenda.model.event import Event, Receipt, Role
from credenda.model.memory import Status
from credenda.model.query import Hit
from credenda.providers.embed.factory import Embedder
from credenda.runtime import Parts
from credenda.services import edit, remember, search
from credenda.session_pool import SessionPool
from credenda.storage.store import ChangeFilter, EventFilter, MemoryFilter, Reader
from credenda.text.normalize import normalise_text
from credenda.text.sentences import REMOVED, split_sentences
from credenda.validation import check_fraction
from credenda.write.extract.voices import is_question
from credenda.write.intake.validate import Submission

# The open memories behind the shim: one for each user, over one shared store.


_TAG: Final = re.compile(r"[em][0-9]+-([0-9a-f]{6})")
_USERS_PAGE: Final = 500
_FILES: Final = ("", "-wal", "-shm")
"""Suffixes of the files of a SQLite database."""


@dataclass(frozen=True, slots=True)
class Tenant:
    """One user's open memory."""

    parts: Parts
    client: Credenda

    def close(self) -> None:
        """Close the memory."""
        self.client.close()


class Tenants:
    """The memories of all users of one file: they share its connections and its embedder.

    A memory that a call is using is never closed under it.
    """

    def __init__(self, open_parts: Callable[[str], Parts], *, most: int, shared: str) -> None:
        """Open nothing yet; at most `most` memories are open, and file-wide questions are put to that of `shared`."""
        self._open_parts = open_parts
        self._shared = shared
        self._lock = Lock()
        self._root: Parts | None = None
        self._closed = False
        self._users: dict[str, str] = {}
        self._pool = SessionPool(self._open, sessions_max=most)

    def __len__(self) -> int:
        return len(self._pool)

    def lend(self, user: str) -> AbstractContextManager[Tenant]:
        """Provide a user's memory for the duration of a call."""
        return self._pool.lend(user)

    @contextmanager
    def owning(self, memory_id: str, user: str | None) -> Generator[Tenant]:
        """Provide the memory that an id belongs to; raise `NotFound` for an unknown id, or one of another user."""
        owner = self._owner(memory_id)
        if owner is None or (user is not None and user != owner):
            raise NotFound(
                f"there is no memory {memory_id[:64]!r}",
                why="no user has this id, or not the given user",
                fix="copy an id from search or get_all",
            )
        with self.lend(owner) as tenant:
            yield tenant

    def list_users(self) -> list[str]:
        """Return the names of all users but the shared one, in order."""
        found: list[str] = []
        with self.lend(self._shared) as tenant:
            while page := tenant.parts.store.users(after=found[-1] if found else "", limit=_USERS_PAGE):
                found += page
        return [name for name in found if name != self._shared]

    def close(self) -> None:
        """Close every memory; one in use closes when its call ends."""
        self._closed = True
        self._pool.close()
        self._release()

    def wipe(self) -> None:
        """Close every memory and remove all users; raise `Unavailable` while one is in use.

        The file of a SQLite database goes, and with it the record of deletions. From Postgres the users are erased.
        """
        with self._pool.paused():
            path = self._store().store_name
            if not Path(path).is_file():
                parts = self._store()
                while page := parts.store.users(limit=_USERS_PAGE):
                    for user in page:
                        parts.store.erase(user)
                        parts.indexes.drop(user, store=parts.store_name)
            self._release()
            self._users.clear()
            for ending in _FILES:
                Path(f"{path}{ending}").unlink(missing_ok=True)

    def _open(self, user: str) -> Tenant:
        parts = build_user_parts(self._store(), user)
        return Tenant(parts, Credenda(parts, workers=False))

    def _store(self) -> Parts:
        """Return the view that keeps the store open, opened when first asked for."""
        with self._lock:
            if self._closed:
                raise Unavailable("this memory is closed", fix="make a new Memory")
            if self._root is None:
                self._root = self._open_parts(self._shared)
            return self._root

    def _release(self) -> None:
        """Let go of the store, which closes with the last memory."""
        with self._lock:
            root, self._root = self._root, None
        if root is not None:
            root.release()

    def _owner(self, memory_id: str) -> str | None:
        """Find the user of an id, by the tenant's tag in it."""
        found = _TAG.fullmatch(memory_id)
        if found is None:
            return None
        tag = found[1]
        if tag not in self._users:
            with self.lend(self._shared) as tenant:
                user = tenant.parts.store.user_of(tag)
            if user is None:
                return None
            self._users[tag] = user
        return self._users[tag]


# Reads and deletions of one call in one user's memory.


_PAGE: Final = 500
_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})
_LEFT: Final = frozenset(Status) - {Status.DELETED}
_SPOKEN: Final = frozenset({Role.USER, Role.PERSON})
_LAST: Final = to_datetime(parse_time("9999-12-30"))


def describe_outcome(reader: Reader, receipt: Receipt) -> list[Item]:
    """Describe the effect of storing messages: the changes in the log, else that the messages are kept."""
    rows: list[Item] = []
    for event in reader.events(receipt.event_ids):
        changes = reader.changes(ChangeFilter(cause=event.id))
        named = sorted({change.memory_id for change in changes if change.memory_id is not None})
        told = build_change_rows(changes, {memory.id: memory for memory in reader.memories(named)})
        if (
            not told
            and event.role in _SPOKEN
            and any(letter.isalnum() for letter in event.text.replace(REMOVED, ""))
            and not is_only_questions(event.text)
        ):
            told = [{"id": event.id, "memory": event.text, "event": "NONE"}]
        author = (
            {"role": "user", "actor_id": event.speaker} if event.role is Role.PERSON else {"role": event.role.value}
        )
        rows += ({**row, **author} for row in told)
    return rows


def is_only_questions(text: str) -> bool:
    """Return whether a text only asks: each of its sentences ends as a question or begins as one.

    >>> is_only_questions("Where do I live? Can you tell me?"), is_only_questions("I live in Linz. Really?")
    (True, False)
    """
    sentences = [text[span.start : span.stop].strip() for span in split_sentences(text)]
    return bool(sentences) and all(one.endswith("?") or is_question(one) for one in sentences)


def filter_hits(hits: Sequence[Hit], asked: Asked) -> Iterator[tuple[Hit, Record]]:
    """Return the hits that match the filters and are currently true.

    Statements of only assistants or documents are returned only if the filters name their role, messages that only ask
    not at all, and of equal texts the best.
    """
    seen: set[str] = set()
    for hit in hits:
        record = record_of_hit(hit)
        text = normalise_text(hit.text)
        if text in seen or (hit.event is not None and is_only_questions(hit.text)):
            continue
        unasked = hit.event is not None and hit.event.role not in _SPOKEN and "role" not in asked.fields
        if record is None or unasked or "superseded" in hit.flags:
            continue
        if asked.keep is None or asked.keep(record.facts):
            seen.add(text)
            yield hit, record


def find_current(tenant: Tenant, memory_id: str) -> Record | None:
    """Return the current version of an id, or a message; None if it was deleted or ended."""
    with tenant.parts.store.reader(tenant.parts.user_id) as reader:
        if parse_id(memory_id, reader.tenant.tag)[0] is IdKind.EVENT:
            return next((record_of_event(event) for event in reader.events([memory_id]) if event.text), None)
        tip = find_tip(reader, memory_id)
        return None if tip is None or tip.status not in _HELD else build_records(reader, [tip])[0]


def list_records(reader: Reader, asked: Asked, now_us: int | None) -> Iterator[Record]:
    """Return the current memories that match the filters, newest first, without those expired at `now_us`."""
    for record in _walk_pages(reader, _HELD):
        expired = now_us is not None and record.expires_us is not None and record.expires_us <= now_us
        if not expired and (asked.keep is None or asked.keep(record.facts)):
            yield record


def _walk_pages(reader: Reader, statuses: frozenset[Status]) -> Iterator[Record]:
    below: int | None = None
    while page := reader.find(MemoryFilter(statuses=statuses, below=below, limit=_PAGE)):
        yield from build_records(reader, page)
        below = min(parse_id_number(memory.id, IdKind.MEMORY, reader.tenant.tag) for memory in page)


def _walk_events(reader: Reader) -> Iterator[Event]:
    """Return all messages that still have text, including partly redacted ones."""
    after = 0
    while page := reader.find_events(EventFilter(after=after, limit=_PAGE, redacted=True)):
        yield from (event for event in page if event.text)
        after = max(parse_id_number(event.id, IdKind.EVENT, reader.tenant.tag) for event in page)


def replace_text(tenant: Tenant, record: Record, text: str) -> str:
    """Correct a memory on behalf of its agent and run; return the id of the new version."""
    wanted = edit.Correction(text=text, reason="updated", agent=record.agent, session=record.run)
    memory = edit.put_right(tenant.parts, record.id, wanted)
    tenant.client.settle()
    return memory.id


def delete_all(tenant: Tenant, asked: Asked) -> None:
    """Delete every matching message and every memory without other evidence."""
    wanted = asked.keep
    if wanted is None:
        tenant.client.delete_where(before=_LAST)
    with tenant.parts.store.reader(tenant.parts.user_id) as reader:
        memories = [record.id for record in _walk_pages(reader, _LEFT) if _is_unfiltered(asked, record.events)]
        events = [one.id for one in _walk_events(reader) if wanted is None or wanted(record_of_event(one).facts)]
    for target in (*events, *memories):
        tenant.client.delete(target)


def _is_unfiltered(asked: Asked, events: Iterable[Event]) -> bool:
    wanted = asked.keep
    return wanted is None or all(wanted(record_of_event(event).facts) for event in events)


_CONFIG: Final = ("path", "embedder", "settings")


class Memory:
    """mem0's `Memory` over one file, in which each user has a separate memory, isolated from all others.

    >>> memory = Memory(getfixture("tmp_path") / "memory.db")
    >>> [row["event"] for row in memory.add("I live in Linz.", user_id="ana")["results"]]
    ['ADD']
    >>> [hit["memory"] for hit in memory.search("Where do I live?", filters={"user_id": "ana"})["results"]]
    ['I live in Linz.']
    >>> memory.close()
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        embedder: str | Embedder | None = None,
        settings: Mapping[str, object] | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Choose the file; None is the default file. It is opened on the first call."""
        if path is not None and not isinstance(path, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance] - it may be a configuration of mem0's
            raise Invalid(
                f"a {type(path).__name__} is not a path",
                why="mem0's configuration is not used here",
                fix='write Memory() or Memory("memory.db")',
            )

        def open_parts(user: str) -> Parts:
            return build_parts(path, user=user, embedder=embedder, settings=settings, clock=clock)

        self._tenants = Tenants(open_parts, most=load_settings(settings).open_memories, shared=SHARED_USER)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Make a `Memory` from a table with `path`, `embedder` and `settings`; mem0's own keys raise `Invalid`."""
        return cls(**cls.check_config(config_dict))

    @staticmethod
    def check_config(config_dict: Mapping[str, Any]) -> dict[str, Any]:
        """Return a configuration whose keys are those of `from_config`; raise `Invalid` for another key."""
        foreign = sorted(set(config_dict) - set(_CONFIG))
        if foreign:
            raise Invalid(
                f"the configuration has no {foreign[0]!r}",
                why="no model, vector store or history database is configured here",
                fix=f"keep only {', '.join(_CONFIG)}",
            )
        return dict(config_dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every memory; closing twice has no effect."""
        self._tenants.close()

    def list_users(self) -> list[str]:
        """Return the users with data, by name, without the shared one."""
        return self._tenants.list_users()

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, object] | None = None,
        timestamp: datetime | str | float | None = None,
        expiration_date: date | str | None = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
        allow_deleted: bool = False,
    ) -> Item:
        """Store messages and return the changes, once they can be searched.

        Each row has an `event`: ADD, UPDATE (with `previous_memory`), DELETE, or NONE for a known fact and for a stored
        message without a belief. A message that only asks has no row. `infer=False` stores every message verbatim.
        `refused` lists masked secrets and statements that were deleted before; `allow_deleted=True` stores those again.
        """
        named = arguments.check_entities(user_id, agent_id, run_id)
        user = arguments.choose_user(named)
        if prompt is not None:
            raise Invalid("prompt cannot be used", why="no model reads the messages", fix="leave prompt out")
        heard = arguments.filter_messages(messages)
        if not heard:
            return {"results": []}
        submission = Submission(
            content=heard,
            user_id=user,
            agent=named["agent_id"],
            session=named["run_id"],
            metadata=metadata,
            occurred_at=arguments.parse_timestamp(timestamp),
            expires_at=arguments.parse_expiry(expiration_date),
            memory_type=arguments.check_memory_type(memory_type),
            allow_deleted=allow_deleted,
        )
        with self._tenants.lend(user) as tenant:
            receipt = (remember.remember if infer else remember.keep)(tenant.parts, submission)
            tenant.client.settle()
            with tenant.parts.store.reader(user) as reader:
                rows = describe_outcome(reader, receipt)
        return {"results": rows, **({"refused": list(receipt.refused)} if receipt.refused else {})}

    def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        top_k: int | None = None,
        limit: int | None = None,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: datetime | str | None = None,
        show_expired: bool = False,
    ) -> Item:
        """Find the memories that answer a query, best first, at most `top_k` (20; 50 at most).

        `abstained` is true, and the list empty, when nothing relevant is known. Statements of an assistant or a
        document are returned only if `filters` name a `role`. `reference_date` searches the facts that were true at
        that time.
        """
        if rerank or show_expired:
            what = "rerank" if rerank else "show_expired"
            raise Invalid(f"{what} cannot be used in search", why="Credenda has no such step", fix="leave it out")
        asked = read_filters(filters, arguments.check_entities(user_id, agent_id, run_id))
        most = arguments.check_limit(top_k, limit, most=limits.SEARCH_LIMIT)
        floor = 0.0 if threshold is None else check_fraction(threshold, "threshold")
        user = asked.user or SHARED_USER
        conditions = {"metadata": asked.metadata, "session": asked.run, "as_of": reference_date, "explain": explain}
        reach = limits.CANDIDATES if asked.keep else 2 * most + 1
        with self._tenants.lend(user) as tenant:
            found = search.search(tenant.parts, query, conditions, reach=reach)
        items: list[Item] = []
        for hit, record in [pair for pair in filter_hits(found.hits, asked) if pair[0].score >= floor][:most]:
            details = {"score_details": dict(hit.terms)} if explain else {}
            items.append({**record.item(user), "score": hit.score, **details})
        return {"results": items, "abstained": found.abstained}

    def get(self, memory_id: str, *, user_id: str | None = None) -> Item | None:
        """Return the current version of a memory, or None if there is none."""
        try:
            with self._tenants.owning(arguments.check_memory_id(memory_id), user_id) as tenant:
                record = find_current(tenant, memory_id)
                return None if record is None else record.item(tenant.parts.user_id)
        except NotFound:
            return None

    def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        limit: int | None = None,
        show_expired: bool = False,
    ) -> Item:
        """List current memories, newest first, at most `top_k` (20). Messages without a memory are not listed."""
        asked = read_filters(filters, arguments.check_entities(user_id, agent_id, run_id))
        most = arguments.check_limit(top_k, limit, most=None)
        user = asked.user or SHARED_USER
        items: list[Item] = []
        with self._tenants.lend(user) as tenant, tenant.parts.store.reader(user) as reader:
            now_us = None if show_expired else tenant.parts.clock.now_us()
            for record in list_records(reader, asked, now_us):
                if len(items) == most:
                    break
                items.append(record.item(user))
        return {"results": items}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        *,
        data: str | None = None,
        metadata: Mapping[str, object] | None = None,
        expiration_date: date | str | None = None,
        user_id: str | None = None,
    ) -> Item:
        """Correct a memory: set its text to `text` (`data` is the older name). Returns the new id."""
        if metadata is not None or expiration_date is not None:
            raise Invalid(
                "only the text of a memory can be updated",
                why="its metadata and expiry belong to its message",
                fix="delete it and add it again",
            )
        said = arguments.choose_text(text, data)
        with self._tenants.owning(arguments.check_memory_id(memory_id), user_id) as tenant:
            record = find_current(tenant, memory_id)
            if record is None:
                raise NotFound(f"there is no memory {memory_id}", fix="copy an id from search or get_all")
            if record.id.startswith("e"):
                raise Invalid(
                    "a message cannot be updated", why="messages are immutable", fix="delete it, or add a new message"
                )
            changed = record.text.strip() != said.strip()
            updated = replace_text(tenant, record, said) if changed else record.id
        return {"message": "The memory was updated.", "id": updated}

    def delete(self, memory_id: str, *, user_id: str | None = None) -> Item:
        """Delete a memory with all its earlier versions and its evidence."""
        with self._tenants.owning(arguments.check_memory_id(memory_id), user_id) as tenant:
            # Delete a message, or a memory with all its earlier versions.
            if memory_id.startswith(IdKind.MEMORY):
                with tenant.parts.store.reader(tenant.parts.user_id) as reader:
                    line = [memory.id for memory in find_chain(reader, memory_id)]
                for one in line:
                    tenant.client.delete(one)
            tenant.client.delete(memory_id)
        return {"message": "The memory was deleted."}

    def delete_all(self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None) -> Item:
        """Delete all data of a user, or all memories and messages of an agent or a run, with their history."""
        named = arguments.check_entities(user_id, agent_id, run_id)
        user = arguments.choose_user(named)
        asked = read_filters(None, named)
        with self._tenants.lend(user) as tenant:
            delete_all(tenant, asked)
        return {"message": "The memories were deleted."}

    def history(self, memory_id: str, *, user_id: str | None = None) -> list[Item]:
        """Return the history of a memory, oldest first, without deleted text."""
        with self._tenants.owning(arguments.check_memory_id(memory_id), user_id) as tenant:
            if memory_id.startswith("e"):
                return []
            with tenant.parts.store.reader(tenant.parts.user_id) as reader:
                line = find_chain(reader, memory_id)
                return build_history_rows(line, read_changes(reader, line))

    def reset(self) -> None:
        """Remove the file with all users and the record of deletions; the next call creates a new file."""
        self._tenants.wipe()
