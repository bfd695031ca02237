"""A thread that files what hooks have written, and answers them, while a memory is open.

One process of a database and user does so at a time: whoever holds the lock. When it ends, another takes over.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import stat
import sys
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, Final, cast

from credenda.agents.denial import challenge_denied
from credenda.client import Credenda
from credenda.clock import seconds, to_datetime
from credenda.errors import Conflict, CredendaError, Unavailable
from credenda.hook_files import Places, create_private, find_places, list_waiting
from credenda.interfaces.hook.payload import format_status
from credenda.interfaces.hook.read_file import has_unread
from credenda.interfaces.hook.run import ENGINE_THREAD, Waiting, read_moments, read_waiting, start_engine
from credenda.lazy import import_on_use
from credenda.model.memory import Status
from credenda.text.fence import estimate_tokens
from credenda.text.recalled_block import PROMPT_TOKENS
from credenda.validation import read_table

if TYPE_CHECKING:
    from credenda.agents import recall
    from credenda.agents.recall import Recalled
else:
    recall = import_on_use("credenda.agents.recall")  # its search loads numpy, which the start of a server does without

# The answer to a hook: of a memory that is open, or of one that is opened for it alone.


_IDS: Final = 2_000
_LATE_SHARE: Final = 4
"""The part of a hook's time, one in so many, for the prompts before that got no answer."""


def answer_hook(memory: Credenda, request: Mapping[str, Any]) -> dict[str, object]:
    """Answer one request. Raises `CredendaError` as the verbs do.

    `kind` is core, compact or prompt, lines for memories by their ids, status for the status line, or file.
    """
    left_us: list[int] = []
    kind, project, session = (str(request.get(name, "")) for name in ("kind", "project", "session"))
    match kind:
        case "prompt":
            seen = frozenset(_read_ids(request, "seen"))
            find = partial(recall.find_for_prompt, memory, project=project, session=session)
            found = find(str(request.get("text", "")), seen=seen)
            found, left_us = _add_late(memory, find, found, request)
        case "core" | "compact":
            found = recall.find_core(memory, project=project, session=session, again=kind == "compact")
        case "lines":
            found = recall.find_lines(memory, _read_ids(request, "ids"))
        case "status":
            counts = memory.stats()
            doubtful = counts.memories.get(Status.CHALLENGED, 0)
            found = recall.Recalled(format_status(counts.total + doubtful, counts.open_contests, doubtful))
        case _:
            found = recall.Recalled()
    return {"text": found.text, "ids": [*found.ids, *found.sources], "late_us": left_us}


def _add_late(
    memory: Credenda, find: Callable[..., Recalled], found: Recalled, request: Mapping[str, Any]
) -> tuple[Recalled, list[int]]:
    """Add the recall of earlier prompts that got no answer, and return the moments of those left for the next one.

    They have a part of the time that the hook has: its own prompt must be answered.
    """
    told = request.get("seconds")
    until = seconds() + (float(told) if isinstance(told, int | float) else 0.0) / _LATE_SHARE
    left_us: list[int] = []
    for moment_us, words in _list_late(memory, str(request.get("session", "")), request.get("late_us")):
        seen = {*_read_ids(request, "seen"), *found.ids, *found.sources}
        joined = _join(found, find(words, seen=seen)) if seconds() < until else None
        if joined is None:
            left_us.append(moment_us)
        else:
            found = joined
    return found, left_us


def _list_late(memory: Credenda, session: str, told_us: object) -> list[tuple[int, str]]:
    """Return the words that the user said in a session at some moments, whether they wait or are filed."""
    wanted = set(read_moments(told_us))
    if not wanted:
        return []
    waiting = (read_waiting(path) for path in list_waiting(find_memory_places(memory)))
    told = {one.moment_us: one.text for one in waiting if one and one.session == session and one.moment_us in wanted}
    if len(told) < len(wanted):
        with suppress(CredendaError):
            said = memory.inspect.session(session).events
            told |= {one.occurred_us: one.text for one in said if one.occurred_us in wanted}
    return sorted(told.items())


def _join(found: Recalled, earlier: Recalled) -> Recalled | None:
    """Return what two prompts recall; None if the blocks do not fit together."""
    text = "\n".join(filter(None, [earlier.text, found.text]))
    if estimate_tokens(text) > PROMPT_TOKENS:
        return None
    return recall.Recalled(text, (*found.ids, *earlier.ids), (*found.sources, *earlier.sources))


def _read_ids(request: Mapping[str, Any], name: str) -> list[str]:
    told = request.get(name)
    return [str(one) for one in cast("list[object]", told)[:_IDS]] if isinstance(told, list) else []


