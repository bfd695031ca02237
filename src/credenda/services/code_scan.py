"""Scan a folder of code and store its declarations as memories of the layer `codebase`."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, cast

from credenda.config import Settings
from credenda.errors import Invalid, NotFound
from credenda.ids import IdKind, parse_id_number
from credenda.manage.code_outline import (
    CodeEntry,
    IgnoreRules,
    Outline,
    ScannedFile,
    ScanResult,
    build_entries,
    detect_language,
    is_ignored,
    is_manifest,
    parse_manifest,
    parse_outline,
    parse_rules,
    plan_scan,
)
from credenda.manage.drift import CodeIndex, check_claim, compute_drift_score, decide_drift, extract_code_claims
from credenda.model.change import Actor, Add, Change, SetStatus, Support, end_memory
from credenda.model.claim import Span
from credenda.model.event import CODE, TRUST, NewEvent, Role, Source
from credenda.model.memory import Draft, Layer, Memory, MemoryType, Stance, Status, is_dreamed
from credenda.model.report import DriftFinding, DriftReport, ScanReport
from credenda.paths import check_path, find_path_kind
from credenda.runtime import Parts
from credenda.storage.plan import commit_decided, return_decided
from credenda.storage.records import EMBED
from credenda.storage.store import Job, MemoryFilter, Writer
from credenda.write.apply import Application, apply
from credenda.write.forget.tombstones import is_deleted
from credenda.write.intake.secrets import check_identifier, is_instruction_like, screen_secrets

# Scan a folder and outline its files.


FILES_MAX: Final = 20_000
"""Maximum number of files scanned in one folder."""
FILE_BYTES: Final = 1 << 20
"""Maximum size of a file that is outlined; a larger one is listed only."""
_SNIFFED: Final = 8_192
_FOLDERS: Final = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__"})


def check_root(path: str | Path) -> Path:
    """Return a folder as an absolute path without links; raises `Invalid` or `NotFound`. Reads no file."""
    if not str(path).strip() or "\x00" in str(path):
        raise Invalid("no folder is named", why="the path is empty", fix="name the folder that holds the code")
    root = Path(os.path.realpath(path))
    there = find_path_kind(root)
    if there is None:
        raise NotFound(f"there is no folder {path}", fix="check the path")
    if there != "folder":
        raise Invalid(f"{path} is not a folder", why="it is a file", fix="name the folder that holds it")
    if root == root.parent:
        raise Invalid("this would read the whole machine", why=f"{path} is the root", fix="name one project's folder")
    return root


def check_exists(root: str, path: str) -> bool | None:
    """Return whether a path exists; None if it lies outside the root, as written or through a link."""
    normal = os.path.normpath(path)  # as written: a link is looked at, not followed
    if normal != root and not normal.startswith(f"{root}{os.sep}"):
        return None
    parent = os.path.realpath(os.path.dirname(normal))  # noqa: PTH120
    if root not in (normal, parent) and not parent.startswith(f"{root}{os.sep}"):
        return None
    try:
        os.lstat(normal)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return None
    return True


def scan_folder(root: Path, *, files_max: int = FILES_MAX) -> ScanResult:
    """Scan a folder, in order of names; unreadable files are reported in `problems`."""
    found = ScanResult(root=str(root))
    for path, full in _walk(root, found):
        if len(found.paths) >= files_max:
            found.whole = False
            found.problems.append(f"more than {files_max:,} files: the rest was not scanned")
            break
        found.paths.append(path)
        _outline_file(path, full, found)
    return found


def _walk(root: Path, found: ScanResult) -> Iterator[tuple[str, str]]:
    """Yield the files that git would not ignore, as (path from the root, full path)."""
    waiting: list[tuple[str, tuple[IgnoreRules, ...]]] = [("", ())]
    while waiting:
        base, above = waiting.pop()
        folder = os.path.join(root, base) if base else str(root)  # noqa: PTH118 - one join for each of many files
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            found.problems.append(f"{base or '.'}: {error.strerror}")
            found.whole = False
            continue
        rules = (*above, *_load_rules(entries, base, found))
        below: list[tuple[str, tuple[IgnoreRules, ...]]] = []
        for entry in entries:
            path = f"{base}{entry.name}"
            if not path.isprintable():
                found.problems.append(f"{base}: a name that is not printable")
            elif entry.is_symlink():
                if not is_ignored(path, folder=False, rules=rules):
                    found.paths.append(path)
            elif entry.is_dir(follow_symlinks=False):
                if entry.name not in _FOLDERS and not is_ignored(path, folder=True, rules=rules):
                    found.folders.add(path)
                    below.append((f"{path}/", rules))
            elif entry.is_file(follow_symlinks=False) and not is_ignored(path, folder=False, rules=rules):
                yield path, entry.path
        waiting += reversed(below)


def _load_rules(entries: list[os.DirEntry[str]], base: str, found: ScanResult) -> list[IgnoreRules]:
    for entry in entries:
        if entry.name == ".gitignore" and entry.is_file(follow_symlinks=False):
            path = f"{base}.gitignore"
            raw = _read_bytes(entry.path, path, found)
            text = None if raw is None else raw.decode("utf-8", "replace")
            return [parse_rules(text or "", base)]
    return []


def _outline_file(path: str, full: str, found: ScanResult) -> None:
    raw = _read_bytes(full, path, found)
    if raw is None:
        return
    if b"\x00" in raw[:_SNIFFED]:
        found.binary += 1
        return
    text = raw.decode("utf-8", "replace")
    digest = hashlib.blake2b(raw, digest_size=16).hexdigest()
    declared = parse_outline(path, text) if len(raw) <= FILE_BYTES else Outline(language=detect_language(path))
    if declared.problem:
        found.problems.append(f"{path}: {declared.problem}")
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    found.files.append(ScannedFile(path=path, digest=digest, lines=lines, outline=declared))
    if is_manifest(path):
        manifest = parse_manifest(path, text)
        found.manifests.append(manifest)
        if manifest.problem:
            found.problems.append(f"{path}: {manifest.problem}")


def _read_bytes(full: str, path: str, found: ScanResult) -> bytes | None:
    """Read a file without following a link that replaced it, and without blocking on a special file."""
    try:
        handle = os.open(full, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as opened:
            size = os.fstat(opened.fileno())
            if not stat.S_ISREG(size.st_mode):
                return None
            if size.st_size > FILE_BYTES:
                found.problems.append(f"{path}: {size.st_size:,} bytes exceed the limit of {FILE_BYTES:,}")
                return None
            return opened.read(FILE_BYTES + 1)
    except OSError as error:
        found.problems.append(f"{path}: {error.strerror}")
        return None


_TOGETHER: Final = 40
"""Memories per transaction; small, so that other writers do not wait."""
_PROBLEMS_SHOWN: Final = 100
_CONFIDENCE: Final = 0.8
_SPEAKER: Final = "scan"


class _Kept(NamedTuple):
    """A page that passed the checks, and the memory it replaces."""

    page: CodeEntry
    before: Memory | None


def scan(parts: Parts, path: str | Path) -> ScanReport:
    """Read a folder and store the declarations of its code; scanning unchanged code again changes nothing (E-005).

    Each memory is stored separately, so an interrupted scan is completed by the next. Raises `Invalid` or `NotFound` if
    the path is not a folder that can be scanned; nothing is changed then.
    """
    root = check_root(path)
    found = scan_folder(root)
    made = build_entries(found, root.name)
    with parts.store.reader(parts.user_id) as reader:
        scanned = reader.find(MemoryFilter(layers=frozenset({Layer.CODEBASE})))
    known = [memory for memory in scanned if memory.metadata.get("root") == str(root)]
    plan = plan_scan(made, known, found.paths, whole=found.whole)
    problems = list(found.problems)
    wanted = [_Kept(page, None) for page in plan.fresh] + [_Kept(page, memory) for page, memory in plan.changed]
    kept: list[_Kept] = []
    masked = 0
    for one in wanted:
        screened = _screen_draft(parts, one, problems)
        if screened is not None:
            masked += screened.page.text != one.page.text
            kept.append(screened)
    added = changed = 0
    for start in range(0, len(kept), _TOGETHER):
        filed = _scan_file(parts, str(root), kept[start : start + _TOGETHER], problems)
        added += sum(one.before is None for one in filed)
        changed += sum(one.before is not None for one in filed)
    removed = _end(parts, plan.ended)
    if kept or removed:
        parts.jobs_ready.set()
    return ScanReport(
        root=str(root),
        files=len(found.paths),
        added=added,
        changed=changed,
        unchanged=plan.unchanged,
        removed=removed,
        binary=found.binary,
        passed_over=len(problems),
        masked=masked,
        problems=tuple(problems[:_PROBLEMS_SHOWN]),
        whole=found.whole,
    )


def _screen_draft(parts: Parts, one: _Kept, problems: list[str]) -> _Kept | None:
    """Mask secrets as the settings say; drop pages that look like prompt injection, because file names are data."""
    if is_instruction_like(one.page.text):
        problems.append(f"{one.page.path}: skipped, because its names look like prompt injection")
        return None
    try:
        check_identifier(one.page.path, "path", parts.settings.secrets_policy)
    except Invalid:
        problems.append("a file was skipped, because its name contains a secret")
        return None
    try:
        text = screen_secrets(one.page.text, parts.settings.secrets_policy).text
    except Invalid as error:
        problems.append(f"{one.page.path}: {error.what}")
        return None
    return one._replace(page=replace(one.page, text=text))


def _scan_file(parts: Parts, root: str, group: Sequence[_Kept], problems: list[str]) -> list[_Kept]:
    now_us = parts.clock.now_us()
    embeds = parts.embedder is not None

    def work(writer: Writer) -> tuple[list[_Kept], list[str]]:
        filed: list[_Kept] = []
        refused: list[str] = []
        numbers: list[int] = []
        for one in group:
            page = one.page
            name = root.rpartition("/")[2]
            draft = Draft(
                text=page.text,
                type=MemoryType.FACT,
                entity=f"{name}/{page.path}",
                attribute=page.attribute,
                value=page.path.rpartition("/")[2] or name,
                scope=root[-256:],
                speaker=_SPEAKER,
                confidence=_CONFIDENCE,
                layer=Layer.CODEBASE,
                valid_from_us=now_us,
                trust=TRUST[Source.CODE_SCAN],
                metadata={"root": root, "path": page.path, "hash": page.digest, "language": page.language},
            )
            if is_deleted(writer, draft):
                refused.append(f"{one.page.path or '.'}: skipped, because it was deleted")
                continue
            before = writer.memories([one.before.id])[0] if one.before else None
            if before is not None and one.before is not None and before.version != one.before.version:
                continue  # changed meanwhile: left for the next scan
            event_id = writer.put(
                NewEvent(
                    text=one.page.text,
                    role=Role.DOCUMENT,
                    speaker=_SPEAKER,
                    source=Source.CODE_SCAN,
                    trust=TRUST[Source.CODE_SCAN],
                    occurred_us=now_us,
                    flags=(CODE,),
                    metadata={"root": root, "path": one.page.path},
                )
            )
            claim_hash = hashlib.blake2b(f"{one.page.attribute}\x00{one.page.digest}".encode(), digest_size=16).digest()
            support = (Support(span=Span(event_id, 0, len(one.page.text)), claim_hash=claim_hash),)
            reason = "read by a scan" if one.before is None else "the file changed"
            changes: list[Change] = [Add(key="new:page", draft=draft, support=support, reason=reason)]
            if one.before is not None:
                changes.append(end_memory(one.before, now_us, "the file changed", "new:page"))
            apply(writer, changes, Application(actor=Actor.RULE, now_us=now_us, cause=event_id, embeds=embeds))
            numbers.append(parse_id_number(event_id, IdKind.EVENT, writer.tenant.tag))
            filed.append(one)
        if embeds and numbers:  # one job for all, so that new messages are not queued behind each file
            writer.put(Job(kind=EMBED, first=numbers[0], last=numbers[-1]))
        return filed, refused

    with parts.active_calls:
        filed, refused = commit_decided(parts.store, parts.user_id, work, return_decided)
    problems += refused
    return filed


def _end(parts: Parts, ended: Sequence[Memory]) -> int:
    """End the memories of files that no longer exist, valid until now."""
    now_us = parts.clock.now_us()

    def work(writer: Writer) -> int:
        current = {memory.id: memory for memory in writer.memories([memory.id for memory in group])}
        changes = [
            end_memory(memory, now_us, "the file is gone")
            for memory in group
            if memory.id in current and current[memory.id].version == memory.version
        ]
        apply(writer, changes, Application(actor=Actor.RULE, now_us=now_us, cause="scan"))
        return len(changes)

    done = 0
    for start in range(0, len(ended), _TOGETHER):
        group = ended[start : start + _TOGETHER]
        done += commit_decided(parts.store, parts.user_id, work, return_decided)
    return done


# Drift: check the claims of memories about code against given folders.


_BATCH: Final = 1_000
_ROOTS_MAX: Final = 32
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
    given = list(map(check_path, [roots] if isinstance(roots, str | Path) else _require_list(roots)))
    if not given:
        raise Invalid(
            "drift needs a folder", why="no folder is read without being named", fix="pass the folder with the code"
        )
    if len(given) > _ROOTS_MAX:
        raise Invalid(f"{len(given)} folders", why=f"at most {_ROOTS_MAX} can be checked together", fix="pass fewer")
    folders = list(dict.fromkeys(map(check_root, given)))
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
                for claim in extract_code_claims(memory.text):
                    checked[claim.kind] += 1
                    verdict = check_claim(claim, land)
                    if verdict is not None:
                        finding = DriftFinding(
                            code=verdict.code,
                            level=verdict.level,
                            memory_id=memory.id,
                            what=claim.what,
                            where=verdict.where,
                        )
                        findings.append(finding)
        below = parse_id_number(batch[-1].id, IdKind.MEMORY, tag)


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
