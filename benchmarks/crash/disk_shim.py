"""A shim below SQLite: every write, truncation, flush and deletion of a file passes an observer first.

The shim is a copy of the default VFS with other functions for opening and deleting; each file that is opened gets a
copy of its own methods with other functions for writing. Reading, locking and shared memory stay as they are. While the
shim is installed it is the default for every new connection of the process.
"""

from __future__ import annotations

import _sqlite3
import ctypes
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_int64, c_void_p
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar, Final, Literal, Protocol

from benchmarks.crash.acts import Acts, TokenSource
from benchmarks.crash.check import check
from benchmarks.crash.ledger import Ledger
from benchmarks.crash.report import AttackReport, Note
from credenda import Credenda, CredendaError, MemoryUnit
from credenda.bootstrap import restore_backup
from credenda.errors import Unavailable

# The SQLite library that the standard module `sqlite3` uses, and the C structures of its file layer.


_SYMBOL: Final = "sqlite3_vfs_register"
Opened = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)
Deleted = CFUNCTYPE(c_int, c_void_p, c_char_p, c_int)
Closed = CFUNCTYPE(c_int, c_void_p)
Written = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
Truncated = CFUNCTYPE(c_int, c_void_p, c_int64)
Synced = CFUNCTYPE(c_int, c_void_p, c_int)


class Vfs(Structure):
    """`sqlite3_vfs`: opens and deletes files. Functions that are only passed on have no type."""

    _fields_: ClassVar = [
        ("version", c_int),
        ("file_bytes", c_int),
        ("path_max", c_int),
        ("next", c_void_p),
        ("name", c_char_p),
        ("data", c_void_p),
        ("open", Opened),
        ("delete", Deleted),
        ("others", c_void_p * 14),
    ]


class IoMethods(Structure):
    """`sqlite3_io_methods`: reads, writes and locks one open file."""

    _fields_: ClassVar = [
        ("version", c_int),
        ("close", Closed),
        ("read", c_void_p),
        ("write", Written),
        ("truncate", Truncated),
        ("sync", Synced),
        ("others", c_void_p * 13),
    ]


def _iterate_candidates() -> Iterator[ctypes.CDLL]:
    """Open the libraries that may hold the SQLite in use: the extension module, its neighbours, the program itself."""
    place = getattr(_sqlite3, "__file__", None)
    if place is not None:
        yield ctypes.CDLL(place)  # also finds what a shared library exports that the module is linked with
        beside = Path(place).with_name("sqlite3.dll")  # Windows
        if beside.is_file():
            yield ctypes.CDLL(str(beside))
    yield ctypes.CDLL(None)


def find_library() -> ctypes.CDLL:
    """Return the SQLite library in use.

    Raises `Unavailable` where it hides its functions, as a Python with a private copy of SQLite may do.
    """
    for library in _iterate_candidates():
        if not hasattr(library, _SYMBOL):
            continue
        version = library.sqlite3_libversion
        version.restype = c_char_p
        if version().decode() == sqlite3.sqlite_version:
            library.sqlite3_vfs_find.restype = POINTER(Vfs)
            library.sqlite3_vfs_find.argtypes = [c_char_p]
            library.sqlite3_vfs_register.argtypes = [POINTER(Vfs), c_int]
            library.sqlite3_vfs_unregister.argtypes = [POINTER(Vfs)]
            return library
    raise Unavailable(
        "writes below SQLite cannot be recorded with this Python",
        why="its SQLite library does not export the functions of its file layer",
        fix="use a Python that is linked with a shared libsqlite3, such as that of a Linux distribution",
    )


_IOERR: Final = 10
_keep_alive: Final[list[object]] = []
"""Functions and structures that SQLite may call until the process ends."""


class DiskObserver(Protocol):
    """Learns of every operation before it happens; an answer other than None is returned to SQLite in its place."""

    def opened(self, path: str) -> None:
        """A file was opened, and perhaps created."""
        ...

    def write(self, path: str, offset: int, data: bytes) -> int | None:
        """Bytes are about to be written."""
        ...

    def truncate(self, path: str, size: int) -> int | None:
        """A file is about to be cut to this size."""
        ...

    def sync(self, path: str) -> int | None:
        """A file is about to be flushed."""
        ...

    def delete(self, path: str) -> int | None:
        """A file is about to be deleted."""
        ...


