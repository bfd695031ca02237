"""Pages that programs write: every statement is a memory, and the page shows those that are still believed.

A page is an item of the space `page`, and each of its statements one of a space of its own. A line is stored
(journaled, screened, reconciled) before its page. A removed line forgets its memory, unless someone else stated it too.
A line whose memory a person forgot or deleted leaves the page, and a deleted statement cannot be written to a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from credenda import limits
from credenda.errors import Conflict, Invalid, LimitExceeded
from credenda.model.item import Item, ItemFilter, ItemRemoval
from credenda.model.memory import Status
from credenda.runtime import Parts
from credenda.services.directory.paths import hash_statement, join_lines, split_lines
from credenda.services.items import Words, dump_value, find_hidden, forget_unused, load_value, store_words
from credenda.storage.store import Writer
from credenda.write.intake.secrets import screen_secrets

_SPACE: Final = "page"
_LINES: Final = "page\x1f"
_SHOWN: Final = 80
ABSENT: Final = 0


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page as stored: `lines` maps the keys of its visible statements to their memories, `gone` are hidden ones."""

    path: str
    text: str = ""
    revision: int = ABSENT
    places: Sequence[object] = ()
    statements: Mapping[str, str] = field(default_factory=dict[str, str])
    lines: Mapping[str, str] = field(default_factory=dict[str, str])
    gone: frozenset[str] = frozenset()


def load_pages(parts: Parts, path: str | None = None) -> dict[str, StoredPage]:
    """Load all pages, or the one at a path, by path."""
    found = parts.store.items.find_items(parts.user_id, ItemFilter(space=_SPACE, key=path))
    space = _LINES if path is None else _name_space(path)
    said = parts.store.items.find_items(parts.user_id, ItemFilter(space=space, below=path is None))
    hidden = find_hidden(parts, {one.source for one in said if one.source})
    by_page: dict[str, list[Item]] = {}
    for one in said:
        by_page.setdefault(one.space, []).append(one)
    return {one.key: _build_page(one, by_page.get(_name_space(one.key), ()), hidden) for one in found}


def _name_space(path: str) -> str:
    return f"{_LINES}{path}\x1f"


def _build_page(item: Item, said: Iterable[Item], hidden: set[str]) -> StoredPage:
    places = cast("list[object]", load_value(item.value))
    visible = {one.key: one for one in said if one.source not in hidden}
    statements = {key: str(load_value(one.value)) for key, one in visible.items()}
    return StoredPage(
        path=item.key,
        text=join_lines(places, statements),
        revision=item.version,
        places=places,
        statements=statements,
        lines={key: one.source or "" for key, one in visible.items()},
        gone=frozenset(one.key for one in said if one.source in hidden),
    )


def write_page(parts: Parts, old: StoredPage, text: str) -> None:
    """Store a page in place of the one that was read.

    Raises `Conflict` if it was written meanwhile, `Invalid` for a line that repeats a deleted statement, has orders to
    its reader or a rejected secret, `LimitExceeded` for a page or line that is too long. Nothing changes then.
    """
    draft = _Draft(parts, old)
    try:
        draft.read(text)
        parts.store.commit(parts.user_id, draft.file)
    except BaseException:
        forget_unused(parts, draft.made, "its page was not written")
        raise
    left = [source for key, source in old.lines.items() if key not in draft.sources]
    forget_unused(parts, left, "removed from its page")


class _Draft:
    """A page that is about to be stored."""

    def __init__(self, parts: Parts, old: StoredPage) -> None:
        self.made: list[str] = []
        self.sources: dict[str, str] = {}
        self._parts = parts
        self._old = old
        self._statements: dict[str, str] = {}
        self._places: list[object] = []

    def read(self, text: str) -> None:
        """Store the new statements of a text."""
        if len(text.encode("utf-8", "surrogatepass")) > limits.PAGE_BYTES:
            raise LimitExceeded(f"{self._old.path} is too long", why=f"a page has at most {limits.PAGE_BYTES:,} bytes")
        lines = split_lines(text)
        if sum(bool(line.statement) for line in lines) > limits.PAGE_STATEMENTS:
            raise LimitExceeded(
                f"{self._old.path} holds too many statements",
                why=f"a page has at most {limits.PAGE_STATEMENTS:,}",
                fix="split it",
            )
        for line in lines:
            if line.statement:
                self._take(line.text, line.statement)
            else:
                self._places.append(self._screen(line.text))

    def _screen(self, text: str) -> str:
        return screen_secrets(text, self._parts.settings.secrets_policy).text

    def _take(self, line: str, statement: str) -> None:
        before, _, after = line.partition(statement)
        shown = self._screen(statement)
        key = hash_statement(shown)
        if key in self._old.gone:
            return
        if key not in self.sources:
            self.sources[key] = self._old.lines.get(key) or self._store(shown)
            self._statements[key] = shown
        self._places.append([before, key, after])

    def _store(self, statement: str) -> str:
        short = statement if len(statement) <= _SHOWN else f"{statement[:_SHOWN]}…"
        if len(statement) > limits.MEMORY_TEXT_CHARACTERS:
            raise LimitExceeded(
                f"this line is too long: {short}",
                why=f"a statement has at most {limits.MEMORY_TEXT_CHARACTERS:,} characters",
                fix="split it",
            )
        try:
            memory = store_words(self._parts, Words(statement, f"page /{self._old.path}"))
        except Conflict as error:
            raise Invalid(
                f"this was deleted from memory and stays deleted: {short}", why=error.why, fix="leave the line out"
            ) from error
        self.made.append(memory.id)
        if memory.status is Status.CANDIDATE:
            raise Invalid(
                f"this line cannot be stored: {short}",
                why="it contains instructions to its reader",
                fix="write it as a statement",
            )
        return memory.id

    def file(self, writer: Writer) -> None:
        """File the page and its lines."""
        path, now_us = self._old.path, self._parts.clock.now_us()
        page = Item(
            space=_SPACE, key=path, value=dump_value(self._places), version=self._old.revision, updated_us=now_us
        )
        writer.put(page)
        writer.put(ItemRemoval(space=_name_space(path)))
        for key, source in self.sources.items():
            value = dump_value(self._statements[key])
            writer.put(Item(space=_name_space(path), key=key, value=value, source=source, updated_us=now_us))


def remove_pages(parts: Parts, pages: Sequence[StoredPage]) -> None:
    """Remove pages and forget their lines; raises `Conflict`, and removes none, if any was written meanwhile."""

    def work(writer: Writer) -> None:
        for page in pages:
            writer.put(ItemRemoval(space=_SPACE, key=page.path, version=page.revision))
            writer.put(ItemRemoval(space=_name_space(page.path)))

    parts.store.commit(parts.user_id, work)
    forget_unused(parts, [source for page in pages for source in page.lines.values()], "removed with its page")


def move_pages(parts: Parts, moves: Mapping[str, StoredPage]) -> None:
    """Move pages to the new paths, which are the keys; raises `Conflict`, and moves none, if a path is in use."""
    now_us = parts.clock.now_us()

    def work(writer: Writer) -> None:
        for path, page in moves.items():
            writer.put(ItemRemoval(space=_SPACE, key=page.path, version=page.revision))
            writer.put(ItemRemoval(space=_name_space(page.path)))
            writer.put(Item(space=_SPACE, key=path, value=dump_value(page.places), version=ABSENT, updated_us=now_us))
            for key, source in page.lines.items():
                value = dump_value(page.statements[key])
                writer.put(Item(space=_name_space(path), key=key, value=value, source=source, updated_us=now_us))

    parts.store.commit(parts.user_id, work)
