"""The audit: who called what, the newest first; a check of the chain; and the records as a file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from credenda.current_call import use_zone
from credenda.errors import Forbidden, Invalid
from credenda.interfaces.authorization import ServerFile
from credenda.interfaces.web.render import format_day
from credenda.interfaces.web.view import Done, Download, Page, Shown, View
from credenda.model.server import AccessToken, AuditRecord
from credenda.services.browse import write_cursor

_LIST: Final = "audit"
_SHOWN: Final = 25
_WIDEST: Final = 1 << 40


def load_audit(view: View) -> Mapping[str, object]:
    """Load the newest records before a number, and on request the state of the chain."""
    before = view.get_int("before", 0, low=0, high=_WIDEST) or _find_end(view) + 1
    records = _read_before(view, before)
    is_wanted = view.get("check") == "yes"
    return {
        "records": [{"seq": one.seq, "hash": one.hash, **one.fields} for one in records],
        "who": _name_credentials(view),
        "older": records[-1].seq if len(records) == _SHOWN else None,
        "chain": view.call("verify-audit", anchor=view.get("anchor")) if is_wanted else None,
        "anchor": view.get("anchor"),
    }


def _name_credentials(view: View) -> Mapping[str, str]:
    """Return the names of the tokens and connections, by what a record has as its credential."""
    known = view.memories.list_tokens() if _may_administer(view) else []
    return {f"{'oauth' if one.client else 'token'}:{one.id}": one.name for one in known}


def _read_after(view: View, number: int, limit: int) -> Sequence[AuditRecord]:
    """Return the records of this memory after a number; the operation lists the oldest first."""
    cursor = write_cursor(_LIST, view.memory.user, number)
    return view.call("audit", limit=limit, cursor=cursor).items


def _find_end(view: View) -> int:
    """Return the number of the last record, by halving: the numbers of one memory have gaps."""
    low, high = 0, 1
    while _read_after(view, high, 1):
        low, high = high, high * 2
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if _read_after(view, middle, 1) else (low, middle)
    return low


def _read_before(view: View, before: int) -> Sequence[AuditRecord]:
    """Return the last records before a number, the newest first: a window that grows until it holds enough."""
    wide = _SHOWN
    while True:
        after = max(0, before - 1 - wide)
        found: list[AuditRecord] = []
        start = after
        while page := _read_after(view, start, 50):
            found += [one for one in page if one.seq < before]
            start = page[-1].seq
            if start >= before:
                break
        if len(found) >= _SHOWN or after == 0:
            return found[::-1][:_SHOWN]
        wide *= 4


def export_audit(view: View) -> Download:
    """Send the records of this memory as JSON Lines."""
    return _make_file(view, "export-audit", "credenda-audit.jsonl")


def report(view: View) -> Download:
    """Send who called what, what changed and what was deleted in a span of time."""
    span: dict[str, Any] = {name: view.get(name) or None for name in ("since", "until")}
    return _make_file(view, "compliance", "credenda-compliance.jsonl", **span)


def _make_file(view: View, operation: str, name: str, **given: object) -> Download:
    path = view.make_path(name)
    view.call(operation, path=ServerFile(path), **given)
    return Download(path=path, name=name)


AUDIT_PAGE = Page(
    name="audit",
    path="/audit",
    title="Audit",
    operation="audit",
    load=load_audit,
    actions={"export": export_audit, "report": report},
    with_files=frozenset({"export", "report"}),
    group="server",
)


# Connect programs: the lines for each client, tokens, OAuth connections, and when each last called.


_USUAL: Final = ("memory:read", "memory:write")
_MEANINGS: Final = {
    "memory:read": "search, read and export",
    "memory:write": "remember, correct, forget and delete",
    "memory:review": "answer contests, pin, promote and undo",
    "memory:admin": "settings, maintenance, tokens and the audit",
    "memory:erase": "delete many at once, and erase everything",
}
_EXPIRES: Final = {"30d": "30 days", "90d": "90 days", "365d": "a year", "never": "never"}
_ADMIN: Final = "memory:admin"


def load_connect(view: View) -> Mapping[str, object]:
    """Load the lines for clients, and for who may administer the tokens and connections."""
    known = view.memories.list_tokens() if _may_administer(view) else []
    # TOKEN stands for a token. A server without logins takes none, and only programs on its machine reach it.
    base = view.base
    with_token = bool(view.logout_key)
    header = "Authorization: Bearer TOKEN"
    headers = {"headers": {"Authorization": "Bearer TOKEN"}} if with_token else {}
    server = {"credenda": {"url": f"{base}/mcp", **headers}}
    typed = {"credenda": {"type": "http", "url": f"{base}/mcp", **headers}}
    add, curl, codex = (f' --header "{header}"', f' -H "{header}"', '\nbearer_token_env_var = "CREDENDA_TOKEN"')
    add, curl, codex = (add, curl, codex) if with_token else ("", "", "")
    lines = [
        ("Claude Code", "command", f"claude mcp add --transport http credenda {base}/mcp{add}"),
        *([("claude.ai, ChatGPT", "connector", f"{base}/mcp")] if with_token else []),
        ("Cursor", "settings file", json.dumps({"mcpServers": server}, indent=2)),
        ("VS Code", "settings file", json.dumps({"servers": typed}, indent=2)),
        ("Codex", "settings file", f'[mcp_servers.credenda]\nurl = "{base}/mcp"{codex}'),
        ("REST", "command", f"curl{curl} {base}/v1/stats"),
        ("A2A", "address", f"{base}/.well-known/agent-card.json"),
    ]
    return {
        "clients": [{"name": name, "kind": kind, "line": line} for name, kind, line in lines],
        "with_token": with_token,
        "may_administer": _may_administer(view),
        "tokens": [_describe(view, one) for one in known if not one.client],
        "connections": [_describe(view, one) for one in known if one.client],
        "scopes": sorted(view.principal.scopes),
        "usual": _USUAL,
        "meanings": _MEANINGS,
        "expires": _EXPIRES,
        "issued": None,
    }


def _may_administer(view: View) -> bool:
    return _ADMIN in view.principal.scopes


def _describe(view: View, token: AccessToken) -> Mapping[str, object]:
    return {
        "id": token.id,
        "name": token.name,
        "person": token.person,
        "scopes": token.scopes,
        "created_us": token.created_us,
        "expires_us": token.expires_us,
        "last_used_us": view.memories.last_calls.find(token),
        "is_valid": token.is_valid_at(view.now_us),
        "is_revoked": token.revoked_us is not None,
    }


def _check_admin(view: View) -> None:
    if not _may_administer(view):
        why = f"the login lacks the scope {_ADMIN}"
        raise Forbidden("you may not manage tokens", why=why, fix="ask the owner of the memory", scope=_ADMIN)


def create(view: View) -> Shown:
    """Issue a token, and show it: it is stored nowhere, so this page is the only one that has it."""
    _check_admin(view)
    issued = view.memories.issue_token(view.get("name"), view.get_list("scope"), view.get("expires", "90d"))
    return Shown(data={"issued": issued})


def revoke(view: View) -> Done:
    """End a token or a connection at once."""
    _check_admin(view)
    view.memories.revoke_token(view.get("id"))
    return Done(to="/connect", note="saved")


CONNECT_PAGE = Page(
    name="connect",
    path="/connect",
    title="Connect",
    operation="stats",
    load=load_connect,
    actions={"create": create, "revoke": revoke},
    group="server",
)


# Data in and out: import with a dry run, export, backup, retention rules and holds, and erasure with its receipt.


_DOCUMENTS: Final = frozenset({"markdown", "obsidian", "text"})
"""Formats of pages, in which nobody speaks to the agent."""
_FORMATS: Final = (
    "credenda",
    "conversation",
    "chatgpt",
    "claude",
    "claude-code",
    "mcp-memory",
    "mem0",
    "whatsapp",
    "telegram",
    "memories",
    "obsidian",
    "markdown",
    "text",
)
_NAMES: Final = {"credenda": "credenda-export.jsonl.gz", "mcp-memory": "memory.jsonl"}


def load_data(view: View) -> Mapping[str, object]:
    """Load the counts of what an export would hold, and the legal holds, which stop a deletion."""
    stats = view.call("stats")
    return {
        "stats": stats,
        "formats": _FORMATS,
        "holds": [one for one in view.call("holds") if one.lifted_us is None],
        "may_back_up": view.memories.may_back_up(),
        "is_file": view.memories.is_file(),
        "imported": None,
        "documents": _DOCUMENTS,
        "receipt": None,
    }


def _import(view: View, *, is_dry: bool) -> Shown:
    """Store the content of a file, without what is there already, or only say what that would be."""
    if view.upload is None:
        raise Invalid("no file was sent", fix="choose a file first")
    form = {"format": view.get("format") or None, "me": view.get("me") or None}
    try:
        with use_zone(view.zone):  # a phone exports the times of its place, without the zone
            report = view.call("import", path=view.upload, **form, dry_run=is_dry)
    except Invalid as error:
        if "--me" not in error.fix:
            raise
        fix = "write it as it stands there into the field “Your name in it”"
        raise Invalid("your name in this chat is missing", why=error.why, fix=fix) from None
    return Shown(data={"imported": report})


def export_data(view: View) -> Download:
    """Send all data of this memory, or its memories for another tool."""
    wanted = view.get("format", "credenda")
    name = _NAMES.get(wanted, _NAMES["credenda"])
    path = view.make_path(name)
    view.call("export", path=ServerFile(path), format=wanted)
    return Download(path=path, name=name)


def send_backup(view: View) -> Download:
    """Send a copy of the whole database, to those who are alone in it."""
    name = f"credenda-backup-{format_day(view.now_us, view.zone)}.db"
    path = view.make_path(name)
    view.memories.back_up(path)
    return Download(path=path, name=name)


def erase(view: View) -> Shown:
    """Erase everything of this memory, and show the receipt: the only copy of it."""
    return Shown(data={"receipt": view.call("erase", confirm=view.get("confirm"))})


def _set_hold(operation: str, view: View) -> Done:
    """Forbid deletion until the hold is lifted, or permit it again."""
    view.call(operation, reason=view.get("reason"))
    return Done(to="/data#erase", note="saved")


DATA_PAGE = Page(
    name="data",
    path="/data",
    title="Import, export, erase",
    operation="export",
    load=load_data,
    actions={
        "preview": partial(_import, is_dry=True),
        "import": partial(_import, is_dry=False),
        "export": export_data,
        "backup": send_backup,
        "erase": erase,
        "hold": partial(_set_hold, "hold"),
        "lift": partial(_set_hold, "lift-hold"),
    },
    with_files=frozenset({"preview", "import", "export", "backup"}),
    slow=frozenset({"erase"}),
    group="server",
)
