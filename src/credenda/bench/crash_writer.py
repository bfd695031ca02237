"""One process of the crash benchmark: it uses a memory as an application does, and reports each event.

Started as `python -m credenda.bench.crash_writer PLAN`. Every line on its standard output is one fact, written in one
call as soon as it is known, so that the output before a `kill -9` has exactly the acknowledged facts. A destructive
call is announced before it is made: after a kill in between, it may or may not have happened, but never in part.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from threading import Thread
from typing import Final

from credenda import Credenda, MemoryUnit
from credenda.clock import seconds

__all__ = ["KEYED", "Plan", "make_keyed_text", "plan_argument", "tell"]

KEYED: Final = 400
"""The number of idempotency keys that all processes share; the text of each must exist at most once."""
_HANG_SECONDS: Final = 90.0
_SETTLE_SECONDS: Final = 60.0
_COLOURS: Final = ("red", "green", "blue", "black", "white", "amber")
_CITIES: Final = ("Linz", "Graz", "Vienna", "Salzburg", "Bregenz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The task of one process."""

    path: str
    user: str
    name: str
    """Differs from other processes on the same file, so that its texts are unique."""
    role: str
    """talker, keeper or asker."""
    seed: int
    run_seconds: float
    threads: int = 2
    embedder: str = "none"
    settle: bool = False


def tell(**fact: object) -> None:
    """Report one fact in one write, so that lines of several threads never mix."""
    os.write(1, json.dumps(fact).encode() + b"\n")


def make_keyed_text(number: int) -> str:
    """Return the text that belongs to a shared idempotency key."""
    return f"I like tea number kq{number}z0."


Draw = random.Random
Token = Callable[[], str]
Act = Callable[[Draw, Token], None]


