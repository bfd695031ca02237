"""A standby opened by itself: it is read as any database, refuses to be written, and `doctor` finds nothing wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from credenda import Credenda
from credenda.errors import Unavailable
from tests.postgres_server import APP, TEMPLATE, Database, run_program, start_server


@pytest.fixture(scope="module")
def standby() -> Iterator[Database]:
    """A memory on a server of its own, which then goes on as a standby without a primary."""
    server = start_server()
    data = server.folder / "data"

    def restart() -> None:
        run_program(server, "pg_ctl", "-D", str(data), "-l", str(server.folder / "log"), "-w", "restart")

    try:
        with (data / "postgresql.conf").open("a") as settings:
            settings.write("wal_level = replica\n")
        restart()
        database = Database(TEMPLATE, server)
        with Credenda.open(database.url(), user="ana", embedder="none", workers=False) as memory:
            memory.remember("I live in Linz.")
            memory.settle()
        (data / "standby.signal").touch()
        restart()
        yield database
    finally:
        server.stop()


@pytest.mark.parametrize("user", ["credenda", APP])
def test_a_standby_is_read_and_refuses_to_be_written(standby: Database, user: str) -> None:
    with Credenda.open(standby.url(user), user="ana", embedder="none", workers=False) as memory:
        assert [one.value for one in memory.list().items] == ["Linz"]
        with pytest.raises(Unavailable, match="standby"):
            memory.remember("I live in Graz.")
        report = memory.data.doctor()
        assert report.ok, report.findings
        assert "standby" in report.backend["version"]
        assert [one.value for one in memory.list().items] == ["Linz"]
