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

__all__ = ["Manifest", "is_manifest", "normalise_package", "parse_manifest"]

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


def normalise_package(name: str) -> str:
    """Normalise a package name as in PEP 503.

    >>> normalise_package("Ruamel_YAML")
    'ruamel-yaml'
    """
    return _SEPARATORS.sub("-", name).casefold()


def is_manifest(path: str) -> bool:
    """Return whether a file is a supported manifest."""
    name = PurePosixPath(path).name
    known = {"pyproject.toml", "package.json", "Cargo.toml", "go.mod", "Makefile", "makefile", "GNUmakefile"}
    return name in known or (name.startswith("requirements") and name.endswith(".txt"))


def parse_manifest(path: str, text: str) -> Manifest:
    """Parse a manifest; a parse error is returned in `problem`."""
    name = PurePosixPath(path).name
    reader = _PARSERS.get(name, _parse_requirements_txt if name.endswith(".txt") else _parse_makefile)
    try:
        return reader(path, text)
    except (ValueError, RecursionError):
        return Manifest(path=path, problem="it cannot be parsed")


def _get_table(value: object, *names: str) -> Mapping[str, object]:
    for name in names:
        value = cast("Mapping[str, object]", value).get(name) if isinstance(value, Mapping) else None
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _filter_texts(value: object) -> list[str]:
    return [one for one in cast("list[object]", value) if isinstance(one, str)] if isinstance(value, list) else []


def _parse_requirements(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in lines:
        found = _REQUIREMENT.match(line)
        if found is not None:
            yield found[1], found[2].strip()


def _parse_requirements_txt(path: str, text: str) -> Manifest:
    lines = (line for line in text.splitlines() if not line.lstrip().startswith(("#", "-")))
    return Manifest(path=path, dependencies=tuple(_parse_requirements(lines)))


def _parse_go_mod(path: str, text: str) -> Manifest:
    return Manifest(path=path, dependencies=tuple(_GO_REQUIRED.findall(text)))


def _parse_pyproject(path: str, text: str) -> Manifest:
    data = tomllib.loads(text)
    project, poetry = _get_table(data, "project"), _get_table(data, "tool", "poetry")
    wanted = _filter_texts(project.get("dependencies"))
    for group in (_get_table(project, "optional-dependencies"), _get_table(data, "dependency-groups")):
        wanted += [one for lines in group.values() for one in _filter_texts(lines)]
    wanted += _filter_texts(_get_table(data, "build-system").get("requires"))
    tables = [_get_table(poetry, "dependencies"), _get_table(poetry, "dev-dependencies")]
    tables += [_get_table(group, "dependencies") for group in _get_table(poetry, "group").values()]
    told = [(name, str(version)) for table in tables for name, version in table.items() if name != "python"]
    scripts = (*_get_table(project, "scripts"), *_get_table(project, "gui-scripts"), *_get_table(poetry, "scripts"))
    runners = (*_get_table(data, "tool", "pdm", "scripts"), *_get_table(data, "tool", "poe", "tasks"))
    return Manifest(
        path=path,
        dependencies=(*_parse_requirements(wanted), *told),
        commands=tuple(("script", name) for name in (*scripts, *runners)),
        name=str(project.get("name") or poetry.get("name") or ""),
    )


def _parse_cargo(path: str, text: str) -> Manifest:
    data = tomllib.loads(text)
    found: list[tuple[str, str]] = []
    parts: list[object] = [data, _get_table(data, "workspace"), *_get_table(data, "target").values()]
    for part in parts:
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, wanted in _get_table(part, kind).items():
                version = (
                    cast("Mapping[str, object]", wanted).get("version", "") if isinstance(wanted, Mapping) else wanted
                )
                found.append((name, str(version)))
    return Manifest(path=path, dependencies=tuple(found), name=str(_get_table(data, "package").get("name") or ""))


def _parse_package_json(path: str, text: str) -> Manifest:
    data: object = json.loads(text)
    kinds = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
    found = [(name, str(version)) for kind in kinds for name, version in _get_table(data, kind).items()]
    commands = tuple(("npm", name) for name in _get_table(data, "scripts"))
    return Manifest(
        path=path, dependencies=tuple(found), commands=commands, name=str(_get_table(data).get("name") or "")
    )


def _parse_makefile(path: str, text: str) -> Manifest:
    names = [name for line in _TARGET.findall(text) for name in line.split()]
    return Manifest(path=path, commands=tuple(("make", name) for name in dict.fromkeys(names)))


_PARSERS: Final[Mapping[str, Callable[[str, str], Manifest]]] = {
    "pyproject.toml": _parse_pyproject,
    "Cargo.toml": _parse_cargo,
    "package.json": _parse_package_json,
    "go.mod": _parse_go_mod,
}
