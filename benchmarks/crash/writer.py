"""One process of the kill test: it uses a memory as an application does, and reports each event.

Started as `python -m benchmarks.crash.writer PLAN`. Every line on its standard output is one fact, written in one
call as soon as it is known, so that the output before a `kill -9` has exactly the acknowledged facts.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import sys
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Thread
from typing import Final

from benchmarks.crash.acts import Acts, TokenSource
from credenda import Credenda
from credenda.clock import seconds

_HANG_SECONDS: Final = 90.0
_SETTLE_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The task of one process."""

    path: str
    user: str
    name: str
    """Differs from other processes on the same file, so that its texts are unique."""
    role: str
    """A role of `acts.ROLES`."""
    seed: int
    run_seconds: float
    threads: int = 2
    embedder: str = "none"
    settle: bool = False


def tell(**fact: object) -> None:
    """Report one fact in one write, so that lines of several threads never mix."""
    os.write(1, json.dumps(fact).encode() + b"\n")


def _perform(plan: Plan, memory: Credenda, number: int, until: float) -> None:
    """Repeat the acts of a role with new words; report any error as a finding."""
    draw = random.Random(f"{plan.seed} {number}")
    acts = Acts(memory, TokenSource(f"{plan.name}t{number}"), tell, Path(plan.path).parent)
    try:
        while True:
            acts.perform(plan.role, draw)
            if seconds() >= until:
                break
    except Exception as error:  # noqa: BLE001 - the check must learn of any error
        tell(e="wrong", what=f"{plan.role}: {type(error).__name__}: {error}")
        traceback.print_exc()


def _run(plan: Plan, memory: Credenda) -> None:
    """Perform acts in several threads until the time is over."""
    until = seconds() + plan.run_seconds
    threads = plan.threads if plan.role == "talker" else 1
    running = [Thread(target=_perform, args=(plan, memory, number, until)) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def main(argument: str) -> None:
    """Run a plan to its end, announcing each stage before it begins."""
    faulthandler.dump_traceback_later(_HANG_SECONDS)
    plan = Plan(**json.loads(argument))
    tell(e="stage", at="opening")
    memory = Credenda.open(plan.path, user=plan.user, embedder=plan.embedder)
    tell(e="stage", at="opened")
    _run(plan, memory)
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
