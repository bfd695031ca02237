"""One call of a hook, from standard input to standard output.

The words are written to disk first. Recall then has the rest of the time; a process that holds the memory open answers
it, or else the database file is read for what a session begins with, and the memory opened to recall.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from credenda.errors import NotFound
from credenda.hook_files import (
    Places,
    add_line,
    find_late_mark,
    find_mark,
    find_places,
    hash_bytes,
    is_recent,
    is_server,
    list_waiting,
    load_table,
    set_mark,
    write_durably,
)
from credenda.interfaces.hook.payload import HOSTS, WARNED, Moment, format_answer, format_warning, parse_moment
from credenda.lazy import import_on_use
from credenda.private import is_off_record
from credenda.projects import find_project
from credenda.text.recalled_block import CORE_TOKENS, PROMPT_TOKENS, build_block, extract_spoken

if TYPE_CHECKING:
    from io import BufferedReader

    from credenda.interfaces.hook import copilot_events, read_file
    from credenda.interfaces.hook_engine import listener as engine
else:
    copilot_events = import_on_use("credenda.interfaces.hook.copilot_events")
    engine = import_on_use("credenda.interfaces.hook_engine.listener")
    read_file = import_on_use("credenda.interfaces.hook.read_file")


# Ask a process that holds the memory open, over a local socket that only its user can reach.


_ANSWER_BYTES: Final = 262_144


def ask_engine(
    places: Places, request: Mapping[str, object], *, seconds: float, heard_seconds: float | None = None
) -> dict[str, Any] | None:
    """Send a request and return the answer; None if no engine answers within `seconds`, or it leaves it to the file.

    An engine that runs sends a space at once, before its answer, and has `heard_seconds` then: on a busy machine it is
    slow, and another one that were loaded beside it would be slower. Both count from now.
    """
    if sys.platform == "win32" or not _is_own(places.socket):
        return None
    import socket

    begun = monotonic()
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(seconds)
            line.connect(places.socket)
            line.sendall(json.dumps(request).encode() + b"\n")
            data = b""
            while not data.endswith(b"\n") and len(data) < _ANSWER_BYTES:
                part = line.recv(65_536)
                if not part:
                    break
                data += part
                line.settimeout(max(begun + (heard_seconds or seconds) - monotonic(), 0.001))
            told: object = json.loads(data)
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) else None  # pyright: ignore[reportUnknownVariableType]


def _is_own(path: str) -> bool:
    """Return whether a socket exists and belongs to this user, to whom alone words are sent."""
    try:
        return os.lstat(path).st_uid == os.getuid()
    except OSError:
        return False


# The memories that a session of an agent was shown: ids alone, never words, so that no memory comes twice.


_SEEN_MAX: Final = 1_000
_LATE_MAX: Final = 8
"""Prompts without an answer that are remembered."""
_KEPT_SECONDS: Final = 30 * 86_400


class Session(NamedTuple):
    """`seen` are the memories that the session was shown, `last` those with the last prompt.

    `pending` wait for the next tool call, for a host that takes no text with a prompt. `begun` tells whether the core
    was given, and `due` names the block that was not ready when the session began: it comes with the first prompt.
    `at_us` is when its user last spoke, in microseconds, and `late_us` when the user sent the last prompts that no
    engine answered in time: what they recall comes with the next one. `silent` tells that the user asked that their
    last words are not kept, so that no answer to them is. `transcript` is the file of a host that sends no answers,
    while the last one is not read from it, and `heard` the identity of the last one that was.
    """

    seen: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    begun: bool = False
    at_us: int = 0
    silent: bool = False
    late_us: tuple[int, ...] = ()
    transcript: str = ""
    heard: str = ""
    due: str = ""

    def add(self, ids: Sequence[str]) -> Session:
        """Return the session after it was shown more memories."""
        return self._replace(seen=tuple(dict.fromkeys((*self.seen, *ids)))[-_SEEN_MAX:])

    def note_late(self) -> Session:
        """Return the session whose last prompt is not answered."""
        return self._replace(late_us=(*self.late_us, self.at_us)[-_LATE_MAX:])


def load_session(places: Places, session: str) -> Session:
    """Return what a session was shown; nothing for a new one."""
    new = Session()
    held: dict[str, Any] = {}
    for name, value in load_table(os.path.join(places.sessions, _name(session))).items():
        kept = tuple(cast("list[object]", value)) if isinstance(value, list) else value
        if type(kept) is type(getattr(new, name, None)):  # another version may have written it
            held[name] = kept
    return new._replace(**held)


def read_moments(told: object) -> tuple[int, ...]:
    """Return the microseconds in a list that was read from a file or a socket; nothing for anything else."""
    return tuple(one for one in cast("list[object]", told) if isinstance(one, int)) if isinstance(told, list) else ()


def save_session(places: Places, session: str, state: Session) -> None:
    """Keep what a session was shown. Raises OSError."""
    write_durably(places.sessions, _name(session), json.dumps(state._asdict()).encode(), flush=False)


def remove_old_sessions(places: Places) -> None:
    """Remove the state of sessions that nothing was shown to for a month."""
    before = time.time() - _KEPT_SECONDS
    with suppress(OSError):
        for entry in os.scandir(places.sessions):
            if entry.stat().st_mtime < before:
                os.unlink(entry.path)


def _name(session: str) -> str:
    return hash_bytes(session.encode("utf-8", "replace"))[:24] + ".json"


# Start a process that files the waiting messages, reads what is not read yet and ends.


_BETWEEN_SECONDS = 20.0
"""Least time between two starts, unless the first process has begun to look; a busy machine takes ten seconds."""


def start_engine(places: Places, database: str, user: str, *, has_unread: Callable[[], bool] = lambda: False) -> bool:
    """Start `credenda worker --once` in the background if messages wait, or are filed and not read, and none starts.

    The process inherits neither standard streams nor the agent's session, so that the agent waits for nothing.
    """
    if os.name == "nt" or not sys.executable or not (list_waiting(places) or has_unread()) or not _take_turn(places):
        return False
    arguments = [sys.executable, "-P", "-m", "credenda", "--db", database, "--user", user]
    arguments += ["worker", "--once", "--for-hooks"]
    null = os.open(os.devnull, os.O_RDWR)
    try:
        streams = [(os.POSIX_SPAWN_DUP2, null, number) for number in range(3)]
        environment = dict(os.environ)
        os.posix_spawn(sys.executable, arguments, environment, file_actions=streams, setsid=True)
    except (OSError, NotImplementedError):
        return False
    finally:
        os.close(null)
    return True


def begin_to_look(places: Places) -> None:
    """Tell in the process that was started that what comes from now on needs another one: it may not see that."""
    with suppress(OSError):
        os.unlink(_find_mark(places))


def _take_turn(places: Places) -> bool:
    mark = _find_mark(places)
    if is_recent(mark, _BETWEEN_SECONDS):  # a clock that was put back must not stop them
        return False
    set_mark(mark)
    return True


def _find_mark(places: Places) -> str:
    return os.path.join(places.folder, "started")


# Messages that hooks journal: each a small file on disk, until a process that holds the memory open files it.


SPOKEN: Final[Mapping[str, tuple[str, str]]] = {
    "prompt": ("user", "human"),
    "reply": ("assistant", "ai"),
    "subagent_reply": ("assistant", "interaction"),
    "summary": ("assistant", "dream"),
}
"""Role and source of the words of each kind of moment; a summary is derived, and trusted less than what it sums up."""
_CHARACTERS: Final = 200_000
"""Longest message; the rest of a pasted file is left out."""
_COMMAND: Final = ("/", "!", "#")
"""First characters of a prompt that is a command of the agent."""
_CONTINUED: Final = "This session is being continued from a previous conversation"


class Waiting(NamedTuple):
    """A message that waits. `shown` are the memories that the agent got before the message was written."""

    path: str
    text: str
    role: str
    source: str
    session: str
    project: str
    agent: str
    key: str
    moment_us: int
    shown: tuple[str, ...] = ()


def find_words(moment: Moment) -> str:
    """Return the words of a moment that are to be kept; "" for none, and for a command of the agent."""
    if moment.kind not in SPOKEN or not moment.text:
        return ""
    if moment.kind == "subagent_reply" and not moment.agent:
        return ""  # the host's own helper, such as the one whose summary a compaction reports once more
    text = extract_spoken(moment.text[:_CHARACTERS])
    if moment.kind == "prompt":
        bare = text.startswith(_COMMAND) and "\n" not in text and len(text.split()) == 1
        text = "" if bare or text.startswith(_CONTINUED) else text
    return text


def add_message(
    places: Places, moment: Moment, project: str, shown: Sequence[str], *, after_us: int = 0
) -> tuple[str, int]:
    """Write the words of a moment to disk and return them with their microsecond; ("", 0) for nothing to keep.

    The message is dated after `after_us`, when its session began or last spoke, and after those that wait, so that a
    clock that is put back leaves messages in their order. Raises OSError.
    """
    text = find_words(moment)
    if not text:
        return "", 0
    role, source = SPOKEN[moment.kind]
    # The newest message that waits; 0 without one.
    names = list_waiting(places)
    number = os.path.basename(names[-1]).partition("-")[0] if names else ""
    moment_us = max(time.time_ns() // 1_000, after_us + 1, (int(number) if number.isdigit() else 0) + 1)
    turn = moment.turn or str(moment_us)  # without a name of the turn, words that are said again count again
    told = json.dumps([moment.host, moment.session, moment.kind, turn, moment.agent, text])
    key = hash_bytes(told.encode("utf-8", "replace"))[:32]
    body = {
        "text": text,
        "role": role,
        "source": source,
        "session": moment.session,
        "project": project,
        "agent": f"{moment.host}/{moment.agent}" if moment.kind == "subagent_reply" else moment.host,
        "key": key,
        "moment_us": moment_us,
        "shown": list(shown),
    }
    write_durably(places.waiting, f"{moment_us:017d}-{key[:8]}.json", json.dumps(body).encode())
    return text, moment_us


def read_waiting(path: str) -> Waiting | None:
    """Read a message that waits; None for a file that is gone or cannot be read."""
    told = load_table(path)
    words = {name: told.get(name) for name in ("text", "role", "source", "session", "project", "agent", "key")}
    moment_us, shown = told.get("moment_us"), told.get("shown")
    if not all(isinstance(one, str) for one in words.values()) or not isinstance(moment_us, int):
        return None
    if not 0 <= moment_us < _LAST_US:
        return None
    ids = tuple(str(one) for one in shown) if isinstance(shown, list) else ()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return Waiting(path=path, moment_us=moment_us, shown=ids, **{name: str(value) for name, value in words.items()})


Ask = Callable[..., Mapping[str, Any] | None]
SECONDS: Final = 0.3
"""Time of a call, after which it says nothing."""
ENGINE_SECONDS: Final = 5.0
"""The same where no process holds the memory open, and the engine is loaded for the call."""
ENGINE_THREAD: Final = "credenda-hook-engine"
"""Name of the thread that loads it."""
_FILE_SECONDS: Final = 0.12
"""Time that is left to read the file if the engine does not answer."""
_ENGINE_SHARE: Final = 4
"""The part of the time, one in so many, in which a running engine must be heard of before one is loaded."""
_ANSWER_SECONDS: Final = 0.05
"""Time that is left to write the answer of an engine that was loaded."""
_PAUSE_SECONDS: Final = 60.0
"""Time for which a server is left alone that did not answer."""
_BETWEEN_WARNINGS_SECONDS: Final = 3_600.0
_ANSWERS: Final = frozenset({"reply", "subagent_reply"})
"""Kinds of moments that would repeat what the user asked not to keep."""
_BETWEEN_TURNS: Final = frozenset({"prompt", "end"})
"""Kinds of moments at which the last answer in a file is that of a turn that has ended."""
_INPUT_BYTES: Final = 8_388_608
_LAST_US: Final = 253_402_300_800_000_000  # the year 10,000
_PART_BYTES: Final = 1_048_576
_OPENING: Final = frozenset({"startup", "clear", "compact", "new", ""})
"""Sources of a session that begins without our earlier block in its transcript; a resumed one has it."""
_CORE_WITH_PROMPT: Final = frozenset({"cursor", "opencode"})
"""Hosts that drop what their session start is told, or have none: the core comes with the first prompt."""
_ANSWER_IN_FILE: Final = "copilot"
"""The host that sends no answers, but keeps them in a file that it names."""
_FILE_WAIT_SECONDS: Final = 0.2
"""Time in which it writes an answer to that file."""
_WITH_TOOL: Final = frozenset({"vscode"})
"""Hosts that take no text with a prompt: it comes with the first tool call after it."""
_USAGE: Final = "usage: credenda hook EVENT --host HOST [--db PATH] [--user NAME] [--only FOLDER]... [--no-background]"


class Options(NamedTuple):
    """The arguments. `only` are the folders in which hooks work; everywhere if there are none.

    `caller` is the host that calls the hooks of `host`, "" for that one itself.
    """

    event: str = ""
    host: str = "claude-code"
    database: str = ""
    user: str = ""
    only: tuple[str, ...] = ()
    background: bool = True
    caller: str = ""


class _LateError(Exception):
    """The time of the hook is over."""


class _HomelessError(Exception):
    """The user has no home folder, in which a database would be looked for."""


def parse_options(arguments: Sequence[str]) -> Options:
    """Read the arguments of `credenda hook`; unknown ones are ignored, because a hook must not fail its agent."""
    found: dict[str, list[str]] = {}
    words = list(arguments)
    plain: list[str] = []
    while words:
        word = words.pop(0)
        name, sign, value = word.partition("=")
        if name == "--no-background":
            found[name] = [""]
        elif name.startswith("--"):
            found.setdefault(name, []).append(value if sign else words.pop(0) if words else "")
        else:
            plain.append(word)
    return Options(
        event=plain[0] if plain else "",
        host=found.get("--host", ["claude-code"])[-1],
        database=found.get("--db", [""])[-1],
        user=found.get("--user", [""])[-1],
        only=tuple(found.get("--only", ())),
        background="--no-background" not in found,
    )


def run_command(arguments: Sequence[str]) -> int:
    """Run a hook of an agent; the exit code is always 0, so that the agent goes on whatever happens."""
    if any(word in {"-h", "--help"} for word in arguments):
        sys.stdout.write(f"{_USAGE}\n\n{__doc__}")
        return 0
    return run_options(parse_options(arguments))


def run_options(options: Options) -> int:
    """Run a hook of an agent by its options, as `run_command` does."""
    with suppress(Exception):
        answer = run_hook(_complete(options), _read_input())
        sys.stdout.write(answer)
        sys.stdout.flush()
    threading = sys.modules.get("threading")
    if threading is not None and any(one.name == ENGINE_THREAD for one in threading.enumerate()):
        os._exit(0)  # it waits for a server, or is still loading
    return 0


def _read_input() -> bytes:
    """Return what the host sends, as far as each part of it comes in time: a busy one writes a long paste slowly."""
    source = cast("BufferedReader", sys.stdin.buffer)
    parts: list[bytes] = []
    until, size = monotonic() + ENGINE_SECONDS, 0
    with suppress(_LateError):
        while size < _INPUT_BYTES and (left := until - monotonic()) > 0:
            with _TimeLimit(min(SECONDS, left)):
                parts.append(source.read1(_PART_BYTES))
            size += len(parts[-1])
            if not parts[-1]:
                break
    return b"".join(parts)


def _complete(options: Options) -> Options:
    """Fill in the database and the user that are not given, from the user's own environment.

    Raises `_HomelessError` if no database is named and the user has no folder.
    """
    environment = os.environ
    base = environment.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    found = options.database or environment.get("CREDENDA_DB")
    if not (found or os.path.isabs(base)):
        raise _HomelessError
    database = (found or os.path.join(base, "credenda", "memory.db")).removeprefix("sqlite:///")
    is_copilot = options.host == "vscode" and environment.get("COPILOT_CLI")  # which reads the hooks of VS Code
    return options._replace(
        database=database,
        user=options.user or environment.get("CREDENDA_USER") or "default",
        caller="copilot" if is_copilot else "",
    )


class _TimeLimit:
    """Raises `_LateError` in its block when its time is over, where the system has timers."""

    def __init__(self, seconds: float) -> None:
        self._seconds = max(seconds, 0.001)

    def __enter__(self) -> None:
        if _may_set_timer():
            signal.signal(signal.SIGALRM, _end)
            signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(self, *_: object) -> None:
        _stop_timer()


def _may_set_timer() -> bool:
    """Return whether the system has timers and this is the main thread, which alone may set them."""
    threading = sys.modules.get("threading")
    return hasattr(signal, "setitimer") and (threading is None or threading.current_thread() is threading.main_thread())


def _stop_timer() -> None:
    if _may_set_timer():
        signal.setitimer(signal.ITIMER_REAL, 0)


def _end(_number: int, _frame: object) -> None:
    raise _LateError


def run_hook(options: Options, data: bytes, *, seconds: float | None = None, ask: Ask = ask_engine) -> str:
    """Handle one event and return what the host reads; "" for nothing. Never raises for bad input or a bad store.

    `seconds` replaces the time of a call, and `ask` reaches a running engine.
    """
    begun = monotonic()
    line: dict[str, object] = {"event": options.event[:40], "host": options.host[:40], "done": "nothing"}
    places = find_places(options.database, options.user)
    answer = ""
    try:
        moment = parse_moment(options.caller or options.host, options.event, data)
        if options.host in HOSTS and moment.kind and _may_work(options, moment.folder):
            if moment.kind != "status":  # the user's own setting, which tells nothing of the plugin's hooks
                with suppress(OSError):
                    set_mark(find_mark(places, options.host))
            loads = moment.kind == "prompt" or is_server(options.database)
            limit = (ENGINE_SECONDS if loads else SECONDS) if seconds is None else seconds
            answer = _Call(options, moment, deadline=begun + limit, line=line, ask=ask).run()
    except (ValueError, RecursionError):
        line["error"] = "input"
    except _LateError:
        line["error"] = "time"
    except Exception as error:  # noqa: BLE001 - a hook never fails its agent; a locked or damaged file is one reason
        line["error"] = type(error).__name__
        answer = _warn(options, places)
    line["ms"] = round((monotonic() - begun) * 1_000)
    if line["done"] != "nothing" or "error" in line:
        with suppress(OSError):
            add_line(places, line)
    return answer


def _warn(options: Options, places: Places) -> str:
    """Return a line for the user where the memory cannot be reached, once an hour; "" where that cannot be noted."""
    mark = os.path.join(places.folder, "warned")
    if options.host not in WARNED or is_recent(mark, _BETWEEN_WARNINGS_SECONDS):
        return ""
    try:
        set_mark(mark)
    except OSError:
        return ""
    return format_warning("Credenda: the memory cannot be reached, so nothing is recalled; see `credenda doctor`.")


def _may_work(options: Options, folder: str) -> bool:
    """Return whether hooks work in a folder: everywhere, or below the folders that the user named at installation."""
    if not options.only:
        return True
    here = os.path.realpath(folder) if folder else ""
    return any(here and os.path.commonpath([here, root]) == root for root in map(os.path.realpath, options.only))


class _Call:
    """One event of an agent."""

    def __init__(self, options: Options, moment: Moment, *, deadline: float, line: dict[str, object], ask: Ask) -> None:
        self._ask = ask
        self._options = options
        self._is_served = is_server(options.database)
        self._places = find_places(options.database, options.user)
        self._moment = moment
        self._deadline = deadline
        self._line = line
        self._project = find_project(moment.folder)
        self._is_answered = False
        self._late_us: tuple[int, ...] = ()  # the earlier prompts that the engine leaves for the next one

    def run(self) -> str:
        """Journal the words and return the answer; words that are on disk stay there if the rest fails."""
        moment = self._moment
        state = load_session(self._places, moment.session)
        if moment.host == _ANSWER_IN_FILE:
            moment, state = self._hear(moment, state)
        if moment.kind == "prompt" and is_off_record(moment.text) != state.silent:
            state = state._replace(silent=not state.silent)
            save_session(self._places, moment.session, state)
        if state.silent and moment.kind in _ANSWERS:
            return self._recall(moment, state, "")
        words, at_us = add_message(self._places, moment, self._project, state.last, after_us=state.at_us)
        if words:
            self._line["done"] = "journaled"
            state = state._replace(at_us=at_us)
        with _TimeLimit(self._deadline - monotonic()):
            return self._recall(moment, state, words)

    def _hear(self, moment: Moment, state: Session) -> tuple[Moment, Session]:
        """Return the moment with the answer that its host wrote to a file, and the session after it.

        An answer that was not there when its turn ended is kept at the next moment of the session, before its words.
        """
        is_reply = moment.kind == "reply" and not moment.text
        path = moment.transcript if is_reply else state.transcript if moment.kind in _BETWEEN_TURNS else ""
        if not path:
            return moment, state
        before = state
        found = copilot_events.await_answer(path, state.heard, seconds=_FILE_WAIT_SECONDS if is_reply else 0)
        state = state._replace(transcript="" if found.text else path, heard=found.identity or state.heard)
        answer = moment._replace(kind="reply", turn=found.identity, text=found.text)
        if not is_reply and found.text and not before.silent:
            _, at_us = add_message(self._places, answer, self._project, state.last, after_us=state.at_us)
            state = state._replace(at_us=max(state.at_us, at_us))
        if state != before:
            save_session(self._places, moment.session, state)
        return (answer if is_reply else moment), state

    def _recall(self, moment: Moment, state: Session, words: str) -> str:
        match moment.kind:
            case "start":
                return self._start(moment, state)
            case "prompt":
                return self._answer_prompt(state, words)
            case "tool":
                return self._give_pending(state)
            case "subagent_start":
                return self._give(state, "core", save=False)
            case "status":
                return self._tell_status()
            case _:
                self._wake()
                return ""

    def _start(self, moment: Moment, state: Session) -> str:
        remove_old_sessions(self._places)
        self._start_engine()
        if moment.source not in _OPENING:
            save_session(self._places, moment.session, state._replace(begun=True))
            return ""
        if moment.host in _CORE_WITH_PROMPT:
            self._wake()
            return ""
        kind = "compact" if moment.source == "compact" else "core"
        fresh = Session(at_us=state.at_us, due=kind)
        save_session(self._places, moment.session, fresh)  # this call may end before there is an answer
        return self._give(fresh, kind)

    def _answer_prompt(self, state: Session, words: str) -> str:
        parts: list[str] = []
        if words:  # before the engine is asked: this call may end before there is an answer
            save_session(self._places, self._moment.session, state.note_late())
        kind = state.due or ("core" if self._moment.host in _CORE_WITH_PROMPT and not state.begun else "")
        if kind and self._moment.host not in _WITH_TOOL:
            core, ids = self._find(kind, state, "")
            parts.append(core)
            if self._is_answered:
                state = state.add(ids)._replace(begun=True, due="")
        recalled, found = self._find_in_time(state, words) if words else ("", [])
        _stop_timer()  # there is an answer: it must not be lost for the moment that it takes to write it
        if words:
            state = state._replace(late_us=self._late_us) if self._is_answered else state.note_late()
        if self._moment.host in _WITH_TOOL:
            state = state._replace(last=(), pending=tuple(found))
        else:
            parts.append(recalled)
            state = state.add(found)._replace(last=tuple(found))
        save_session(self._places, self._moment.session, state)
        return format_answer(self._moment, "\n".join(filter(None, parts)))

    def _give_pending(self, state: Session) -> str:
        if not state.pending:
            return ""
        if self._is_served:
            text, ids = _read_answer(self._ask_engine({"kind": "lines", "ids": list(state.pending)}) or {})
        else:
            lines = read_file.read_lines(self._options.database, self._options.user, state.pending, self._deadline)
            text, ids = build_block(lines, PROMPT_TOKENS)
        save_session(
            self._places, self._moment.session, state.add(ids)._replace(pending=(), last=tuple(ids), begun=True)
        )
        self._note(ids)
        return format_answer(self._moment, text)

    def _give(self, state: Session, kind: str, *, save: bool = True) -> str:
        text, ids = self._find(kind, state, "")
        _stop_timer()
        if save and self._is_answered:
            save_session(self._places, self._moment.session, state.add(ids)._replace(begun=True, due=""))
        return format_answer(self._moment, text)

    def _find_in_time(self, state: Session, words: str) -> tuple[str, list[str]]:
        """Return what a prompt recalls; nothing where that is late, so that the core comes without it.

        A process that is started then stays to answer the next prompt.
        """
        self._is_answered = False
        try:
            return self._find("prompt", state, words)
        except _LateError:
            self._is_answered = False
            self._line["error"] = "time"
            with suppress(OSError):
                set_mark(find_late_mark(self._places))
            return "", []

    def _find(self, kind: str, state: Session, words: str) -> tuple[str, list[str]]:
        """Return the block for the agent and the ids that it shows."""
        request = {
            "kind": kind,
            "project": self._project,
            "session": self._moment.session,
            "text": words,
            "seen": list(state.seen),
            "late_us": list(state.late_us),
            "seconds": self._deadline - monotonic(),
        }
        told = self._ask_engine(request, loads=kind == "prompt")
        if told is not None:
            self._is_answered, self._late_us = "text" in told, read_moments(told.get("late_us"))
            text, ids = _read_answer(told)
        else:
            self._start_engine()
            self._is_answered = True
            text, ids = self._read_core(kind)
            self._line["by"] = "file"
        self._note(ids)
        return text, ids

    def _ask_engine(self, request: Mapping[str, object], *, loads: bool = False) -> Mapping[str, Any] | None:
        """Ask a running engine, or else one that is loaded for the call; None for a file that no engine holds open.

        One is loaded where `loads`, and for a database on a server, whose file cannot be read.
        """
        loads = loads or self._is_served
        left = self._deadline - monotonic()
        seconds = left / _ENGINE_SHARE if loads else left - _FILE_SECONDS
        heard_seconds = left if loads else None
        asked = {**request, "waits": loads}
        told = self._ask(self._places, asked, seconds=max(seconds, 0.01), heard_seconds=heard_seconds)
        if told is not None:
            self._line["by"] = "engine"
            if told.get("loading"):
                self._line["started"] = True  # it waited for the engine to start
        elif loads:
            told = self._load_engine(request)
        return told

    def _load_engine(self, request: Mapping[str, object]) -> Mapping[str, Any]:
        """Open the memory for this call; {} where there is none, or its server failed less than a minute ago."""
        mark = os.path.join(self._places.folder, "away")
        is_away = is_recent(mark, _PAUSE_SECONDS) if self._is_served else not os.path.exists(self._options.database)
        if is_away:
            self._start_engine()
            return {}
        self._line["by"] = "server" if self._is_served else "memory"
        told: Mapping[str, Any] | None = None
        try:
            ask = engine.answer_once  # loads the engine
            seconds = max(self._deadline - _ANSWER_SECONDS - monotonic(), 0)
            told = ask(self._options.database, self._options.user, request, seconds=seconds)
        except NotFound:  # another process is about to make the database
            told = {}
        finally:
            self._start_engine()
            if told is None and self._is_served:
                set_mark(mark)
        if told is None:
            raise _LateError
        return told

    def _tell_status(self) -> str:
        """Return a line for the host's status line, which is plain text."""
        if self._is_served:
            return _read_answer(self._ask_engine({"kind": "status"}) or {})[0]
        if not os.path.exists(self._options.database):
            return "0 held"
        return read_file.read_status(self._options.database, self._options.user, self._deadline)

    def _read_core(self, kind: str) -> tuple[str, list[str]]:
        options = self._options
        if not os.path.exists(options.database):
            return "", []
        session = self._moment.session if kind == "compact" else ""
        lines = read_file.read_core(options.database, options.user, self._project, self._deadline, session=session)
        return build_block(lines, CORE_TOKENS)

    def _wake(self) -> None:
        """Have the messages filed: by a running engine, or by one that is started for it.

        At the end of a session the running engine is probably a server that ends with it, in the middle of its work.
        The words are on disk and nobody waits for an answer: a machine too busy for this leaves it to the next call.
        """
        with suppress(_LateError):
            left = self._deadline - monotonic()
            told = self._ask(self._places, {"kind": "file"}, seconds=max(left / 2, 0.01))
            if told is None or self._moment.kind == "end":
                self._start_engine()

    def _start_engine(self) -> None:
        """Start a process for the messages that wait, and where a session begins or ends for those that are unread."""
        options = self._options
        if options.background and start_engine(
            self._places, options.database, options.user, has_unread=self._has_unread
        ):
            self._line["started"] = True

    def _has_unread(self) -> bool:
        kind = self._moment.kind
        if self._is_served:
            return kind == "end"  # asking the server would take longer than a hook has
        return kind in {"start", "end"} and read_file.has_unread(self._options.database, self._options.user)

    def _note(self, ids: Sequence[str]) -> None:
        if ids:
            self._line["done"] = "recalled" if self._line["done"] == "nothing" else "journaled, recalled"
            self._line["memories"] = len(ids)


def _read_answer(told: Mapping[str, Any]) -> tuple[str, list[str]]:
    text, ids = told.get("text"), told.get("ids")
    if not isinstance(text, str) or not isinstance(ids, list):
        return "", []
    return text, [str(one) for one in ids]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