class _Process:
    """A running process plan."""

    def __init__(self, plan: Plan, memory: Credenda) -> None:
        self._plan = plan
        self._memory = memory
        self._until = seconds() + plan.run_seconds
        self._roles: dict[str, dict[Act, int]] = {
            "talker": {self._say: 60, self._say_keyed: 25, self._converse: 10, self._say_long: 5, self._search: 5},
            "keeper": {self._store: 60, self._delete_said: 25, self._say: 10, self._settle: 5},
            "asker": {self._search: 70, self._list: 20, self._context: 10},
        }

    def run(self) -> None:
        """Run the acts with several threads until the time is over."""
        threads = self._plan.threads if self._plan.role == "talker" else 1
        running = [Thread(target=self._guarded, args=(number,)) for number in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()

    def _guarded(self, number: int) -> None:
        """Repeat the acts of a role with new words; report any error as a finding."""
        draw = random.Random(f"{self._plan.seed} {number}")
        count = 0

        def token() -> str:
            nonlocal count
            count += 1
            return f"{self._plan.name}t{number}n{count}z0"

        acts = self._roles[self._plan.role]
        try:
            while seconds() < self._until:
                (act,) = draw.choices([*acts], [*acts.values()])
                act(draw, token)
        except Exception as error:  # noqa: BLE001 - whatever it is, the judge must hear of it
            tell(e="wrong", what=f"{self._plan.role}: {type(error).__name__}: {error}")
            traceback.print_exc()

    def _say(self, draw: Draw, token: Token) -> None:
        text = f"I like tea number {token()}."
        receipt = self._memory.remember(text, session=draw.choice((None, "talk")))
        tell(e="said", texts=[text], ids=receipt.event_ids)

    def _say_keyed(self, draw: Draw, token: Token) -> None:
        """Store a message under a key that other processes use too."""
        del token
        number = draw.randrange(KEYED)
        text = make_keyed_text(number)
        receipt = self._memory.remember(text, idempotency_key=f"key {number}")
        tell(e="said", texts=[text], ids=receipt.event_ids, key=number, cached=receipt.cached)

    def _converse(self, draw: Draw, token: Token) -> None:
        """Store several messages at once, one of which competes for a slot with all others."""
        texts = [f"I like tea number {token()}.", f"I live in {draw.choice(_CITIES)} since {token()}."]
        receipt = self._memory.remember([{"role": "user", "content": text} for text in texts], session="talk")
        tell(e="said", texts=texts, ids=receipt.event_ids)

    def _say_long(self, draw: Draw, token: Token) -> None:
        del draw
        text = _make_long_text(token())
        receipt = self._memory.remember(text)
        tell(e="said", texts=[text], ids=receipt.event_ids)

    def _delete_said(self, draw: Draw, token: Token) -> None:
        """Store a message and delete it, sometimes before it was processed."""
        del draw
        text = f"I like tea number {token()}."
        (said,) = self._memory.remember(text).event_ids
        tell(e="said", texts=[text], ids=[said])
        tell(e="will", op="delete", id=said)
        self._memory.delete(said)
        tell(e="did", op="delete", id=said)

    def _settle(self, draw: Draw, token: Token) -> None:
        del draw, token
        self._memory.settle(_SETTLE_SECONDS)

    def _store(self, draw: Draw, token: Token) -> None:
        """Store a memory and apply some changes to it."""
        word = token()
        text = f"The lamp {word} is {draw.choice(_COLOURS)}."
        unit = MemoryUnit(text=text, entity=f"lamp {word}", attribute="colour", value=draw.choice(_COLOURS))
        held = self._memory.store(unit).id
        tell(e="did", op="store", id=held, text=text)
        for _ in range(draw.randrange(4)):
            if not held:
                return
            held = self._alter(draw.choice(("forget", "correct", "delete", "pin")), held, token)

    def _alter(self, op: str, held: str, token: Token) -> str:
        """Apply one change to a memory and return the id of its replacement, "" if there is none."""
        tell(e="will", op=op, id=held)
        if op == "correct":
            text = f"The lamp is of the colour {token()}."
            successor = self._memory.correct(held, text=text).id
            tell(e="did", op=op, id=held, text=text, successor=successor)
            return successor
        if op == "forget":
            self._memory.forget(held)
            tell(e="did", op=op, id=held)
            tell(e="will", op="restore", id=held)
            self._memory.restore(held)
            tell(e="did", op="restore", id=held)
            return held
        if op == "pin":
            self._memory.manage.pin(held)
        else:
            self._memory.delete(held)
        tell(e="did", op=op, id=held)
        return held if op == "pin" else ""

    def _search(self, draw: Draw, token: Token) -> None:
        del token
        found = self._memory.search(f"Which tea, number kq{draw.randrange(KEYED)}z0?")
        tell(e="asked", hits=len(found.hits))

    def _list(self, draw: Draw, token: Token) -> None:
        del draw, token
        tell(e="asked", hits=len(self._memory.list(limit=50).items))

    def _context(self, draw: Draw, token: Token) -> None:
        del draw, token
        tell(e="asked", hits=len(self._memory.context("Where do I live?").hits))


def _make_long_text(word: str) -> str:
    """Make a text of several passages, whose last sentence is unique."""
    days = " ".join(f"On day {day} of the trip it rained, and the train was {day} minutes late." for day in range(40))
    return f"{days} The ticket said {word}."


def main(argument: str) -> None:
    """Run a plan to its end, announcing each stage before it begins."""
    faulthandler.dump_traceback_later(_HANG_SECONDS)
    plan = Plan(**json.loads(argument))
    tell(e="stage", at="opening")
    memory = Credenda.open(plan.path, user=plan.user, embedder=plan.embedder)
    tell(e="stage", at="opened")
    _Process(plan, memory).run()
    if plan.settle:
        tell(e="stage", at="settling")
        memory.settle(_SETTLE_SECONDS)
    tell(e="stage", at="closing")
    memory.close()
    tell(e="stage", at="closed")


def plan_argument(plan: Plan) -> str:
    """Encode a plan as the argument of this program."""
    return json.dumps(asdict(plan))


if __name__ == "__main__":
    main(sys.argv[1])
