"""The verbs of the virtual directory: list, read, search, write, remove and move pages.

`MEMORY.md`, `index.md`, `consolidated/` and `archive/` are pages of beliefs; below `@DAY/` they are as they were
believed at the end of that day. All other paths are pages of programs.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, cast

from credenda import limits
from credenda.errors import Conflict, Invalid, LimitExceeded, NotFound
from credenda.model.browse import DirectoryEntry, DirectoryMatch, DirectoryPage, hash_page
from credenda.model.change import ContestState
from credenda.model.core import Item, ItemFilter, ItemRemoval
from credenda.model.memory import Status
from credenda.portability.files.folder import load_view
from credenda.portability.files.page_plan import Placing, index_lines, lay_out
from credenda.portability.files.parse import read_item, to_file_text, write_item
from credenda.portability.files.render import ARCHIVE, CORE, CORE_SECTIONS, INDEX, NOW, PAGES, SECTIONS, Sheet, is_shown
from credenda.portability.files.state import View
from credenda.private import PrivateParts
from credenda.runtime import Parts
from credenda.services.browse import resolve_id
from credenda.services.core import core
from credenda.services.edit import Correction, forget, put_right
from credenda.services.items import Words, dump_value, find_hidden, forget_unused, load_value, store_words
from credenda.services.search import resolve_moment
from credenda.storage.store import EventFilter, MemoryFilter, Writer
from credenda.validation import check_text
from credenda.write.intake.secrets import screen_secrets
from credenda.write.intake.validate import make_private_error

# Checks of page names: reject names that lead outside or are ambiguous on some system. Pure.


AS_OF: Final = "@"
"""The first letter of a folder that shows the pages of beliefs as they were at a time."""
_RESERVED: Final = frozenset({"archive", "consolidated", "memory.md", "index.md", "persona.md", "user.md"})
"""Case-folded names that belong to the pages of beliefs, or to people: no program creates a page there."""
_SLASHES: Final = frozenset("/\\\u2044\u2215\u29f5\u29f8\u29f9\ufe68\uff0f\uff3c")
"""Slashes, and characters that look like slashes."""
_ENCODED: Final = ("%2e", "%2f", "%5c", "%00", "%25")
_LEAST_PRINTABLE: Final = " "


def split_page_path(path: object) -> tuple[str, ...]:
    """Return the names of a path, () for the root; raise `Invalid` for an invalid path.

    >>> split_page_path("/trips/notes.md")
    ('trips', 'notes.md')
    """
    if not isinstance(path, str):
        raise Invalid("a path must be text", why=f"it is a {type(path).__name__}", fix='give a path like "notes/a.md"')
    if len(path) > limits.PAGE_PATH_CHARACTERS:
        raise Invalid(
            "a path is too long",
            why=f"it has {len(path)} characters, at most {limits.PAGE_PATH_CHARACTERS} are allowed",
            fix="shorten it",
        )
    names = tuple(name for name in path.split("/") if name not in {"", "."})
    for name in names:
        # Refuse a name that leads elsewhere, is hidden, or equals another name on some system.
        normal = unicodedata.normalize("NFKC", name)
        folded = normal.casefold()
        if ".." in {name, normal} or not _SLASHES.isdisjoint(name + normal) or any(code in folded for code in _ENCODED):
            raise _refuse(path, "it would lead out of the directory")
        if normal.startswith("."):
            raise _refuse(path, "it is hidden")
        if (
            any(letter != _LEAST_PRINTABLE and unicodedata.category(letter)[0] in "CZ" for letter in name)
            or name != name.strip()
            or name.endswith(".")
            or ":" in normal
        ):
            raise _refuse(path, "it holds characters that a name cannot have")
        if len(name.encode("utf-8", "replace")) > limits.PAGE_NAME_BYTES:
            raise _refuse(path, f"it holds a name of more than {limits.PAGE_NAME_BYTES} bytes")
    if len(names) > limits.PAGE_DEPTH:
        raise Invalid(f"{path} is nested too deeply", why=f"at most {limits.PAGE_DEPTH} levels are allowed")
    return names


def _refuse(path: str, why: str) -> Invalid:
    return Invalid(f"{path!r} cannot be a path", why=why, fix="use letters, digits, -, _ and .")


def fold_page_name(name: str) -> str:
    """Return the form in which equal names on any system are equal: case, width and composition folded."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def is_reserved(names: tuple[str, ...]) -> bool:
    """Return whether a path belongs to the pages of beliefs, or to people."""
    return bool(names) and (fold_page_name(names[0]) in _RESERVED or names[0].startswith(AS_OF))


