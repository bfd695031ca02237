"""Check claims about code, and report drift with its level and consequence. Pure.

The score is 100 − Σ cost, bounded to 0…100; an error costs 10, a warning 3, an info 1 (E-076). Only an absolute path
under a root, and a name in a known module or class, can be errors, because other claims may be about another project.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from credenda.manage.code.manifests import Manifest, normalise_package
from credenda.manage.code.outline import Outline
from credenda.manage.drift.claims import CodeClaim
from credenda.model.change import SetStatus
from credenda.model.code import DriftFinding, DriftLevel
from credenda.model.memory import Status

__all__ = ["COSTS", "CodeIndex", "DriftVerdict", "check_claim", "compute_drift_score", "decide_drift"]

COSTS: Final[Mapping[DriftLevel, int]] = {"error": 10, "warning": 3, "info": 1}
_FULL: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftVerdict:
    """The drift of a claim: a code of docs/how-to/code.md, its level, and where the check looked."""

    code: str
    level: DriftLevel
    where: str


@dataclass(slots=True)
class CodeIndex:
    """The code under all roots, indexed for claims.

    `exists` returns whether an absolute path exists; None if it lies outside every root.
    """

    exists: Callable[[str], bool | None]
    paths: set[str] = field(default_factory=set[str])
    """Files and folders, relative to their root."""
    paths_by_name: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Files and folders by their last name."""
    modules: dict[str, Outline] = field(default_factory=dict[str, Outline])
    """Python modules by dotted name."""
    sources: dict[str, Outline] = field(default_factory=dict[str, Outline])
    """Outlines by path from the root."""
    classes: dict[str, list[tuple[Outline, str]]] = field(default_factory=dict[str, list[tuple[Outline, str]]])
    """Python classes by their bare name."""
    names: set[str] = field(default_factory=set[str])
    """Every declared name, without its owner."""
    commands: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    packages: set[str] = field(default_factory=set[str])
    whole: bool = True
    """Whether everything could be read; otherwise nothing is reported as missing."""

    def add_paths(self, paths: Iterable[str]) -> None:
        """Add the files and folders of a root."""
        for path in paths:
            self.paths.add(path)
            self.paths_by_name.setdefault(posixpath.basename(path), []).append(path)

    def add_file(self, path: str, outline: Outline) -> None:
        """Add the outline of a file."""
        self.sources[path] = outline
        self.names.update(name.rpartition(".")[2] for name in outline.names)
        if outline.language != "Python":
            return
        for module in _list_module_names(path, self.paths):
            self.modules.setdefault(module, outline)
        for declared in outline.declared:
            if declared.signature.startswith("class "):
                self.classes.setdefault(declared.name.rpartition(".")[2], []).append((outline, declared.name))

    def add_manifest(self, manifest: Manifest) -> None:
        """Add the dependencies and commands of a manifest."""
        self.packages.update(normalise_package(name) for name, _ in manifest.dependencies)
        if manifest.name:
            self.packages.add(normalise_package(manifest.name))
        for runner, name in manifest.commands:
            self.commands.setdefault(runner, set()).add(name)


def _list_module_names(path: str, paths: set[str]) -> list[str]:
    """Return the dotted names of a module: from its topmost package, and from the root."""
    parts = path.removesuffix(".pyi").removesuffix(".py").split("/")
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    top = len(parts) - 1
    while top > 0 and "/".join([*parts[:top], "__init__.py"]) in paths:
        top -= 1
    return [".".join(parts[top:]), ".".join(parts)] if parts else []


def check_claim(claim: CodeClaim, land: CodeIndex) -> DriftVerdict | None:
    """Check one claim; None if it holds, or if it cannot be checked here."""
    match claim.kind:
        case "path":
            return _check_path(claim.what, land)
        case "file":
            known = claim.what in land.paths_by_name or not land.whole
            return None if known else DriftVerdict(code="file-unknown", level="info", where="roots")
        case "name":
            return _check_name(claim.what, land)
        case "command":
            return _check_command(claim, land)
        case "dependency":
            return _check_dependency(claim.what, land)


