"""The command line as a process of its own: pipes, terminals, read-only files, and what starting it costs."""

import json
import os
import pty
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_SECONDS

from .terminal import Terminal, environment, process

COLOUR = b"\x1b["


def on_a_terminal(*args: str, answer: bytes = b"", env: dict[str, str] | None = None) -> tuple[int, bytes]:
    """Run a command whose three streams are a terminal; returns its exit code and all that it showed."""
    mine, theirs = pty.openpty()
    try:
        os.write(mine, answer)
        command = [sys.executable, "-m", "credenda", *args]
        child = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env or environment())
        os.close(theirs)
        shown = b""
        while chunk := _read(mine):
            shown += chunk
        return child.wait(timeout=PATIENCE_SECONDS), shown
    finally:
        os.close(mine)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:  # Linux's way to say that the other end of a terminal is closed
        return b""


def test_results_and_notes_go_their_own_ways(ana: Terminal) -> None:
    result = process("--db", str(ana.db), "--json", "remember", "I live in Linz.")
    assert (result.returncode, result.stderr) == (0, b"")
    assert json.loads(result.stdout)["believed"][0]["memory"]["value"] == "Linz"


def test_database_and_user_come_from_the_environment(ana: Terminal) -> None:
    env = environment(CREDENDA_DB=str(ana.db), CREDENDA_USER="ana")
    assert process("remember", "I live in Linz.", env=env).returncode == 0
    assert ana.values() == ["Linz"]
    assert json.loads(process("--json", "--user", "bob", "list", env=env).stdout)["items"] == []


def test_a_reader_that_went_away_ends_it_quietly(ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "credenda", "--db", str(ana.db), "--user", "ana", "list"]
    with os.fdopen(writing, "wb") as gone:
        result = subprocess.run(
            command, stdout=gone, stderr=subprocess.PIPE, env=environment(), timeout=PATIENCE_SECONDS, check=False
        )
    assert (result.returncode, result.stderr) == (141, b"")


def test_output_fits_an_encoding_that_holds_less(ana: Terminal) -> None:
    ana.remember("I live in Łódź 🏔️.")
    args = ("--db", str(ana.db), "--user", "ana", "search", "live")
    narrow = environment(PYTHONIOENCODING="ascii")
    plain = process(*args, env=narrow)
    assert plain.returncode == 0
    found = process("--json", *args, env=narrow)
    assert "Łódź" in json.loads(found.stdout)["hits"][0]["text"]


