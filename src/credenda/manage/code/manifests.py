"""Parse the dependencies and commands that a project declares. Pure.

Supports pyproject.toml, requirements*.txt, package.json, Cargo.toml, go.mod and Makefile, with standard parsers where
there are any.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, cast

__all__ = ["Manifest", "is_manifest", "package_key", "read_manifest"]

_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;#]*)")
_GO_REQUIRED: Final = re.compile(r"^\s*(?:require\s+)?([\w.-]+\.[\w.-]+/[\w./~-]+)\s+(v\S+)", re.MULTILINE)
_TARGET: Final = re.compile(r"^([A-Za-z0-9][\w./-]*(?:[ \t]+[A-Za-z0-9][\w./-]*)*)[ \t]*::?(?!=)", re.MULTILINE)
_SEPARATORS: Final = re.compile(r"[-_.]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The contents of one file: `dependencies` as (name, version as written), `commands` as (runner, name)."""

    path: str
    dependencies: tuple[tuple[str, str], ...] = ()
    commands: tuple[tuple[str, str], ...] = ()
    name: str = ""
    problem: str = ""


def package_key(name: str) -> str:
    """Normalise a package name as in PEP 503.

    >>> package_key("Ruamel_YAML")
    'ruamel-yaml'
    """
    return _SEPARATORS.sub("-", name).casefold()


def is_manifest(path: str) -> bool:
    """Return whether a file is a supported manifest."""
    name = PurePosixPath(path).name
    known = {"pyproject.toml", "package.json", "Cargo.toml", "go.mod", "Makefile", "makefile", "GNUmakefile"}
    return name in known or (name.startswith("requirements") and name.endswith(".txt"))


def read_manifest(path: str, text: str) -> Manifest:
    """Parse a manifest; a parse error is returned in `problem`."""
    name = PurePosixPath(path).name
    reader = _READERS.get(name, _requirements if name.endswith(".txt") else _makefile)
    try:
        return reader(path, text)
    except (ValueError, RecursionError):
        return Manifest(path=path, problem="it cannot be parsed")


def _table(value: object, *names: str) -> Mapping[str, object]:
    for name in names:
        value = cast("Mapping[str, object]", value).get(name) if isinstance(value, Mapping) else None
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _texts(value: object) -> list[str]:
    return [one for one in cast("list[object]", value) if isinstance(one, str)] if isinstance(value, list) else []


def _required(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in lines:
        found = _REQUIREMENT.match(line)
        if found is not None:
            yield found[1], found[2].strip()


def _requirements(path: str, text: str) -> Manifest:
    lines = (line for line in text.splitlines() if not line.lstrip().startswith(("#", "-")))
    return Manifest(path=path, dependencies=tuple(_required(lines)))


def _go(path: str, text: str) -> Manifest:
    return Manifest(path=path, dependencies=tuple(_GO_REQUIRED.findall(text)))


def _pyproject(path: str, text: str) -> Manifest:
    data = tomllib.loads(text)
    project, poetry = _table(data, "project"), _table(data, "tool", "poetry")
    wanted = _texts(project.get("dependencies"))
    for group in (_table(project, "optional-dependencies"), _table(data, "dependency-groups")):
        wanted += [one for lines in group.values() for one in _texts(lines)]
    wanted += _texts(_table(data, "build-system").get("requires"))
    tables = [_table(poetry, "dependencies"), _table(poetry, "dev-dependencies")]
    tables += [_table(group, "dependencies") for group in _table(poetry, "group").values()]
    told = [(name, str(version)) for table in tables for name, version in table.items() if name != "python"]
    scripts = (*_table(project, "scripts"), *_table(project, "gui-scripts"), *_table(poetry, "scripts"))
    runners = (*_table(data, "tool", "pdm", "scripts"), *_table(data, "tool", "poe", "tasks"))
    return Manifest(
        path=path,
        dependencies=(*_required(wanted), *told),
        commands=tuple(("script", name) for name in (*scripts, *runners)),
        name=str(project.get("name") or poetry.get("name") or ""),
    )


def _cargo(path: str, text: str) -> Manifest:
    data = tomllib.loads(text)
    found: list[tuple[str, str]] = []
    parts: list[object] = [data, _table(data, "workspace"), *_table(data, "target").values()]
    for part in parts:
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, wanted in _table(part, kind).items():
                version = (
                    cast("Mapping[str, object]", wanted).get("version", "") if isinstance(wanted, Mapping) else wanted
                )
                found.append((name, str(version)))
    return Manifest(path=path, dependencies=tuple(found), name=str(_table(data, "package").get("name") or ""))


def _package(path: str, text: str) -> Manifest:
    data: object = json.loads(text)
    kinds = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
    found = [(name, str(version)) for kind in kinds for name, version in _table(data, kind).items()]
    commands = tuple(("npm", name) for name in _table(data, "scripts"))
    return Manifest(path=path, dependencies=tuple(found), commands=commands, name=str(_table(data).get("name") or ""))


def _makefile(path: str, text: str) -> Manifest:
    names = [name for line in _TARGET.findall(text) for name in line.split()]
    return Manifest(path=path, commands=tuple(("make", name) for name in dict.fromkeys(names)))


_READERS: Final[Mapping[str, Callable[[str, str], Manifest]]] = {
    "pyproject.toml": _pyproject,
    "Cargo.toml": _cargo,
    "package.json": _package,
    "go.mod": _go,
}
