"""What an application does with a memory, one act at a time, each reported as it is acknowledged.

A destructive call is announced before it is made: after a cut in between, it may or may not have happened, but never in
part.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from credenda import Credenda, MemoryUnit

KEYED: Final = 400
"""The number of idempotency keys that all processes share; the text of each must exist at most once."""
_SETTLE_SECONDS: Final = 60.0
_COLOURS: Final = ("red", "green", "blue", "black", "white", "amber")
_CITIES: Final = ("Linz", "Graz", "Vienna", "Salzburg", "Bregenz")
ROLES: Final[dict[str, dict[str, int]]] = {
    "talker": {"say": 60, "say_keyed": 25, "converse": 10, "say_long": 5, "search": 5},
    "keeper": {"store": 60, "delete_said": 25, "say": 10, "settle": 5},
    "asker": {"search": 70, "list": 20, "context": 10},
    "everyone": {
        "say": 25,
        "say_keyed": 5,
        "converse": 10,
        "say_long": 3,
        "store": 25,
        "delete_said": 10,
        "settle": 8,
        "search": 5,
        "erase_guest": 3,
        "consolidate": 2,
        "undo": 4,
    },
    "saver": {"say": 30, "search": 30, "back_up": 3, "export": 6, "sync": 6, "erase_guest": 3},
}
"""The weight of each act in a role."""


def make_keyed_text(number: int) -> str:
    """Return the text that belongs to a shared idempotency key."""
    return f"Remember that I love kq{number}z0."


class TokenSource:
    """Makes words that no other text of the file has."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._count = 0

    def __call__(self) -> str:
        """Return the next word."""
        self._count += 1
        return f"{self.prefix}n{self._count}z0"


Draw = random.Random
Tell = Callable[..., None]