class _Shim:
    """The functions that SQLite calls."""

    def __init__(self, default: Vfs, observer: DiskObserver) -> None:
        self._default = default
        self._observer = observer
        self._lock = RLock()
        self._files: dict[int, tuple[str, IoMethods]] = {}
        self._tables: dict[int, IoMethods] = {}
        self._calls = (
            Closed(self._close),
            Written(self._write),
            Truncated(self._truncate),
            Synced(self._sync),
        )
        self.vfs = Vfs()
        ctypes.memmove(byref(self.vfs), byref(default), ctypes.sizeof(Vfs))
        self.vfs.name = b"credenda-shim"
        self.vfs.open = Opened(self._open)
        self.vfs.delete = Deleted(self._delete)

    def _open(  # noqa: PLR0917 - the signature of SQLite
        self, vfs: int, name: int | None, file: int, flags: int, flags_out: int | None
    ) -> int:
        result = int(self._default.open(vfs, name, file, flags, flags_out))
        methods = c_void_p.from_address(file)
        if result == 0 and name and methods.value:
            path = ctypes.string_at(name).decode(errors="surrogateescape")
            with self._lock:
                self._files[file] = (path, IoMethods.from_address(methods.value))
            methods.value = ctypes.addressof(self._table(methods.value))
            self._observer.opened(path)
        return result

    def _table(self, address: int) -> IoMethods:
        """Return the copy of a table of methods in which ours replace four."""
        with self._lock:
            table = self._tables.get(address)
            if table is None:
                table = IoMethods()
                ctypes.memmove(byref(table), address, ctypes.sizeof(IoMethods))
                table.close, table.write, table.truncate, table.sync = self._calls
                self._tables[address] = table
                _keep_alive.append(table)
            return table

    def _close(self, file: int) -> int:
        with self._lock:
            _, own = self._files.pop(file)
        c_void_p.from_address(file).value = ctypes.addressof(own)
        return int(own.close(file))

    def _write(self, file: int, data: int, size: int, offset: int) -> int:
        path, own = self._files[file]
        answer = self._observer.write(path, offset, ctypes.string_at(data, size))
        return int(own.write(file, data, size, offset)) if answer is None else answer

    def _truncate(self, file: int, size: int) -> int:
        path, own = self._files[file]
        answer = self._observer.truncate(path, size)
        return int(own.truncate(file, size)) if answer is None else answer

    def _sync(self, file: int, flags: int) -> int:
        path, own = self._files[file]
        answer = self._observer.sync(path)
        return int(own.sync(file, flags)) if answer is None else answer

    def _delete(self, vfs: int, name: bytes, sync_folder: int) -> int:
        answer = self._observer.delete(name.decode(errors="surrogateescape"))
        return int(self._default.delete(vfs, name, sync_folder)) if answer is None else answer


@contextmanager
def install_shim(observer: DiskObserver) -> Generator[None]:
    """Pass the file operations of every connection that opens inside the block by an observer.

    Connections must also be closed inside it. Raises `Unavailable` where this Python's SQLite cannot be reached.
    """
    library: Any = find_library()
    default: Any = library.sqlite3_vfs_find(c_char_p(None))
    shim = _Shim(default.contents, observer)
    _keep_alive.append(shim)
    pointer = POINTER(Vfs)(shim.vfs)
    library.sqlite3_vfs_register(pointer, 1)
    try:
        yield
    finally:
        library.sqlite3_vfs_unregister(pointer)
        library.sqlite3_vfs_register(default, 1)


# A record of all writes below SQLite, and the disk states that a power cut can leave.


Mode = Literal["dropped", "kept", "prefix", "reordered", "torn sectors", "torn pages"]
MODES: Final[tuple[Mode, ...]] = ("dropped", "kept", "prefix", "reordered", "torn sectors", "torn pages")
_SECTOR_BYTES: Final = 512
_PAGE_BYTES: Final = 4_096
_OK: Final = 0


@dataclass(frozen=True, slots=True)
class _Operation:
    """One operation on a file: `at` is an offset or a length."""

    kind: Literal["create", "write", "truncate", "sync", "delete"]
    name: str
    at: int = 0
    data: bytes = b""