def _check_path(path: str, land: CodeIndex) -> DriftVerdict | None:
    if path.startswith("/"):
        return DriftVerdict(code="path-dead", level="error", where=path) if land.exists(path) is False else None
    normal = posixpath.normpath(path)
    if normal.startswith("..") or not land.whole:
        return None
    ending = f"/{normal}"
    known = land.paths_by_name.get(posixpath.basename(normal), [])
    if normal in land.paths or any(f"/{one}".endswith(ending) for one in known):
        return None
    return DriftVerdict(code="path-missing", level="warning", where="roots")


def _check_name(name: str, land: CodeIndex) -> DriftVerdict | None:
    path, sign, member = name.partition("::")
    if sign:
        return _check_in_file(path, member, land)
    if "." not in name:
        known = name in land.names or not land.whole or not land.names
        return None if known else DriftVerdict(code="name-unknown", level="info", where="roots")
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        module = ".".join(parts[:cut])
        if module in land.modules:
            rest = ".".join(parts[cut:])
            package = any(other.startswith(f"{module}.") for other in land.modules)
            if not rest or _has_name(land.modules[module], rest):
                return None
            level: DriftLevel = "error" if cut > 1 or package else "warning"
            return DriftVerdict(code="name-dead", level=level, where=module)
    owners = land.classes.get(parts[0], [])
    if owners and not any(_has_name(outline, ".".join([owner, *parts[1:]])) for outline, owner in owners):
        return DriftVerdict(code="name-dead", level="error", where=owners[0][1])
    return None


def _check_in_file(path: str, member: str, land: CodeIndex) -> DriftVerdict | None:
    ending = f"/{posixpath.normpath(path).lstrip('/')}"
    known = [outline for one, outline in land.sources.items() if f"/{one}".endswith(ending) or path.endswith(f"/{one}")]
    if not known:
        return _check_path(path, land)
    if any(_has_name(outline, member) for outline in known):
        return None
    return DriftVerdict(code="name-dead", level="error", where=path)


def _has_name(outline: Outline, dotted: str) -> bool:
    """Return whether a name is declared, or may be, because its owner is open."""
    if dotted in outline.names or "" in outline.open_names:
        return True
    parts = dotted.split(".")
    for cut in range(1, len(parts)):
        owner = ".".join(parts[:cut])
        if owner in outline.open_names:
            return True
        if owner in outline.names and not any(name.startswith(f"{owner}.") for name in outline.names):
            return True  # a value whose members are unknown
    return False


def _check_command(claim: CodeClaim, land: CodeIndex) -> DriftVerdict | None:
    known = land.commands.get(claim.runner, set())
    if claim.runner == "script":
        known = known | land.packages | {name for name in land.paths_by_name if "." not in name}
        if claim.what in known or normalise_package(claim.what) in land.packages:
            return None
        return (
            DriftVerdict(code="command-unknown", level="info", where="roots") if land.commands.get("script") else None
        )
    if not known or claim.what in known or not land.whole:
        return None
    where = "package.json" if claim.runner == "npm" else "Makefile"
    return DriftVerdict(code="command-missing", level="warning", where=where)


def _check_dependency(name: str, land: CodeIndex) -> DriftVerdict | None:
    if not land.packages or not land.whole or normalise_package(name) in land.packages:
        return None
    if any(one.endswith(f"/{normalise_package(name)}") for one in land.packages):
        return None
    return DriftVerdict(code="dependency-missing", level="warning", where="manifests")


def compute_drift_score(findings: Iterable[DriftFinding]) -> int:
    """Return the score of a report, 0 to 100 (E-076).

    >>> compute_drift_score([])
    100
    """
    return max(0, min(_FULL, _FULL - sum(COSTS[finding.level] for finding in findings)))


def decide_drift(findings: Sequence[DriftFinding]) -> list[SetStatus]:
    """Invalidate every memory with an error; warnings change nothing."""
    wrong: dict[str, DriftFinding] = {}
    for finding in findings:
        if finding.level == "error":
            wrong.setdefault(finding.memory_id, finding)
    return [
        SetStatus(
            memory_id=name, status=Status.INVALIDATED, reason=f"drift: {one.code} {one.what} (looked in {one.where})"
        )
        for name, one in wrong.items()
    ]
