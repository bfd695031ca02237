"""The folder on disk: read without following links, and written atomically, file by file."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path
from typing import Final

from credenda import limits
from credenda.clock import parse_time
from credenda.errors import Invalid, Unavailable
from credenda.ids import parse_serial
from credenda.model.claim import Evidence
from credenda.model.event import CODE
from credenda.paths import create_folder, make_file_error
from credenda.portability.atomic_write import replace_file
from credenda.portability.files.parse import (
    COMMENT,
    Entered,
    Other,
    Said,
    has_marks,
    keep_statements,
    parse,
    to_file_text,
)
from credenda.portability.files.render import ARCHIVE, BESIDE, CORE, INDEX, PAGES, fold_name, has_index_marks, is_shown
from credenda.portability.files.state import AWAY, Base, Spot, State, Text, Tier, View, hash_text
from credenda.storage.store import EventFilter, MemoryFilter, Reader

try:
    import fcntl
except ImportError:  # a system without flock: concurrent runs are detected by the stamps of files
    fcntl = None


STATE: Final = ".credenda/sync.json"
KEY: Final = ".credenda/key"
IGNORE: Final = ".credenda/.gitignore"
_LOCK: Final = ".credenda/lock"
TOMBSTONES: Final = ".tombstones.jsonl"
_FOLDER_DAY: Final = re.compile(rf"\d{{4}}([-_.]?)\d{{2}}\1\d{{2}}(?:{BESIDE})*\.md")
_ID: Final = re.compile(rb'"id":\s*"([em][1-9][0-9]{0,17}-[0-9a-f]{6})"')
_CONFLICT: Final = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: |$)", re.MULTILINE)
_COPY: Final = re.compile(r"conflicted copy|\.sync-conflict-|case conflict", re.IGNORECASE)
"""Names that Dropbox, Nextcloud and Syncthing give to the second version of a file."""
ZEROS: Final = "contains zero bytes, so it was not written completely"
_LINK: Final = "is a link, and links are not followed"
_BOM: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file as read: its stamp, its text, and the end of most of its lines."""

    stamp: tuple[int, ...]
    text: str
    ending: str
    bom: bool


@dataclass(slots=True)
class Found:
    """The content of the folder. `troubles` are skipped files with the reason, `hidden` are ids in them.

    `index` is the index that code wrote, "" if there is none.
    """

    texts: list[Text] = field(default_factory=list[Text])
    troubles: dict[str, str] = field(default_factory=dict[str, str])
    hidden: set[str] = field(default_factory=set[str])
    index: str = ""

    def close(self, path: str, why: str, data: bytes) -> None:
        """Skip a file, but record the ids of its entries."""
        self.troubles[path] = why
        self.hidden |= {name.decode() for name in _ID.findall(data)}


def open_folder(path: str | Path, *, trial: bool = False) -> Folder:
    """Open a folder, creating it if needed; raise `Invalid` if it is not a folder, `Unavailable` otherwise."""
    try:
        if not str(path).strip():
            raise Invalid(
                "no folder is given", why="the name is empty", fix="give a folder; it is created if it does not exist"
            )
        root = Path(path).expanduser()
        if root.exists() and not root.is_dir():
            raise Invalid(f"{path} is not a folder", fix="give a folder; it is created if it does not exist")
        create_folder(root)
        return Folder(root.resolve(), trial=trial)
    except (OSError, ValueError, RuntimeError) as error:
        raise Unavailable(
            f"the folder {str(path)[:200]!r} cannot be used",
            why=_describe_error(error),
            fix="give one that you may write to",
        ) from error


def _describe_error(error: BaseException) -> str:
    return make_file_error("", error).why if isinstance(error, OSError) else type(error).__name__


