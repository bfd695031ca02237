"""Whatever is done to pages and memory between two synchronisations, both agree afterwards and nothing is lost."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from credenda import Conflict, Credenda, Invalid
from credenda.model.event import Event
from credenda.model.memory import Memory, Status
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.store import EventFilter, MemoryFilter
from credenda.testing import ManualClock

from .speech import Speech

picks = st.integers(0, 60)
MARK = re.compile(r"zq[b-z]+xu")
ENTRY = re.compile(r'<!--m \{"id":"([em]\d+-[0-9a-f]{6})"')
TEMPLATES = (
    "I like {}.",
    "My sister Mara likes {}.",
    "We decided to use {}.",
    "Always answer in {}.",
    "My {} is broken",
)
LETTERS = "bcdfghjklmnprstvw"


def marks() -> Iterator[str]:
    """Give words that no reader knows, each once."""
    for number in count():
        digits = [LETTERS[number // len(LETTERS) ** place % len(LETTERS)] for place in range(3)]
        yield f"zq{''.join(digits)}xu"


class Machine(RuleBasedStateMachine):
    """One memory, one folder, and a person who edits both."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.vault = self.folder / "vault"
        self.clock = ManualClock("2026-03-01T09:00:00Z")
        self.mem = Credenda.open(self.folder / "m.db", user="ana", clock=self.clock, workers=False, extractor=Speech())
        self.fresh = marks()
        self.kept: set[str] = set()
        self.buried: set[str] = set()
        self.copies: list[tuple[Path, bytes]] = []
        self.loose: dict[str, str] = {}
        """Entries whose comment was lost after an edit, by the new word: beside that line they stay."""
        self.tell(0)
        self.tell(1)
        self.sync()

    def teardown(self) -> None:
        try:
            self.sync()
            assert self.mem.data.doctor().ok
        finally:
            self.mem.close()
            shutil.rmtree(self.folder)

    def word(self) -> str:
        made = next(self.fresh)
        self.kept.add(made)
        return made

    def sentence(self, pick: int) -> str:
        return TEMPLATES[pick % len(TEMPLATES)].format(self.word())

    # -- the memory's side

    def held(self) -> tuple[list[Memory], list[Event]]:
        store = SqliteStore(str(self.folder / "m.db"), read_only=True)
        try:
            with store.reader("ana") as reader:
                memories = [one for one in reader.find(MemoryFilter()) if one.status is not Status.DELETED]
                return memories, reader.find_events(EventFilter(worded=True))
        finally:
            store.close()

    def chosen(self, pick: int) -> Memory | None:
        found = self.held()[0]
        return found[pick % len(found)] if found else None

    @rule(pick=picks)
    def tell(self, pick: int) -> None:
        self.mem.remember(self.sentence(pick))
        self.mem.settle()
        self.clock.advance(timedelta(hours=pick % 30))

    @rule(pick=picks)
    def correct(self, pick: int) -> None:
        memory = self.chosen(pick)
        if memory is not None and memory.status is Status.ACTIVE and MARK.search(memory.text):
            self.mem.correct(memory.id, text=MARK.sub(self.word(), memory.text))

    @rule(pick=picks)
    def delete(self, pick: int) -> None:
        memory = self.chosen(pick)
        if memory is not None:
            gone = self.words_of(memory.id) & self.known()
            self.mem.delete(memory.id)
            self.kept -= gone
            self.buried |= gone - self.known()

    @rule(pick=picks)
    def put_aside(self, pick: int) -> None:
        memory = self.chosen(pick)
        if memory is not None and memory.status is Status.FORGOTTEN:
            self.mem.restore(memory.id)
        elif memory is not None and memory.status is Status.ACTIVE:
            self.mem.forget(memory.id)

    @rule(pick=picks)
    def answer(self, pick: int) -> None:
        open_ones = [one for one in self.mem.manage.contests() if one.state.value == "open"]
        if open_ones:
            contest = open_ones[pick % len(open_ones)]
            with suppress(Conflict, Invalid):  # a value may name two of them, or say what was deleted
                self.mem.manage.resolve(contest.id, keep=contest.values[pick % len(contest.values)])

    def words_of(self, name: str) -> set[str]:
        """Give the words that go with a memory or an event when it is deleted."""
        memories, events = self.held()
        if name.startswith("e"):
            texts = [one.text for one in events if one.id == name]
        else:
            held = name in {one.id for one in memories}
            said = {event.id for event, _, _ in self.mem.why(name).evidence} if held else set[str]()
            texts = [one.text for one in memories if one.id == name] + [one.text for one in events if one.id in said]
        return {word for text in texts for word in MARK.findall(text)}

    def known(self) -> set[str]:
        memories, events = self.held()
        return {word for one in (*memories, *events) for word in MARK.findall(one.text)}

    # -- the files' side

    def pages(self, *, archive: bool = False) -> list[Path]:
        days = list((self.vault / "archive").glob("*.md")) if archive else []
        return sorted([*(self.vault / "consolidated").rglob("*.md"), *days])

    def page(self, pick: int, *, archive: bool = False) -> Path | None:
        found = self.pages(archive=archive)
        return found[pick % len(found)] if found else None

    @staticmethod
    def lines(path: Path) -> list[str]:
        return path.read_bytes().decode().replace("\r\n", "\n").split("\n")

    @staticmethod
    def put(path: Path, lines: list[str]) -> None:
        ending = "\r\n" if path.exists() and b"\r\n" in path.read_bytes() else "\n"
        path.write_bytes(ending.join(lines).encode())

    def entry(self, pick: int) -> tuple[Path, list[str], int] | None:
        """Choose an entry: its page, the lines of that, and where its comment is."""
        path = self.page(pick, archive=pick % 4 == 0)
        if path is None:
            return None
        lines = self.lines(path)
        found = [at for at, line in enumerate(lines[:-1]) if ENTRY.match(line) and MARK.search(lines[at + 1])]
        return (path, lines, found[pick % len(found)]) if found else None

    @rule(pick=picks)
    def edit(self, pick: int) -> None:
        chosen = self.entry(pick)
        if chosen is not None:
            path, lines, at = chosen
            self.unsaid(lines[at + 1])
            lines[at + 1] = MARK.sub(self.word(), lines[at + 1])
            self.put(path, lines)

    @rule(pick=picks)
    def remove(self, pick: int) -> None:
        chosen = self.entry(pick)
        if chosen is not None:
            path, lines, at = chosen
            found = ENTRY.match(lines[at])
            self.kept -= set(MARK.findall(lines[at + 1])) | (self.words_of(found[1]) if found else set())
            del lines[at : at + 2]
            self.put(path, lines)

    def unsaid(self, line: str) -> None:
        """Take back a word that the memory never heard: the person who wrote it wrote over it."""
        self.kept -= set(MARK.findall(line)) - self.known()

    @rule(pick=picks)
    def add(self, pick: int) -> None:
        path = self.page(pick)
        if path is not None:
            lines = self.lines(path)
            at = min(7 + pick % 5, len(lines))
            while at and ENTRY.match(lines[at - 1]):  # never between a comment and its text
                at += 1
            lines[at:at] = ["", ("- " if pick % 2 else "") + self.sentence(pick), ""]
            self.put(path, lines)

    @rule(pick=picks)
    def append(self, pick: int) -> None:
        path = (self.vault / "MEMORY.md", self.vault / "consolidated/mine.md")[pick % 2]
        path.parent.mkdir(parents=True, exist_ok=True)
        self.put(path, [*(self.lines(path) if path.exists() else []), "", f"- {self.sentence(pick)}", ""])

    @rule(pick=picks, other=picks)
    def move(self, pick: int, other: int) -> None:
        chosen, target = self.entry(pick), self.page(other)
        if chosen is not None and target is not None and chosen[0].parent.name == "consolidated":
            path, lines, at = chosen
            moved = lines[at : at + 2]
            del lines[at : at + 2]
            self.put(path, lines)
            self.put(target, [*self.lines(target), "", *moved, ""])

    @rule(pick=picks)
    def swap(self, pick: int) -> None:
        """Let the texts of two entries change places, as an editor does that moves lines."""
        chosen = self.entry(pick)
        if chosen is not None:
            path, lines, at = chosen
            others = [one for one, line in enumerate(lines) if ENTRY.match(line) and one != at and lines[one + 1 :]]
            others = [one for one in others if lines[one + 1].startswith("- ")]
            if others:
                lines[at + 1], lines[others[0] + 1] = lines[others[0] + 1], lines[at + 1]
                self.put(path, lines)

    @rule(pick=picks)
    def lose_comment(self, pick: int) -> None:
        chosen = self.entry(pick)
        if chosen is not None:
            path, lines, at = chosen
            found = ENTRY.match(lines[at])
            if found:
                self.loose |= dict.fromkeys(set(MARK.findall(lines[at + 1])) - self.known(), found[1])
            del lines[at]
            self.put(path, lines)

    @rule(pick=picks)
    def rename(self, pick: int) -> None:
        path = self.page(pick)
        target = path and path.with_name(f"{path.stem[:20]}x.md")
        if path is not None and target and not target.exists():  # in its place it would take another page away
            path.rename(target)

    @rule(pick=picks)
    def other_line_ends(self, pick: int) -> None:
        path = self.page(pick, archive=True)
        if path is not None:
            path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))

    @rule()
    def lose_state(self) -> None:
        (self.vault / ".credenda/sync.json").unlink(missing_ok=True)

    @rule(pick=picks)
    def copy(self, pick: int) -> None:
        path = self.page(pick, archive=True)
        if path is not None and b"<!--end-->" in path.read_bytes():  # without its last line it would be left alone
            self.copies.append((path, path.read_bytes()))

    @rule(pick=picks)
    def bring_back_a_copy(self, pick: int) -> None:
        """Put an old page in its place: what is in it already may stay, what it lacks was taken away."""
        if self.copies:
            path, data = self.copies[pick % len(self.copies)]
            now = path.read_bytes().decode() if path.exists() else ""
            self.kept -= set(MARK.findall(now)) - set(MARK.findall(data.decode()))
            for name in set(ENTRY.findall(now)) - set(ENTRY.findall(data.decode())):
                self.kept -= self.words_of(name)
            for word in set(MARK.findall(now)) - set(MARK.findall(data.decode())):  # and with it, what it spoke for
                self.kept -= self.words_of(self.loose[word]) if word in self.loose else set()
            path.write_bytes(data)

    def shown_by_code(self) -> set[str]:
        """Give the words on the pages that code wrote; on another page the lines of a person stay."""
        texts = {path: path.read_bytes().decode() for path in self.vault.rglob("*.md")}
        consolidated = self.vault / "consolidated"
        ours = [text for path, text in texts.items() if "credenda: page" in text or path.parent != consolidated]
        return {word for text in ours for word in MARK.findall(text)}

    @rule()
    def sync(self) -> None:
        report = self.mem.data.sync_files(self.vault)
        self.loose.clear()
        files = {one: one.read_bytes() for one in self.vault.rglob("*") if one.is_file()}
        again = self.mem.data.sync_files(self.vault)
        assert not again.changed, again
        assert files == {one: one.read_bytes() for one in self.vault.rglob("*") if one.is_file()}
        known = self.known()
        shown = {word for one in self.vault.rglob("*.md") for word in MARK.findall(one.read_bytes().decode())}
        assert self.kept <= known, (self.kept - known, report)
        assert self.kept <= shown, (self.kept - shown, report)
        assert not self.buried & (self.shown_by_code() | known), self.buried & (self.shown_by_code() | known)
        assert not report.left_alone
        if not report.waiting:
            assert self.shown_now() == self.held_now()
        self.clock.advance(timedelta(minutes=1))

    def held_now(self) -> set[str]:
        return {one.text for one in self.held()[0] if one.status in (Status.ACTIVE, Status.CHALLENGED)}

    def shown_now(self) -> set[str]:
        """Give the texts of all entries whose comment says that they are held."""
        found: set[str] = set()
        for path in self.pages():
            lines = self.lines(path)
            for at, line in enumerate(lines):
                if ENTRY.match(line) and ('"status":' not in line or '"status":"challenged"' in line):
                    found.add(lines[at + 1].removeprefix("- "))
        return found


EXAMPLES = {"deep": 500, "deeper": 5_000}


@pytest.mark.requirement("C-003")
@pytest.mark.timeout(100_000)  # a deep search runs for as long as it takes
def test_both_sides_agree_whatever_happens() -> None:
    examples = EXAMPLES.get(settings.get_current_profile_name(), 10)
    chosen = settings(
        max_examples=examples,
        stateful_step_count=20,
        deadline=None,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
    )
    run_state_machine_as_test(Machine, settings=chosen)
