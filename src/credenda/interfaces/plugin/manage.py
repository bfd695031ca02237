"""Install the plugin in a host, check it, and remove it exactly: what we wrote goes, what the user changed stays."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from credenda import __version__
from credenda.clock import format_time
from credenda.errors import Corrupt, CredendaError, Invalid, NotFound
from credenda.interfaces.client_setup import toml_edit
from credenda.interfaces.client_setup.install import Place, find_installed, read_text, replace_text
from credenda.interfaces.client_setup.install import install as install_server
from credenda.interfaces.client_setup.install import remove as remove_server
from credenda.interfaces.plugin.contents import NAME, Plan, add_hooks, remove_hooks
from credenda.paths import create_folder
from credenda.portability.atomic_write import replace_file

# The record of what an installation wrote, so that its removal takes exactly that. It stands in the data folder, and a
# copy of it in the folder of the host, because a data folder may be deleted.


_FILE: Final = "plugins.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A file of the user that was changed: the copy of it before, and the hash of it after.

    `exact` tells whether the file may be put back as the copy has it while its hash is the same; `existed` whether
    there was a file. `entry` is the server's entry that was there before.
    """

    path: str
    after: str
    backup: str | None = None
    existed: bool = True
    exact: bool = True
    entry: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The record of an installation: hashes of our files by path, folders that were made, and shared files.

    `mark` is the path of the mark that the hooks set at each call, `after` what the user has to do before they run, and
    `copy` the path of the copy of this record; each is "" in the record of an earlier version.
    """

    host: str
    version: str
    files: Mapping[str, str]
    folders: tuple[str, ...] = ()
    shared: tuple[Shared, ...] = field(default=())
    mark: str = ""
    after: str = ""
    copy: str = ""


def hash_text(text: str) -> str:
    """Return the hash of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def load_record(data: Path, copies: Iterable[Path]) -> dict[str, Installation]:
    """Return the installations by host, from the data folder, and from `copies` those of which it knows nothing.

    Raises `Corrupt` for a damaged record.
    """
    found = _read_record(data / _FILE)
    for path in copies:
        found = {**_read_record(path), **found}
    return found


def _read_record(path: Path) -> dict[str, Installation]:
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
    shared = tuple(Shared(**_keep_known(Shared, one)) for one in told["shared"])
    return replace(Installation(**_keep_known(Installation, told)), folders=tuple(told["folders"]), shared=shared)


def _keep_known(kind: type[Shared | Installation], told: Mapping[str, Any]) -> dict[str, Any]:
    """Return what this version knows of a record, which a later one may have written."""
    known = {one.name for one in fields(kind)}
    return {name: value for name, value in told.items() if name in known}


def _save_record(data: Path, record: Mapping[str, Installation], held: Installation) -> None:
    """Write the installations, and a copy of the one that has changed; without it, the copy goes."""
    _write_record(data / _FILE, record)
    if held.copy:
        _write_record(Path(held.copy), {name: one for name, one in record.items() if name == held.host})


def _write_record(path: Path, record: Mapping[str, Installation]) -> None:
    if not record:
        path.unlink(missing_ok=True)
        return
    create_folder(path.parent)
    told = {host: asdict(one) for host, one in record.items()}
    with replace_file(path) as file:
        file.write((json.dumps(told, indent=2) + "\n").encode())


