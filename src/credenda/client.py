"""The public verbs: `Credenda`. No logic lives here."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime, tzinfo
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from credenda.bootstrap import build_parts
from credenda.clock import Clock
from credenda.config import get_default_user
from credenda.model.change import ChangeRecord
from credenda.model.claim import Extractor
from credenda.model.diff import Diff
from credenda.model.event import Receipt
from credenda.model.memory import Memory, MemoryUnit
from credenda.model.query import Context, Explanation, Page, SearchResult, SlotVersion
from credenda.providers.embed.protocol import Embedder
from credenda.providers.tokens.factory import Tokenizer
from credenda.runtime import Parts
from credenda.services import inspect, maintenance
from credenda.workers.loop import Worker

if TYPE_CHECKING:
    from credenda.client_data import Data
    from credenda.client_manage import Manage
    from credenda.model.report import DeletionReport, EraseReceipt, Stats

__all__ = ["Credenda"]


def _run_due_tasks(parts: Parts) -> None:
    """Run the duties that are due; loaded when first needed."""
    from credenda.services.schedule import run_duties

    run_duties(parts)


class Credenda:
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
        """Take over opened parts; `open` is how a memory is usually made."""
        self._parts = parts
        self._worker = Worker(parts, duties=partial(_run_due_tasks, parts))
        self._closed = False
        with ExitStack() as held:
            held.callback(self.close)
            if workers:
                self.start_worker()
            held.pop_all()

    @cached_property
    def manage(self) -> Manage:
        """What happens to beliefs after they are held; loaded when first asked for."""
        from credenda.client_manage import Manage

        return Manage(self._parts)

    @cached_property
    def data(self) -> Data:
        """Moving and looking after a whole memory; loaded when first asked for."""
        from credenda.client_data import Data

        return Data(self._parts)

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

        `target` is a path, `sqlite:///path`, or None for the default file; `user` the tenant. `workers=False` runs no
        background thread: jobs then run in `settle`. `embedder` is "minilm" (the default where it is installed),
        "hashed", "none", "openai:MODEL" or an object with `embed`, `model_id` and `dims`; `extractor` reads claims in
        place of the rules. `llm` reads beside them: "anthropic:MODEL", "openai:MODEL" (any server that speaks its
        format, by the setting `llm_url`), "none", or an object such as `credenda.testing.ScriptedModel`. `tokenizer`
        counts for budgets: a function from a text to its tokens, a file, or "estimate". None takes the setting.
        Raises `Invalid`, `Unavailable`, `Conflict` (a newer file) or `Corrupt`.
        """
        parts = build_parts(
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

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    @property
    def user(self) -> str:
        """The tenant."""
        return self._parts.user_id

    @property
    def zone(self) -> tzinfo:
        """The time zone of days and of times without one."""
        return self._parts.settings.zone

    def start_worker(self) -> None:
        """Read what waits in the background from now on, after `open(workers=False)`.

        Does nothing where that is under way already, or where nothing may be written.
        """
        if not self._parts.read_only and not self._closed:
            self._worker.start()

    def close(self) -> None:
        """Stop the worker and release the store; jobs that wait stay queued. Closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        with ExitStack() as held:
            held.callback(self._parts.store.close)
            if self._parts.llm is not None:
                held.callback(self._parts.llm.close)
            self._worker.stop()
            maintenance.flush_and_stop(self._parts)

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
    ) -> Receipt:
        """File what was said; when this returns it is on disk and its words can be found.

        `content` is text, or messages `{"role", "content", "name"?, "timestamp"?, "id"?}`. The same `idempotency_key`
        with the same content, topic and time files nothing and returns the first receipt with `cached=True`; with
        other content it raises `Conflict`. Raises `Invalid` or `LimitExceeded` for input that cannot be kept whole,
        `Unavailable` when the store cannot be written; then nothing was filed.
        """
        from credenda.services.remember import remember  # of a module: of a package it takes three times as long
        from credenda.write.intake.validate import Submission

        submission = Submission(
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
        return remember(self._parts, submission)

    def store(self, unit: MemoryUnit) -> Memory:
        """Hold a memory at once, without extraction: for tests, seeding and migration. It competes like any other."""
        from credenda.services import remember

        return remember.store(self._parts, unit)

    def settle(self, timeout: float = 30.0) -> None:
        """Wait until all that was said so far has been read and is searchable; raises `Unavailable` on time-out."""
        maintenance.settle(self._parts, timeout)

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
        include: Collection[str] = (),
        explain: bool = False,
        record_access: bool = True,
    ) -> SearchResult:
        """Find what is known that answers a question, best first; `abstained` says that nothing relevant is known.

        `as_of` asks what was true at a time, `known_at` what was held then: a datetime, RFC 3339, or words such as
        "yesterday" and "3 March", in the zone of the setting `time_zone`; a day stands for its end. `include` may
        name superseded, low_confidence and archived. Raises `Invalid` for conditions that cannot be meant.
        """
        given = {name: value for name, value in locals().items() if name != "self"}
        return inspect.search(self._parts, inspect.SearchArguments(**given))

    def context(
        self,
        query: str | None = None,
        *,
        token_budget: int | None = None,
        automatic: bool = False,
        **conditions: Any,  # noqa: ANN401 - those of `search`
    ) -> Context:
        """Pack what is known into a block for a prompt, fenced as data, never over the budget of tokens.

        Takes the conditions of `search`; without a query it holds only what every prompt should have. `automatic` is
        for a block that a program adds to each turn unasked: its budget is the smaller `inject_tokens`, and what it
        shows does not count as recalled unless `record_access` says so.
        """
        return inspect.context(self._parts, query, token_budget, conditions, automatic=automatic)

    def get(self, id: str, *, as_of: datetime | str | None = None, known_at: datetime | str | None = None) -> Memory:
        """Return a memory as it is held now, or as it was held at `known_at`.

        Raises `NotFound` for an unknown id, one that was not held yet, or one that was not true at `as_of`.
        """
        return inspect.get(self._parts, id, as_of, known_at)

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
        """List memories, newest first, a page at a time; `status=None` lists all.

        `as_of` lists what was true at a time: "active" then also means what held and was replaced since. `known_at`
        lists what was held at a time, each memory as it stood.

        The cursor of a page leads to the next one whatever is added meanwhile; `offset` only counts.
        """
        given = {name: value for name, value in locals().items() if name != "self"}
        return inspect.list_memories(self._parts, **given)

    def history(
        self,
        *,
        id: str | None = None,
        entity: str | None = None,
        attribute: str | None = None,
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
    ) -> Sequence[SlotVersion]:
        """Return every value that a slot, or the slot of a memory, has held, oldest first.

        `known_at` tells the history as it was held at a time, `as_of` only what was true at one.
        """
        given = {name: value for name, value in locals().items() if name != "self"}
        return inspect.history(self._parts, **given)

    def diff(
        self,
        since: datetime | str = "yesterday",
        until: datetime | str | None = None,
        *,
        axis: str = "known",
        topic: str | None = None,
        entity: str | None = None,
    ) -> Diff:
        """Say what changed in belief from `since` to `until` (now where it is left out), oldest first.

        Days and longer periods count whole, the first and the last. The axis `known` compares what was held at the two
        times, `valid` what was true then as it is seen now. What came and went in between is no difference.
        """
        from credenda.services import diff

        return diff.diff(self._parts, since, until, axis=axis, topic=topic, entity=entity)

    def why(self, id: str) -> Explanation:
        """Say why a memory is held: the words it rests on as (event, start, end), and every change to it."""
        return inspect.why(self._parts, id)

    def changes(self, cause: str) -> Sequence[ChangeRecord]:
        """Return the changes that an event led to, oldest first: what was believed because it was said."""
        return inspect.list_changes(self._parts, cause)

    def correct(self, id: str, *, text: str | None = None, value: str | None = None, reason: str = "") -> Memory:
        """Put a memory right: the old one was wrong and leaves every as-of answer. Returns the new one."""
        from credenda.services import edit

        return edit.correct(self._parts, id, text=text, value=value, reason=reason)

    def forget(self, id: str, reason: str = "") -> Memory:
        """Take a memory out of use; `restore` brings it back."""
        from credenda.services import edit

        return edit.forget(self._parts, id, reason)

    def restore(self, id: str) -> Memory:
        """Bring back a forgotten memory; raises `Conflict` for one that is not."""
        from credenda.services import edit

        return edit.restore(self._parts, id)

    def delete(self, id: str) -> None:
        """Delete a memory or an event for good, with the words it rests on; repeating it does nothing."""
        from credenda.services import delete

        delete.delete(self._parts, id)

    def delete_where(
        self,
        *,
        session: str | None = None,
        topic: str | None = None,
        source: str | None = None,
        before: datetime | str | None = None,
        dry_run: bool = False,
    ) -> DeletionReport:
        """Delete every event that meets all conditions, and what rests on those events alone; `dry_run` only counts."""
        conditions = {"session": session, "topic": topic, "source": source}
        from credenda.services import delete

        return delete.delete_where(self._parts, **conditions, before=before, dry_run=dry_run)

    def erase(self, confirm: str = "", *, export: str | Path | None = None) -> EraseReceipt:
        """Erase everything of this user for good, and prove on the raw bytes that it is gone; `confirm` is the name.

        With `export` everything is written to that file first. Raises `Invalid` for another name, `Conflict` under a
        legal hold or when something is written between export and erasure; then nothing was erased.
        """
        from credenda.services import erase

        return erase.erase(self._parts, confirm, export=export)

    def feedback(self, id: str, useful: bool, *, session: str | None = None) -> None:  # noqa: FBT001 - the public contract's order
        """Say whether a hit was useful: it moves rank and retention, within bounds (docs/explanation/dream.md).

        It counts once a session and day, and the last word stands. Without a `session` it is said of the one in which
        the hit was last shown.
        """
        from credenda.services import usage

        usage.record_feedback(self._parts, id, useful=useful, session=session)

    def stats(self) -> Stats:
        """Count what is held and what still waits."""
        return inspect.count_stats(self._parts)