# The lines of a page: which of them state something, and the form in which the store keeps them. Pure.


_MARK: Final = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])?\s*(?:\[[ xX]\]\s+)?")
_SAYS: Final = re.compile(r"[^\W\d_]{2}")
_MARKUP: Final = ("#", "<!--", "```", "~~~", "---", "|")
_FENCES: Final = ("```", "~~~")


class Line(NamedTuple):
    """A line of a page; `statement` is "" for headings, tables, code, comments and lines without words."""

    text: str
    statement: str


def split_lines(text: str) -> list[Line]:
    """Split a page into its lines, each with its statement."""
    found: list[Line] = []
    code = False
    for line in text.split("\n"):
        bare = line.strip()
        fence = bare.startswith(_FENCES)
        code = code != fence
        said = "" if code or fence or bare.startswith(_MARKUP) else _MARK.sub("", line).strip()
        found.append(Line(line, said if _SAYS.search(said) else ""))
    return found


def hash_statement(statement: str) -> str:
    """Return the key of a statement among the lines of its page."""
    return hashlib.sha256(statement.encode("utf-8", "replace")).hexdigest()[:32]


def join_lines(places: Sequence[object], statements: Mapping[str, str]) -> str:
    """Put a page together; a line whose statement is gone is left out."""
    lines: list[str] = []
    for place in places:
        if isinstance(place, str):
            lines.append(place)
        elif isinstance(place, list):
            before, key, after = (str(part) for part in place)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - as written
            if key in statements:
                lines.append(f"{before}{statements[key]}{after}")
    return "\n".join(lines)


# Pages of beliefs: the pages of `files sync` without their comments; each entry ends with its id.


_ID: Final = re.compile(r" \(([em]\d+-[0-9a-f]{6})\)$")
_EDITABLE: Final = frozenset({NOW, *CORE_SECTIONS.values()})


@dataclass(frozen=True, slots=True)
class BeliefPage:
    """A page of beliefs: `entries` are the texts of the entries that may change, by id, `fixed` those of the others."""

    path: str
    text: str
    entries: Mapping[str, str]
    fixed: Mapping[str, str]

    @property
    def writable(self) -> bool:
        """Whether an edit of the page changes beliefs."""
        return self.path == CORE or self.path.startswith(f"{PAGES}/")


def load_belief_pages(parts: Parts, known_at_us: int | None = None) -> dict[str, BeliefPage]:
    """Return the pages of the present beliefs, or of those believed at a time, by path."""
    seen = _load_present(parts) if known_at_us is None else _load_past(parts, known_at_us)
    layout = lay_out(seen, Placing(texts=(), where={}, placed={}, names={}))
    pages = {
        path: _show_page(path, sheet)
        for path, sheet in layout.sheets.items()
        if sheet.entries or any(one.text for one in sheet.questions)
    }
    core = CORE in pages
    text = "\n".join(index_lines(seen, layout, core=core))
    index = BeliefPage(INDEX, f"{text}\n", {}, {})
    return {**pages, **({INDEX: index} if pages else {})}


def _load_present(parts: Parts) -> View:
    lines = core(parts).lines
    with parts.store.reader(parts.user_id) as reader:
        return replace(load_view(reader), core=[(line.section, line.memory_id) for line in lines])


