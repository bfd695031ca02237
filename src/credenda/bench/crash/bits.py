"""The bit flipper: one bit of a file is inverted, as a failing disk does, and the memory is asked.

Each flip must be without effect, or reported: an error with its place and a way out, or a finding of `doctor`. A wrong
answer that nothing reports, and an error that is none of ours, are violations.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from credenda import Credenda, CredendaError, MemoryUnit
from credenda.bench.crash.report import AttackReport, Note
from credenda.bootstrap import restore_backup

__all__ = ["run_bit_flips"]

_USER: Final = "ana"
_NAME: Final = "memory.db"
_QUESTIONS: Final = ("Where do I live?", "Which tea do I like?", "peanuts", "the colour of the lamp")
Answers = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Victim:
    """A file to damage: the folder to copy, the file in it, and the call that uses it."""

    kind: str
    folder: Path
    file: str
    use: Callable[[Path], Answers]


def _fill(path: Path) -> None:
    """Make a small memory of every kind of row."""
    with Credenda.open(path, user=_USER, embedder="hashed", workers=False) as memory:
        memory.remember("I live in Linz.", session="first")
        memory.remember("I'm allergic to peanuts.", session="first")
        for number in range(12):
            memory.remember(f"I like tea number {number}.", session="second")
        memory.remember("I moved to Graz.", session="third")
        gone = memory.remember("My doctor is called Huber.").event_ids[0]
        memory.settle()
        memory.delete(gone)
        lamp = memory.store(MemoryUnit(text="The lamp is red.", entity="lamp", attribute="colour", value="red"))
        memory.correct(lamp.id, text="The lamp is blue.", value="blue")
        for question in _QUESTIONS:
            memory.search(question)


def _ask(memory: Credenda) -> Answers:
    """Return what users see: memories with their history, hits, counts."""
    listed = memory.list(limit=50, status=None).items
    hits = {question: memory.search(question, record_access=False).hits for question in _QUESTIONS}
    return {
        "memories": [(one.id, one.text, one.value, one.status.value, one.valid_from_us, one.pinned) for one in listed],
        "evidence": [
            (one.id, [(event.id, event.text) for event, _, _ in memory.why(one.id).evidence]) for one in listed
        ],
        "hits": {question: [(hit.id, hit.text) for hit in found] for question, found in hits.items()},
        "counts": (memory.stats().events, memory.stats().memories),
    }


def _use_database(folder: Path) -> Answers:
    """Open, ask, and let `doctor` look; a finding is a report."""
    with Credenda.open(folder / _NAME, user=_USER, embedder="hashed", workers=False) as memory:
        findings = [one for one in memory.data.doctor().findings if one.check != "permissions"]  # those of the copy
        if findings:
            raise _Reported(findings[0].check, whole=all(one.where and one.fix for one in findings))
        return _ask(memory)


def _use_backup(folder: Path) -> Answers:
    target = folder / "restored" / _NAME
    target.parent.mkdir()
    restore_backup(folder / "backup.db", target)
    return _use_database(target.parent)


def _use_archive(folder: Path) -> Answers:
    target = folder / "imported" / _NAME
    target.parent.mkdir()
    with Credenda.open(target, user=_USER, embedder="hashed", workers=False) as memory:
        memory.data.import_(folder / "export.jsonl")
    return _use_database(target.parent)


class _Reported(Exception):  # noqa: N818 - an outcome, not an error
    """`doctor` reported the damage; `whole` if each finding has its place and a way out."""

    def __init__(self, check: str, *, whole: bool) -> None:
        super().__init__(check)
        self.whole = whole


def _replace_bit(path: Path, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def _find_outcome(victim: _Victim, folder: Path, expected: Answers) -> tuple[str, list[str]]:
    """Use a damaged copy; return the outcome and what is wrong with it."""
    try:
        found = victim.use(folder)
    except CredendaError as error:
        return f"{error.code} error", [] if error.fix else [f"an error without a way out: {error}"]
    except _Reported as reported:
        return f"doctor: {reported}", [] if reported.whole else ["a finding without a place or a way out"]
    except Exception as error:  # noqa: BLE001 - any other error is a violation
        return "traceback", [f"not a clear error: {type(error).__name__}: {error}"]
    differing = [name for name, value in expected.items() if found[name] != value]
    if not differing:
        return "without effect", []
    return "silent", [f"wrong without a report: {', '.join(differing)}"]


def _make_victims(folder: Path) -> list[_Victim]:
    """Make a database, its log, a backup and an archive."""
    whole, logged, backup, archive = (folder / name for name in ("database", "log", "backup", "archive"))
    for place in (whole, backup, archive):
        place.mkdir()
    _fill(whole / _NAME)
    with Credenda.open(whole / _NAME, user=_USER, embedder="hashed", workers=False) as memory:
        memory.data.backup(backup / "backup.db")
        memory.data.export(archive / "export.jsonl")
        memory.remember("I work at Acme.")
        memory.settle()
        memory.remember("I have a cat called Tom.")
        memory.settle()
        shutil.copytree(whole, logged, ignore=shutil.ignore_patterns("*-shm"))
    return [
        _Victim("database", whole, _NAME, _use_database),
        _Victim("log", logged, f"{_NAME}-wal", _use_database),
        _Victim("backup", backup, "backup.db", _use_backup),
        _Victim("archive", archive, "export.jsonl", _use_archive),
    ]


def run_bit_flips(flips: int, *, seed: int, note: Note) -> AttackReport:
    """Flip so many bits, evenly among the kinds of files, one at a time."""
    report = AttackReport("flipped bits", seed)
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="credenda-bits-") as folder:
        victims = _make_victims(Path(folder))
        expected = [_use_copy(victim, None)[0] for victim in victims]
        for number in range(flips):
            victim = victims[number % len(victims)]
            bit = draw.randrange(8 * (victim.folder / victim.file).stat().st_size)
            _, outcome, wrong = _use_copy(victim, bit, expected[number % len(victims)])
            report.cases += 1
            report.counts[f"{victim.kind}: {outcome}"] += 1
            report.add(f"{victim.kind}, bit {bit}", wrong)
            if number % 100 == 0:
                note(f"{number + 1} of {flips} bits flipped, {len(report.violations)} violations")
    return report.finish()


def _use_copy(victim: _Victim, bit: int | None, expected: Answers | None = None) -> tuple[Answers, str, list[str]]:
    """Copy the folder of a victim, flip a bit of its file, and use it."""
    with tempfile.TemporaryDirectory(prefix="credenda-bits-") as parent:
        folder = Path(parent) / "copy"
        shutil.copytree(victim.folder, folder)
        if bit is None or expected is None:
            return victim.use(folder), "", []
        _replace_bit(folder / victim.file, bit)
        return {}, *_find_outcome(victim, folder, expected)
