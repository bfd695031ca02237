"""Store pages in a memory: each line with a statement becomes a memory of its own, with the trust of a model's text.

A line is stored (journaled, screened, reconciled) before it is written to the page. A removed line is forgotten, which
can be undone, unless someone else stated it too. Memories that were forgotten or deleted disappear from the page when
it is next read, and a deleted statement cannot be written to a page.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from credenda import limits
from credenda.errors import Conflict, CredendaError, Invalid, LimitExceeded, NotFound
from credenda.interfaces.anthropic_memory.folder import Folder
from credenda.interfaces.anthropic_memory.paths import Refused
from credenda.model.event import Source
from credenda.model.memory import Memory, MemoryUnit, Status
from credenda.write.intake.secrets import screen_secrets

if TYPE_CHECKING:
    from credenda.client import Credenda

__all__ = ["Intake"]

_STATE: Final = "pages.json"
_MARK: Final = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])?\s*(?:\[[ xX]\]\s+)?")
_SAYS: Final = re.compile(r"[^\W\d_]{2}")
_MARKUP: Final = ("#", "<!--", "```", "~~~", "---", "|")
_FENCES: Final = ("```", "~~~")
_GONE: Final = frozenset({Status.FORGOTTEN, Status.DELETED, Status.INVALIDATED})
_SESSION: Final = "page "
_SHOWN: Final = 80
_ANCHOR: Final = ""
"""The key of an event of the memory in the state, beside the page names, which are never empty."""


class _Deleted(Refused):
    """A line states a deleted memory."""


@dataclass(slots=True)
class _Page:
    """A page being stored: its previous lines with their memories, its current lines, and its new memories."""

    path: str
    writing: bool
    known: Mapping[str, str]
    held: dict[str, str] = field(default_factory=dict[str, str])
    made: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class _Taken:
    """A page that was stored."""

    text: str
    intake: Intake
    page: _Page

    def finish(self) -> None:
        """Save the state of the lines, and forget the memories of removed lines."""
        self.intake.finish(self.page)

    def undo(self) -> None:
        """Forget the new memories."""
        self.intake.undo(self.page)


class Intake:
    """Stores the pages of a folder; its state maps hashes of lines to memories."""

    def __init__(self, memory: Credenda, folder: Folder) -> None:
        """Bind an open memory and a folder."""
        self._memory = memory
        self._folder = folder

    def take(self, path: str, text: str, *, writing: bool) -> _Taken:
        """Store a page; when `writing`, raise `Refused` for a line that cannot be stored.

        A line cannot be stored if it was deleted, contains an injected instruction or a refused secret, or is too long.
        When a page is read, deleted lines are left out, and other lines that cannot be stored stay on the page.
        """
        page = _Page(path, writing, self._load().get(path, {}))
        statements = _pair_statements(text)
        if sum(bool(statement) for _, statement in statements) > limits.PAGE_STATEMENTS and writing:
            raise Refused(f"{path} holds more than {limits.PAGE_STATEMENTS:,} statements. Please split it.")
        lines: list[str] = []
        try:
            for line, statement in statements:
                lines += self._line(page, line, statement)
        except BaseException:
            self.undo(page)
            raise
        return _Taken("\n".join(lines), self, page)

    def finish(self, page: _Page) -> None:
        """Save the state of a page's lines, and forget the memories of removed lines."""
        state = self._load()
        changed = {page.path: page.held}
        if page.made and not self._anchored():
            changed[_ANCHOR] = {"event": self._memory.why(page.made[0]).evidence[-1][0].id}
        self._save(state, changed)
        for key, name in page.known.items():
            if key not in page.held and name not in page.held.values():
                self._forget(name, state, page.path)

    def undo(self, page: _Page) -> None:
        """Forget the memories that a page which was not written would have added."""
        state = self._load()
        for name in page.made:
            self._forget(name, state)

    def _line(self, page: _Page, line: str, statement: str) -> list[str]:
        """Store one line, and return the lines to keep; [] for a line that must be removed."""
        if not statement:
            return [screen_secrets(line, "mask").text]
        key = _make_key(statement)
        name = page.known.get(key) or page.held.get(key)
        if name is not None:
            if self._is_gone(page.path, name):
                return []
            page.held[key] = name
            return [line]
        try:
            memory = self._store(page.path, statement)
        except Refused as refused:
            if page.writing:
                raise
            return [] if isinstance(refused, _Deleted) else [screen_secrets(line, "mask").text]
        page.made.append(memory.id)
        shown = screen_secrets(statement, "mask").text if memory.text != statement else statement
        page.held[_make_key(shown)] = memory.id
        return [line.replace(statement, shown)]

    def _is_gone(self, path: str, name: str) -> bool:
        """Return whether a memory is no longer active.

        Raises `Refused` for a memory that was erased or belongs to another tenant, so that its page is neither shown,
        stored again nor lost.
        """
        try:
            return self._memory.get(name).status in _GONE
        except (NotFound, Invalid) as error:
            if self._anchored(name):
                return True
            belongs = f"{path} belongs to another memory, or to one that was erased."
            raise Refused(f"{belongs} It can only be renamed or deleted.") from error

    def _anchored(self, name: str = "") -> bool:
        """Return whether an id has this memory's tag. The state names an event for that: events are never removed."""
        event = self._load().get(_ANCHOR, {}).get("event", "")
        try:
            self._memory.changes(event)
        except (NotFound, Invalid):
            return False
        return not name or name.rpartition("-")[2] == event.rpartition("-")[2]

    def _store(self, path: str, statement: str) -> Memory:
        session = f"{_SESSION}{path}"[: limits.NAME_CHARACTERS]
        unit = MemoryUnit(text=statement, source=Source.AI.value, source_session=session)
        try:
            memory = self._memory.store(unit)
        except Conflict as error:
            raise _Deleted(f"This was deleted from memory and stays deleted: {_shorten(statement)}") from error
        except (Invalid, LimitExceeded) as error:
            raise Refused(f"This line cannot be stored: {_shorten(statement)} ({error.what}: {error.why})") from error
        if memory.status is Status.CANDIDATE:
            self._forget(memory.id, {})
            raise Refused(f"This line cannot be stored: {_shorten(statement)} (it contains instructions to its reader)")
        return memory

    def drop(self, path: str) -> None:
        """Forget the memories of a page, or of the pages of a folder."""
        state = self._load()
        gone = [one for one in state if one == path or one.startswith(f"{path}/")]
        for one in gone:
            for name in state[one].values():
                self._forget(name, state, *gone)
        self._save(state, {one: {} for one in gone})

    def move(self, old: str, new: str) -> None:
        """Rename pages in the state."""
        state = self._load()
        moved = {one: new + one[len(old) :] for one in state if one == old or one.startswith(f"{old}/")}
        self._save(state, {**{one: {} for one in moved}, **{other: state[one] for one, other in moved.items()}})

    def _forget(self, name: str, state: Mapping[str, Mapping[str, str]], *leaving: str) -> None:
        """Forget memories that only pages stated and no page states any more."""
        if any(name in held.values() for path, held in state.items() if path not in leaving):
            return
        try:
            events = [event for event, _, _ in self._memory.why(name).evidence]
            own = all(event.source == Source.AI.value and _is_page(event.session) for event in events)
            if own and self._memory.get(name).status not in _GONE:
                self._memory.forget(name, "removed from its page")
        except CredendaError:  # deleted or replaced: nothing to forget
            return

    def _load(self) -> dict[str, dict[str, str]]:
        try:
            told: object = json.loads(self._folder.load_state(_STATE) or "{}")
        except ValueError:
            return {}
        pages = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
        return {
            str(path): {str(key): str(name) for key, name in cast("dict[str, Any]", held).items()}
            for path, held in pages.items()
            if isinstance(held, dict)
        }

    def _save(self, state: Mapping[str, Mapping[str, str]], changed: Mapping[str, Mapping[str, str]]) -> None:
        after = {path: held for path, held in {**state, **changed}.items() if held}
        if after != state:
            self._folder.save_state(_STATE, json.dumps(after, separators=(",", ":"), sort_keys=True))


def _pair_statements(text: str) -> list[tuple[str, str]]:
    """Pair each line with its statement; "" for headings, tables, code, comments and lines without words."""
    found: list[tuple[str, str]] = []
    code = False
    for line in text.split("\n"):
        bare = line.strip()
        fence = bare.startswith(_FENCES)
        code = code != fence
        said = "" if code or fence or bare.startswith(_MARKUP) else _MARK.sub("", line).strip()
        found.append((line, said if _SAYS.search(said) else ""))
    return found


def _is_page(session: str | None) -> bool:
    return (session or "").startswith(_SESSION)


def _make_key(statement: str) -> str:
    return hashlib.sha256(statement.encode("utf-8", "replace")).hexdigest()[:32]


def _shorten(statement: str) -> str:
    return statement if len(statement) <= _SHOWN else f"{statement[:_SHOWN]}…"
