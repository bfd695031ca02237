"""Taking pages into a memory: each line that says something is a memory of its own, on the word of a model.

A line is filed (journaled, screened, reconciled) before it is on the page. A line that goes is forgotten, which can be
undone, unless anybody else said it too. What was forgotten or deleted in the memory leaves the page when it is read
next, and what was deleted cannot be written again.
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
"""Where an event of the memory is remembered, among the pages, whose names are never empty."""


class _Deleted(Refused):
    """A line says what was deleted."""


@dataclass(slots=True)
class _Page:
    """One page on its way: what its lines became before, what they are now, and what is new."""

    path: str
    writing: bool
    known: Mapping[str, str]
    held: dict[str, str] = field(default_factory=dict[str, str])
    made: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class _Taken:
    """A page that was taken in."""

    text: str
    intake: Intake
    page: _Page

    def finish(self) -> None:
        """Remember the lines, and forget what the page no longer says."""
        self.intake.finish(self.page)

    def undo(self) -> None:
        """Forget what is new."""
        self.intake.undo(self.page)


class Intake:
    """Takes in the pages of a folder; it remembers which line became which memory by hashes of the lines."""

    def __init__(self, memory: Credenda, folder: Folder) -> None:
        """Belong to an open memory and a folder."""
        self._memory = memory
        self._folder = folder

    def take(self, path: str, text: str, *, writing: bool) -> _Taken:
        """Take in a page; what is `writing` raises `Refused` where a line cannot be held.

        It cannot where it was deleted, gives orders, holds a secret that is to be refused, or is too long. Of a page
        that was found, lines that were deleted are left out, and others that cannot be held stay.
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
        """Remember the lines of a page, and forget what it no longer says."""
        state = self._load()
        changed = {page.path: page.held}
        if page.made and not self._anchored():
            changed[_ANCHOR] = {"event": self._memory.why(page.made[0]).evidence[-1][0].id}
        self._save(state, changed)
        for key, name in page.known.items():
            if key not in page.held and name not in page.held.values():
                self._forget(name, state, page.path)

    def undo(self, page: _Page) -> None:
        """Forget what a page that did not come to be said anew."""
        state = self._load()
        for name in page.made:
            self._forget(name, state)

    def _line(self, page: _Page, line: str, statement: str) -> list[str]:
        """Take in one line, and return it as it may stand; [] for one that must not stand any more."""
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
        """Say whether a memory was taken out of use.

        One that was erased, or belongs to another memory, is none of this one's: its page is then neither shown, nor
        taken in anew, nor lost.
        """
        try:
            return self._memory.get(name).status in _GONE
        except (NotFound, Invalid) as error:
            if self._anchored(name):
                return True
            belongs = f"{path} belongs to another memory, or to one that was erased."
            raise Refused(f"{belongs} It can only be renamed or deleted.") from error

    def _anchored(self, name: str = "") -> bool:
        """Say whether an id has the tag of this memory, of which the folder remembers an event: those never vanish."""
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
            raise Refused(f"This line cannot be kept: {_shorten(statement)} ({error.what}: {error.why})") from error
        if memory.status is Status.CANDIDATE:
            self._forget(memory.id, {})
            raise Refused(f"This line cannot be kept: {_shorten(statement)} (it gives orders to whoever reads it)")
        return memory

    def drop(self, path: str) -> None:
        """Forget what a page, or the pages of a folder, held."""
        state = self._load()
        gone = [one for one in state if one == path or one.startswith(f"{path}/")]
        for one in gone:
            for name in state[one].values():
                self._forget(name, state, *gone)
        self._save(state, {one: {} for one in gone})

    def move(self, old: str, new: str) -> None:
        """Know pages under their new names."""
        state = self._load()
        moved = {one: new + one[len(old) :] for one in state if one == old or one.startswith(f"{old}/")}
        self._save(state, {**{one: {} for one in moved}, **{other: state[one] for one, other in moved.items()}})

    def _forget(self, name: str, state: Mapping[str, Mapping[str, str]], *leaving: str) -> None:
        """Forget what only pages said, and no other page says still."""
        if any(name in held.values() for path, held in state.items() if path not in leaving):
            return
        try:
            events = [event for event, _, _ in self._memory.why(name).evidence]
            own = all(event.source == Source.AI.value and _is_page(event.session) for event in events)
            if own and self._memory.get(name).status not in _GONE:
                self._memory.forget(name, "taken off its page")
        except CredendaError:  # gone, or moved on: then there is nothing to forget
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
    """Pair each line with what it says; "" for headings, tables, code, comments and lines without a word."""
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