def answer_once(database: str, user: str, request: Mapping[str, Any], *, seconds: float) -> Mapping[str, object] | None:
    """Open the memory of a user to read only, and answer one request; None if it takes longer.

    A thread does it, because a name that is looked up and a server that hangs do not end in time. Raises
    `CredendaError` as the verbs do.
    """
    answers, failures = list[Mapping[str, object]](), list[Exception]()

    def answer() -> None:
        try:
            with Credenda.open(database, user=user, workers=False, read_only=True, llm="none") as memory:
                answers.append(answer_hook(memory, request))
        except Exception as error:  # noqa: BLE001 - raised again in the thread of the caller
            failures.append(error)

    thread = Thread(target=answer, name=ENGINE_THREAD, daemon=True)
    thread.start()
    thread.join(seconds)
    if failures:
        raise failures[0]
    return answers[0] if answers else None


if sys.platform != "win32":
    import fcntl


_log: Final = logging.getLogger(__name__)
_IDLE_SECONDS: Final = 0.5
"""Time between two looks for messages, and for a lock that became free."""
_LINE_SECONDS: Final = 3.0
_REQUEST_BYTES: Final = 4_194_304
_STEP_SECONDS: Final = 0.25
"""Time between two looks whether a caller that has said nothing yet is waited for in vain."""
_ANSWERS: Final = 16
"""Hooks that are listened to at a time."""


@contextmanager
def listen_to_hooks(memory: Credenda) -> Generator[Callable[[], bool]]:
    """Serve the hooks of a memory in a thread while the block runs; a read-only memory only answers.

    The block gets a function that tells whether this process serves them, or another one does.
    """
    listener = _Listener(memory, find_memory_places(memory))
    thread = Thread(target=listener.run, name="credenda-hooks", daemon=True)
    thread.start()
    try:
        yield listener.is_serving
    finally:
        listener.stop()
        thread.join()


