"""The public verbs: `Credenda`. No logic lives here."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from credenda import services
from credenda.config import get_default_user
from credenda.errors import Conflict, Invalid, LimitExceeded, NotFound, Unavailable
from credenda.lazy import import_on_use
from credenda.model.browse import Axis, Diff
from credenda.model.change import ChangeRecord
from credenda.model.event import Receipt
from credenda.model.governance import DeletionReceipt
from credenda.model.memory import Layer, Memory, MemoryType, MemoryUnit, Status
from credenda.model.query import Context, EventDetails, Explanation, Page, SearchResult, SlotVersion
from credenda.operation import (
    CONDITIONS,
    CONTEXT_INPUTS,
    CURSOR,
    ID,
    ITEMS,
    MESSAGES,
    NOT_A_SKILL,
    PERSONS,
    REASON,
    RECORDED,
    SESSION,
    SPOKEN_AT,
    SPOKEN_SOURCE,
    TIMES,
    TOPIC,
    WHOLE_MESSAGE,
    Operation,
    Param,
    Rest,
)
from credenda.telemetry import record_methods
from credenda.write import intake

if TYPE_CHECKING:
    from credenda import bootstrap, client_data, client_directory, client_inspect, client_manage
    from credenda.client_data import Data, Jobs
    from credenda.client_directory import Directory, Items
    from credenda.client_inspect import Inspect
    from credenda.client_manage import Manage
    from credenda.clock import Clock
    from credenda.model.claim import Extractor
    from credenda.model.report import DeletionReport, EraseReceipt, Stats
    from credenda.providers.embed.factory import Embedder
    from credenda.providers.tokens import Tokenizer
    from credenda.runtime import Parts
    from credenda.workers import loop
else:
    bootstrap, loop = import_on_use("credenda.bootstrap"), import_on_use("credenda.workers.loop")
    client_data, client_manage = import_on_use("credenda.client_data"), import_on_use("credenda.client_manage")
    client_inspect = import_on_use("credenda.client_inspect")
    client_directory = import_on_use("credenda.client_directory")


class Groups:
    """What `Credenda` has beside its own verbs."""

    _parts: Parts

    @cached_property
    def manage(self) -> Manage:
        """Operations on existing beliefs."""
        return client_manage.Manage(self._parts)

    @cached_property
    def data(self) -> Data:
        """Operations on a whole memory."""
        return client_data.Data(self._parts)

    @cached_property
    def inspect(self) -> Inspect:
        """Previews, scores, costs and the audit."""
        return client_inspect.Inspect(self._parts)

    @cached_property
    def jobs(self) -> Jobs:
        """Work in the background."""
        return client_data.Jobs(self._parts)

    @cached_property
    def directory(self) -> Directory:
        """The memory as a directory of pages."""
        return client_directory.Directory(self._parts)

    @cached_property
    def items(self) -> Items:
        """Values of programs beside the beliefs."""
        return client_directory.Items(self._parts)


@record_methods
class Credenda(Groups):
    """One tenant's memory, open for use.

    Use it as a context manager, or call `close`. All methods may be called from any thread.

    >>> mem = Credenda.open(getfixture("tmp_path") / "memory.db", user="ana")
    >>> mem.remember("I'm allergic to peanuts.").queued
    True
    >>> mem.settle()
    >>> [memory.value for memory in mem.list(attribute="allergy").items]
    ['peanuts']
    >>> mem.close()
    """

    def __init__(self, parts: Parts, *, workers: bool = True) -> None:
        """Take opened components; callers normally use `open`."""
        if isinstance(parts, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance] - the nearest guess
            raise TypeError(f"a memory is opened with Credenda.open(target, user=…), not with a {type(parts).__name__}")
        self._parts = parts
        self._worker = loop.Worker(parts, duties=partial(bootstrap.run_due_duties, parts))
        self._closed = False
        with ExitStack() as held:
            held.callback(self.close)
            if workers:
                self.start_worker()
            held.pop_all()

    @classmethod
    def open(
        cls,
        target: str | Path | None = None,
        *,
        user: str | None = None,
        clock: Clock | None = None,
        embedder: str | Embedder | None = None,
        llm: object = None,
        extractor: Extractor | None = None,
        settings: Mapping[str, object] | None = None,
        tokenizer: Tokenizer = None,
        workers: bool = True,
        read_only: bool = False,
    ) -> Credenda:
        """Open or create a memory.

        `target` is a path, `sqlite:///path`, `postgresql://user@host/database`, or None for the default file; `user`
        the tenant. `workers=False` runs no background thread: jobs then run in `settle`. `embedder` is "minilm" (the
        default if installed), "hashed", "none", "openai:MODEL" or an object with `embed`, `model_id` and `dims`;
        `extractor` replaces the reader. `llm` reads instead of it: "anthropic:MODEL", "openai:MODEL" (any
        server with a compatible API, by the setting `llm_url`), "command:PROGRAM", "none", or an object such as
        `credenda.testing.ScriptedModel`. `tokenizer` counts for budgets: a function from a text to its tokens,
        a file, or "estimate". None uses the setting. Raises `Invalid`, `Unavailable`, `Conflict` (a newer file),
        `Forbidden` (a role with too much power) or `Corrupt`.
        """
        parts = bootstrap.build_parts(
            target,
            user=get_default_user() if user is None else user,
            clock=clock,
            llm=llm,
            embedder=embedder,
            extractor=extractor,
            settings=settings,
            tokenizer=tokenizer,
            read_only=read_only,
        )
        return cls(parts, workers=workers)

    def for_user(self, user: str, *, workers: bool = True) -> Credenda:
        """Open the memory of another user of the same database, with the same connections, embedder and settings.

        It is as separate as a memory opened on its own. Each is closed on its own and stays usable when the other is
        closed; the last one to close releases what they share. `workers` is that of `open`. Raises `Invalid` for a bad
        name, `Unavailable` when this memory is closed.
        """
        return type(self)(bootstrap.build_user_parts(self._parts, user, closed=self._closed), workers=workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def user(self) -> str:
        """The tenant."""
        return self._parts.user_id

    @property
    def location(self) -> str:
        """The database: an absolute path, or the address of a server."""
        return self._parts.store_name

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""
        return self._parts.read_only

    @property
    def zone(self) -> tzinfo:
        """The time zone of days and of times without one."""
        return self._parts.settings.zone

    def start_worker(self) -> None:
        """Start background processing, after `open(workers=False)`.

        Does nothing if it runs already, or if the memory is read-only.
        """
        if not self._parts.read_only and not self._closed:
            self._worker.start()

    def close(self) -> None:
        """Stop the worker and release the store; pending jobs stay queued. Closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        with ExitStack() as held:
            held.callback(self._parts.release)
            self._worker.stop()
            services.settle.flush_and_stop(self._parts)

    @Operation(
        "Store a message; it is on disk when this returns, and beliefs follow shortly after.",
        "memory:write",
        Rest("POST", "/v1/memories", status=202),
        inputs={
            "content": Param("The message, in the speaker's own words.", MESSAGES),
            "topic": TOPIC,
            "session": SESSION,
            "agent": "Program that took it; shown with the evidence. Searches do not look at it.",
            "source": SPOKEN_SOURCE,
            "occurred_at": SPOKEN_AT,
            "memory_type": Param("The type of what is believed from it, if it is known.", MemoryType),
            "tags": Param("Tag to find it by.", option="tag"),
            "metadata": "Pair to store with it.",
            "expires_at": Param("When it expires.", option="expires"),
            "idempotency_key": Param("The same key and content are stored once.", option="key"),
            "claims": "Each: quote, entity, attribute, value, stance, scope, replaces (an id), statement, key.",
            "allow_deleted": Param("Store it even if it was deleted before.", person_only=True),
        },
        errors=(Invalid, LimitExceeded, Conflict, Unavailable),
        writes=True,
        idempotent=False,
        closed={},
    )
    def remember(
        self,
        content: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        topic: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        source: str = "human",
        occurred_at: datetime | str | None = None,
        memory_type: str | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
        expires_at: datetime | str | None = None,
        idempotency_key: str | None = None,
        allow_deleted: bool = False,
        claims: Sequence[Mapping[str, object]] | None = None,
    ) -> Receipt:
        """Record messages; when this returns they are on disk and their words can be found.

        `content` is text, or messages `{"role", "content", "name"?, "timestamp"?, "id"?}`. The same `idempotency_key`
        with the same content, topic and time stores nothing and returns the first receipt with `cached=True`; with
        other content it raises `Conflict`. Raises `Invalid` or `LimitExceeded` for input that cannot be stored
        completely, `Unavailable` when the store cannot be written; then nothing was stored.

        `agent` names the program that took the messages, and is shown with the evidence. Searches do not look at it:
        give `topic`, `tags` or `metadata` too where the words of two programs are to be found apart.

        `claims` are what an agent has understood itself: `{"quote", "entity"?, "attribute"?, "value"?, "stance"?,
        "scope"?, "statement"?, "key"?, "replaces"?}`: the quote is copied, `replaces` is a memory id, `statement`
        is shown if it adds nothing. They take the place of extraction, are checked and believed at once, and the
        receipt has the result of each. An empty list counts as none.
        """
        submission = intake.validate.Submission(
            content=content,
            user_id=self._parts.user_id,
            topic=topic,
            session=session,
            agent=agent,
            source=source,
            occurred_at=occurred_at,
            memory_type=memory_type,
            tags=tags,
            metadata=metadata,
            expires_at=expires_at,
            idempotency_key=idempotency_key,
            allow_deleted=allow_deleted,
        )
        if claims in (None, [], ()):
            return services.remember.remember(self._parts, submission)
        return services.remember.remember_claims(self._parts, submission, claims)

    def store(self, unit: MemoryUnit) -> Memory:
        """Store a memory at once, without extraction: for tests, seeding and migration. It competes like any other."""
        return services.remember.store(self._parts, unit)

    def settle(self, timeout: float = 30.0) -> None:
        """Wait until all events so far are processed and searchable; raises `Unavailable` on time-out."""
        services.settle.settle(self._parts, timeout)

    @Operation(
        "Search memories and events for the answer to a question; abstains if nothing is known.",
        "memory:read",
        Rest("POST", "/v1/search"),
        inputs={
            "query": "A question or some words.",
            **CONDITIONS,
            "record_access": RECORDED,
        },
        errors=(Invalid, LimitExceeded),
    )
    def search(
        self,
        query: str,
        *,
        limit: int = 20,
        topic: str | None = None,
        kinds: Collection[str] = ("memory", "event"),
        types: Collection[str] | None = None,
        layers: Collection[str] | None = None,
        mode: str = "full_context",
        min_confidence: float = 0.4,
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
        recency_weight: float = 0.3,
        profile: str = "default",
        tags: Collection[str] | None = None,
        metadata: Mapping[str, object] | None = None,
        session: str | None = None,
        exclude_session: str | None = None,
        project: str | None = None,
        include: Collection[str] = (),
        explain: bool = False,
        record_access: bool = True,
    ) -> SearchResult:
        """Find the memories and messages that answer a question, best first, and how probably one does.

        `limit` is at most 50. `as_of` searches the values true at a time, `known_at` the beliefs held then: a datetime,
        RFC 3339, or words such as "yesterday" and "3 March", in the zone of the setting `time_zone`; a day means its
        end. `include` may name superseded, low_confidence and archived. `project` leaves out what was said in other
        projects, except the user's own facts; the name is the value of "project" in the metadata. Raises `Invalid` for
        invalid conditions.
        """
        conditions = {name: value for name, value in locals().items() if name not in {"self", "query"}}
        return services.search.search(self._parts, query, conditions)

    @Operation(
        "Build a fenced context block for a prompt, within a token budget.",
        "memory:read",
        Rest("POST", "/v1/context"),
        inputs={**CONTEXT_INPUTS, "record_access": replace(RECORDED, optional=True)},
        errors=(Invalid, LimitExceeded),
    )
    def context(
        self,
        query: str | None = None,
        *,
        token_budget: int | None = None,
        automatic: bool = False,
        **conditions: Any,  # noqa: ANN401 - those of `search`
    ) -> Context:
        """Pack relevant memories into a block for a prompt, fenced as data, never above the budget of tokens.

        Takes the conditions of `search`; without a query it contains only the memories for every prompt. `automatic` is
        for a block that a program adds to each turn by itself: its budget is the smaller `inject_tokens`, and its
        memories do not count as recalled unless `record_access` is set.
        """
        return services.search.context(self._parts, query, token_budget, conditions, automatic=automatic)

    @Operation(
        "Show one memory.",
        "memory:read",
        Rest("GET", "/v1/memories/{id}", versioned=True),
        inputs={"id": ID, **TIMES},
        errors=(Invalid, NotFound),
    )
    def get(self, id: str, *, as_of: datetime | str | None = None, known_at: datetime | str | None = None) -> Memory:
        """Return the current version of a memory, or the version at `known_at`.

        Raises `NotFound` for an unknown id, a memory that did not exist yet, or a memory that was not true at `as_of`.
        `Invalid` for a short id with which several begin.
        """
        return services.browse.get(self._parts, id, as_of, known_at)

    @Operation(
        "Show an event as it was said, and the memories that rest on it.",
        "memory:read",
        Rest("GET", "/v1/events/{id}"),
        inputs={"id": "The id of an event."},
        errors=(Invalid, NotFound),
        closed={**NOT_A_SKILL, "cli": "it is `get` there"},
    )
    def event(self, id: str) -> EventDetails:
        """Return an event as it was said, and the memories that rest on it."""
        return services.browse.get_event(self._parts, id)

    @Operation(
        "List memories, newest first.",
        "memory:read",
        Rest("GET", "/v1/memories"),
        inputs={
            "status": Param("Only this status.", Status),
            "type": Param("Only this type.", MemoryType),
            "layer": Param("Only this layer.", Layer),
            "topic": TOPIC,
            "entity": "Only this entity.",
            "attribute": "Only this attribute.",
            "limit": ITEMS,
            "offset": "How many to skip.",
            "cursor": CURSOR,
            **TIMES,
        },
        errors=(Invalid, NotFound),
    )
    def list(
        self,
        *,
        status: str | None = "active",
        type: str | None = None,
        layer: str | None = None,
        topic: str | None = None,
        entity: str | None = None,
        attribute: str | None = None,
        limit: int = 20,
        offset: int = 0,
        cursor: str | None = None,
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
    ) -> Page[Memory]:
        """List memories, newest first, in pages of at most 50 (`limit`); `status=None` lists all.

        `as_of` lists the memories true at a time: "active" then includes values replaced since. `known_at` lists the
        memories believed at a time, each in its version of that time.
        The cursor of a page leads to the next one even if memories are added meanwhile; `offset` only counts.
        """
        given = {name: value for name, value in locals().items() if name != "self"}
        return services.browse.list_memories(self._parts, **given)

    @Operation(
        "Show every value that a slot has had, oldest first.",
        "memory:read",
        (
            Rest("GET", "/v1/memories/{id}/history", without=("entity", "attribute")),
            Rest("GET", "/v1/history", without=("id",)),
        ),
        inputs={
            "entity": Param("Entity, such as user.", positional=True),
            "attribute": Param("Attribute, such as residence.", positional=True),
            "id": "A memory in the slot, instead of entity and attribute.",
            **TIMES,
        },
        errors=(Invalid, NotFound),
    )
    def history(
        self,
        *,
        id: str | None = None,
        entity: str | None = None,
        attribute: str | None = None,
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
    ) -> Sequence[SlotVersion]:
        """Return every value that a slot, or the slot of a memory, has had, oldest first.

        `known_at` returns the history as believed at a time, `as_of` only the values true at that time.
        """
        given = {name: value for name, value in locals().items() if name != "self"}
        return services.browse.history(self._parts, **given)

    @Operation(
        "Show the changes in belief between two times: new, replaced, corrected, ended or contested.",
        "memory:read",
        Rest("GET", "/v1/diff"),
        inputs={
            "since": Param("Start; a date is its whole day.", option="from"),
            "until": Param("End; a date is its whole day. [default: now]", option="to"),
            "axis": Param("Compare beliefs as known at the two times, or facts that were true then.", Axis),
            "topic": "Only this topic.",
            "entity": "Only this entity, such as user.",
        },
        errors=(Invalid,),
    )
    def diff(
        self,
        since: datetime | str = "yesterday",
        until: datetime | str | None = None,
        *,
        axis: str = "known",
        topic: str | None = None,
        entity: str | None = None,
    ) -> Diff:
        """Return the changes in belief from `since` to `until` (now by default), oldest first.

        Days and longer periods count completely. The axis `known` compares the beliefs held at the two times, `valid`
        the values true at them as known now. A value that came and went in between is not reported.
        """
        return services.browse.diff(self._parts, since, until, axis=axis, topic=topic, entity=entity)

    @Operation(
        "Show the provenance of a memory: its evidence and every change to it.",
        "memory:read",
        Rest("GET", "/v1/memories/{id}/why"),
        inputs={"id": ID},
        errors=(NotFound,),
    )
    def why(self, id: str) -> Explanation:
        """Return the reasons for a memory: its evidence as (event, start, end), and every change to it."""
        return services.browse.why(self._parts, id)

    @Operation(
        "Show the changes in belief that an event caused, or the latest changes.",
        "memory:read",
        Rest("GET", "/v1/changes"),
        inputs={
            "cause": Param("The id of an event. [default: the latest changes]", positional=True),
            "limit": "Maximum number of the latest changes, 1 to 200.",
        },
        errors=(Invalid, NotFound),
        closed={**NOT_A_SKILL, "cli": "`remember` shows them", "mcp": "`why` shows them with the memory"},
    )
    def changes(self, cause: str | None = None, *, limit: int = 20) -> Sequence[ChangeRecord]:
        """Return the changes that an event caused, oldest first; without one the latest changes, the latest first."""
        return services.browse.list_changes(self._parts, cause, limit=limit)

    @Operation(
        "Correct a memory that was wrong from the start.",
        "memory:write",
        Rest("PATCH", "/v1/memories/{id}", versioned=True),
        inputs={
            "id": ID,
            "text": "The corrected text.",
            "value": "The corrected value.",
            "reason": REASON,
        },
        errors=(Invalid, NotFound, Conflict),
        writes=True,
        idempotent=False,
    )
    def correct(self, id: str, *, text: str | None = None, value: str | None = None, reason: str = "") -> Memory:
        """Correct a memory by a value that holds, or does not after "not", or by a text that states one."""
        return services.edit.correct(self._parts, id, text=text, value=value, reason=reason)

    @Operation(
        "Take a memory out of use; `restore` reverses it.",
        "memory:write",
        Rest("POST", "/v1/memories/{id}/forget", versioned=True),
        inputs={"id": ID, "reason": REASON},
        errors=(NotFound, Conflict),
        writes=True,
    )
    def forget(self, id: str, reason: str = "") -> Memory:
        """Take a memory out of use; `restore` brings it back."""
        return services.edit.forget(self._parts, id, reason)

    @Operation(
        "Restore a forgotten memory.",
        "memory:write",
        Rest("POST", "/v1/memories/{id}/restore", versioned=True),
        inputs={"id": ID},
        errors=(NotFound, Conflict),
        writes=True,
        idempotent=False,
    )
    def restore(self, id: str) -> Memory:
        """Bring back a forgotten memory; raises `Conflict` for a memory that is not forgotten."""
        return services.edit.restore(self._parts, id)

    @Operation(
        "Delete a memory or an event permanently, with its words; the same content is not added again.",
        "memory:write",
        Rest("DELETE", "/v1/memories/{id}", versioned=True),
        inputs={"id": "An id from a list or a search.", "whole_message": WHOLE_MESSAGE},
        errors=(NotFound, Conflict),
        writes=True,
        destructive=True,
    )
    def delete(self, id: str, *, whole_message: bool = False) -> DeletionReceipt:
        """Delete a memory or an event permanently; repeating it does nothing. A short id will do.

        The words of a memory are blanked in its messages; other memories on the same messages keep the other words.
        `whole_message` deletes these messages whole, with everything that only they support.
        """
        return services.delete.delete(self._parts, id, whole_message=whole_message)

    @Operation(
        "Delete every event that meets all conditions, and everything that only they support.",
        "memory:erase",
        Rest("POST", "/v1/deletions"),
        inputs={
            "session": "Events of this session.",
            "topic": "Events of this topic.",
            "source": "Events from this source.",
            "before": "Events before this time.",
            "dry_run": "Only name what to delete.",
        },
        errors=(Invalid, Conflict),
        writes=True,
        destructive=True,
        closed={**PERSONS, "cli": "it is `delete` with conditions there"},
    )
    def delete_where(
        self,
        *,
        session: str | None = None,
        topic: str | None = None,
        source: str | None = None,
        before: datetime | str | None = None,
        dry_run: bool = False,
    ) -> DeletionReport:
        """Delete every event that meets all conditions, and memories without other evidence; `dry_run` only names."""
        given = {name: value for name, value in locals().items() if name != "self"}

        return services.delete.delete_where(self._parts, **given)

    @Operation(
        "Erase all data of this user permanently, and verify it on the raw bytes.",
        "memory:erase",
        Rest("DELETE", "/v1/me"),
        inputs={
            "confirm": "The exact name of the user, or DELETE MY DATA.",
            "export": Param("Export all data to this file first.", remote="nothing"),
        },
        errors=(Invalid, Conflict, Unavailable),
        writes=True,
        destructive=True,
        closed=PERSONS,
    )
    def erase(self, confirm: str = "", *, export: str | Path | None = None) -> EraseReceipt:
        """Erase all data of this user permanently, and prove it on the raw bytes; `confirm` is the user's name.

        The phrase "DELETE MY DATA" confirms it too. With `export` it first writes everything to that file. Raises
        `Invalid` for another name, `Conflict` under a legal hold or when another process writes between export and
        erasure; then nothing was erased.
        """
        return services.delete.erase(self._parts, confirm, export=export)

    @Operation(
        "Say whether a hit was useful; it counts once per session and day, the latest one wins.",
        "memory:write",
        Rest("POST", "/v1/memories/{id}/feedback", status=204),
        inputs={
            "id": ID,
            "useful": Param("Whether it was useful.", option="useful/useless"),
            "session": "Conversation in which it was shown. [default: the last one]",
        },
        errors=(NotFound,),
        writes=True,
        idempotent=False,
    )
    def feedback(self, id: str, useful: bool, *, session: str | None = None) -> None:  # noqa: FBT001 - the public contract's order
        """Record whether a hit was useful: it changes rank and retention, within bounds (docs/explanation/dream.md).

        It counts once per session and day, and the last call wins. Without a `session` it applies to the session that
        last showed the hit.
        """
        services.lifecycle.record_feedback(self._parts, id, useful=useful, session=session)

    @Operation("Count memories, events and pending work.", "memory:read", Rest("GET", "/v1/stats"))
    def stats(self) -> Stats:
        """Count the tenant's rows and pending work."""
        return services.stats.count_stats(self._parts)