def _load_past(parts: Parts, known_at_us: int) -> View:
    with parts.store.reader(parts.user_id) as reader:
        seen = load_view(reader)
        if not seen.tag:
            return seen
        memories = [one for one in reader.find(MemoryFilter(known_at_us=known_at_us)) if is_shown(one)]
        past = EventFilter(recorded_before_us=known_at_us + 1, worded=True)
        known = {one.id for one in seen.events} & {one.id for one in reader.find_events(past)}
    return replace(
        seen,
        memories=sorted(memories, key=lambda one: (one.created_us, one.id)),
        events=[one for one in seen.events if one.id in known],
        contests=[one for one in seen.contests if one.opened_us <= known_at_us and one.state is ContestState.OPEN],
    )


def _show_page(path: str, sheet: Sheet) -> BeliefPage:
    lines = [f"# {sheet.title}"]
    entries: dict[str, str] = {}
    fixed: dict[str, str] = {}
    for section in sorted(
        {one.section for one in sheet.entries},
        key=lambda section: SECTIONS.index(section) if section in SECTIONS else -1,
    ):
        lines += ["", section] if section else []
        for one in sheet.entries:
            if one.section == section:
                *first, last = write_item(one.text)
                lines += ["", *([one.head, ""] if one.head else []), *([*first, f"{last} ({one.local})"])]
                (entries if section in _EDITABLE else fixed)[one.local] = to_file_text(one.text)
    questions = [one.text for one in sheet.questions if one.text]
    lines += ["", SECTIONS[3], "", *(f"- {text}" for text in questions)] if questions else []
    return BeliefPage(path, "\n".join(lines) + "\n", entries, fixed)


def apply_page_edit(parts: Parts, page: BeliefPage, text: str) -> None:
    """Apply the difference of a new text: changed entries are corrected, missing ones forgotten, new ones remembered.

    On the page of the core a missing entry changes nothing: it is chosen by use. Raises `Invalid` for a page or an
    entry that cannot be changed; then nothing changes.
    """
    if not page.writable or page.path.startswith(f"{ARCHIVE}/"):
        raise Invalid(f"{page.path} cannot be changed", why="it is made from other pages", fix="change an entry there")
    found = _read_entries(text)
    known = {**page.fixed, **page.entries}
    for name, said in found:
        if name is not None and name not in known:
            raise NotFound(f"{name} is not on {page.path}", fix="leave out the id of a new line")
        if name is not None and said != page.fixed.get(name, said):
            raise Invalid(f"{name} cannot be changed", why="it is an entry of the past", fix="write a new line")
    texts = {name: said for name, said in found if name is not None}
    questions = {line for line in page.text.split("\n") if line.startswith("- ")}
    for name, before in page.entries.items():
        if name not in texts and page.path != CORE:
            forget(parts, name, "removed from a page")
        elif texts.get(name, before) != before:
            wanted = Correction(text=texts[name], reason="edited in a page")
            put_right(parts, resolve_id(parts, name), wanted)
    for name, said in found:
        if name is None and f"- {said}" not in questions:
            store_words(parts, Words(said, f"page /{page.path}"))


def _read_entries(text: str) -> list[tuple[str | None, str]]:
    """Return the entries of a text: the id at the end of each, and its words."""
    entries: list[list[str]] = []
    inside = False
    for line in text.split("\n"):
        if line.startswith(("- ", "* ", "+ ")):
            entries.append([line])
            inside = True
        elif inside and line.startswith("  "):
            entries[-1].append(line)
        elif line.strip():
            inside = False
            entries += [] if line.startswith("#") else [[line]]
    return [_read_entry(lines) for lines in entries]


def _read_entry(lines: Sequence[str]) -> tuple[str | None, str]:
    found = _ID.search(lines[-1])
    last = lines[-1][: found.start()] if found else lines[-1]
    return (found[1] if found else None), read_item([*lines[:-1], last])


# Pages that programs write: every statement is a memory, and the page shows those that are still believed.


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


_MISSING: Final = "list the directory"


def _join_path(names: Iterable[str]) -> str:
    return "/".join(names)


