"""A model behind a program of this machine: the question on standard input, the answer on standard output.

It serves people who have a subscription and a command line program but no key, such as `command:claude -p`. One
question starts the program once, without a shell; this module does not retry or log.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import IO, Final, cast

from credenda import limits
from credenda.config import build_program_environment
from credenda.errors import Invalid, Unavailable
from credenda.providers.llm.client import estimate_question_tokens, estimate_text_tokens
from credenda.providers.llm.protocol import ModelFailure, Question, Reply, Trouble

_PLATFORM: Final[str] = sys.platform
_OUTPUT_BYTES_MAX: Final = 4 * limits.LLM_ANSWER_CHARACTERS
_PIECE_BYTES: Final = 1 << 16
_END_SECONDS: Final = 5.0


class Command:
    """A model that a program asks. May be used from several threads; each question is a process of its own."""

    def __init__(self, line: str, *, timeout_seconds: float = 30.0, at_once: int = 4) -> None:
        """Take a command line as a shell would split it; raises `Invalid`, and `Unavailable` without such a program."""
        fix = 'give llm like "command:PROGRAM ARGUMENT …"'
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise Invalid("the command of llm cannot be read", why=str(error), fix=fix) from None
        if not words:
            raise Invalid("llm names no program", why="nothing follows command:", fix=fix)
        program = shutil.which(words[0])
        if program is None:
            why = "no such file, or you may not run it"
            raise Unavailable(f"there is no program {words[0][:64]!r}", why=why, fix="give its path, or install it")
        self._words = (program, *words[1:])
        self._timeout_seconds = timeout_seconds
        self._at_once = at_once
        self._lock = Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._closed = False

    @property
    def model_id(self) -> str:
        """Return "command:" and the name of the program; its arguments may hold secrets, so they are left out."""
        return f"command:{Path(self._words[0]).stem}"

    @property
    def at_once(self) -> int:
        """How many processes may run at a time."""
        return self._at_once

    def ask(self, question: Question) -> Reply:
        """Run the program once; raises `ModelFailure`, whose reason contains no text of the question or the answer.

        The tokens of the reply are estimated from the texts, so that the budget of a day holds for programs as well.
        """
        process = self._start()
        conversation = _Conversation(process, write_prompt(question).encode())
        try:
            ended = conversation.wait(self._timeout_seconds)
        finally:
            # End the program and the programs that it started, wait for it, and close its pipes.
            _kill_process(process)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_END_SECONDS)
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
            with self._lock:
                self._running.discard(process)
        output = conversation.read()
        used = {"tokens_in": estimate_question_tokens(question), "tokens_out": estimate_text_tokens(output)}
        if self._closed:
            raise ModelFailure(Trouble.AWAY, "the memory was closed meanwhile", **used)
        if conversation.is_too_long:
            raise ModelFailure(Trouble.UNREADABLE, "its answer is longer than any claims need", **used)
        if not ended:
            why = f"no answer within {self._timeout_seconds:g} s; raise llm_timeout_seconds if it needs more"
            raise ModelFailure(Trouble.AWAY, why, **used)
        if process.returncode:
            status = f"the program ended with status {process.returncode}"
            raise ModelFailure(Trouble.BUSY, f"{status}; run it by hand, with a prompt as input, to see why", **used)
        found = find_object(output)
        if found is None:
            why = "its output has no JSON document; it must print the one that the prompt asks for"
            raise ModelFailure(Trouble.UNREADABLE, why, **used)
        return Reply(text=found, **used)

    def close(self) -> None:
        """End the running processes; their questions fail."""
        with self._lock:
            self._closed = True
            running = list(self._running)
        for process in running:
            _kill_process(process)

    def _start(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise ModelFailure(Trouble.AWAY, "the memory is closed")
            try:
                process = subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
                    self._words,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    bufsize=0,
                    env=build_program_environment(),
                    start_new_session=_PLATFORM != "win32",
                )
            except OSError as error:
                raise ModelFailure(Trouble.AWAY, f"the program cannot be started ({type(error).__name__})") from None
            self._running.add(process)
            return process


class _Conversation:
    """The prompt on its way to a program, and as much of its output as an answer may have; threads move both."""

    def __init__(self, process: subprocess.Popen[bytes], prompt: bytes) -> None:
        self._process = process
        self._prompt = prompt
        self._output = bytearray()
        self._reader = Thread(target=self._read_output, name="credenda-command-output", daemon=True)
        self._writer = Thread(target=self._write_prompt, name="credenda-command-input", daemon=True)
        self._reader.start()
        self._writer.start()

    @property
    def is_too_long(self) -> bool:
        """Whether the program wrote more than an answer may have; then it was killed."""
        return len(self._output) > _OUTPUT_BYTES_MAX

    def wait(self, seconds: float) -> bool:
        """Wait until the program has closed its output and ended; return False if it takes longer."""
        self._reader.join(seconds)
        if self._reader.is_alive():
            return False
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        return True

    def read(self) -> str:
        """Return what the program wrote, after its end."""
        self._reader.join(_END_SECONDS)
        self._writer.join(_END_SECONDS)
        return bytes(self._output[:_OUTPUT_BYTES_MAX]).decode(errors="replace")

    def _read_output(self) -> None:
        stream = cast("IO[bytes]", self._process.stdout)
        with suppress(OSError, ValueError):  # closed meanwhile
            while not self.is_too_long and (piece := os.read(stream.fileno(), _PIECE_BYTES)):
                self._output += piece
        if self.is_too_long:
            _kill_process(self._process)

    def _write_prompt(self) -> None:
        stream = cast("IO[bytes]", self._process.stdin)
        left = memoryview(self._prompt)
        with suppress(OSError, ValueError):  # it answers without reading, or has ended
            while left:
                left = left[os.write(stream.fileno(), left[:_PIECE_BYTES]) :]
        with suppress(OSError):
            stream.close()


def _kill_process(process: subprocess.Popen[bytes]) -> None:
    """End the program and the programs that it started; its pipes belong to the thread that reads them."""
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            if _PLATFORM == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)


def write_prompt(question: Question) -> str:
    """Write the question as one text: instructions, schema, the question, and each unusable answer with its fault."""
    parts = [
        question.instructions,
        "Answer with one JSON document that follows this JSON Schema, and with nothing else:",
        json.dumps(dict(question.schema), ensure_ascii=False),
        question.prompt,
    ]
    for answer, fault in question.earlier:
        parts += ["Your answer was:", json.dumps(answer, ensure_ascii=False), fault]
    return "\n\n".join(parts)


def find_object(output: str) -> str | None:
    """Return the JSON object of an output, which may stand in a code fence or between sentences; None without one."""
    decoder = json.JSONDecoder()
    start = output.find("{")
    while start >= 0:
        with suppress(ValueError, RecursionError):
            _, end = decoder.raw_decode(output, start)
            return output[start:end]
        start = output.find("{", start + 1)
    return None