@dataclass(slots=True)
class DiskTrace:
    """A `DiskObserver` that records; the program also enters each fact that it was told.

    Real flushes are left out: the model decides what they protect. With `honest` false, flushes are recorded as if
    they had never happened, as on a disk that confirms them and does nothing.
    """

    honest: bool = True
    operations: list[_Operation] = field(default_factory=list[_Operation])
    facts: list[tuple[int, dict[str, object]]] = field(default_factory=list[tuple[int, dict[str, object]]])
    """The number of operations before each fact, and the fact."""
    _known: set[str] = field(default_factory=set[str])

    def tell(self, **fact: object) -> None:
        """Record a fact: a call that begins or was acknowledged."""
        self.facts.append((len(self.operations), fact))

    def opened(self, path: str) -> None:
        """Record a new file."""
        name = Path(path).name
        if name not in self._known:
            self._known.add(name)
            self.operations.append(_Operation("create", name))

    def write(self, path: str, offset: int, data: bytes) -> None:
        """Record a write."""
        self.operations.append(_Operation("write", Path(path).name, offset, data))

    def truncate(self, path: str, size: int) -> None:
        """Record a change of length."""
        self.operations.append(_Operation("truncate", Path(path).name, size))

    def sync(self, path: str) -> int:
        """Record a flush, and spare the machine's disk."""
        if self.honest:
            self.operations.append(_Operation("sync", Path(path).name))
        return _OK

    def delete(self, path: str) -> None:
        """Record a deletion."""
        name = Path(path).name
        self._known.discard(name)
        self.operations.append(_Operation("delete", name))


@dataclass(slots=True)
class _File:
    """A file: its certain bytes, and the operations since its last flush."""

    certain: bytearray = field(default_factory=bytearray)
    pending: list[_Operation] = field(default_factory=list[_Operation])
    named: bool = False
    """Whether its name is certain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskState:
    """The files after a cut at a position of the record."""

    position: int
    mode: Mode
    files: Mapping[str, bytes]


def _apply(content: bytearray, operation: _Operation) -> None:
    if operation.kind == "truncate":
        del content[operation.at :]
        content.extend(bytes(operation.at - len(content)))
        return
    content.extend(bytes(max(0, operation.at - len(content))))
    content[operation.at : operation.at + len(operation.data)] = operation.data


def _split_torn(operation: _Operation, unit: int, draw: random.Random) -> Iterator[_Operation]:
    """Yield the parts of an operation that reached the disk."""
    if operation.kind == "truncate":
        if draw.random() < 0.5:  # noqa: PLR2004 - as likely as not
            yield operation
        return
    start, stop = operation.at, operation.at + len(operation.data)
    while start < stop:
        end = min(stop, (start // unit + 1) * unit)
        if draw.random() < 0.5:  # noqa: PLR2004 - as above
            yield _Operation("write", operation.name, start, operation.data[start - operation.at : end - operation.at])
        start = end


def _choose(pending: Sequence[_Operation], mode: Mode, draw: random.Random) -> list[_Operation]:
    """Choose the unflushed operations that reached the disk, or the parts that did."""
    match mode:
        case "dropped":
            return []
        case "kept":
            return list(pending)
        case "prefix":
            return list(pending[: draw.randint(0, len(pending))])
        case "reordered":
            return [operation for operation in pending if draw.random() < 0.5]  # noqa: PLR2004 - as above
        case "torn sectors":
            return [part for operation in pending for part in _split_torn(operation, _SECTOR_BYTES, draw)]
        case "torn pages":
            return [part for operation in pending for part in _split_torn(operation, _PAGE_BYTES, draw)]


class _Disk:
    """The files as a record is replayed."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}

    def replay(self, operation: _Operation) -> None:
        """Apply one operation."""
        if operation.kind == "delete":
            self._files.pop(operation.name, None)
            return
        file = self._files.setdefault(operation.name, _File())
        if operation.kind == "sync":
            for pending in file.pending:
                _apply(file.certain, pending)
            file.pending.clear()
            for other in self._files.values():
                other.named = True
        elif operation.kind != "create":
            file.pending.append(operation)

    def cut(self, mode: Mode, draw: random.Random) -> dict[str, bytes]:
        """Return the files that a power cut leaves at this point."""
        left: dict[str, bytes] = {}
        for name, file in self._files.items():
            if not file.named and mode != "kept" and draw.random() < 0.5:  # noqa: PLR2004 - as above
                continue
            content = bytearray(file.certain)
            for operation in _choose(file.pending, mode, draw):
                _apply(content, operation)
            left[name] = bytes(content)
        return left


