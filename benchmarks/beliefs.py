"""Decisions about sentences and pairs, as the public contract defines them: `bench beliefs`.

Each sentence, and each pair, is stored for a separate tenant with `remember` and `settle`; the result is judged only by
`list` and `get`. `docs/reference/beliefs.md` describes the lines of both files.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from benchmarks.belief_figures import Heard, Kept, Met, list_kinds, report
from benchmarks.extraction_rate import measure_rate, read_demo_turns
from benchmarks.llm_gate import Bill, compute_gate_figures
from benchmarks.stats import read_numbered_lines
from credenda import Credenda, Invalid
from credenda.clock import from_datetime
from credenda.config import load_settings
from credenda.model.memory import Memory, MemoryType, Stance
from credenda.providers.embed.factory import Embedder, open_embedder
from credenda.providers.llm.client import open_model
from credenda.providers.llm.protocol import LanguageModel
from credenda.write.llm.prompt import PROMPT

Note = Callable[[str], None]
LABELS: Final = ("store", "skip", "uncertain")
RELATIONS: Final = ("supersede", "refine", "coexist", "coexist_low", "same", "late")
_NOW: Final = datetime(2026, 3, 11, 12, tzinfo=UTC)
_TYPES: Final = tuple(MemoryType)
_PAGE: Final = 50
_BATCH: Final = 50


class _StandingClock:
    """A clock that never advances, so that a run gives the same figures on any day."""

    def now_us(self) -> int:
        """Return the fixed time."""
        return from_datetime(_NOW)


def run_beliefs(
    utterances: Path | None,
    pairs: Path | None,
    *,
    note: Note,
    llm: str | LanguageModel | None = None,
    embedder: str = "none",
) -> dict[str, Any]:
    """Store every sentence and pair for a new tenant and judge the result; return the document of `--json`.

    With `llm` that model reads, where the gate allows it. `embedder` names the embedder of
    the memory: "auto" for the installed one.
    """
    sentences = [] if utterances is None else load_utterances(utterances)
    couples = [] if pairs is None else load_pairs(pairs)
    with tempfile.TemporaryDirectory(prefix="credenda-bench-") as folder:
        bench = _Bench(Path(folder) / "memory.db", _open_model(llm), open_embedder(embedder))
        heard = [
            _submit_sentence(bench, at, line) for at, line in enumerate(_show_progress(sentences, "sentences", note))
        ]
        met = [_submit_pair(bench, at, line) for at, line in enumerate(_show_progress(couples, "pairs", note))]
    said = [line["text"] for line in sentences] + [line[end] for line in couples for end in ("old", "new")]
    document = report(heard, met) | {
        "embedder": "none" if bench.embedder is None else bench.embedder.model_id,
        "gate": compute_gate_figures(sentences),
        "extraction": measure_rate(said, _NOW) | {"chat": measure_rate(read_demo_turns(), _NOW)},
    }
    if bench.model is not None:
        document["model"] = bench.bill.as_document(bench.model.model_id, PROMPT)
        bench.model.close()
    return document


def _open_model(llm: str | LanguageModel | None) -> LanguageModel | None:
    """Open one model for all tenants, so that its library is loaded once."""
    line = None if llm is None else open_model(llm, load_settings())
    return None if line is None else line.model


def _show_progress(lines: Sequence[dict[str, Any]], what: str, note: Note) -> Iterable[dict[str, Any]]:
    for at, line in enumerate(lines):
        if at % _BATCH == 0:
            note(f"{at} of {len(lines)} {what}")
        yield line


@dataclass(slots=True)
class _Bench:
    """The folder of the tenants, the model and the embedder, and their cost."""

    path: Path
    model: LanguageModel | None
    embedder: Embedder | None = None
    bill: Bill = field(default_factory=Bill)

    @contextmanager
    def open(self, user: str) -> Generator[Credenda]:
        """Open a new tenant."""
        clock, llm = _StandingClock(), "none" if self.model is None else self.model
        engine = self.embedder or "none"
        with Credenda.open(self.path, user=user, embedder=engine, workers=False, clock=clock, llm=llm) as memory:
            yield memory
            self.bill.add(None if self.model is None else memory.stats().model)


def _list_active(memory: Credenda) -> list[Memory]:
    """Return the active memories, newest first, including hypothetical and contested ones."""
    return list(memory.list(limit=_PAGE).items)


def _submit_sentence(bench: _Bench, at: int, line: Mapping[str, Any]) -> Heard:
    with bench.open(f"sentence {at}") as memory:
        memory.remember([{"role": line.get("role", "user"), "content": line["text"]}])
        memory.settle()
        return Heard(line=line, kept=tuple(_describe_kept(one) for one in _list_active(memory)))


def _describe_kept(one: Memory) -> Kept:
    return Kept(
        type=one.type.value,
        confidence=one.confidence,
        planned=one.stance in {Stance.CONSIDERED, Stance.PLANNED},
        users=one.entity == "user",
        shown=f"{one.entity or '-'} / {one.attribute or '-'} = {one.value or '-'}",
    )


def _submit_pair(bench: _Bench, at: int, line: Mapping[str, Any]) -> Met:
    """Store the earlier sentences, the old one and the new one, and find the final state of the old one's memories."""
    with bench.open(f"pair {at}") as memory:
        for text in line.get("earlier", ()):
            _say(memory, text, _NOW - timedelta(days=3))
        before = {one.id for one in _list_active(memory)}
        _say(memory, line["old"], line.get("old_at", _NOW - timedelta(days=2)))
        old = [one for one in _list_active(memory) if one.id not in before]
        _say(memory, line["new"], line.get("new_at", _NOW - timedelta(days=1)))
        now = [memory.get(one.id) for one in old]
        return Met(line=line, old=tuple(now), active=tuple(_list_active(memory)), said=len(old))


def _say(memory: Credenda, text: str, moment: datetime | str) -> None:
    memory.remember(text, occurred_at=moment)
    memory.settle()


def load_utterances(path: Path) -> list[dict[str, Any]]:
    """Read sentences; raise `Invalid` naming the first invalid line."""
    return _read_checked(path, ("text", "label"), LABELS)


def load_pairs(path: Path) -> list[dict[str, Any]]:
    """Read pairs; raise `Invalid` naming the first invalid line."""
    return _read_checked(path, ("old", "new", "relation"), RELATIONS)


def _read_checked(path: Path, fields: tuple[str, ...], allowed: tuple[str, ...]) -> list[dict[str, Any]]:
    """Read lines that have these fields as strings; the last field must be one of the allowed values."""
    lines = read_numbered_lines(path)
    for number, line in lines:
        what = f"line {number} of {path} is not valid"
        if not isinstance(line, dict) or not all(isinstance(line.get(name), str) for name in fields):  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - foreign JSON
            raise Invalid(what, why=f"it needs {', '.join(fields)} as strings", fix="see docs/reference/beliefs.md")
        choice = line[fields[-1]]  # pyright: ignore[reportUnknownVariableType] - foreign JSON
        if choice not in allowed:
            raise Invalid(what, why=f"{fields[-1]} is {choice!r}", fix=f"use one of {', '.join(allowed)}")
        if unknown := [kind for kind in list_kinds(line) if kind not in _TYPES]:  # pyright: ignore[reportUnknownArgumentType] - foreign JSON
            raise Invalid(what, why=f"type names {unknown[0]!r}", fix=f"use one or a list of {', '.join(_TYPES)}")
    return [line for _, line in lines]