Entry = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginReport:
    """A report of an installation or removal: paths that were written, removed or kept, and copies of changed files."""

    host: str
    done: str
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    backups: tuple[str, ...] = ()
    next_step: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginStatus:
    """An installation: its version, when a hook of it last ran, and the files that are missing or were changed.

    `ok` tells that the files are complete and that a hook has run since they were written: a host may ignore hooks
    without a word. Without that, `next_step` is what the user still has to do.
    """

    host: str
    version: str
    ok: bool
    files: int
    hooks_ran_at: str | None
    next_step: str = ""
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def install_plugin(plan: Plan, data: Path, *, made: Iterable[Path] = ()) -> PluginReport:
    """Write what a plan says, and record it in the folder `data` and beside its files.

    `made` are folders above `data`, or this itself, that were not there before: a removal takes them if they are empty.

    A repeat brings everything up to date. A file of another version that is not written any more goes. Raises `Invalid`
    for a file of the user that cannot be changed safely; what was written before is recorded and can be removed.
    """
    record = load_record(data, [plan.record])
    before = record.get(plan.host, Installation(host=plan.host, version="", files={}))
    folders = [*before.folders, *map(str, [*list_missing(plan.record.parent), *made])]
    state = replace(before, version=__version__, mark=plan.mark, after=plan.after, copy=str(plan.record))
    written: list[str] = []
    try:
        for path, text in plan.files.items():
            folders += [str(one) for one in list_missing(path.parent) if str(one) not in folders]
            # Refuse to write over a file that is not ours; one with our text is, although the record of it may be
            # lost.
            if (
                path.exists()
                and str(path) not in before.files
                and (held := read_text(path)) != text
                and NAME not in held
            ):
                why = "it was not written by this plugin"
                raise Invalid(f"{path} exists", why=why, fix="move it away and install again")
            if not path.exists() or read_text(path) != text:
                create_folder(path.parent)
                with replace_file(path) as file:
                    file.write(text.encode("utf-8"))
                written.append(str(path))
            state = replace(state, files={**state.files, str(path): hash_text(text)}, folders=tuple(folders))
        stale = [path for path in before.files if Path(path) not in plan.files]
        removed, _ = _remove_files({path: before.files[path] for path in stale})
        state = replace(state, files={path: one for path, one in state.files.items() if path not in stale})
        for shared in _update_shared(plan, before):
            folders += [str(one) for one in shared.made if str(one) not in folders]
            written += [shared.entry.path] if shared.changed else []
            others = tuple(one for one in state.shared if one.path != shared.entry.path)
            state = replace(state, shared=(*others, shared.entry), folders=tuple(folders))
    finally:
        _save_record(data, {**record, plan.host: state}, state)
        if before.copy not in {"", state.copy}:
            Path(before.copy).unlink(missing_ok=True)
    backups = tuple(one.backup for one in state.shared if one.backup)
    done = ("updated" if before.version else "installed") if written or removed else "already there"
    if written:
        _remove_mark(plan.mark)  # what ran before says nothing of the hooks that were written now
    return PluginReport(
        host=plan.host,
        done=done,
        written=tuple(written),
        removed=tuple(removed),
        backups=backups,
        next_step=plan.after if written else "",
    )


def remove_plugin(plan: Plan, data: Path) -> PluginReport:
    """Remove the files installed in a host; files that the user changed stay, without our entries in shared ones.

    The plan of the host tells how its shared files are read. Raises `NotFound` if nothing is installed there.
    """
    record = load_record(data, [plan.record])
    held = record.get(plan.host)
    if held is None:
        raise NotFound(f"the plugin is not installed in {plan.host}", fix="`credenda plugin status` lists where it is")
    removed: list[str] = []
    kept: list[str] = []
    for shared in held.shared:
        (removed if _take_back(shared, plan) else kept).append(shared.path)
    gone, changed = _remove_files(held.files)
    _remove_mark(held.mark)
    others = {name: one for name, one in record.items() if name != plan.host}
    if others:  # the last one that goes takes the folder of the record with it
        first, one = next(iter(others.items()))
        mine = [folder for folder in held.folders if data.is_relative_to(folder) and folder not in one.folders]
        others[first] = replace(one, folders=(*one.folders, *mine))
    _save_record(data, others, held)
    for folder in sorted(held.folders, key=len, reverse=True):
        with suppress(OSError):
            Path(folder).rmdir()
    return PluginReport(host=plan.host, done="removed", removed=(*removed, *gone), kept=(*kept, *changed))


def find_status(data: Path, plans: Iterable[Plan]) -> list[PluginStatus]:
    """Return the state of every installation; `plans` tell where copies of its record are."""
    return [_check(one) for one in load_record(data, [plan.record for plan in plans]).values()]


