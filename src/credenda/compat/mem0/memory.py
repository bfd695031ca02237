"""`Memory`: mem0's methods, implemented with Credenda."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from credenda import limits
from credenda.bootstrap import build_parts
from credenda.clock import Clock
from credenda.compat.mem0 import arguments
from credenda.compat.mem0.arguments import SHARED_USER
from credenda.compat.mem0.filters import read_filters
from credenda.compat.mem0.queries import (
    delete_all,
    delete_line,
    describe_outcome,
    filter_hits,
    find_current,
    list_records,
    replace_text,
)
from credenda.compat.mem0.responses import Item, build_history_rows, find_chain, read_changes
from credenda.compat.mem0.tenants import Tenants
from credenda.config import load_settings
from credenda.errors import Invalid, NotFound
from credenda.providers.embed.protocol import Embedder
from credenda.runtime import Parts
from credenda.services import remember, search
from credenda.validation import check_fraction
from credenda.write.intake.validate import Submission

__all__ = ["Memory"]

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
        """Return the memory itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
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
            delete_line(tenant, memory_id)
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
