"""Turn a code scan into memories of the layer `codebase`, and plan how a later scan changes them. Pure.

There is one memory for each file (language, declarations with signatures, imports), one for the tree and one for the
dependencies. An equal content hash changes nothing.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from credenda.limits import MEMORY_TEXT_CHARACTERS
from credenda.manage.code.ignore import Manifest, ScannedFile, ScanResult
from credenda.model.memory import Memory, Status

_NAME_CHARACTERS: Final = 256
_SHOWN_DEPENDENCIES: Final = 40
_SETTLED: Final = frozenset({Status.SUPERSEDED, Status.MERGED, Status.DELETED})
_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED})
_OUT_OF_USE: Final = frozenset({Status.FORGOTTEN})
TREE: Final = "tree"
DEPENDENCIES: Final = "dependencies"
CODE: Final = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeEntry:
    """One memory to store: `path` from the root ("" for the root itself) and `attribute`.

    `digest` is a hash of the content (32 hex digits).
    """

    path: str
    attribute: str
    text: str
    digest: str
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanPlan:
    """The plan of a scan: pages without a memory, pages that replace one, and memories whose file is gone."""

    fresh: tuple[CodeEntry, ...]
    changed: tuple[tuple[CodeEntry, Memory], ...]
    ended: tuple[Memory, ...]
    unchanged: int


def build_entries(survey: ScanResult, name: str) -> list[CodeEntry]:
    """Turn a scan into pages; `name` is the displayed name of the root."""
    found = [
        _describe_file(one, name)
        for one in survey.files
        if one.outline.language and len(one.path) < _NAME_CHARACTERS // 2
    ]
    found.append(_describe_tree(survey, name))
    if any(manifest.dependencies or manifest.commands for manifest in survey.manifests):
        found.append(_describe_dependencies(survey.manifests, name))
    return found


def _describe_file(one: ScannedFile, name: str) -> CodeEntry:
    outline = one.outline
    head = f"{name}/{one.path} ({outline.language}, {one.lines:,} lines)"
    if outline.problem:
        head += f"; {outline.problem}"
    inside = [("  " * declared.name.count(".") + declared.signature) for declared in outline.declared]
    imports = [f"imports {', '.join(outline.imports)}"] if outline.imports else []
    text = _join_bounded([head, *inside], imports)
    return CodeEntry(path=one.path, attribute=CODE, text=text, digest=one.digest, language=outline.language)


def _join_bounded(lines: Sequence[str], last: Sequence[str] = ()) -> str:
    """Join lines up to the length limit of a memory, and state how many are left out."""
    tail = "\n".join(last)[: MEMORY_TEXT_CHARACTERS // 4]
    room = MEMORY_TEXT_CHARACTERS - len(tail) - 40
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    if not kept:
        kept = [lines[0][:room]]
    rest = [f"… and {len(lines) - len(kept):,} more"] if len(kept) < len(lines) else []
    return "\n".join([*kept, *rest, *([tail] if tail else [])])


def _describe_tree(survey: ScanResult, name: str) -> CodeEntry:
    counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for path in survey.paths:
        folder, _, file = path.rpartition("/")
        _, dot, ending = file.rpartition(".")
        counted[folder][f".{ending}" if dot and len(ending) < 8 else file[:40]] += 1  # noqa: PLR2004 - a short ending
    lines = [f"{name}/ holds {len(survey.paths):,} files in {len(survey.folders) + 1:,} folders"]
    for folder in sorted(counted, key=lambda one: (one.count("/"), one)):
        kinds = ", ".join(f"{count} {kind}" for kind, count in counted[folder].most_common(6))
        lines.append(f"{folder or '.'}: {kinds}")
    return CodeEntry(path="", attribute=TREE, text=_join_bounded(lines), digest=_hash_lines(survey.paths))


def _describe_dependencies(manifests: Sequence[Manifest], name: str) -> CodeEntry:
    lines = [f"{name}/ dependencies and commands"]
    for manifest in manifests:
        names = [f"{one} {version}".strip() for one, version in dict(manifest.dependencies).items()]
        if names:
            more = f" and {len(names) - _SHOWN_DEPENDENCIES} more" if len(names) > _SHOWN_DEPENDENCIES else ""
            lines.append(f"{manifest.path} needs {', '.join(names[:_SHOWN_DEPENDENCIES])}{more}")
        if manifest.commands:
            lines.append(f"{manifest.path} has {', '.join(f'{runner} {one}' for runner, one in manifest.commands)}")
    return CodeEntry(path="", attribute=DEPENDENCIES, text=_join_bounded(lines), digest=_hash_lines(lines))


def _hash_lines(lines: Iterable[str]) -> str:
    return hashlib.blake2b("\n".join(lines).encode("utf-8", "replace"), digest_size=16).hexdigest()


def plan_scan(made: Sequence[CodeEntry], known: Sequence[Memory], seen: Iterable[str], *, whole: bool) -> ScanPlan:
    """Compare pages with the memories of the same root, newest first in `known`; `seen` are all existing files.

    A memory that the user has forgotten stays forgotten. Without `whole`, an unseen file may still exist, so no memory
    ends.
    """
    newest: dict[tuple[str, str], Memory] = {}
    for memory in known:
        if memory.status not in _SETTLED:
            newest.setdefault(_get_place(memory), memory)
    fresh: list[CodeEntry] = []
    changed: list[tuple[CodeEntry, Memory]] = []
    unchanged = 0
    for page in made:
        memory = newest.get((page.path, page.attribute))
        if memory is None:
            fresh.append(page)
        elif memory.metadata.get("hash") == page.digest or memory.status in _OUT_OF_USE:
            unchanged += 1
        elif memory.status in _HELD:
            changed.append((page, memory))
        else:
            fresh.append(page)
    present = {(page.path, page.attribute) for page in made} | {(path, CODE) for path in seen}
    gone = [one for one in known if one.status in _HELD and _get_place(one) not in present] if whole else []
    return ScanPlan(fresh=tuple(fresh), changed=tuple(changed), ended=tuple(gone), unchanged=unchanged)


def _get_place(memory: Memory) -> tuple[str, str]:
    return str(memory.metadata.get("path", "")), memory.attribute or ""
