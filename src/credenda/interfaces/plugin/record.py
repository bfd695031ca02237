"""The record of what an installation wrote, so that its removal takes exactly that."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, cast

from credenda.errors import Corrupt
from credenda.interfaces.client_setup.install import read_text
from credenda.paths import create_folder
from credenda.portability.atomic_write import replace_file

__all__ = ["Installation", "Shared", "hash_text", "load_record", "save_record"]

_FILE: Final = "plugins.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A file of the user that was changed: the copy of it before, and the hash of it after.

    `exact` tells whether the file may be put back as the copy has it while its hash is the same; `existed` whether
    there was a file. `entry` is the server's entry that was there before.
    """

    path: str
    kind: Literal["hooks", "server"]
    after: str
    backup: str | None = None
    existed: bool = True
    exact: bool = True
    entry: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The record of an installation: hashes of our files by path, folders that were made, and shared files."""

    host: str
    version: str
    files: Mapping[str, str]
    folders: tuple[str, ...] = ()
    shared: tuple[Shared, ...] = field(default=())


def hash_text(text: str) -> str:
    """Return the hash of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def load_record(data: Path) -> dict[str, Installation]:
    """Return the installations by host; raises `Corrupt` for a damaged record."""
    path = data / _FILE
    text = read_text(path)
    if not text.strip():
        return {}
    try:
        told = cast("dict[str, dict[str, Any]]", json.loads(text))
        return {host: _parse(one) for host, one in told.items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Corrupt(
            f"{path} cannot be read", why=str(error), fix="remove it, and the plugin's files by hand"
        ) from None


def _parse(told: Mapping[str, Any]) -> Installation:
    return Installation(
        host=told["host"],
        version=told["version"],
        files=told["files"],
        folders=tuple(told["folders"]),
        shared=tuple(Shared(**one) for one in told["shared"]),
    )


def save_record(data: Path, record: Mapping[str, Installation]) -> None:
    """Write the installations; without any, the file goes."""
    path = data / _FILE
    if not record:
        path.unlink(missing_ok=True)
        return
    create_folder(data)
    told = {host: asdict(one) for host, one in record.items()}
    with replace_file(path) as file:
        file.write((json.dumps(told, indent=2) + "\n").encode())