def _check(held: Installation) -> PluginStatus:
    missing = [path for path in held.files if not Path(path).is_file()]
    changed = [path for path, digest in held.files.items() if path not in missing and _hash(path) != digest]
    gone = [one.path for one in held.shared if NAME not in _read(one.path)]
    complete = not missing and not gone
    if not held.mark:
        ran_at = None
    else:
        try:
            ran_at = format_time(Path(held.mark).stat().st_mtime_ns // 1_000)
        except OSError:
            ran_at = None
    return PluginStatus(
        host=held.host,
        version=held.version,
        ok=complete and ran_at is not None,
        files=len(held.files) + len(held.shared),
        hooks_ran_at=ran_at,
        next_step=held.after if complete and ran_at is None else "",
        missing=(*missing, *gone),
        changed=tuple(changed),
    )


def _remove_mark(mark: str) -> None:
    if mark:
        with suppress(OSError):
            Path(mark).unlink()


def list_missing(folder: Path) -> list[Path]:
    """Return the folders that must be made, topmost first."""
    return [one for one in (*reversed(folder.parents), folder) if not one.exists()]


@dataclass(frozen=True, slots=True)
class _Change:
    """A shared file after the change; `made` are folders that were made for it."""

    entry: Shared
    changed: bool
    made: Sequence[Path]


def _update_shared(plan: Plan, before: Installation) -> Iterable[_Change]:
    """Change the files of the user that a plan names, one after the other."""
    held = {one.path: one for one in before.shared}
    edits: dict[Path, list[Callable[[], str | None]]] = {}
    earlier: dict[Path, Entry] = {}
    if plan.hook_file is not None:
        edits[plan.hook_file.path] = [
            partial(_update_text, plan.hook_file.path, partial(add_hooks, wanted=plan.hook_file))
        ]
    for place, entry in plan.servers:
        found = find_installed(place, NAME)
        earlier[place.path] = None if found == entry else found  # ours, if its record is lost
        edits.setdefault(place.path, []).append(partial(_update_server, place, entry))
    if plan.setting is not None:
        edits.setdefault(plan.setting.path, []).append(
            partial(
                _update_text,
                plan.setting.path,
                partial(toml_edit.set_key, key=plan.setting.key, value=plan.setting.value, note=plan.setting.note),
            )
        )
    for path, works in edits.items():
        yield _update_file(path, held.get(str(path)), works, entry=earlier.get(path))


def _update_server(place: Place, entry: Mapping[str, Any]) -> str | None:
    return install_server(place, NAME, entry).backup


def _update_text(path: Path, edit: Callable[[str], str]) -> str | None:
    """Write a file of the user as `edit` has it, and return the path of the copy of it."""
    text = read_text(path.resolve())
    try:
        changed = edit(text)
    except Invalid as error:
        raise Invalid(f"{path} was not changed: {error.what}", why=error.why, fix=error.fix) from error
    return str(backup) if changed != text and (backup := replace_text(path.resolve(), text, changed)) else None


def _update_file(path: Path, own: Shared | None, works: Sequence[Callable[[], str | None]], *, entry: Entry) -> _Change:
    """Run the changes of a shared file, and describe it; the first copy is kept as long as it can be put back."""
    made = list_missing(path.parent)
    existed, text = path.exists(), read_text(path.resolve())
    backups = [backup for work in works if (backup := work())]
    after = read_text(path.resolve())
    for backup in backups if own or not existed else backups[1:]:
        Path(backup).unlink(missing_ok=True)  # it holds our earlier entries; the copy of before is the user's file
    if own is None:
        first = backups[0] if backups and existed else None
        told = Shared(path=str(path), after=hash_text(after), backup=first, existed=existed, entry=entry)
        return _Change(told, after != text, made)
    exact = own.exact and own.after == hash_text(text)
    return _Change(replace(own, after=hash_text(after), exact=exact), after != text, made)


def _remove_files(files: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Remove files that are as we wrote them; return those removed and those that stay."""
    removed: list[str] = []
    kept: list[str] = []
    for path, digest in files.items():
        if not Path(path).exists():
            continue
        if _hash(path) == digest:
            Path(path).unlink()
            removed.append(path)
        else:
            kept.append(path)
    return removed, kept


def _take_back(shared: Shared, plan: Plan) -> bool:
    """Put a shared file back as it was, or take our entries out of it; return whether it is as it was before."""
    path = Path(shared.path)
    if not path.exists():
        return True
    text = read_text(path.resolve())
    backup = Path(shared.backup) if shared.backup else None
    if shared.exact and hash_text(text) == shared.after and (not shared.existed or (backup and backup.is_file())):
        if not shared.existed:
            path.unlink()
        elif backup is not None:
            earlier = read_text(backup)
            if earlier != text:
                _put_back(path, text, earlier)
            backup.unlink()
        return True
    changed = _take_out(text, shared, plan)
    if not changed.strip() and not shared.existed:
        path.unlink()
        return True
    if changed != text:
        _put_back(path, text, changed)
    return changed == text


def _take_out(text: str, shared: Shared, plan: Plan) -> str:
    """Return the text of a shared file without all that a plan puts into it."""
    path = Path(shared.path)
    for place, _ in plan.servers:
        if place.path == path:
            text = remove_server(text, place, NAME, shared.entry)
    if plan.setting is not None and plan.setting.path == path:
        text = toml_edit.remove_key(text, plan.setting.key, note=plan.setting.note)
    if plan.hook_file is not None and plan.hook_file.path == path:
        text = remove_hooks(text, None if shared.existed else plan.hook_file.head)
    return text


def _put_back(path: Path, held: str, text: str) -> None:
    """Write a file without leaving another copy of it."""
    backup = replace_text(path.resolve(), held, text)
    if backup is not None:
        backup.unlink(missing_ok=True)


def _hash(path: str) -> str:
    return hash_text(_read(path))


def _read(path: str) -> str:
    try:
        return read_text(Path(path))
    except CredendaError:
        return ""
