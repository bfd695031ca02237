"""The fuzzer: random arguments to every operation of the table, right and wrong in type, size and content.

Only errors of Credenda may come out, each with a message; `doctor` then finds the store in order.
"""

from __future__ import annotations

import math
import random
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from benchmarks.crash.report import AttackReport, Note
from credenda import Credenda, CredendaError, MemoryUnit
from credenda.operation import Operation, Param, ParamKind
from credenda.operations import OPERATIONS

_USER: Final = "ana"
_PATIENCE_SECONDS: Final = 300.0
_TEXTS: Final = (
    "I live in Linz.",
    "I'm allergic to peanuts.",
    "My name is Ana.",
    "I like tea number 7.",
    "",
    " ",
    "\x00",
    "a\x00b",
    "\ud800",
    "x\udfffy",
    "\u202eevil",
    "אני גר בחיפה",
    "私は東京に住んでいます",
    "I" * 5_000,
    "word " * 3_000,
    "%s %n {}",
    "'; DROP TABLE events; --",
    "🦊" * 50,
    "\u200b\u200d",
    "NaN",
    "-1",
    "null",
    "../../etc/passwd",
    "m1",
    "e1",
    "c1",
    '"' * 40,
    "NEAR(a b)",
    "a AND OR NOT",
    "\ufeff",
    "\r\n\t",
    "I moved to Graz.",
    "Actually, I live in Wels.",
)
_NUMBERS: Final = (0, 1, -1, 2, 20, 50, 51, 10**6, 2**63, -(2**63), 10**30)
_REALS: Final = (0.0, 0.5, 1.0, -0.1, 1.1, math.nan, math.inf, -math.inf, 1e308)
_TIMES: Final = (
    datetime(2026, 3, 1, tzinfo=UTC),
    datetime(2026, 3, 1),  # noqa: DTZ001 - naive on purpose
    "2026-03-01",
    "2026-03-01T09:30:00Z",
    "0001-01-01",
    "9999-12-31T23:59:59Z",
    "not a time",
    "",
    "\x00",
)
_PATHS: Final = ("a.jsonl", "b.json", "c.md", "folder", "d.gz", "nothing/here", "x" * 300, "nul\x00name", "memory.db")
_SKIPPED: Final = frozenset({"erase"})
"""It takes the user's name, which no random text should be."""
_FILE_BYTES: Final = 1 << 18
"""Larger files are removed: each import of an export doubles the next one."""
_DOCTOR_EVERY: Final = 1_000
_SETTLE_EVERY: Final = 100