class Folder:
    """A synchronised folder; a `trial` writes nothing, and answers as if it had."""

    def __init__(self, root: Path, *, trial: bool = False) -> None:
        self.root = root
        self._trial = trial
        self._seen: dict[str, _Seen] = {}

    @contextmanager
    def locked(self) -> Generator[None]:
        """Hold the lock of the folder; raise `Unavailable` while another process holds it."""
        place = self._place(_LOCK)
        if self._trial:
            yield
            return
        try:
            handle = os.open(place, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except OSError as error:
            raise Unavailable(
                f"{place} cannot be written", why=_describe_error(error), fix="check the folder"
            ) from error
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError as error:
            raise Unavailable(
                "this folder is being synchronised by another process", fix="wait for it, or stop it"
            ) from error
        finally:
            os.close(handle)

    def read(self) -> Found:
        """Read every page; record files that are unreadable or truncated, and skip them."""
        found = Found()
        for tier, name in ((Tier.ARCHIVE, ARCHIVE), (Tier.PAGES, PAGES)):
            if (self.root / name).is_symlink():
                found.troubles[name] = _LINK
                continue
            for path in self._pages(self.root / name, tier, found):
                self._read(path, tier, found)
        cores, indexes = self.list_named(CORE), self.list_named(INDEX)
        for path in self._pages(self.root, Tier.PAGES, found, frozenset({ARCHIVE, PAGES, *cores, *indexes})):
            self._read(path, Tier.PAGES, found)
        for path in cores:
            self._read(path, Tier.CORE, found)
        for path in reversed(indexes):
            # Tell an index that code wrote from a page of that name, which is read as any other.
            seen = Found()
            self._read(path, Tier.PAGES, seen)
            if has_index_marks(self.plain(path) or ""):
                found.index = path
            elif seen.troubles:
                found.index = found.index or path
            else:
                found.texts += [one._replace(own=False) for one in seen.texts]
        return found

    def list_named(self, name: str) -> list[str]:
        """List what has a name in the folder, and what has the names beside it, shortest first."""
        stem, _, end = name.rpartition(".")
        named = re.compile(rf"{re.escape(stem)}(?:{BESIDE})*\.{end}")
        with suppress(OSError):
            return sorted((one.name for one in self.root.iterdir() if named.fullmatch(one.name)), key=len)
        return []

    def _is_there(self, name: str) -> bool:
        return (self.root / name).exists() or (self.root / name).is_symlink()

    def _pages(self, folder: Path, tier: Tier, found: Found, known: frozenset[str] = frozenset()) -> list[str]:
        """List the pages below a folder, without those of a name in it; links are neither read nor followed."""
        paths: list[str] = []
        waiting = [folder]
        while waiting:
            place = waiting.pop()
            try:
                with os.scandir(place) as inside:
                    entries = sorted(inside, key=lambda one: one.name)
            except FileNotFoundError:
                continue
            except OSError as error:
                found.troubles[self._name(place)] = f"cannot be opened: {_describe_error(error)}"
                continue
            for entry in entries:
                name = self._name(Path(entry.path))
                wanted = entry.name.endswith(".md") and (
                    tier is Tier.PAGES or _FOLDER_DAY.fullmatch(entry.name) is not None
                )
                if entry.name.startswith(".") or name in known:
                    continue
                if entry.is_symlink() and (wanted or (tier is Tier.PAGES and not known)):
                    found.troubles[name] = _LINK
                elif wanted and _COPY.search(entry.name):
                    found.troubles[name] = "is a conflict copy; take over what you need from it, and remove it"
                elif entry.is_dir(follow_symlinks=False) and tier is Tier.PAGES:
                    waiting.append(Path(entry.path))
                elif wanted:
                    paths.append(name)
        return paths

    def _name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def _read(self, name: str, tier: Tier, found: Found) -> None:
        try:
            data, stamp = self._bytes(name)
        except OSError as error:
            found.troubles[name] = f"cannot be read: {_describe_error(error)}"
            return
        if data is None:
            found.troubles[name] = "is not a regular file, or too large"
            return
        if stamp is None:
            found.close(name, "is being written", data)
            return
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            found.close(name, f"is not UTF-8: byte {error.start} does not begin a character", data)
            return
        bom = text.startswith(_BOM)
        ending = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
        plain = text.removeprefix(_BOM)
        if _CONFLICT.search(plain.replace("\r\n", "\n")):
            found.close(name, "contains unresolved merge markers", data)
            return
        self._seen[name] = _Seen(stamp, plain, ending, bom)
        page = parse(plain)
        # The name is JSON as code writes it, or plain text as people may.
        written = page.front.get("entity", "")
        try:
            named: object = json.loads(written)
        except ValueError:
            named = written.strip("\"'")
        about = named if isinstance(named, str) else written
        own = has_marks(page)
        tier = Tier.PAGES if tier is Tier.CORE and not own else tier
        found.texts.append(Text(name, tier, page, about, zeros="\x00" in text, own=own))

    def _bytes(self, name: str) -> tuple[bytes | None, tuple[int, ...] | None]:
        """Read a file, and return whether it stayed unchanged meanwhile; never open a link."""
        handle = os.open(self.root / name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            before = os.fstat(handle)
            if not stat.S_ISREG(before.st_mode) or before.st_size > limits.FILES_PAGE_BYTES:
                return None, None
            data = file.read(limits.FILES_PAGE_BYTES + 1)
            after = os.fstat(handle)
        same = stamp_file(before) == stamp_file(after) and len(data) == after.st_size
        return data, stamp_file(after) if same else None

    def plain(self, name: str) -> str | None:
        """Return the text of a page that was read."""
        seen = self._seen.get(name)
        return None if seen is None else seen.text

    def find_ending(self, name: str) -> str:
        """Return the end of the lines of a page."""
        seen = self._seen.get(name)
        return "\n" if seen is None else seen.ending

    def load(self, name: str) -> bytes:
        """Read a small file of Credenda's; empty if it is missing or unreadable."""
        try:
            data, _ = self._bytes(name)
        except OSError:
            return b""
        return data or b""

    def write(self, name: str, text: str) -> bool:
        """Write a page; return whether anything changed.

        Raises `Unavailable` if the page changed since it was read; the next run handles it.
        """
        seen = self._seen.get(name)
        if seen is not None and seen.text == text:
            return False
        target = self._place(name)
        if seen is None and self._stamp_now(target) is not None:
            raise Unavailable(f"{name} appeared while it was compared", fix="synchronise again; it was not changed")
        self._check_unchanged(name, target)
        ending, bom = (seen.ending, seen.bom) if seen else ("\n", False)
        self._put(target, ((_BOM if bom else "") + text).encode())
        self._seen[name] = _Seen(self._stamp_now(target) or (), text, ending, bom)
        return True

    def save(self, name: str, data: bytes) -> bool:
        """Write a file of Credenda's; return whether anything changed."""
        if self.load(name) == data:
            return False
        self._put(self._place(name), data)
        return True

    def read_index(self, name: str) -> str | None:
        """Read the index page, which people may have edited in part; None if there is none."""
        found = Found()
        if self._is_there(name):
            self._read(name, Tier.CORE, found)
        if found.troubles:
            raise Unavailable(f"{name} {found.troubles[name]}", fix="repair it; it was not changed")
        old = self.plain(name)
        if old is not None and not has_index_marks(old):
            raise Unavailable(f"{name} changed while it was compared", fix="synchronise again; it was not changed")
        return old

    def remove(self, name: str) -> None:
        """Remove a page without content."""
        target = self._place(name)
        self._check_unchanged(name, target)
        with suppress(FileNotFoundError):
            if not self._trial:
                target.unlink()

    def _check_unchanged(self, name: str, target: Path) -> None:
        """Raise `Unavailable` if a page changed since it was read; the next run handles it."""
        seen = self._seen.get(name)
        if seen is not None and self._stamp_now(target) != seen.stamp:
            raise Unavailable(f"{name} changed while it was compared", fix="synchronise again; it was not changed")

    def _put(self, target: Path, data: bytes) -> None:
        if self._trial:
            return
        mode = None
        with suppress(OSError):
            mode = stat.S_IMODE(target.lstat().st_mode)
        with replace_file(target) as file:
            file.write(data)
        if mode is not None:
            target.chmod(mode)

    def _place(self, name: str) -> Path:
        """Return the path of a file, creating missing folders; refuse links."""
        target = self.root / name
        try:
            for parent in reversed(target.relative_to(self.root).parents[:-1]):
                if self._is_there(parent.as_posix()) and not (self.root / parent).is_dir():
                    raise Unavailable(f"{parent} is not a folder", why="files of ours go there", fix="rename it")
                if not self._trial:
                    create_folder(self.root / parent)
                if (self.root / parent).is_symlink():
                    raise Unavailable(f"{parent} is a link", why="links are not followed", fix="make it a folder")
            if target.is_symlink():
                raise Unavailable(f"{name} is a link", why="links are not followed", fix="put a file in its place")
        except OSError as error:
            raise Unavailable(
                f"{name} cannot be written", why=_describe_error(error), fix="check its folder"
            ) from error
        return target

    def _stamp_now(self, target: Path) -> tuple[int, ...] | None:
        try:
            return stamp_file(target.lstat())
        except OSError:
            return None


def stamp_file(status: os.stat_result) -> tuple[int, ...]:
    """Return values that change whenever a file changes."""
    return (status.st_size, status.st_mtime_ns, status.st_ino)


# Detect by polling that something has changed and settled.


class Rest:
    """Ready when the state differs from the handled one and equals the previous poll's.

    A page that is being saved has another size or time at each poll, so that a partial page is never read.

    >>> rest = Rest()
    >>> rest.handled(1)
    >>> [rest.ready(seen) for seen in (1, 2, 3, 3)]
    [False, False, False, True]
    """

    def __init__(self) -> None:
        self._handled: object = None
        self._before: object = None

    def handled(self, seen: object) -> None:
        """Record a state as handled."""
        self._handled = self._before = seen

    def ready(self, seen: object) -> bool:
        """Poll once; return whether to act."""
        still = seen == self._before
        self._before = seen
        return still and seen != self._handled


def compute_signature(root: Path) -> Mapping[str, tuple[int, ...]]:
    """Return the sizes and times of all pages, without reading any."""
    stamps: dict[str, tuple[int, ...]] = {}
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if not name.startswith(".")]
        for name in names:
            path = Path(folder) / name
            with suppress(OSError):
                if path.suffix == ".md" and not path.name.startswith("."):
                    stamps[str(path)] = stamp_file(path.lstat())
    return stamps


# Set aside pages that were read only in part, and name the entries that unread pages hide.


_CUT_OFF: Final = "was cut off: its last line `<!--end-->` is gone, and so are entries; repair it, or add that line"
_BEHEADED: Final = "has lost its beginning: its front matter or title is gone, and so are entries; repair it"


def set_aside_unread(found: Found, state: State, key: bytes) -> None:
    """Set aside pages that were cut off, and hide every entry that was on an unread page and is on no other."""
    on: dict[str, list[tuple[str, Base]]] = {}
    for name, one in state.entries.items():
        if one.local != AWAY:
            on.setdefault(one.path, []).append((name, one))
    elsewhere = _list_entries(found, state, whole=True)
    for text in list(found.texts):
        known = on.get(text.path, ())
        there = {one.name: hash_text(key, one.text) for one in text.page.entries}
        lost = [name for name, one in known if there.get(name) != one.digest]
        why = ""
        if text.zeros and (lost or not text.page.whole or _has_foreign_zeros(text, known)):
            why = ZEROS
        elif not text.page.whole and any(name in there or name not in elsewhere for name in lost):
            why = _CUT_OFF
        elif not _has_beginning(text, state) and any(name not in there and name not in elsewhere for name in lost):
            why = _BEHEADED
        if why:
            found.texts.remove(text)
            found.troubles[text.path] = why
    for path, entries in on.items():
        if any(path == name or path.startswith(f"{name}/") for name in found.troubles):
            found.hidden |= {name for name, _ in entries}
    found.hidden -= _list_entries(found, state)


def _has_foreign_zeros(text: Text, known: Sequence[tuple[str, Base]]) -> bool:
    """Return whether a page has zero bytes outside entries that still are as an earlier version wrote them."""
    names = {name for name, _ in known}
    return any(
        "\x00" in line
        for one in text.page.blocks
        if not (isinstance(one, Entered) and one.name in names)
        for line in one.lines
    )


def _has_beginning(text: Text, state: State) -> bool:
    if text.tier is Tier.PAGES:
        return bool(text.about) or text.path not in state.pages.values()
    return any(isinstance(one, Other) and one.lines[0].startswith("# ") for one in text.page.blocks)


def _list_entries(found: Found, state: State, *, whole: bool = False) -> set[str]:
    """Return the ids on readable pages, without the copies on the page of the core block."""
    copies = {name for name, one in state.entries.items() if one.local in state.core}
    return {
        one.name
        for text in found.texts
        for one in text.page.entries
        if (text.page.whole or not whole) and not (text.tier is Tier.CORE and one.name in copies)
    }


# Pages of other programs and of people: whose a page is, and the day of each of its lines.


_HEADING: Final = re.compile(r"(#{1,6})[ \t]+(.*)")
_FOREIGN_DAY: Final = re.compile(r"(?<!\d)(\d{4})[-_.](\d{2})[-_.](\d{2})(?!\d)")
_NAMED: Final = re.compile(r"(\d{4})([-_.]?)(\d{2})\2(\d{2})(?!\d)")
_TIME: Final = re.compile(r"(?:[^\w]{0,3})(\d{1,2}):(\d{2})(?!\d)")
_LEAD: Final = re.compile(r"(?:\[\[)?(?:[^\W\d_]{2,12}[.,]?[ \t]+)?(?=\d{4}[-_.])")
"""What may stand before the day in a heading: the name of the weekday, and the beginning of a link."""
_FIRST_SEEN: Final = re.compile(r'"first_seen"\s*:\s*"([^"]{10,40})"')
_UPDATED: Final = re.compile(r'"updated"\s*:\s*"([^"]{10,40})"')
_FOLDED_UNTIL: Final = re.compile(rb'"watermark_date"\s*:\s*"(\d{4}-\d{2}-\d{2})')
_END_OF_DAY: Final = "T23:59"
_DATES: Final = ("date", "created", "created_at")


def recognise_own(found: Found, state: State, *, by_agent: bool) -> None:
    """Take a page without marks and without lines for ours if the last run wrote one there: it was emptied.

    In the pages of others only statements count as lines from here on.
    An agent that writes the folder reads its main page at each start, so that the core block goes to the end of that.
    """
    written = {*state.footers, *(one.path for one in state.entries.values())}
    for number, text in enumerate(found.texts):
        bare = not any(isinstance(one, Said) for one in text.page.blocks)
        if not text.own and by_agent and text.path == CORE:
            found.texts[number] = text._replace(own=True, tier=Tier.CORE)
        elif not text.own and bare and text.path in written:
            found.texts[number] = text._replace(own=True)
        if (text := found.texts[number]).theirs:
            found.texts[number] = text._replace(page=keep_statements(text.page, text.path))


def list_foreign(found: Found, state: State) -> frozenset[str]:
    """Return the folded paths of the files that are not ours, among them unread ones that no run wrote."""
    written = {*state.footers, *(one.path for one in state.entries.values()), found.index}
    unread = (path for path in found.troubles if path not in written)
    return frozenset(map(fold_name, (*(one.path for one in found.texts if not one.own), *unread)))


CONSOLIDATION_STATE: Final = ".consolidation_state.json"
"""The file of a program that makes its main page out of the days, with the day up to which it did."""


def find_days_of_pages(folder: Folder, texts: Sequence[Text], zone: tzinfo, now_us: int) -> dict[Spot, str]:
    """Return the day or time of each line in days and in the pages that are not ours, as `find_days_of_lines` does.

    A main page that another program makes out of its days is as old as the last of these.
    """
    told = frozenset(_name_day(text.path) for text in texts if text.tier is Tier.ARCHIVE and text.theirs)
    until = _FOLDED_UNTIL.search(folder.load(CONSOLIDATION_STATE))
    made = until[1].decode() + _END_OF_DAY if until else ""
    return {
        Spot(text.path, number): said
        for text in texts
        if text.theirs or text.tier is Tier.ARCHIVE
        for number, said in find_days_of_lines(
            text, zone, now_us, told=told.__contains__, made=made if text.path == CORE else ""
        ).items()
    }


def find_days_of_lines(
    text: Text, zone: tzinfo, now_us: int, *, told: Callable[[str], bool], made: str = ""
) -> dict[int, str]:
    """Return the day or time of the lines of a page, by block.

    It is that of the comment or of the heading above, of the name of the page, or of its front matter; a heading of a
    time is one of the day above. `made` is when a page without them was made. A day to come is none on which something
    was said. `told` returns whether a day has a page: it says how an entry began that was rewritten since, so that the
    words of such an entry are as old as its last change.
    """
    front = {name.casefold(): value.strip("\"' ") for name, value in text.page.front.items()}
    written = [day] if (day := _name_day(text.path)) else []
    written += [*(front[name] for name in _DATES if name in front), *([made] if made else [])]
    above = [(0, day) for day in written if _is_past(day, zone, now_us)][:1]
    found: dict[int, str] = {}
    noted = ""
    for number, block in enumerate(text.page.blocks):
        if isinstance(block, Said):
            said = noted or (above[-1][1] if above else "")
            found |= {number: said} if said else {}
        comment = COMMENT.fullmatch(block.lines[0]) if isinstance(block, Other) else None
        seen = _read_comment(comment[2], told) if comment else ""
        noted = seen if _is_past(seen, zone, now_us) else ""
        if isinstance(block, Other) and (heading := _HEADING.match(block.lines[0])):
            above = [one for one in above if one[0] < len(heading[1])]
            day = above[-1][1] if above else ""
            above += [(len(heading[1]), one) for one in _read_heading(heading[2], day) if _is_past(one, zone, now_us)]
    return found


def _name_day(path: str) -> str:
    """Return the day that names a page, "" for none."""
    named = _NAMED.match(path.rpartition("/")[2])
    return "-".join(named.group(1, 3, 4)) if named else ""


def _read_comment(table: str, told: Callable[[str], bool]) -> str:
    """Return the day of an entry from the comment above it, "" for none."""
    seen, updated = _FIRST_SEEN.search(table), _UPDATED.search(table)
    if seen is None:
        return ""
    rewritten = updated is not None and updated[1] > seen[1] and told(seen[1][:10])
    return updated[1] if rewritten else seen[1]  # type: ignore[index]


def _read_heading(title: str, day: str) -> Iterator[str]:
    lead = _LEAD.match(title)
    if lead and (found := _FOREIGN_DAY.match(title, lead.end())):
        yield "-".join(found.groups())
    elif day and (found := _TIME.match(title)):
        yield f"{day[:10]}T{int(found[1]):02}:{found[2]}"


def _is_past(moment: str, zone: tzinfo, now_us: int) -> bool:
    try:
        return parse_time(moment, zone) <= now_us
    except Invalid:
        return False


# Load the memory's side of a comparison: everything that has an entry in the files.


_PAGE: Final = 500


def load_view(reader: Reader) -> View:
    """Load everything that has an entry in the files."""
    tenant = reader.tenant
    if not tenant.tag:
        return View(key=b"", tag="", memories=(), events=(), evidence={}, contests=())
    memories = sorted(
        (one for one in reader.find(MemoryFilter()) if is_shown(one)), key=lambda one: parse_serial(one.id)
    )
    evidence: dict[str, list[Evidence]] = {}
    ids = [memory.id for memory in memories]
    for start in range(0, len(ids), _PAGE):
        for one in reader.evidence(memory_ids=ids[start : start + _PAGE]):
            evidence.setdefault(one.memory_id, []).append(one)
    events = [
        one for one in reader.find_events(EventFilter(worded=True)) if CODE not in one.flags and to_file_text(one.text)
    ]
    return View(
        key=tenant.key,
        tag=tenant.tag,
        memories=memories,
        events=events,
        evidence=evidence,
        contests=reader.contests(),
    )