class _Listener:
    """The thread's work; the memory stays the caller's.

    The thread files what waits. Others answer, so that no question waits for a write, and a write for a question.
    """

    def __init__(self, memory: Credenda, places: Places) -> None:
        self._memory = memory
        self._places = places
        self._stopped = Event()
        self._ready = Event()
        self._look = Event()
        self._answering = Lock()
        self._tried = Event()
        self._serves = False

    def is_serving(self) -> bool:
        """Return whether this process has the lock, once it has tried to take it."""
        self._tried.wait()
        return self._serves

    def stop(self) -> None:
        """Have the thread end soon."""
        self._stopped.set()
        self._look.set()

    def run(self) -> None:
        """Wait for the lock, and serve while it is there."""
        while not self._stopped.is_set():
            with ExitStack() as stack:
                self._serves = self._take_lock(stack)
                self._tried.set()
                if self._serves:
                    self._serve(stack)
                else:
                    self._stopped.wait(_IDLE_SECONDS)

    def _take_lock(self, stack: ExitStack) -> bool:
        """Take the lock of these hooks; on systems without locks every process files, which does no harm."""
        if not os.path.isdir(self._places.folder):
            return False  # no hook has ever run
        try:
            number = os.open(self._places.lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return False
        if sys.platform != "win32":
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(number)
                return False
        stack.callback(os.close, number)
        return True

    def _serve(self, stack: ExitStack) -> None:
        self._listen(stack)
        is_filed = self._file()
        with suppress(
            CredendaError
        ):  # load what a search needs; until then prompts wait, and other hooks read the file
            recall.find_core(self._memory)
            recall.find_for_prompt(self._memory, "warm up")
        self._ready.set()
        while not self._stopped.is_set() and os.path.exists(self._places.lock):  # an erasure removes it
            if is_filed:
                with suppress(CredendaError, OSError):  # what was filed is read at the next look
                    self._memory.start_worker()
            self._look.wait(_IDLE_SECONDS)
            self._look.clear()
            is_filed = self._file()

    def _listen(self, stack: ExitStack) -> None:
        """Answer in threads from now on until the stack is left."""
        line = self._open_socket(stack)
        if line is None:
            return
        ended = Event()
        pool = ThreadPoolExecutor(_ANSWERS, "credenda-answers")
        stack.callback(pool.shutdown, cancel_futures=True)
        thread = Thread(target=self._accept, args=(line, pool, ended), name="credenda-callers", daemon=True)
        thread.start()
        for step in (thread.join, self._ready.set, ended.set):  # in the opposite order
            stack.callback(step)

    def _accept(self, line: socket.socket, pool: ThreadPoolExecutor, ended: Event) -> None:
        while not ended.is_set():
            with suppress(TimeoutError, OSError):
                pool.submit(self._answer, line.accept()[0])

    def _open_socket(self, stack: ExitStack) -> socket.socket | None:
        path = self._places.socket
        if sys.platform == "win32":
            return None
        try:
            if os.path.dirname(path) != self._places.folder:
                make_private(os.path.dirname(path))
            with suppress(FileNotFoundError):
                os.unlink(path)  # of a process that ended without removing it: the lock is ours
            line = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            line.bind(path)
            os.chmod(path, 0o600)
            stack.callback(_remove, path, os.stat(path).st_ino)
            line.listen(16)
        except OSError:
            _log.debug("hooks cannot reach this process", exc_info=True)
            return None
        line.settimeout(_IDLE_SECONDS)
        return line

    def _answer(self, line: socket.socket) -> None:
        with suppress(OSError), line:
            line.sendall(b" ")  # it is heard, and need not load an engine of its own
            request = self._read_request(line)
            told = json.dumps(self._find_answer(line, request))
            line.settimeout(_LINE_SECONDS)
            line.sendall(told.encode() + b"\n")
        self._look.set()

    def _find_answer(self, line: socket.socket, request: Mapping[str, Any]) -> Mapping[str, object] | None:
        """Return the answer to a request; None where its hook reads the file sooner, or has ended."""
        if request.get("kind") == "file":
            return {}
        loading = not self._ready.is_set()
        if loading:
            if not request.get("waits"):
                return None
            self._ready.wait()
        with self._answering:  # one after the other: two at a time are both late
            # Who asked has closed the line when its time was over.
            line.setblocking(False)  # noqa: FBT003 - the standard library's parameter
            try:
                has_ended = not line.recv(1, socket.MSG_PEEK)
            except BlockingIOError:
                has_ended = False
            if has_ended:
                return None
            try:
                told = answer_hook(self._memory, request)
                return {**told, "loading": True} if loading else told
            except Exception as error:  # noqa: BLE001 - a caller is told whatever fails
                _log.debug("a hook got no answer", exc_info=True)
                return {"error": error.code if isinstance(error, CredendaError) else type(error).__name__}

    def _read_request(self, line: socket.socket) -> Mapping[str, Any]:
        """Return what a caller asks; {} for what is no request, or does not come in time."""
        parts: list[bytes] = []
        until, size = seconds() + _LINE_SECONDS, 0
        line.settimeout(_STEP_SECONDS)
        while size < _REQUEST_BYTES and seconds() < until and not self._stopped.is_set():
            with suppress(TimeoutError):
                parts.append(line.recv(65_536))
                size += len(parts[-1])
                if not parts[-1] or parts[-1].endswith(b"\n"):
                    break
        return read_table(b"".join(parts))

    def _file(self) -> bool:
        """File what waits, and return whether there was something; a failure leaves it for the next look.

        Beside a question that is being answered nothing is filed: its answer is followed by a look.
        """
        if self._memory.read_only or self._answering.locked() or not list_waiting(self._places):
            return False
        try:
            return file_waiting(self._memory, self._places) > 0
        except (CredendaError, OSError):
            _log.debug("messages of hooks wait", exc_info=True)
            return False


def make_private(folder: str) -> None:
    """Make a folder that only this system user may enter; raises OSError for one that somebody else made."""
    create_private(folder)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise PermissionError(f"others can write to {folder}")


def _remove(path: str, number: int) -> None:
    """Remove a file that is still the one of this inode: after an erasure another process may have made its own."""
    with suppress(OSError):
        if os.stat(path).st_ino == number:
            os.unlink(path)


# File the messages that hooks have written to disk.


_DAMAGED: Final = ".damaged"


def find_memory_places(memory: Credenda) -> Places:
    """Return the places of the hooks of an open memory."""
    return find_places(memory.location, memory.user)


def file_waiting(memory: Credenda, places: Places) -> int:
    """File every message that waits, oldest first, and return how many were filed.

    A message is removed when it is on disk in the database; its key keeps a second filing from doing anything. What the
    memory refuses is removed, because it would be refused again. Raises `Unavailable` if the database cannot be
    written; then the rest stays.
    """
    filed = 0
    for path in list_waiting(places):
        message = read_waiting(path)
        if message is None:
            if os.path.exists(path):
                os.replace(path, path + _DAMAGED)
            continue
        try:
            _file(memory, message)
            filed += 1
        except Conflict:
            _log.debug("a message was filed before")
        except Unavailable:
            raise
        except CredendaError as error:
            _log.warning("a message of a hook was refused: %s", error.code)
        with suppress(FileNotFoundError):
            os.unlink(path)
    return filed


def leave_work(memory: Credenda) -> None:
    """Have another process do what this one leaves, which a host ends at once: file what waits, and read the rest.

    It does nothing where no hook has run, and for a database on a server, whose address this process does not tell.
    """
    path, user, places = memory.location, memory.user, find_memory_places(memory)
    if memory.read_only or not os.path.isdir(places.folder) or not os.path.exists(path):
        return
    start_engine(places, path, user, has_unread=lambda: has_unread(path, user))


def _file(memory: Credenda, message: Waiting) -> None:
    memory.remember(
        [{"role": message.role, "content": message.text}],
        session=message.session,
        agent=message.agent,
        source=message.source,
        occurred_at=to_datetime(message.moment_us),
        metadata={"project": message.project} if message.project else None,
        idempotency_key=f"hook-{message.key}",
    )
    if message.role == "user" and message.shown:
        challenge_denied(memory, message.text, message.shown)
