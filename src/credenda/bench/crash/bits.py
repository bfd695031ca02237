"""The bit flipper: one bit of a file is inverted, as a failing disk does, and the memory is asked.

Each flip must be without effect, or reported: an error with its place and a way out, or a finding of `doctor`. A wrong
answer that nothing reports, and an error that is none of ours, are violations.

SQLite ends its log at the first frame with a wrong checksum and reports nothing, as after a power cut. Such flips are
counted apart: the answers must be those of the calls before that frame.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from credenda import Credenda, CredendaError, MemoryUnit
from credenda.bench.crash.report import AttackReport, Note
from credenda.bootstrap import restore_backup

__all__ = ["run_bit_flips"]

_USER: Final = "ana"
_NAME: Final = "memory.db"
_LOG: Final = "log"
_SILENT: Final = "silent"
_PATIENCE_SECONDS: Final = 300.0
_LOG_HEAD_BYTES: Final = 32
_FRAME_HEAD_BYTES: Final = 24
"""Parts of a write-ahead log: https://sqlite.org/fileformat2.html#walformat."""
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
            memory.remember(f"Remember that I love herb{number}.", session="second")
        memory.remember("I moved to Graz.", session="third")
        gone = memory.remember("My doctor is called Huber.").event_ids[0]
        memory.settle(timeout=_PATIENCE_SECONDS)
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


def _measure_log(content: bytes) -> int:
    """Return the size of a log up to its last commit; the rest is space that was reserved."""
    frame = _FRAME_HEAD_BYTES + int.from_bytes(content[8:12])
    starts = range(_LOG_HEAD_BYTES, len(content), frame)
    commits = (at for at in starts if content[at + 8 : at + 16] == content[16:24] and any(content[at + 4 : at + 8]))
    return max(commits) + frame


def _cut_log(path: Path, bit: int) -> None:
    """Cut a log before the frame that contains a bit, as SQLite does."""
    content = path.read_bytes()
    frame = _FRAME_HEAD_BYTES + int.from_bytes(content[8:12])
    frames = max(0, bit // 8 - _LOG_HEAD_BYTES) // frame
    path.write_bytes(content[: _LOG_HEAD_BYTES + frames * frame if bit // 8 >= _LOG_HEAD_BYTES else 0])


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
    return _SILENT, [f"wrong without a report: {', '.join(differing)}"]


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
        memory.settle(timeout=_PATIENCE_SECONDS)
        memory.remember("I have a cat called Tom.")
        memory.settle(timeout=_PATIENCE_SECONDS)
        shutil.copytree(whole, logged, ignore=shutil.ignore_patterns("*-shm"))
    return [
        _Victim("database", whole, _NAME, _use_database),
        _Victim(_LOG, logged, f"{_NAME}-wal", _use_database),
        _Victim("backup", backup, "backup.db", _use_backup),
        _Victim("archive", archive, "export.jsonl", _use_archive),
    ]


def run_bit_flips(flips: int, *, seed: int, note: Note) -> AttackReport:
    """Flip so many bits, evenly among the kinds of files, one at a time."""
    report = AttackReport("flipped bits", seed)
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="credenda-bits-") as folder:
        victims = _make_victims(Path(folder))
        expected = [_use_whole(victim) for victim in victims]
        for number in range(flips):
            victim = victims[number % len(victims)]
            content = (victim.folder / victim.file).read_bytes()
            bit = draw.randrange(8 * (_measure_log(content) if victim.kind == _LOG else len(content)))
            outcome, wrong = _flip(victim, bit, expected[number % len(victims)])
            report.cases += 1
            report.counts[f"{victim.kind}: {outcome}"] += 1
            report.add(f"{victim.kind}, bit {bit}", wrong)
            if number % 100 == 0:
                note(f"{number + 1} of {flips} bits flipped, {len(report.violations)} violations")
    return report.finish()


def _use_whole(victim: _Victim) -> Answers:
    with _copy(victim) as folder:
        return victim.use(folder)


def _flip(victim: _Victim, bit: int, expected: Answers) -> tuple[str, list[str]]:
    """Flip a bit of a copy, use the copy, and return the outcome and what is wrong with it."""
    with _copy(victim) as folder:
        _replace_bit(folder / victim.file, bit)
        outcome, wrong = _find_outcome(victim, folder, expected)
    if (outcome, victim.kind) != (_SILENT, _LOG):
        return outcome, wrong
    with _copy(victim) as folder:
        _cut_log(folder / victim.file, bit)
        shorter = victim.use(folder)
    with _copy(victim) as folder:
        _replace_bit(folder / victim.file, bit)
        outcome, wrong = _find_outcome(victim, folder, shorter)
    return ("cut off before the damage", []) if outcome == "without effect" else (outcome, wrong)


@contextmanager
def _copy(victim: _Victim) -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="credenda-bits-") as parent:
        folder = Path(parent) / "copy"
        shutil.copytree(victim.folder, folder)
        yield folder
