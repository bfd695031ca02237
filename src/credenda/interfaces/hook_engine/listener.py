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
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final, cast

from credenda.client import Credenda
from credenda.errors import CredendaError
from credenda.hook_files.places import Places, create_private, list_waiting
from credenda.interfaces.hook.payload import format_status
from credenda.interfaces.hook.run import ENGINE_THREAD, read_waiting
from credenda.interfaces.hook_engine.filing import file_waiting, find_memory_places
from credenda.lazy import import_on_use
from credenda.model.memory import Status
from credenda.text.fence import estimate_tokens
from credenda.text.recalled_block import PROMPT_TOKENS

if TYPE_CHECKING:
    from credenda.agents import recall
    from credenda.agents.recall import Recalled
else:
    recall = import_on_use("credenda.agents.recall")  # its search loads numpy, which the start of a server does without

# The answer to a hook: of a memory that is open, or of one that is opened for it alone.


_IDS: Final = 2_000


def answer_hook(memory: Credenda, request: Mapping[str, Any]) -> dict[str, object]:
    """Answer one request. Raises `CredendaError` as the verbs do.

    `kind` is core, compact or prompt, lines for memories by their ids, status for the status line, or file.
    """
    kind, project, session = (str(request.get(name, "")) for name in ("kind", "project", "session"))
    match kind:
        case "prompt":
            seen = frozenset(_read_ids(request, "seen"))
            find = partial(recall.find_for_prompt, memory, project=project, session=session)
            found = find(str(request.get("text", "")), seen=seen)
            if late := _find_late(memory, session, request.get("late_us")):
                found = _join(found, find(late, seen=seen | {*found.ids, *found.sources}))
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
    return {"text": found.text, "ids": [*found.ids, *found.sources]}


def _find_late(memory: Credenda, session: str, moment_us: object) -> str:
    """Return the words that the user said in a session at a moment, whether they wait or are filed; "" for none."""
    if not moment_us:
        return ""
    waiting = (read_waiting(path) for path in list_waiting(find_memory_places(memory)))
    for message in waiting:
        if message is not None and (message.session, message.moment_us) == (session, moment_us):
            return message.text
    with suppress(CredendaError):
        said = (event.text for event in memory.inspect.session(session).events if event.occurred_us == moment_us)
        return next(said, "")
    return ""


def _join(found: Recalled, earlier: Recalled) -> Recalled:
    """Return what two prompts recall, as far as the blocks fit together."""
    text = "\n".join(filter(None, [earlier.text, found.text]))
    if estimate_tokens(text) > PROMPT_TOKENS:
        return found
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
_LINE_SECONDS: Final = 1.0
_REQUEST_BYTES: Final = 4_194_304


@contextmanager
def listen_to_hooks(memory: Credenda) -> Generator[None]:
    """Serve the hooks of a memory in a thread while the block runs; a read-only memory only answers."""
    listener = _Listener(memory, find_memory_places(memory))
    thread = Thread(target=listener.run, name="credenda-hooks", daemon=True)
    thread.start()
    try:
        yield
    finally:
        listener.stopped.set()
        thread.join()


class _Listener:
    """The thread's work; the memory stays the caller's."""

    def __init__(self, memory: Credenda, places: Places) -> None:
        self.stopped = Event()
        self._memory = memory
        self._places = places

    def run(self) -> None:
        """Wait for the lock, and serve while it is there."""
        while not self.stopped.is_set():
            with ExitStack() as stack:
                if self._take_lock(stack):
                    self._serve(stack)
                else:
                    self.stopped.wait(_IDLE_SECONDS)

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
        self._file()
        with suppress(CredendaError):  # load what a search needs; until then hooks read the file
            recall.find_core(self._memory)
            recall.find_for_prompt(self._memory, "warm up")
        line = self._open_socket(stack)
        while not self.stopped.is_set() and os.path.exists(self._places.lock):  # an erasure removes it
            if line is None:
                self.stopped.wait(_IDLE_SECONDS)
            else:
                with suppress(TimeoutError, OSError):
                    self._answer(line.accept()[0])
            self._file()

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
            stack.callback(_remove, path)
            line.listen(16)
        except OSError:
            _log.debug("hooks cannot reach this process", exc_info=True)
            return None
        line.settimeout(_IDLE_SECONDS)
        return line

    def _answer(self, line: socket.socket) -> None:
        with line:
            line.settimeout(_LINE_SECONDS)
            request = _read_request(line)
            try:
                answer: Mapping[str, object] = answer_hook(self._memory, request)
            except CredendaError as error:
                answer = {"error": error.code}
            line.sendall(json.dumps(answer).encode() + b"\n")

    def _file(self) -> None:
        """File what waits, and have it read; a failure leaves it for the next look."""
        if self._memory.read_only or not list_waiting(self._places):
            return
        try:
            if file_waiting(self._memory, self._places):
                self._memory.start_worker()
        except (CredendaError, OSError):
            _log.debug("messages of hooks wait", exc_info=True)


def make_private(folder: str) -> None:
    """Make a folder that only this system user may enter; raises OSError for one that somebody else made."""
    create_private(folder)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise PermissionError(f"others can write to {folder}")


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


def _read_request(line: socket.socket) -> Mapping[str, Any]:
    data = b""
    while not data.endswith(b"\n") and len(data) < _REQUEST_BYTES:
        part = line.recv(65_536)
        if not part:
            break
        data += part
    try:
        told: object = json.loads(data)
    except ValueError:
        return {}
    return cast("Mapping[str, Any]", told) if isinstance(told, dict) else {}
