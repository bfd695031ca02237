"""A memory of CrewAI's crews and agents: `CredendaMemory`."""

from __future__ import annotations

from typing import Any, Final, NoReturn, cast

from credenda.adapters.messages import require_framework
from credenda.client import Credenda
from credenda.errors import Invalid

with require_framework("CrewAI", "crewai"):
    from crewai.memory.storage.backend import StorageBackend
    from crewai.memory.types import MemoryMatch, MemoryRecord
    from crewai.memory.unified_memory import Memory
    from pydantic import PrivateAttr

__all__ = ["CredendaMemory"]

_RESULT: Final = "\nResult: "
"""Precedes the answer in the text that a crew makes of a task; the rest are words of its programmer."""


class _Block(MemoryMatch):
    """The recalled memories, as one match whose text is a fenced block."""

    def format(self) -> str:
        return self.record.content


class _Nothing:
    """The storage that `Memory` would fill itself: there is none."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"this memory keeps no records of CrewAI, so that {name} is not possible")


class CredendaMemory(Memory):
    """A `Memory` that recalls for the task of an agent, and remembers what the agent answers; no model reads for it.

    `Crew(memory=CredendaMemory(memory))`, or `Agent(memory=…)`. Scopes, categories and importance are not used: beliefs
    follow from the words. The open memory is not closed. A person deletes memories, not a crew.
    """

    _credenda: Credenda = PrivateAttr()
    _session: str | None = PrivateAttr(default=None)

    def __init__(self, memory: Credenda, *, session: str | None = None, read_only: bool = False) -> None:
        """Bind an open memory; `session` names the conversation of which the answers are."""
        super().__init__(storage=cast("StorageBackend", _Nothing()), read_only=read_only)
        self._credenda = memory
        self._session = session

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> CredendaMemory:
        """Return itself: copies of a crew share the open memory."""
        return self

    def extract_memories(self, content: str) -> list[str]:
        """Return the answer in the text of a task that has ended."""
        answer = (content.partition(_RESULT)[2] or content).strip()
        return [answer] if answer else []

    def remember(self, content: str, *_: Any, agent_role: str | None = None, **__: Any) -> MemoryRecord | None:  # noqa: ANN401 - the library's
        """Store words of an agent with the trust of a model's text; None where nothing is stored."""
        if self.read_only or not content.strip():
            return None
        said = [{"role": "assistant", "content": content}]
        receipt = self._credenda.remember(said, session=self._session, agent=agent_role)
        return MemoryRecord(id=receipt.event_ids[0], content=content) if receipt.event_ids else None

    def remember_many(
        self,
        contents: list[str],
        *_: Any,  # noqa: ANN401
        agent_role: str | None = None,
        **__: Any,  # noqa: ANN401
    ) -> list[MemoryRecord]:
        """Store several, each on disk when this returns."""
        stored = [self.remember(one, agent_role=agent_role) for one in contents]
        return [one for one in stored if one is not None]

    def recall(self, query: str, *_: Any, limit: int = 10, **__: Any) -> list[MemoryMatch]:  # noqa: ANN401
        """Return the answer to a query as one match, whose text is a block fenced as data; nothing if there is none."""
        found = self._credenda.context(query, limit=limit, exclude_session=self._session)
        return [_Block(record=MemoryRecord(content=found.text), score=1.0)] if found.text else []

    def forget(self, *_: Any, **__: Any) -> int:  # noqa: ANN401
        """Raise `Invalid`: a person deletes memories, not a crew."""
        raise Invalid("a crew deletes no memories", fix="delete them with `credenda delete`")

    def reset(self, *_: Any, **__: Any) -> None:  # noqa: ANN401
        """Raise `Invalid` too."""
        self.forget()
