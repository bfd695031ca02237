"""The Postgres databases that stand for the files of one test, known to the test and to the processes it starts."""

from __future__ import annotations

import fcntl
import json
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString, cast

import psycopg

from credenda.paths import create_file


def may_stand(place: str, *, read_only: bool) -> bool:
    """Return whether a database may stand for a file, which could then be opened or created."""
    return "://" not in place and (Path(place).exists() if read_only else Path(place).absolute().parent.is_dir())


class Registry:
    """A file with the address of each database by the absolute path of its file, and how to create one more."""

    def __init__(self, path: Path) -> None:
        """Use a file that `create` made."""
        self._path = path

    @classmethod
    def create(cls, path: Path, *, admin: str, template: str, address: str) -> Registry:
        """Make it; `admin` is the address of a superuser, `address` that of the owner, with `{name}` for a database."""
        path.write_text(json.dumps({"admin": admin, "template": template, "address": address, "names": {}}))
        return cls(path)

    def find(
        self, place: str, lend: Callable[[], str] | None = None, move: Callable[[str, str], None] | None = None
    ) -> str:
        """Return the address of a file's database, which is created if there is none.

        `lend` returns the name of an empty one; `move` takes the path of a file that is there already and the address
        of its database, and fills it. Without a file an empty one is created, so that it can be seen and removed.
        """
        path = str(Path(place).absolute())
        with self._open() as held:
            name = held["names"].get(path)
            if name is None:
                name = self._create(held) if lend is None else lend()
                if move is not None and Path(path).exists() and Path(path).stat().st_size:
                    move(path, held["address"].format(name=name))
                create_file(path)
                held["names"][path] = name
            return str(held["address"].format(name=name))

    def forget(self, is_over: Callable[[str], bool]) -> list[str]:
        """Return the names of the databases whose path is over, and forget them."""
        with self._open() as held:
            gone = {path: name for path, name in held["names"].items() if is_over(path)}
            held["names"] = {path: name for path, name in held["names"].items() if path not in gone}
        return list(gone.values())

    def names(self) -> dict[str, str]:
        """Return the names of the databases by the paths of their files."""
        return dict(json.loads(self._path.read_text())["names"])

    @staticmethod
    def _create(held: dict[str, Any]) -> str:
        name = f"memory_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(held["admin"], autocommit=True) as connection:
            connection.execute(
                cast("LiteralString", f"CREATE DATABASE {name} TEMPLATE {held['template']} STRATEGY file_copy")
            )
        return name

    @contextmanager
    def _open(self) -> Generator[dict[str, Any]]:
        with self._path.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            held = json.load(file)
            yield held
            file.seek(0)
            json.dump(held, file)
            file.truncate()
