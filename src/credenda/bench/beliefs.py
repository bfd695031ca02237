"""What is believed of sentences and pairs, as the public contract defines it: `bench beliefs`.

Each sentence, and each pair, is said to a tenant of its own through `remember` and `settle`; what it holds afterwards
is judged by `list` and `get` alone. The lines of both files are described in `docs/reference/beliefs.md`.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from credenda import Credenda, Invalid
from credenda.bench.belief_figures import Heard, Kept, Met, report
from credenda.clock import from_datetime
from credenda.model.claim import Turn
from credenda.model.event import Event, Role
from credenda.model.memory import Memory, Stance
from credenda.write.extract.rules import RulesExtractor

__all__ = ["LABELS", "RELATIONS", "load_pairs", "load_utterances", "run_beliefs"]

Note = Callable[[str], None]
LABELS: Final = ("store", "skip", "uncertain")
RELATIONS: Final = ("supersede", "refine", "coexist", "coexist_low", "same", "late")
_NOW: Final = datetime(2026, 3, 11, 12, tzinfo=UTC)
_PAGE: Final = 50
_BATCH: Final = 50
_PASSES: Final = 5


class _StandingClock:
    """A clock that stands still, so that a run gives the same figures on any day."""

    def now_us(self) -> int:
        """Return the same moment always."""
        return from_datetime(_NOW)


def run_beliefs(utterances: Path | None, pairs: Path | None, *, note: Note) -> dict[str, Any]:
    """Say every sentence and pair to a fresh tenant and judge what is held; returns what `--json` prints."""
    sentences = [] if utterances is None else load_utterances(utterances)
    couples = [] if pairs is None else load_pairs(pairs)
    with tempfile.TemporaryDirectory(prefix="credenda-bench-") as folder:
        path = Path(folder) / "memory.db"
        heard = [_hear(path, at, line) for at, line in enumerate(_noted(sentences, "sentences", note))]
        met = [_meet(path, at, line) for at, line in enumerate(_noted(couples, "pairs", note))]
    said = [line["text"] for line in sentences] + [line[end] for line in couples for end in ("old", "new")]
    return report(heard, met) | {"extraction": _extraction(said)}


def _extraction(texts: Sequence[str]) -> dict[str, Any]:
    """Measure how fast the rules read these sentences, each as a turn of its own: the best of some passes, CPU time."""
    reader = RulesExtractor()
    reader.warm()
    now = from_datetime(_NOW)
    turns = [
        Turn(event=Event(text=text, role=Role.USER, speaker="user", occurred_us=now, id=f"e{number}", recorded_us=now))
        for number, text in enumerate(texts)
    ]
    spent = min(_one_pass(reader, turns) for _ in range(_PASSES)) if turns else 0.0
    return {"turns": len(turns), "turns_per_cpu_second": round(len(turns) / spent) if spent else None}


def _one_pass(reader: RulesExtractor, turns: Sequence[Turn]) -> float:
    began = time.process_time()
    for turn in turns:
        reader.extract(turn)
    return time.process_time() - began


def _noted(lines: Sequence[dict[str, Any]], what: str, note: Note) -> Iterable[dict[str, Any]]:
    for at, line in enumerate(lines):
        if at % _BATCH == 0:
            note(f"{at} of {len(lines)} {what}")
        yield line


def _open(path: Path, user: str) -> Credenda:
    return Credenda.open(path, user=user, embedder="none", workers=False, clock=_StandingClock())


def _held(memory: Credenda) -> list[Memory]:
    """Give what is active, newest first; hypotheticals and contested values are among it."""
    return list(memory.list(limit=_PAGE).items)


def _hear(path: Path, at: int, line: Mapping[str, Any]) -> Heard:
    with _open(path, f"sentence {at}") as memory:
        memory.remember([{"role": line.get("role", "user"), "content": line["text"]}])
        memory.settle()
        return Heard(line=line, kept=tuple(_kept(one) for one in _held(memory)))


def _kept(one: Memory) -> Kept:
    return Kept(
        type=one.type.value,
        confidence=one.confidence,
        planned=one.stance in {Stance.CONSIDERED, Stance.PLANNED},
        users=one.entity == "user",
        shown=f"{one.entity or '-'} / {one.attribute or '-'} = {one.value or '-'}",
    )


def _meet(path: Path, at: int, line: Mapping[str, Any]) -> Met:
    """Say the earlier sentences, the old one and the new one, and look at what became of the old one's memories."""
    with _open(path, f"pair {at}") as memory:
        for text in line.get("earlier", ()):
            _say(memory, text, _NOW - timedelta(days=3))
        before = {one.id for one in _held(memory)}
        _say(memory, line["old"], line.get("old_at", _NOW - timedelta(days=2)))
        old = [one for one in _held(memory) if one.id not in before]
        _say(memory, line["new"], line.get("new_at", _NOW - timedelta(days=1)))
        now = [memory.get(one.id) for one in old]
        return Met(line=line, old=tuple(now), active=tuple(_held(memory)), said=len(old))


def _say(memory: Credenda, text: str, moment: datetime | str) -> None:
    memory.remember(text, occurred_at=moment)
    memory.settle()


def load_utterances(path: Path) -> list[dict[str, Any]]:
    """Read sentences; raises `Invalid` naming the first line that is none."""
    return _checked(path, ("text", "label"), LABELS)


def load_pairs(path: Path) -> list[dict[str, Any]]:
    """Read pairs; raises `Invalid` naming the first line that is none."""
    return _checked(path, ("old", "new", "relation"), RELATIONS)


def _lines(path: Path) -> list[tuple[int, Any]]:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"cannot read {path}", why=str(error), fix="give a JSON Lines file in UTF-8") from error
    found: list[tuple[int, Any]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                found.append((number, json.loads(line)))
            except ValueError as error:
                raise Invalid(f"line {number} of {path} is not JSON", why=str(error), fix="mend the line") from error
    return found


def _checked(path: Path, fields: tuple[str, ...], allowed: tuple[str, ...]) -> list[dict[str, Any]]:
    """Read lines that have these fields as texts, the last one being one of the allowed choices."""
    lines = _lines(path)
    for number, line in lines:
        what = f"line {number} of {path} is no such line"
        if not isinstance(line, dict) or not all(isinstance(line.get(name), str) for name in fields):  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - foreign JSON
            raise Invalid(what, why=f"it needs {', '.join(fields)} as texts", fix="see the reference on beliefs")
        choice = line[fields[-1]]  # pyright: ignore[reportUnknownVariableType] - foreign JSON
        if choice not in allowed:
            raise Invalid(what, why=f"{fields[-1]} is {choice!r}", fix=f"use one of {', '.join(allowed)}")
    return [line for _, line in lines]