def test_colour_is_for_terminals_that_want_it(ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    args = ("--db", str(ana.db), "--user", "ana", "list")
    code, shown = on_a_terminal(*args, env=environment(TERM="xterm"))
    assert code == 0
    assert COLOUR in shown
    assert COLOUR not in on_a_terminal(*args, env=environment(TERM="xterm", NO_COLOR="1"))[1]
    assert COLOUR not in process(*args).stdout


def test_lines_keep_to_the_width_of_the_terminal(ana: Terminal) -> None:
    ana.remember("Remember that Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch is a long name.")
    env = environment(TERM="xterm", NO_COLOR="1", COLUMNS="60")
    shown = on_a_terminal("--db", str(ana.db), "--user", "ana", "list", env=env)[1].decode()
    assert "…" in shown
    assert max(map(len, shown.splitlines())) <= 60


@pytest.mark.parametrize(("answer", "left"), [(b"n\n", 1), (b"y\n", 0)])
def test_a_person_is_asked_before_something_is_deleted(answer: bytes, left: int, ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    code, shown = on_a_terminal("--db", str(ana.db), "--user", "ana", "delete", ana.an_id(), answer=answer)
    assert code == 0
    assert b"permanently" in shown
    assert len(ana.held()) == left


def test_with_yes_nobody_is_asked(ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    code, shown = on_a_terminal("--db", str(ana.db), "--user", "ana", "delete", "--yes", ana.an_id())
    assert (code, b"permanently" in shown) == (0, False)
    assert ana.held() == []


def test_an_import_counts_what_it_has_read_where_somebody_looks(ana: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("I live in Linz.\n\nI'm allergic to peanuts.\n", "utf-8")
    code, shown = on_a_terminal("--db", str(ana.db), "import", str(file))
    assert code == 0
    assert b"\rstored " in shown
    assert b"read 1 of 1 " in shown or b"read 2 of 2 " in shown
    assert b"\r" not in process("--db", str(ana.db), "import", str(file)).stderr


READING = [
    ["list"],
    ["get", "ID"],
    ["why", "ID"],
    ["history", "user", "residence"],
    ["search", "Linz"],
    ["context", "Linz"],
    ["contests"],
    ["stats"],
    ["doctor"],
    ["export", "FILE"],
]


@pytest.mark.parametrize("command", READING, ids=lambda command: command[0])
def test_reading_works_where_nothing_can_be_written(command: list[str], ana: Terminal, tmp_path: Path) -> None:
    ana.remember("I live in Linz.")
    names = {"ID": ana.an_id(), "FILE": str(tmp_path / "all.jsonl")}
    for path in (ana.db, *ana.db.parent.glob(f"{ana.db.name}-*")):
        path.chmod(stat.S_IRUSR)
    before = ana.db.read_bytes()
    ana.run("--read-only", *(names.get(word, word) for word in command))
    assert ana.db.read_bytes() == before


def test_writing_is_refused_when_read_only(ana: Terminal) -> None:
    ana.remember("I live in Linz.")
    ana.error("--read-only", "remember", "I live in Graz.", code=2)
    ana.error("--read-only", "forget", ana.an_id(), code=2)
    assert ana.values() == ["Linz"]


@pytest.mark.sqlite_file  # the file is missing
def test_a_missing_file_is_not_made_when_read_only(ana: Terminal) -> None:
    ana.error("--read-only", "list", code=3)
    assert not ana.db.exists()


@pytest.mark.parametrize("line", ["--version", "--help", "search --help", "completion zsh", "nonsense"])
def test_what_opens_no_memory_loads_no_engine(line: str) -> None:
    program = (
        "import sys; from credenda.interfaces.cli.main import cli; cli.main(sys.argv[1:], standalone_mode=False); "
        "heavy = {'numpy', 'sqlite3', 'credenda.bootstrap'} & set(sys.modules); sys.exit(str(heavy) if heavy else 0)"
    )
    command = [sys.executable, "-c", program, *line.split()]
    result = subprocess.run(command, capture_output=True, env=environment(), timeout=PATIENCE_SECONDS, check=False)
    assert result.returncode == 0, result.stderr


def test_the_benchmarks_explain_themselves_without_the_libraries_of_servers() -> None:
    program = (
        "import sys; sys.modules['psycopg'] = sys.modules['psycopg_pool'] = None\n"
        "from credenda.interfaces.cli.main import cli; cli.main(['bench', '--help'], standalone_mode=False)"
    )
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, capture_output=True, env=environment(), timeout=PATIENCE_SECONDS, check=False)
    assert result.returncode == 0, result.stderr


def test_completion_knows_commands_and_options() -> None:
    for words, wanted in (("credenda hist", b"history"), ("credenda search --exp", b"--explain")):
        env = environment(_CREDENDA_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(words.count(" ")))
        assert wanted in process(env=env).stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_result_without_room_is_unavailable_and_what_was_done_stays(tmp_path: Path, form: list[str]) -> None:
    db = ["--db", str(tmp_path / "memory.db")]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "credenda", *db, *form, "remember", "I live in Linz."],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    assert (done.returncode, len(done.stderr.splitlines())) == (5, 1)
    assert b"the command's changes are saved" in done.stderr
    assert b"Linz" in process(*db, "list").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell closes the streams")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_nothing_but_what_is_seen(tmp_path: Path, closed: str) -> None:
    db, env = f"--db {tmp_path}/memory.db", environment(CREDENDA_READER="none")
    for command, code in (("remember 'I live in Linz.'", 0), ("list", 0), ("get m9-000000", 3), ("nonsense", 2)):
        line = f"'{sys.executable}' -m credenda {db} {command} {closed}"
        done = subprocess.run(
            ["/bin/sh", "-c", line], capture_output=True, env=env, timeout=PATIENCE_SECONDS, check=False
        )
        assert done.returncode == code, (command, done.stderr)
        assert b"Traceback" not in done.stderr