def _load_beliefs(parts: Parts, names: tuple[str, ...]) -> tuple[Mapping[str, BeliefPage], str]:
    """Load the pages of beliefs that a path is among, and return the beginning that their paths have there."""
    if names and names[0].startswith(AS_OF):
        moment_us = resolve_moment(parts, names[0].removeprefix(AS_OF))
        return load_belief_pages(parts, moment_us), f"{names[0]}/"
    return load_belief_pages(parts), ""


def _load_texts(parts: Parts, names: tuple[str, ...]) -> dict[str, str]:
    """Load the texts of all pages that lie at or below a path."""
    path = _join_path(names)
    found: dict[str, str] = {}
    if not names or is_reserved(names):
        beliefs, begin = _load_beliefs(parts, names)
        found = {f"{begin}{name}": page.text for name, page in beliefs.items()}
    if not (names and is_reserved(names)):
        found |= {name: page.text for name, page in load_pages(parts).items()}
    return {name: found[name] for name in sorted(found) if not path or name == path or name.startswith(f"{path}/")}


def list_entries(parts: Parts, path: str, *, depth: int) -> list[DirectoryEntry]:
    """List the pages and folders below a path, down to a depth; raise `NotFound` for a path without any."""
    names = split_page_path(path)
    texts = _load_texts(parts, names)
    if names and not texts:
        raise NotFound(f"there is no {path}", fix=_MISSING)
    sizes: dict[tuple[str, ...], int] = {}
    pages: set[tuple[str, ...]] = set()
    for name, text in texts.items():
        inside = tuple(name.split("/"))
        pages.add(inside)
        for end in range(len(names) + 1, min(len(inside), len(names) + depth) + 1):
            sizes[inside[:end]] = sizes.get(inside[:end], 0) + len(text.encode())
    if names in pages:
        return [DirectoryEntry(_join_path(names), False, len(texts[_join_path(names)].encode()))]  # noqa: FBT003 - a row
    return [DirectoryEntry(_join_path(one), one not in pages, size) for one, size in sorted(sizes.items())]


def read_page(parts: Parts, path: str) -> DirectoryPage:
    """Return a page; raise `NotFound` for a path without one."""
    names = split_page_path(path)
    if is_reserved(names):
        beliefs, begin = _load_beliefs(parts, names)
        page = beliefs.get(_join_path(names).removeprefix(begin))
        if page is not None:
            return _to_page(_join_path(names), page.text, writable=page.writable and not begin)
    else:
        stored = load_pages(parts, _join_path(names)).get(_join_path(names)) if names else None
        if stored is not None:
            return _to_page(stored.path, stored.text)
    raise NotFound(f"there is no page {path}", fix=_MISSING)


def _to_page(path: str, text: str, *, writable: bool = True) -> DirectoryPage:
    return DirectoryPage(path, text, hash_page(text), writable)


def write_text(parts: Parts, path: str, text: str, *, version: str | None) -> DirectoryPage:
    """Write a page and return it as it stands then.

    `version` is the one that was read, "" for a new page, None for any. Raises `Conflict` for another version.
    """
    names = split_page_path(path)
    path = _join_path(names)
    text = _cut_page(path, check_text(text, "text")) if text else ""
    if is_reserved(names):
        path = _join_path(names)
        beliefs, begin = _load_beliefs(parts, names)
        page = beliefs.get(path)
        if page is None or begin:
            raise Invalid(
                f"{path} cannot be written",
                why="the past does not change" if begin else "this name belongs to the pages of beliefs, or to people",
                fix="write to another path",
            )
        _check_version(path, page.text, version)
        apply_page_edit(parts, page, text)
        after = load_belief_pages(parts).get(path)
        return _to_page(path, after.text if after else "")
    stored = load_pages(parts)
    old = stored.get(path)
    _check_version(path, None if old is None else old.text, version)
    if old is None:
        _check_free(names, stored)
    write_page(parts, old or StoredPage(path), text)
    return read_page(parts, path)