def generate_states(trace: DiskTrace, count: int, draw: random.Random) -> Iterator[DiskState]:
    """Yield up to `count` different states, in order of their cut.

    Half of the cuts are at any operation, half just after a flush or a fact, where a promise begins to count.
    """
    total = len(trace.operations)
    sharp = [position for position, _ in trace.facts]
    sharp += [place + 1 for place, operation in enumerate(trace.operations) if operation.kind in ("sync", "truncate")]
    cuts = sorted(draw.choice(sharp) if number % 2 else draw.randint(0, total) for number in range(count))
    disk, replayed, seen = _Disk(), 0, set[tuple[int, int]]()
    for number, position in enumerate(cuts):
        while replayed < position:
            disk.replay(trace.operations[replayed])
            replayed += 1
        mode = MODES[number % len(MODES)]
        files = disk.cut(mode, draw)
        told = sum(at <= position for at, _ in trace.facts)
        key = (hash(frozenset(files.items())), told)
        if key not in seen:
            seen.add(key)
            yield DiskState(position=position, mode=mode, files=files)


# The bit flipper: one bit of a file is inverted, as a failing disk does, and the memory is asked.


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


# Power cuts: the disk states that a cut can leave at any write are opened and checked.


_SESSIONS: Final = 3
_ACTS: Final = 7
"""Acts of a session; each session opens and closes the database, which also checkpoints and removes its log."""
_STATES_PER_TRACE: Final = 400
_THOROUGH_EVERY: Final = 8
"""Of so many states one is also settled and searched."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """One generated state with everything that repeats its check."""

    trace: DiskTrace
    state: DiskState
    embedder: str
    thorough: bool


def record_trace(seed: int, *, honest: bool = True, embedder: str = "none") -> DiskTrace:
    """Record an application at work on a new database, in a process that ends: nobody holds its leases afterwards."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_record, seed, honest, embedder).result()


def _record(seed: int, honest: bool, embedder: str) -> DiskTrace:  # noqa: FBT001 - called across processes
    """Perform acts on a new database; the same seed performs the same acts."""
    trace = DiskTrace(honest=honest)
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="credenda-power-cut-") as folder, install_shim(trace):
        for session in range(_SESSIONS):
            with Credenda.open(Path(folder) / _NAME, user=_USER, embedder=embedder, workers=False) as memory:
                acts = Acts(memory, TokenSource(f"s{session}"), trace.tell, Path(folder))
                for _ in range(_ACTS):
                    acts.perform("everyone", draw)
    return trace


def _check_cut(cut: _Cut) -> list[str]:
    """Write the state to a folder, open it, and return every broken promise."""
    with tempfile.TemporaryDirectory(prefix="credenda-power-cut-") as folder:
        for name, content in cut.state.files.items():
            (Path(folder) / name).write_bytes(content)
        ledger = Ledger(path=str(Path(folder) / _NAME), user=_USER, embedder=cut.embedder)
        for position, fact in cut.trace.facts:
            if position <= cut.state.position:
                ledger.take(fact)
        try:
            return check(ledger, thorough=cut.thorough)
        except CredendaError as error:
            return [f"it cannot be opened: {error}"]
        except Exception as error:  # noqa: BLE001 - any other error is a violation as well
            return [f"{type(error).__name__}: {error}"]


def run_power_cuts(states: int, *, seed: int, note: Note, honest: bool = True) -> AttackReport:
    """Check so many different states, from as many records as that takes."""
    report = AttackReport("power cuts", seed)
    while report.cases < states:
        number = report.counts["records"]
        embedder = ("none", "hashed")[number % 2]
        trace = record_trace(seed * 1_000 + number, honest=honest, embedder=embedder)
        report.counts["records"] += 1
        report.counts["recorded operations"] += len(trace.operations)
        report.counts["acknowledgements"] += len(trace.facts)
        draw = random.Random(f"{seed} {number}")
        for state in generate_states(trace, min(_STATES_PER_TRACE, states - report.cases), draw):
            thorough = report.cases % _THOROUGH_EVERY == 0
            report.cases += 1
            report.counts[state.mode] += 1
            found = _check_cut(_Cut(trace, state, embedder, thorough))
            report.add(f"record {number}, cut at {state.position}, {state.mode}", found)
        note(f"{report.cases} of {states} states checked, {len(report.violations)} violations")
        if report.violations:
            break
    return report.finish()