class _Draw:
    """Draws arguments; ids are often real ones."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.random = random.Random(seed)
        self._folder = folder
        self.ids: list[str] = ["m1-aaaaaa", "e1-aaaaaa", "c1-aaaaaa"]

    def arguments(self, operation: Operation) -> dict[str, object]:
        """Draw arguments for an operation; required ones are always there, as a signature demands."""
        drawn: dict[str, object] = {}
        for param in operation.params:
            if param.required or self.random.random() < 0.25:  # noqa: PLR2004 - a few of the others
                drawn[param.name] = self._value(param)
        return drawn

    def _value(self, param: Param) -> object:
        if param.is_path:
            return self._path()
        if self.random.random() < 0.12:  # noqa: PLR2004 - how often a type is wrong
            return self._any()
        if "id" in param.name.split("_") and self.random.random() < 0.8:  # noqa: PLR2004 - mostly real ids
            return self.random.choice(self.ids)
        choices = param.choices if self.random.random() < 0.9 else ()  # noqa: PLR2004 - mostly permitted values
        return self._typed(param.kind, choices)

    def _typed(  # noqa: PLR0911 - one return a kind
        self, kind: ParamKind, choices: Sequence[str]
    ) -> object:
        match kind:
            case "flag":
                return self.random.random() < 0.5  # noqa: PLR2004 - as likely as not
            case "integer":
                return self.random.choice(_NUMBERS)
            case "number":
                return self.random.choice(_REALS)
            case "time":
                return self.random.choice(_TIMES)
            case "table":
                return {self._text(): self._text() for _ in range(self.random.randrange(3))}
            case "names":
                return [self._text(choices) for _ in range(self.random.randrange(4))]
            case _:
                return self._text(choices)

    def _text(self, choices: Sequence[str] = ()) -> str:
        if choices:
            return self.random.choice(choices)
        text = self.random.choice(_TEXTS)
        return text if self.random.random() < 0.7 else f"{text} {self.random.choice(_TEXTS)}"  # noqa: PLR2004 - sometimes two

    def _path(self) -> object:
        wrong: tuple[object, ...] = (None, 7, 1.5, ["a"], "")
        if self.random.random() < 0.1:  # noqa: PLR2004 - how often a type is wrong
            return self.random.choice(wrong)
        return self._folder / self.random.choice(_PATHS)

    def _any(self) -> object:
        pool: tuple[object, ...] = (
            None,
            True,
            b"bytes",
            [],
            {},
            object(),
            [None],
            {"a": None},
            {1: 2},
            ["m1", 3],
            range(3),
            {"x"},
            1 + 2j,
        )
        return self.random.choice((*pool, self._text(), self.random.choice(_NUMBERS), self.random.choice(_REALS)))


def _collect_ids(memory: Credenda, draw: _Draw) -> None:
    """Collect real ids for the next calls."""
    items = memory.list(limit=50, status=None).items
    draw.ids = [one.id for one in items] + [
        step.change_id for one in items[:10] for step in memory.manage.status_history(one.id)
    ]
    draw.ids += [event.id for one in items[:10] for event, _, _ in memory.why(one.id).evidence]
    draw.ids += [case.id for case in memory.manage.contests()] + ["m1", "e1", "c1", "m999999-aaaaaa"]


def _call(memory: Credenda, operation: Operation, given: Mapping[str, object]) -> tuple[str, list[str]]:
    """Make a call; return its outcome and what is wrong with it."""
    try:
        method: Any = attrgetter(operation.call)(memory)
        names = {param.name: param.argument or param.name for param in operation.params}
        method(**{names[name]: value for name, value in given.items()})
    except CredendaError as error:
        return error.code, [] if str(error).strip() else ["an error without a message"]
    except Exception as error:  # noqa: BLE001 - any other error is a violation
        return "traceback", [f"{type(error).__name__}: {error}"]
    return "done", []


def run_fuzz(calls: int, *, seed: int, note: Note) -> AttackReport:
    """Make so many calls, then check the store."""
    report = AttackReport("fuzzed calls", seed)
    operations = [operation for operation in OPERATIONS.values() if operation.name not in _SKIPPED]
    with tempfile.TemporaryDirectory(prefix="credenda-fuzz-") as name:
        folder = Path(name) / "files"
        folder.mkdir()
        draw = _Draw(seed, folder)
        with Credenda.open(Path(name) / "memory.db", user=_USER, embedder="hashed", workers=False) as memory:
            memory.store(MemoryUnit(text="The lamp is red.", entity="lamp", attribute="colour", value="red"))
            for number in range(1, calls + 1):
                operation = draw.random.choice(operations)
                given = draw.arguments(operation)
                outcome, wrong = _call(memory, operation, given)
                _remove_large_files(folder)
                report.cases += 1
                report.counts[outcome] += 1
                report.add(f"call {number}, {operation.name}({_shorten(given)})", wrong)
                if number % _SETTLE_EVERY == 0:
                    memory.settle(timeout=_PATIENCE_SECONDS)
                    _collect_ids(memory, draw)
                if number % _DOCTOR_EVERY == 0 or number == calls:
                    findings = memory.data.doctor().findings
                    report.add(f"after call {number}", [f"doctor: {one.check}: {one.detail}" for one in findings])
                    note(f"{number} of {calls} calls, {len(report.violations)} violations")
    return report.finish()


def _remove_large_files(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and path.stat().st_size > _FILE_BYTES:
            path.unlink()


def _shorten(given: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={repr(value)[:60]}" for name, value in given.items())
