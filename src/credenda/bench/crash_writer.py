"""One process of the crash benchmark: it uses a memory as an application would, and tells each thing as it happens.

Started as `python -m credenda.bench.crash_writer PLAN`. Every line on its standard output is one fact, written in one
call the moment it is known, so that what was told before a `kill -9` is what was acknowledged. A destructive call is
announced before it is made: killed in between, it may or may not have happened, but never half.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from threading import Thread
from typing import Final

from credenda import Credenda, MemoryUnit
from credenda.clock import seconds

__all__ = ["KEYED", "Plan", "keyed_text", "tell"]

KEYED: Final = 400
"""Idempotency keys that all processes share: each names one text, which must come to exist at most once."""
_HANG_SECONDS: Final = 90.0
_COLOURS: Final = ("red", "green", "blue", "black", "white", "amber")
_CITIES: Final = ("Linz", "Graz", "Vienna", "Salzburg", "Bregenz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one process is to do."""

    path: str
    user: str
    name: str
    """Unlike that of any other process on the same file: it makes what it says unique."""
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


def keyed_text(number: int) -> str:
    """Give the text that goes with a shared idempotency key."""
    return f"I like tea number kq{number}z0."


class _Process:
    """A running plan."""

    def __init__(self, plan: Plan, memory: Credenda) -> None:
        self._plan = plan
        self._memory = memory
        self._until = seconds() + plan.run_seconds

    def run(self) -> None:
        """Work with several threads until the time is over."""
        role = {"talker": self._talk, "keeper": self._keep, "asker": self._inquire}[self._plan.role]
        threads = self._plan.threads if self._plan.role == "talker" else 1
        running = [Thread(target=self._guarded, args=(role, number)) for number in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()

    def _guarded(self, role: Callable[[random.Random, Callable[[], str]], None], number: int) -> None:
        """Repeat a role's step with fresh words; an error of any kind is a finding."""
        draw = random.Random(f"{self._plan.seed} {number}")
        count = 0

        def token() -> str:
            nonlocal count
            count += 1
            return f"{self._plan.name}t{number}n{count}z0"

        try:
            while seconds() < self._until:
                role(draw, token)
        except Exception as error:  # noqa: BLE001 - whatever it is, the judge must hear of it
            tell(e="wrong", what=f"{self._plan.role}: {type(error).__name__}: {error}")

    def _talk(self, draw: random.Random, token: Callable[[], str]) -> None:
        """Say something; sometimes under a key that others use too, in several messages, or at length."""
        chance = draw.random()
        if chance < 0.25:
            number = draw.randrange(KEYED)
            text = keyed_text(number)
            receipt = self._memory.remember(text, idempotency_key=f"key {number}")
            tell(e="said", texts=[text], ids=receipt.event_ids, key=number, cached=receipt.cached)
            return
        if chance < 0.35:
            texts = [f"I like tea number {token()}.", f"I live in {draw.choice(_CITIES)} since {token()}."]
            receipt = self._memory.remember([{"role": "user", "content": text} for text in texts], session="talk")
            tell(e="said", texts=texts, ids=receipt.event_ids)
            return
        if chance < 0.4:
            self._memory.search(f"tea number {token()}")
        word = token()
        text = f"I like tea number {word}." if chance < 0.9 else _long(word)
        receipt = self._memory.remember(text, session="talk" if chance < 0.6 else None)
        tell(e="said", texts=[text], ids=receipt.event_ids)

    def _keep(self, draw: random.Random, token: Callable[[], str]) -> None:
        """Store one memory or say one thing, then follow it through some of what may happen to it."""
        if draw.random() < 0.3:
            text = f"I like tea number {token()}."
            said = self._memory.remember(text)
            tell(e="said", texts=[text], ids=said.event_ids)
            if draw.random() < 0.6:
                tell(e="will", op="delete", id=said.event_ids[0])
                self._memory.delete(said.event_ids[0])
                tell(e="did", op="delete", id=said.event_ids[0])
            return
        if draw.random() < 0.1:
            self._memory.settle(60.0)
        word = token()
        text = f"The lamp {word} is {draw.choice(_COLOURS)}."
        unit = MemoryUnit(text=text, entity=f"lamp {word}", attribute="colour", value=draw.choice(_COLOURS))
        held = self._memory.store(unit).id
        tell(e="did", op="store", id=held, text=text)
        for _ in range(draw.randrange(4)):
            held = self._alter(draw, held, token)
            if not held:
                return

    def _alter(self, draw: random.Random, held: str, token: Callable[[], str]) -> str:
        """Do one thing to a memory and return the id of what stands in its place, "" when nothing does."""
        op = draw.choice(("forget", "correct", "delete", "pin"))
        text = f"The lamp is of the colour {token()}." if op == "correct" else ""
        tell(e="will", op=op, id=held, text=text)
        if op == "forget":
            self._memory.forget(held)
            tell(e="did", op="forget", id=held)
            tell(e="will", op="restore", id=held)
            self._memory.restore(held)
            tell(e="did", op="restore", id=held)
            return held
        if op == "correct":
            successor = self._memory.correct(held, text=text).id
            tell(e="did", op="correct", id=held, text=text, successor=successor)
            return successor
        if op == "pin":
            self._memory.manage.pin(held)
            tell(e="did", op="pin", id=held)
            return held
        self._memory.delete(held)
        tell(e="did", op="delete", id=held)
        return ""

    def _inquire(self, draw: random.Random, token: Callable[[], str]) -> None:
        """Ask in every way, so that readers run beside writers."""
        del token
        chance = draw.random()
        if chance < 0.7:
            found = self._memory.search(f"Which tea, number kq{draw.randrange(KEYED)}z0?")
            tell(e="asked", hits=len(found.hits))
        elif chance < 0.9:
            self._memory.list(limit=50)
        else:
            self._memory.context("Where do I live?")


def _long(word: str) -> str:
    """Make a text of several passages."""
    return " ".join(f"On day {day} of the trip {word} we walked along the river and talked." for day in range(60))


def main(argument: str) -> None:
    """Run a plan to its end, telling each stage before it begins."""
    faulthandler.dump_traceback_later(_HANG_SECONDS)
    plan = Plan(**json.loads(argument))
    tell(e="stage", at="opening")
    memory = Credenda.open(plan.path, user=plan.user, embedder=plan.embedder)
    tell(e="stage", at="opened")
    _Process(plan, memory).run()
    if plan.settle:
        tell(e="stage", at="settling")
        memory.settle(60.0)
    tell(e="stage", at="closing")
    memory.close()
    tell(e="stage", at="closed")


def plan_argument(plan: Plan) -> str:
    """Write a plan as the argument of this program."""
    return json.dumps(asdict(plan))


if __name__ == "__main__":
    main(sys.argv[1])
