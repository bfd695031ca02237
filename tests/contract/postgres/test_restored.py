"""The drill: a dump of the server is restored, and who was erased since, and what was deleted, does not come back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import LiteralString, cast

import psycopg
import pytest

from credenda import Credenda, MemoryUnit
from credenda.bootstrap import build_parts, repeat_erasures
from credenda.errors import Corrupt, Invalid, NotFound
from credenda.interfaces.cli.main import Program, cli
from credenda.storage.transfer import locate_ledger
from tests.postgres_server import APP, Database, run_program

WORD = "zorkmidsplendour"
_LEFT = """
SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'user_id'
WHERE c.relnamespace = 'credenda'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
"""
_COUNT = "SELECT count(*) FROM credenda.{} WHERE user_id = %s"


@dataclass(slots=True)
class Drill:
    """A database, its dump, and the ledger that lies outside of both."""

    database: Database
    folder: Path

    @property
    def ledger(self) -> Path:
        return self.folder / "credenda.erasures"

    def open(self, user: str, *, on: Database | None = None, login: str = "credenda") -> Credenda:
        return Credenda.open(
            (on or self.database).url(login),
            user=user,
            workers=False,
            settings={"erasure_ledger_file": str(self.ledger)},
        )

    def dump(self) -> None:
        """Make the backup, with the command of the guide."""
        path = self.database.server.folder / "backup.dump"
        run_program(self.database.server, "pg_dump", "-Fc", "-f", str(path), "-d", self.database.url("postgres"))

    def restore(self) -> Database:
        """Restore it into a database of its own, with the commands of the guide."""
        restored = self.database.server.create_empty("restored")
        path = self.database.server.folder / "backup.dump"
        run_program(restored.server, "pg_restore", "-d", restored.url("postgres"), str(path))
        return restored


@pytest.fixture
def drill(database: Database, tmp_path: Path) -> Iterator[Drill]:
    made = Drill(database, tmp_path)
    yield made
    with database.connect() as connection:
        connection.execute("DROP DATABASE IF EXISTS restored WITH (FORCE)")


def say(drill: Drill, user: str, *texts: str) -> None:
    with drill.open(user) as memory:
        memory.remember([{"role": "user", "content": text} for text in texts])
        memory.settle()


def count_rows(database: Database, user: str) -> int:
    with database.connect() as connection:
        tables = [str(row[0]) for row in connection.execute(_LEFT)]
        counts = [
            connection.execute(cast("LiteralString", _COUNT.format(table)), (user,)).fetchone() for table in tables
        ]
    return sum(row[0] for row in counts if row is not None)


def test_who_was_erased_since_the_dump_does_not_come_back(drill: Drill) -> None:
    say(drill, "ana", f"I'm allergic to {WORD}.")
    say(drill, "ben", "I live in Linz.")
    drill.dump()
    with drill.open("ana") as ana:
        assert ana.erase("ana").owed == {}
    assert WORD not in drill.ledger.read_text()
    assert "ana" not in drill.ledger.read_text()

    restored = drill.restore()
    with drill.open("ana", on=restored) as ana:
        assert ana.stats().events == 1  # the dump has her, and no record of the erasure
        (finding,) = ana.data.doctor().findings
        assert (finding.check, finding.fix) == ("ledgers", "run `credenda erase-again`")
    report = repeat_erasures(restored.url(), [drill.ledger])
    assert (report.listed, report.erased) == (1, 1)

    assert count_rows(restored, "ana") == 0
    with drill.open("ana", on=restored, login=APP) as ana:
        assert ana.search(WORD).hits == ()
        assert ana.data.doctor().ok
        assert ana.data.doctor().backend["row_level_security"].startswith("forced on all")
    with drill.open("ben", on=restored, login=APP) as ben:
        assert "Linz" in ben.search("Where do I live?").hits[0].quote
        ben.remember("I like tea.")
    assert repeat_erasures(restored.url(), [drill.ledger]).erased == 0


def test_what_was_deleted_since_the_dump_goes_again_where_the_replaced_database_is_left(drill: Drill) -> None:
    say(drill, "ana", "I live in Linz.")
    say(drill, "ben", "I live in Graz.")
    with drill.open("ana") as ana:
        kept = ana.store(MemoryUnit(text=f"The garage opens with {WORD}.", type="fact"))
    drill.dump()
    with drill.open("ana") as ana:
        ana.delete(kept.id)
    with drill.open("ben") as ben:
        ben.erase("ben")
    restored = drill.restore()
    report = repeat_erasures(restored.url(), deletions=drill.database.url())
    assert (report.erased, report.deleted >= 1, report.held) == (1, True, 0)
    assert count_rows(restored, "ben") == 0
    with drill.open("ana", on=restored) as ana:
        assert WORD not in repr(ana.search(WORD))
        assert "Linz" in ana.search("Where do I live?").hits[0].quote


def test_a_hold_that_was_lifted_since_the_dump_does_not_keep_the_user(drill: Drill) -> None:
    say(drill, "ana", f"I'm allergic to {WORD}.")
    with drill.open("ana") as ana:
        ana.manage.hold("a lawsuit")
    drill.dump()
    with drill.open("ana") as ana:
        ana.manage.lift_hold("it is over")
        ana.erase("ana")
    restored = drill.restore()
    assert repeat_erasures(restored.url(), [drill.ledger]).erased == 1
    assert count_rows(restored, "ana") == 0


def test_a_user_of_the_same_name_who_began_anew_stays(drill: Drill) -> None:
    say(drill, "ana", f"I'm allergic to {WORD}.")
    with drill.open("ana") as ana:
        ana.erase("ana")
    say(drill, "ana", "I live in Linz.")
    drill.dump()
    assert repeat_erasures(drill.restore().url(), [drill.ledger]).erased == 0


def test_who_is_imported_again_on_purpose_leaves_the_ledger(drill: Drill, tmp_path: Path) -> None:
    say(drill, "ana", "I live in Linz.")
    archive = tmp_path / "ana.jsonl"
    with drill.open("ana") as ana:
        ana.data.export(archive)
        ana.erase("ana")
        ana.data.import_(archive)
        assert ana.data.doctor().ok
    with pytest.raises(Invalid, match="no ledger"):
        repeat_erasures(drill.database.url(), [drill.ledger])
    with drill.open("ana") as ana:
        assert ana.stats().events == 1


def test_an_erasure_says_what_it_owes_and_a_later_one_pays_it(drill: Drill) -> None:
    say(drill, "ana", "I live in Linz.")
    say(drill, "ben", "I live in Graz.")
    drill.ledger.mkdir()  # a folder in its place, which nobody can write, not even root
    with drill.open("ana") as ana:
        assert list(ana.erase("ana").owed) == [str(drill.ledger)]
    drill.ledger.rmdir()
    with drill.open("ben") as ben:
        (finding,) = ben.data.doctor().findings
        assert (finding.check, finding.where) == ("ledgers", str(drill.ledger))
        assert ben.data.doctor(repair=True).ok
        assert ben.erase("ben").owed == {}
    assert len(drill.ledger.read_text().splitlines()) == 2


def test_a_damaged_ledger_is_refused_and_nothing_changes(drill: Drill) -> None:
    say(drill, "ana", "I live in Linz.")
    drill.dump()
    with drill.open("ana") as ana:
        ana.erase("ana")
    drill.ledger.write_bytes(b"no line of a ledger\n" + drill.ledger.read_bytes())
    restored = drill.restore()
    with pytest.raises(Corrupt, match="line 1"):
        repeat_erasures(restored.url(), [drill.ledger])
    with pytest.raises(NotFound):
        repeat_erasures(restored.url(), [drill.folder / "missing.erasures"])
    with pytest.raises(Invalid, match="ledger of erasures"):
        repeat_erasures(restored.url(), [drill.folder / "ledger.txt"])
    with drill.open("ana", on=restored) as ana:
        assert ana.stats().events == 1


def test_a_dump_by_the_owner_fails_instead_of_leaving_users_out(drill: Drill) -> None:
    """Row-level security binds the owner too, and `pg_dump` refuses to write part of a table."""
    say(drill, "ana", "I live in Linz.")
    with pytest.raises(ValueError, match="row-level security"):
        run_program(drill.database.server, "pg_dump", "-d", drill.database.url(), "-f", "/dev/null")


def test_the_command_uses_the_file_of_the_setting(
    drill: Drill, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    say(drill, "ana", "I live in Linz.")
    drill.dump()
    with drill.open("ana") as ana:
        ana.erase("ana")
    restored = drill.restore()
    assert isinstance(cli, Program)
    monkeypatch.setenv("CREDENDA_ERASURE_LEDGER_FILE", str(drill.ledger))
    assert cli.main(["--db", restored.url(), "erase-again"], standalone_mode=False) == 2
    assert "--yes" in capsys.readouterr().err
    assert cli.main(["--db", restored.url(), "erase-again", "--yes"], standalone_mode=False) == 0
    assert capsys.readouterr().out == "1 user erased again; the ledgers list 1.\n"
    assert cli.main(["--db", restored.url(), "--json", "erase-again", "--yes"], standalone_mode=False) == 0
    assert json.loads(capsys.readouterr().out)["erased"] == 0


def test_a_ledger_of_a_file_counts_for_postgres_too(drill: Drill, tmp_path: Path) -> None:
    """Whoever moved from a file to Postgres keeps the ledger beside it."""
    path = tmp_path / "memory.db"
    with Credenda.open(path, user="ana", workers=False) as ana:
        ana.remember("I live in Linz.")
        archive = tmp_path / "ana.jsonl"
        ana.data.export(archive)
    with drill.open("ana") as ana:
        ana.data.import_(archive)
    with Credenda.open(path, user="ana", workers=False) as ana:
        ana.erase("ana")
    assert repeat_erasures(drill.database.url(), [locate_ledger(path)]).erased == 1
    assert count_rows(drill.database, "ana") == 0


def test_the_settings_name_of_a_ledger_has_its_ending(database: Database, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="erasures"):
        build_parts(database.url(), user="ana", settings={"erasure_ledger_file": str(tmp_path / "ledger.txt")})
    with database.connect() as connection, pytest.raises(psycopg.errors.UndefinedTable):
        connection.execute("SELECT 1 FROM credenda.ledger_files")