class Acts:
    """The acts of one application on one open memory."""

    def __init__(self, memory: Credenda, token: TokenSource, tell: Tell, folder: Path) -> None:
        self.memory = memory
        self._folder = folder
        self._token = token
        self._tell = tell

    def perform(self, role: str, draw: Draw) -> str:
        """Perform an act drawn from a role, and return its name."""
        weights = ROLES[role]
        (name,) = draw.choices([*weights], [*weights.values()])
        act: Callable[[Draw], Any] = getattr(self, f"_{name}")
        act(draw)
        return name

    def _say(self, draw: Draw) -> None:
        text = f"Remember that I love {self._token()}."
        receipt = self.memory.remember(text, session=draw.choice((None, "talk")))
        self._tell(e="said", texts=[text], ids=receipt.event_ids)

    def _say_keyed(self, draw: Draw) -> None:
        """Store a message under a key that other processes use too."""
        number = draw.randrange(KEYED)
        text = make_keyed_text(number)
        receipt = self.memory.remember(text, idempotency_key=f"key {number}")
        self._tell(e="said", texts=[text], ids=receipt.event_ids, key=number, cached=receipt.cached)

    def _converse(self, draw: Draw) -> None:
        """Store several messages at once, one of which competes for a slot with all others."""
        texts = [f"Remember that I love {self._token()}.", f"I live in {draw.choice(_CITIES)} since {self._token()}."]
        self._tell(e="sends", texts=texts)
        receipt = self.memory.remember([{"role": "user", "content": text} for text in texts], session="talk")
        self._tell(e="said", texts=texts, ids=receipt.event_ids)

    def _say_long(self, draw: Draw) -> None:
        del draw
        text = _make_long_text(self._token())
        receipt = self.memory.remember(text)
        self._tell(e="said", texts=[text], ids=receipt.event_ids)

    def _delete_said(self, draw: Draw) -> None:
        """Store a message and delete it, sometimes before it was processed."""
        del draw
        text = f"Remember that I love {self._token()}."
        (said,) = self.memory.remember(text).event_ids
        self._tell(e="said", texts=[text], ids=[said])
        self._tell(e="will", op="delete", id=said)
        self.memory.delete(said)
        self._tell(e="did", op="delete", id=said)

    def _settle(self, draw: Draw) -> None:
        del draw
        self.memory.settle(_SETTLE_SECONDS)

    def _store(self, draw: Draw) -> None:
        """Store a memory and apply some changes to it."""
        word = self._token()
        text = f"The lamp {word} is {draw.choice(_COLOURS)}."
        unit = MemoryUnit(text=text, entity=f"lamp {word}", attribute="colour", value=draw.choice(_COLOURS))
        held = self.memory.store(unit).id
        self._tell(e="did", op="store", id=held, text=text)
        for _ in range(draw.randrange(4)):
            if not held:
                return
            held = self._alter(draw.choice(("forget", "correct", "delete", "pin")), held)

    def _alter(self, op: str, held: str) -> str:
        """Apply one change to a memory and return the id of its replacement, "" if there is none."""
        self._tell(e="will", op=op, id=held)
        if op == "correct":
            text = f"The lamp is of the colour {self._token()}."
            successor = self.memory.correct(held, text=text).id
            self._tell(e="did", op=op, id=held, text=text, successor=successor)
            return successor
        if op == "forget":
            self.memory.forget(held)
            self._tell(e="did", op=op, id=held)
            self._tell(e="will", op="restore", id=held)
            self.memory.restore(held)
            self._tell(e="did", op="restore", id=held)
            return held
        if op == "pin":
            self.memory.manage.pin(held)
        else:
            self.memory.delete(held)
        self._tell(e="did", op=op, id=held)
        return held if op == "pin" else ""

    def _undo(self, draw: Draw) -> None:
        """Store a memory, forget it, and undo that change."""
        del draw
        text = f"The lamp {self._token()} is old."
        held = self.memory.store(MemoryUnit(text=text)).id
        self._tell(e="did", op="store", id=held, text=text)
        self._tell(e="will", op="forget", id=held)
        self.memory.forget(held)
        change = self.memory.manage.status_history(held)[-1].change_id
        self._tell(e="did", op="forget", id=held)
        self._tell(e="will", op="restore", id=held)
        self.memory.manage.undo(change)
        self._tell(e="did", op="restore", id=held)

    def _consolidate(self, draw: Draw) -> None:
        del draw
        self.memory.manage.consolidate(force=True)

    def _search(self, draw: Draw) -> None:
        found = self.memory.search(f"Which tea, number kq{draw.randrange(KEYED)}z0?")
        self._tell(e="asked", hits=len(found.hits))

    def _back_up(self, draw: Draw) -> None:
        del draw
        self.memory.data.backup(self._folder / f"{self._token()}.backup")
        self._tell(e="asked", hits=0)

    def _export(self, draw: Draw) -> None:
        del draw
        self.memory.data.export(self._folder / f"{self._token()}.jsonl")
        self._tell(e="asked", hits=0)

    def _sync(self, draw: Draw) -> None:
        """Write the pages of this user; a folder belongs to one process."""
        del draw
        self.memory.data.sync_files(self._folder / f"{self._token.prefix}-pages")
        self._tell(e="asked", hits=0)

    def _list(self, draw: Draw) -> None:
        del draw
        self._tell(e="asked", hits=len(self.memory.list(limit=50).items))

    def _context(self, draw: Draw) -> None:
        del draw
        self._tell(e="asked", hits=len(self.memory.context("Where do I live?").hits))

    def _erase_guest(self, draw: Draw) -> None:
        """Store a message of another user of the same file, and erase that user."""
        del draw
        guest = f"guest {self._token()}"
        with self.memory.for_user(guest) as other:
            other.remember(f"Remember that I love {self._token()}.")
            self._tell(e="will", op="erase", id=guest)
            other.erase(confirm=guest)
        self._tell(e="did", op="erase", id=guest)


def _make_long_text(word: str) -> str:
    """Make a text of several passages, whose last sentence is unique."""
    days = " ".join(f"On day {day} of the trip it rained, and the train was {day} minutes late." for day in range(40))
    return f"{days} The ticket said {word}."
