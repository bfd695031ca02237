"""Match paths against `.gitignore` patterns, by the rules of gitignore(5). Pure.

A pattern is matched against the path relative to the folder of its file. The last matching pattern decides. A file in
an ignored folder cannot be re-included, because the walk never enters that folder.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final, cast

from credenda.manage.code.outline import Outline

_LINES_MAX: Final = 5_000
_PATTERN_CHARACTERS: Final = 512


@dataclass(frozen=True, slots=True)
class IgnorePattern:
    """One line of a `.gitignore`; `base` is the folder of that file with a trailing slash, "" for the root."""

    base: str
    matcher: re.Pattern[str]
    negated: bool
    folders_only: bool


def parse_patterns(text: str, base: str = "") -> list[IgnorePattern]:
    """Parse a `.gitignore`; blank, comment and invalid lines are skipped.

    >>> is_ignored("build/x.o", folder=False, patterns=parse_patterns("*.o"))
    True
    """
    found: list[IgnorePattern] = []
    for line in text.removeprefix("\ufeff").split("\n")[:_LINES_MAX]:
        pattern = _parse_line(line.removesuffix("\r"), base)
        if pattern is not None:
            found.append(pattern)
    return found


def _parse_line(line: str, base: str) -> IgnorePattern | None:
    stripped = line.rstrip(" ")
    slashes = len(stripped) - len(stripped.rstrip("\\"))
    body = f"{stripped} " if slashes % 2 and len(stripped) < len(line) else stripped
    if not body or body.startswith("#") or len(body) > _PATTERN_CHARACTERS:
        return None
    negated = body.startswith("!")
    body = body[1:] if negated else body
    folders_only = body.endswith("/")
    body = body.removesuffix("/")
    if not body or (body.endswith("\\") and not body.endswith("\\\\")):
        return None
    anchored = "/" in body
    expression = _translate_pattern(body.removeprefix("/"))
    if expression is None:
        return None
    prefix = "" if anchored else "(?:.*/)?"
    return IgnorePattern(base, re.compile(f"{prefix}{expression}", re.DOTALL), negated, folders_only)


def _translate_pattern(body: str) -> str | None:
    """Translate a pattern to a regular expression; None for an unclosed bracket, which matches nothing."""
    pieces: list[str] = []
    at = 0
    while at < len(body):
        sign = body[at]
        if sign == "*":
            piece, at = _translate_stars(body, at)
        elif sign == "?":
            piece, at = "[^/]", at + 1
        elif sign == "[":
            found = _translate_bracket(body, at)
            if found is None:
                return None
            piece, at = found
        elif sign == "\\" and at + 1 < len(body):
            piece, at = re.escape(body[at + 1]), at + 2
        else:
            piece, at = re.escape(sign), at + 1
        pieces.append(piece)
    return "".join(pieces)


def _translate_stars(body: str, at: int) -> tuple[str, int]:
    """Translate a run of stars; two stars between slashes match any number of folders."""
    stop = at
    while stop < len(body) and body[stop] == "*":
        stop += 1
    begins = at == 0 or body[at - 1] == "/"
    if stop - at == 2 and begins and stop == len(body):  # noqa: PLR2004 - two stars
        return ".+" if at else ".*", stop
    if stop - at == 2 and begins and body[stop] == "/":  # noqa: PLR2004 - two stars
        return "(?:.*/)?", stop + 1
    return "[^/]*", stop


def _translate_bracket(body: str, at: int) -> tuple[str, int] | None:
    start = at + 1
    negated = start < len(body) and body[start] in "!^"
    start += negated
    stop = start + 1  # a closing bracket in first place is a member
    while stop < len(body) and body[stop] != "]":
        stop += 2 if body[stop] == "\\" else 1
    if stop >= len(body):
        return None
    members = body[start:stop].replace("[", "\\[").replace("&&", "&\\&").replace("||", "|\\|").replace("~~", "~\\~")
    members = f"\\{members}" if members.startswith(("^", "]")) else members
    expression = f"(?!/)[{'^' if negated else ''}{members}]"
    try:
        re.compile(expression)
    except re.error:
        return None
    return expression, stop + 1


def is_ignored(path: str, *, folder: bool, patterns: Sequence[IgnorePattern] | Iterable[IgnorePattern]) -> bool:
    """Return whether the last matching pattern excludes a path, given from the root with slashes."""
    out = False
    for pattern in patterns:
        if pattern.folders_only and not folder:
            continue
        if path.startswith(pattern.base) and pattern.matcher.fullmatch(path, len(pattern.base)):
            out = not pattern.negated
    return out


# Parse the dependencies and commands that a project declares. Pure.


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


# Result values of a code scan. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedFile:
    """A scanned file: path from the root with slashes, hash of its bytes (32 hex digits), line count and outline."""

    path: str
    digest: str
    lines: int
    outline: Outline


@dataclass(slots=True)
class ScanResult:
    """The scan of one root.

    `paths` are all files seen, scanned or not; `whole` is False if a limit stopped the scan.
    """

    root: str
    files: list[ScannedFile] = field(default_factory=list[ScannedFile])
    manifests: list[Manifest] = field(default_factory=list[Manifest])
    paths: list[str] = field(default_factory=list[str])
    folders: set[str] = field(default_factory=set[str])
    binary: int = 0
    problems: list[str] = field(default_factory=list[str])
    whole: bool = True
