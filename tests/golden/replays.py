"""What is replayed: sentences, pairs, cases of poisoning, stories, searches and simulated years, chunk by chunk."""

import json
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from . import scripts
from .canonical import Line, claim_form, line, numbered, state_form
from .product import Credenda, Event, ManualClock, RulesExtractor, Submission, Turn, accept
from .years import lifetime_lines, year_lines

DATA = Path(__file__).resolve().parents[1] / "data"
NOW = datetime(2026, 3, 11, 12, tzinfo=UTC)
"""The moment at which `credenda bench beliefs` says everything."""
_SENTENCES = 100
_PAIRS = 50
_POISONING = "poisoning"


@cache
def _rows(name: str) -> list[dict[str, Any]]:
    folder = _POISONING if name == "cases" else "beliefs"
    return [json.loads(row) for row in (DATA / folder / f"{name}.jsonl").read_text("utf-8").splitlines() if row.strip()]


def _split(kind: str, pattern: str, size: int) -> Iterator[str]:
    for path in sorted(DATA.glob(pattern)):
        for start in range(0, len(_rows(path.stem)), size):
            yield f"{kind}/{path.stem}/{start + 1:05}"


def chunk_names() -> list[str]:
    """Name every chunk, in the order in which it is replayed: part, file, number of the first line."""
    return [
        *_split("sentences", "beliefs/utterances_*.jsonl", _SENTENCES),
        *_split("pairs", "beliefs/pairs_*.jsonl", _PAIRS),
        *_split(_POISONING, "poisoning/*.jsonl", _PAIRS),
        "stories/hand/00001",
        "searches/pairs_plain/00001",
        "years/140-1/00001",
        "years/140-2-weekly/00001",
        "lifetimes/600-3-120/00001",
    ]


def sampled(name: str) -> bool:
    """Tell whether the test suite replays a chunk; the command replays all of them."""
    part, _, start = name.split("/")
    if part == "sentences":
        return int(start) // _SENTENCES % 4 == 0
    return part != "lifetimes" and "weekly" not in name and int(start) == 1


def replay(name: str) -> list[Line]:
    """Replay one chunk and return its lines."""
    part, file, start = name.split("/")
    if part == "years":
        return year_lines(file)
    if part == "lifetimes":
        return lifetime_lines(file)
    if part == "sentences":
        rows = _rows(file)[int(start) - 1 :][:_SENTENCES]
        return [_sentence(f"{file}:{at}", row) for at, row in enumerate(rows, int(start))]
    with tempfile.TemporaryDirectory(prefix="credenda-golden-") as folder:
        path = Path(folder) / "memory.db"
        if part == "stories":
            return [line(f"story:{story.__name__}", found) for story, found in scripts.told(path)]
        if part == "searches":
            return numbered("search", scripts.searched(path, _rows(file)))
        rows = _rows(file)[int(start) - 1 :][:_PAIRS]
        one = _case if part == _POISONING else _pair
        return [line(f"{file}:{at}", one(path, f"{file} {at}", row)) for at, row in enumerate(rows, int(start))]


def _sentence(name: str, row: dict[str, Any]) -> Line:
    """Read one sentence as the product does: screened on acceptance, then given to the rules."""
    now_us = int(NOW.timestamp()) * 1_000_000
    content = [{"role": row.get("role", "user"), "content": row["text"]}]
    accepted = accept(Submission(content=content, user_id="golden"), policy="mask", zone=UTC, now_us=now_us)
    new = accepted.events[0]
    fields = {key: value for key, value in asdict(new).items() if key != "metadata"}
    claims = RulesExtractor().extract(Turn(event=Event(**fields, id="e1", recorded_us=now_us)))
    masked = new.text if new.text != row["text"] else None
    found = {"flags": list(new.flags), "masked": masked, "claims": [*map(claim_form, claims)]}
    return line(name, {key: value for key, value in found.items() if value})


@contextmanager
def _opened(path: Path, user: str) -> Generator[Credenda]:
    clock = ManualClock(NOW)
    with Credenda.open(path, user=user, embedder="none", llm="none", workers=False, clock=clock) as memory:
        yield memory


def _pair(path: Path, user: str, row: dict[str, Any]) -> object:
    """Say the earlier sentences, the old one and the new one on the days that the benchmark gives them."""
    with _opened(path, user) as memory:
        said = [(text, NOW - timedelta(days=3)) for text in row.get("earlier", ())]
        said.append((row["old"], row.get("old_at", NOW - timedelta(days=2))))
        said.append((row["new"], row.get("new_at", NOW - timedelta(days=1))))
        for text, moment in said:
            memory.remember(text, occurred_at=moment)
            memory.settle()
        return state_form(memory)


def _case(path: Path, user: str, row: dict[str, Any]) -> object:
    """Say what was talked about before, then the words that may want to poison the memory."""
    with _opened(path, user) as memory:
        for place, said in enumerate(row.get("sessionContext", ())):
            memory.remember([{"role": "assistant" if place % 2 else "user", "content": said}], session="case")
        memory.settle()
        topic = row.get("targetNamespace") or None
        receipt = memory.remember(row["writeContent"], session="case", topic=topic)
        memory.settle()
        found = memory.search(row["writeContent"][:400], record_access=False)
        shown = [[hit.kind, hit.text, sorted(hit.flags)] for hit in found.hits]
        return {"state": state_form(memory), "refused": len(receipt.refused), "shown": shown}
