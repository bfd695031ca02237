"""A memory store of the Pydantic AI harness over the directory of a memory: `CredendaMemoryStore`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final

from credenda.adapters.messages import require_framework
from credenda.client import Credenda
from credenda.errors import Conflict, Invalid, NotFound
from credenda.model.browse import DirectoryPage
from credenda.model.core import ItemFilter

with require_framework("the Pydantic AI harness", "pydantic-ai"):
    from pydantic_ai_harness.memory import (
        MemoryConflictError,
        MemoryFile,
        MemoryMutation,
        MemoryOperation,
        MemoryOperationConflictError,
    )
    from pydantic_ai_harness.memory._store import (
        MAX_RECEIPTS,
        MemorySearchResult,
        decode_metadata,
        encode_metadata,
        is_direct_child,
        lexical_search,
        validate_store_path,
        validate_store_prefix,
    )


_RECEIPTS: Final = "pydantic-ai\x1freceipt"
_WRITES: Final = "pydantic-ai\x1fwrite"


class CredendaMemoryStore:
    """A searchable `MemoryStore` with metadata, whose files are pages of the directory below `folder`.

    The version of a file is the SHA-256 of its text. A line that was deleted from the memory, or has orders to its
    reader, is refused with `ValueError`, and a file with a masked secret reads as it was stored.
    """

    def __init__(self, memory: Credenda, *, folder: str = "pydantic-ai") -> None:
        self._memory = memory
        self._folder = folder

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """Return a file, or None if it does not exist."""
        validate_store_path(path)
        if max_chars <= 0:
            raise ValueError("max_chars must be positive")
        return await asyncio.to_thread(self._read, path, max_chars)

    def _find(self, path: str) -> DirectoryPage | None:
        try:
            return self._memory.directory.read(f"{self._folder}/{path}")
        except NotFound:
            return None
        except Invalid as error:
            raise ValueError(str(error)) from error

    def _read(self, path: str, max_chars: int) -> MemoryFile | None:
        page = self._find(path)
        if page is None:
            return None
        item = self._memory.items.get(_WRITES, f"{self._folder}/{path}")
        wrote: Mapping[str, Any] = {} if item is None else json.loads(item.value)
        return MemoryFile(
            content=page.text[:max_chars],
            version=page.version,
            operation_id=wrote.get("operation"),
            truncated=len(page.text) > max_chars,
            metadata=decode_metadata(wrote.get("metadata")),
        )

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        """Return the result of an operation that was carried out already."""
        return await asyncio.to_thread(self._find_receipt, operation)

    def _find_receipt(self, operation: MemoryOperation | None) -> MemoryMutation | None:
        item = None if operation is None else self._memory.items.get(_RECEIPTS, operation.id)
        if operation is None or item is None:
            return None
        receipt = json.loads(item.value)
        if receipt["fingerprint"] != operation.fingerprint:
            raise MemoryOperationConflictError(f"operation id {operation.id!r} was reused with different arguments")
        return MemoryMutation(version=receipt["version"], replayed=True, existed=receipt["existed"])

    async def write(
        self, path: str, content: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        """Create or replace a file that has the expected version."""
        return await self.write_with_metadata(
            path, content, expected_version=expected_version, metadata=None, operation=operation
        )

    async def write_with_metadata(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        metadata: Mapping[str, str] | None,
        operation: MemoryOperation | None = None,
    ) -> MemoryMutation:
        """Create or replace a file that has the expected version, and record metadata with it."""
        validate_store_path(path)
        encoded = encode_metadata(metadata)

        def change() -> MemoryMutation:
            page = self._memory.directory.write(f"{self._folder}/{path}", content, version=expected_version or "")
            wrote = {"operation": operation and operation.id, "metadata": encoded}
            self._memory.items.put(_WRITES, page.path, wrote)
            return MemoryMutation(version=page.version, replayed=False, existed=expected_version is not None)

        return await asyncio.to_thread(self._change, path, change, operation)

    async def delete(
        self, path: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        """Delete a file that has the expected version."""
        validate_store_path(path)

        def change() -> MemoryMutation:
            found = self._find(path)
            if (found.version if found else None) != expected_version:
                raise MemoryConflictError(f"memory path {path!r} changed before it could be deleted")
            if found is not None:
                self._memory.directory.remove(found.path, version=found.version)
                self._memory.items.remove(_WRITES, found.path)
            return MemoryMutation(version=None, replayed=False, existed=found is not None)

        return await asyncio.to_thread(self._change, path, change, operation)

    def _change(self, path: str, change: Any, operation: MemoryOperation | None) -> MemoryMutation:  # noqa: ANN401 - a function without arguments
        replayed = self._find_receipt(operation)
        if replayed is not None:
            return replayed
        try:
            made: MemoryMutation = change()
        except Conflict as error:
            raise MemoryConflictError(f"memory path {path!r} changed before it could be written") from error
        except Invalid as error:
            raise ValueError(str(error)) from error
        if operation is not None:
            receipt = {"fingerprint": operation.fingerprint, "version": made.version, "existed": made.existed}
            self._memory.items.put(_RECEIPTS, operation.id, receipt)
            kept = self._memory.items.find(ItemFilter(space=_RECEIPTS))
            for item in sorted(kept, key=lambda one: one.updated_us)[: max(0, len(kept) - MAX_RECEIPTS)]:
                self._memory.items.remove(_RECEIPTS, item.key)
        return made

    def _list(self, prefix: str) -> list[str]:
        try:
            found = self._memory.directory.ls(self._folder, depth=99)
        except NotFound:
            return []
        paths = (one.path.removeprefix(f"{self._folder}/") for one in found if not one.folder)
        return sorted(path for path in paths if path.startswith(prefix))

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """Return the paths of files that begin with a text, sorted."""
        validate_store_prefix(prefix)
        if limit <= 0:
            raise ValueError("limit must be positive")
        return (await asyncio.to_thread(self._list, prefix))[:limit]

    async def search(
        self, prefix: str, query: str, *, limit: int, max_files: int, max_chars: int, max_file_chars: int
    ) -> MemorySearchResult:
        """Search the files directly below a prefix for the words of a query."""
        validate_store_prefix(prefix)
        if not query.split() or min(limit, max_files, max_chars, max_file_chars) <= 0:
            return MemorySearchResult(matches=[], scanned=0, truncated=False)
        paths = [path for path in await asyncio.to_thread(self._list, prefix) if is_direct_child(prefix, path)]
        pages = [(path, page.text) for path in paths[:max_files] if (page := await asyncio.to_thread(self._find, path))]
        files = [(path, text[:max_file_chars]) for path, text in pages]
        result = await lexical_search(
            files, query, limit=limit, max_files=max_files, max_chars=max_chars, score_prefix=prefix
        )
        cut = len(paths) > max_files or any(len(text) > max_file_chars for _, text in pages)
        return MemorySearchResult(matches=result.matches, scanned=result.scanned, truncated=result.truncated or cut)
