"""The stores of Microsoft's Agent Framework over the directory of a memory.

`CredendaMemoryStore` holds the topics of the memory harness, `CredendaFileStore` the files of its file providers.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from credenda.adapters.messages import require_framework
from credenda.client import Credenda
from credenda.errors import Conflict, Invalid, NotFound

with require_framework("the Agent Framework", "agent-framework"):
    from agent_framework import (
        AgentFileStore,
        AgentSession,
        FileStoreEntry,
        MemoryFileStore,
        MemoryIndexEntry,
        MemoryTopicRecord,
    )


_STATE: Final = "agent-framework\x1fstate"


class CredendaFileStore(AgentFileStore):
    """An `AgentFileStore` whose files are pages of the directory below `folder`. An empty folder does not exist."""

    def __init__(self, memory: Credenda, *, folder: str = "files") -> None:
        self._directory = memory.directory
        self._folder = folder

    def _join(self, path: str) -> str:
        inside = path.replace("\\", "/").strip("/")
        return f"{self._folder}/{inside}" if inside not in {"", "."} else self._folder

    async def write(self, path: str, content: str, *, overwrite: bool = True) -> None:
        """Write a file; raises `FileExistsError` for one that exists, unless it may be overwritten."""
        try:
            await asyncio.to_thread(self._directory.write, self._join(path), content, version=None if overwrite else "")
        except Conflict as error:
            raise FileExistsError(f"File already exists: {path!r}") from error
        except Invalid as error:
            raise ValueError(str(error)) from error

    async def read(self, path: str) -> str | None:
        """Return the text of a file, or None if it does not exist."""
        try:
            return (await asyncio.to_thread(self._directory.read, self._join(path))).text
        except NotFound:
            return None
        except Invalid as error:
            raise ValueError(str(error)) from error

    async def delete(self, path: str) -> bool:
        """Delete a file, and return whether there was one."""
        if await self.read(path) is None:
            return False
        await asyncio.to_thread(self._directory.remove, self._join(path))
        return True

    async def list_children(self, directory: str = "") -> list[FileStoreEntry]:
        """Return the folders and files directly below a folder, folders first."""
        try:
            found = await asyncio.to_thread(self._directory.ls, self._join(directory))
        except NotFound:
            return []
        except Invalid as error:
            raise ValueError(str(error)) from error
        kinds = {True: FileStoreEntry.DIRECTORY, False: FileStoreEntry.FILE}
        ordered = sorted(found, key=lambda one: not one.folder)
        return [FileStoreEntry(one.path.rpartition("/")[2], kinds[one.folder]) for one in ordered]

    async def file_exists(self, path: str) -> bool:
        """Return whether a file exists."""
        return await self.read(path) is not None

    async def create_directory(self, path: str) -> None:
        """Do nothing: a folder exists while a file is in it. Raises `ValueError` for a bad path."""
        await self.list_children(path)


class CredendaMemoryStore(MemoryFileStore):
    """A `MemoryStore` whose topics are pages of the directory, `FOLDER/SOURCE/topics/NAME.md`.

    The memory is that of one owner, whom the session must not name. The framework itself writes the transcripts, into
    files below `transcripts`; they are no part of the memory.
    """

    def __init__(self, memory: Credenda, transcripts: str | Path, *, folder: str = "agent-framework") -> None:
        """Bind an open memory, and a folder on disk for the transcripts."""
        super().__init__(transcripts, owner_state_key="")
        self._memory = memory
        self._folder = folder

    def _get_owner_id(self, session: AgentSession) -> str:  # the base class calls it
        del session
        return self._memory.user

    def get_owner_id(self, session: AgentSession) -> str | None:
        """Return the tenant."""
        return self._get_owner_id(session)

    def export_provider_state(self, session: AgentSession) -> dict[str, Any]:
        """Return nothing: the memory belongs to one owner."""
        del session
        return {}

    def import_provider_state(self, session: AgentSession, *, state: Mapping[str, Any]) -> None:
        """Do nothing: the memory belongs to one owner."""
        del session, state

    def _name_topics(self, source_id: str) -> str:
        return f"{self._folder}/{source_id}/{self.topics_directory_name}"

    def _find_topic(self, source_id: str, topic: str) -> str:
        slug = MemoryTopicRecord(topic=topic, slug=topic, summary="", memories=(), updated_at="").slug
        return f"{self._name_topics(source_id)}/{slug}.md"

    def list_topics(self, session: AgentSession, *, source_id: str) -> list[MemoryTopicRecord]:
        """Return the topics, by name."""
        del session
        try:
            pages = [one.path for one in self._memory.directory.ls(self._name_topics(source_id)) if not one.folder]
        except NotFound:
            return []
        topics = [self._load(path) for path in pages]
        return sorted(topics, key=lambda record: (record.topic.lower(), record.updated_at))

    def _load(self, path: str) -> MemoryTopicRecord:
        name = path.rpartition("/")[2].removesuffix(".md").replace("-", " ")
        return MemoryTopicRecord.from_markdown(self._memory.directory.read(path).text, fallback_topic=name)

    def get_topic(self, session: AgentSession, *, source_id: str, topic: str) -> MemoryTopicRecord:
        """Return a topic; raise `FileNotFoundError` for an unknown one."""
        del session
        try:
            return self._load(self._find_topic(source_id, topic))
        except NotFound as error:
            raise FileNotFoundError(f"No memory topic named '{topic}' was found for this owner.") from error

    def write_topic(self, session: AgentSession, record: MemoryTopicRecord, *, source_id: str) -> None:
        """Store a topic; raise `ValueError` for a line that the memory refuses."""
        del session
        try:
            self._memory.directory.write(self._find_topic(source_id, record.slug), f"{record.to_markdown()}\n")
        except Invalid as error:
            raise ValueError(str(error)) from error

    def delete_topic(self, session: AgentSession, *, source_id: str, topic: str) -> None:
        """Delete a topic: its statements are forgotten. Raises `FileNotFoundError` for an unknown one."""
        del session
        try:
            self._memory.directory.remove(self._find_topic(source_id, topic))
        except NotFound as error:
            raise FileNotFoundError(f"No memory topic named '{topic}' was found for this owner.") from error

    def rebuild_index(
        self, session: AgentSession, *, source_id: str, line_limit: int, line_length: int
    ) -> list[MemoryIndexEntry]:
        """Return the index of the topics; it is made when it is read, and stored nowhere."""
        del line_length
        topics = self.list_topics(session, source_id=source_id)
        return [MemoryIndexEntry.from_topic_record(topic) for topic in topics][:line_limit]

    def get_index_text(
        self,
        session: AgentSession,
        *,
        source_id: str,
        line_limit: int,
        line_length: int,
        index_entries: Sequence[MemoryIndexEntry] | None = None,
    ) -> str:
        """Return the index of the topics as text."""
        entries = index_entries
        if entries is None:
            entries = self.rebuild_index(session, source_id=source_id, line_limit=line_limit, line_length=line_length)
        lines = [entry.to_pointer_line(max_length=line_length) for entry in entries[:line_limit]]
        return "\n".join(["# MEMORY", "", *(lines or ["- none yet"])])

    def read_state(self, session: AgentSession, *, source_id: str) -> dict[str, Any]:
        """Return the state of maintenance."""
        del session
        found = self._memory.items.get(_STATE, source_id)
        default = {"last_consolidated_at": None, "sessions_since_consolidation": []}
        return default if found is None else {**default, **json.loads(found.value)}

    def write_state(self, session: AgentSession, state: Mapping[str, Any], *, source_id: str) -> None:
        """Store the state of maintenance."""
        del session
        self._memory.items.put(_STATE, source_id, dict(state))