def _cut_page(path: str, text: str) -> str:
    """Return a page without its private parts; raises `Invalid` for one that is open to the end, or all there is."""
    parts = PrivateParts()
    kept = parts.cut(text)
    if parts.is_open:
        raise Invalid(
            f"{path} has a private part without an end",
            why="the rest of the page would be lost with it",
            fix="close it with </private>",
        )
    if text.strip() and not kept.strip():
        raise make_private_error("the page")
    return kept


def _check_version(path: str, text: str | None, version: str | None) -> None:
    """Raise `Conflict` unless a page has the expected version."""
    if version is not None and version != ("" if text is None else hash_page(text)):
        why = "there is no such page any more" if text is None else "its text differs from the version that was given"
        raise Conflict(f"{path} has changed", why=why, fix="read it again, and repeat the change")


def _check_free(names: tuple[str, ...], stored: Mapping[str, StoredPage]) -> None:
    """Refuse a new path that is a folder, lies below a page, or equals another path on some system."""
    if not names:
        raise Invalid("the directory itself is not a page", fix='give a path like "notes/a.md"')
    folded = _join_path(map(fold_page_name, names))
    for other in stored:
        taken = _join_path(map(fold_page_name, other.split("/")))
        if taken == folded or taken.startswith(f"{folded}/") or folded.startswith(f"{taken}/"):
            raise Conflict(f"{_join_path(names)} is taken", why=f"there is {other}", fix="choose another path")
    if len(stored) >= limits.PAGES:
        raise LimitExceeded("there are too many pages", why=f"at most {limits.PAGES:,} are kept", fix="remove some")


def remove_page(parts: Parts, path: str, *, version: str | None) -> None:
    """Remove a page, or a folder with its pages, and forget the statements; raise `NotFound` if there is none."""
    names = split_page_path(path)
    if is_reserved(names):
        raise Invalid(
            f"{path} cannot be removed", why="it is made from beliefs", fix="remove lines, or forget a memory"
        )
    found = _find_below(load_pages(parts), names)
    if not found:
        raise NotFound(f"there is no {path}", fix=_MISSING)
    if version is not None:
        _check_version(path, found[0].text if found[0].path == _join_path(names) else None, version)
    remove_pages(parts, found)


def _find_below(stored: Mapping[str, StoredPage], names: tuple[str, ...]) -> list[StoredPage]:
    path = _join_path(names)
    return [one for name, one in stored.items() if not path or name == path or name.startswith(f"{path}/")]


def move_page(parts: Parts, old_path: str, new_path: str) -> None:
    """Move a page, or a folder with its pages; never overwrite."""
    old, new = split_page_path(old_path), split_page_path(new_path)
    if is_reserved(old) or is_reserved(new) or not old:
        raise Invalid(f"{old_path} cannot be moved to {new_path}", why="pages of beliefs stay where they are")
    stored = load_pages(parts)
    found = _find_below(stored, old)
    if not found:
        raise NotFound(f"there is no {old_path}", fix=_MISSING)
    begin = _join_path(old)
    moves = {_join_path(new) + one.path[len(begin) :]: one for one in found}
    rest = {name: one for name, one in stored.items() if one not in found}
    for path in moves:
        _check_free(split_page_path(path), rest)
    move_pages(parts, moves)


def search_lines(
    parts: Parts, pattern: str, *, path: str, ignore_case: bool, regex: bool, limit: int
) -> list[DirectoryMatch]:
    """Return the lines that contain a text, or match a regular expression, in order of path and line."""
    source = check_text(pattern, "pattern")
    try:
        found = re.compile(source if regex else re.escape(source), re.IGNORECASE if ignore_case else 0)
    except re.error as error:
        raise Invalid(
            "the pattern is no regular expression", why=str(error), fix="correct it, or search a text"
        ) from error
    matches: list[DirectoryMatch] = []
    for name, text in _load_texts(parts, split_page_path(path)).items():
        for number, line in enumerate(text.split("\n"), 1):
            if found.search(line):
                matches.append(DirectoryMatch(name, number, line))
                if len(matches) >= limit:
                    return matches
    return matches
