"""Drift: check the claims of memories about code against given folders."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, cast

from credenda.config import Settings
from credenda.errors import Invalid
from credenda.ids import IdKind, parse_id_number
from credenda.manage.code.scan_result import ScanResult
from credenda.manage.code.scanner import check_exists, check_root, scan_folder
from credenda.manage.drift.check import CodeIndex, check_claim, compute_drift_score, decide_drift
from credenda.manage.drift.claims import extract_code_claims
from credenda.model.change import Actor, SetStatus
from credenda.model.code import DriftFinding, DriftReport
from credenda.model.derived import is_dreamed
from credenda.model.memory import Layer, Memory, Stance, Status
from credenda.paths import check_path
from credenda.runtime import Parts
from credenda.storage.store import MemoryFilter, Writer
from credenda.write.apply import Application, apply

__all__ = ["drift", "read_opted_in_folders"]

_BATCH: Final = 1_000
_ROOTS_MAX: Final = 32
_PROBLEMS_SHOWN: Final = 100
_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})
_LAYERS: Final = frozenset(Layer) - {Layer.CODEBASE}
_CLAIMED: Final = frozenset({Stance.ASSERTED, Stance.REPORTED})


def drift(
    parts: Parts,
    roots: str | Path | Sequence[str | Path] | None = None,
    *,
    fix: bool = False,
    actor: Actor = Actor.USER,
) -> DriftReport:
    """Check the claims of memories about code against folders (E-071); nothing outside these folders is read.

    Without `roots` the setting `drift_roots` gives the folders. `fix` sets memories with errors to `invalidated`, by
    changes that can be undone; otherwise nothing is changed. Raises `Invalid` if there is no folder, `Invalid` or
    `NotFound` for a path that is not a folder.
    """
    roots = _list_opted_in_folders(parts) if roots is None else roots
    folders = _open_folders(roots)
    surveys = [scan_folder(folder) for folder in folders]
    land = _survey_folders(surveys, roots)
    problems = [problem for one in surveys for problem in one.problems]
    memories, checked, findings = _look(parts, land)
    done = _invalidate_memories(parts, findings, actor) if fix else ()
    empty = not any(one.paths for one in surveys)
    return DriftReport(
        roots=tuple(str(folder) for folder in folders),
        score=compute_drift_score(findings),
        findings=tuple(findings),
        memories=memories,
        checked=dict(sorted(checked.items())),
        invalidated=done,
        problems=tuple(problems[:_PROBLEMS_SHOWN]),
        fix=fix,
        ran=not empty,
        reason="the folders contain no file" if empty else "",
    )


def read_opted_in_folders(settings: Settings) -> list[str]:
    """Return the folders in the setting `drift_roots`, which separates them as `PATH` does."""
    return [one for one in settings.drift_roots.split(os.pathsep) if one.strip()]


def _list_opted_in_folders(parts: Parts) -> list[str]:
    if roots := read_opted_in_folders(parts.settings):
        return roots
    why = "no folder was passed, and the setting drift_roots is empty"
    raise Invalid("drift needs a folder", why=why, fix="pass the folders, or set drift_roots")


def _open_folders(roots: str | Path | Sequence[str | Path]) -> list[Path]:
    given = list(map(check_path, [roots] if isinstance(roots, str | Path) else _require_list(roots)))
    if not given:
        raise Invalid(
            "drift needs a folder", why="no folder is read without being named", fix="pass the folder with the code"
        )
    if len(given) > _ROOTS_MAX:
        raise Invalid(f"{len(given)} folders", why=f"at most {_ROOTS_MAX} can be checked together", fix="pass fewer")
    return list(dict.fromkeys(map(check_root, given)))


def _require_list(roots: object) -> Sequence[object]:
    if not isinstance(roots, Sequence) or isinstance(roots, bytes | bytearray):
        why = f"they are a {type(roots).__name__}"
        raise Invalid("roots must be folders", why=why, fix="pass a folder or a list of folders")
    return cast("Sequence[object]", roots)


def _survey_folders(surveys: Sequence[ScanResult], roots: str | Path | Sequence[str | Path]) -> CodeIndex:
    given = [roots] if isinstance(roots, str | Path) else roots
    named = {str(Path(one).absolute()): str(check_root(one)) for one in given}
    land = CodeIndex(exists=partial(_find_absolute_path, [one.root for one in surveys], named))
    for one in surveys:
        land.add_paths([*one.paths, *one.folders])
        land.whole = land.whole and one.whole
    for one in surveys:
        for file in one.files:
            land.add_file(file.path, file.outline)
        for manifest in one.manifests:
            land.add_manifest(manifest)
    return land


def _find_absolute_path(roots: Sequence[str], named: dict[str, str], path: str) -> bool | None:
    """Return whether an absolute path exists; a root may be given by a symbolic link."""
    for name, root in named.items():
        if path == name or path.startswith(f"{name}/"):
            path = f"{root}{path.removeprefix(name)}"
            break
    answers = [check_exists(root, path) for root in roots]
    return None if all(one is None for one in answers) else any(answers)


def _look(parts: Parts, land: CodeIndex) -> tuple[int, Counter[str], list[DriftFinding]]:
    looked = 0
    checked: Counter[str] = Counter()
    findings: list[DriftFinding] = []
    below: int | None = None
    while True:
        with parts.store.reader(parts.user_id) as reader:
            tag = reader.tenant.tag
            batch = reader.find(MemoryFilter(statuses=_HELD, layers=_LAYERS, below=below, limit=_BATCH))
        if not batch:
            return looked, checked, findings
        looked += len(batch)
        for memory in batch:
            if memory.stance in _CLAIMED and not is_dreamed(memory):
                findings += _check_memory(memory, land, checked)
        below = parse_id_number(batch[-1].id, IdKind.MEMORY, tag)


def _check_memory(memory: Memory, land: CodeIndex, checked: Counter[str]) -> list[DriftFinding]:
    found: list[DriftFinding] = []
    for claim in extract_code_claims(memory.text):
        checked[claim.kind] += 1
        verdict = check_claim(claim, land)
        if verdict is not None:
            finding = DriftFinding(
                code=verdict.code, level=verdict.level, memory_id=memory.id, what=claim.what, where=verdict.where
            )
            found.append(finding)
    return found


def _invalidate_memories(parts: Parts, findings: Sequence[DriftFinding], actor: Actor) -> tuple[str, ...]:
    """Invalidate the memories that have not changed since they were checked."""
    changes = decide_drift(findings)

    def work(writer: Writer) -> list[str]:
        held = {one.id: one for one in writer.memories([change.memory_id for change in changes])}
        fitting: list[SetStatus] = [
            change for change in changes if change.memory_id in held and held[change.memory_id].status in _HELD
        ]
        apply(writer, fitting, Application(actor=actor, now_us=parts.clock.now_us(), cause="drift"))
        return [change.memory_id for change in fitting]

    return tuple(parts.store.commit(parts.user_id, work)) if changes else ()
