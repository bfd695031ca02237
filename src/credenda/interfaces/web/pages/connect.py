"""Connect programs: the lines for each client, tokens, OAuth connections, and when each last called."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from credenda.errors import Forbidden
from credenda.interfaces.web.page import Done, Page, Shown
from credenda.interfaces.web.view import View
from credenda.model.server import AccessToken

_USUAL: Final = ("memory:read", "memory:write")
_MEANINGS: Final = {
    "memory:read": "search, read and export",
    "memory:write": "remember, correct, forget and delete",
    "memory:review": "answer contests, pin, promote and undo",
    "memory:admin": "settings, maintenance, tokens and the audit",
    "memory:erase": "delete many at once, and erase everything",
}
_EXPIRES: Final = ("30d", "90d", "365d", "never")
_ADMIN: Final = "memory:admin"


def load(view: View) -> Mapping[str, object]:
    """Load the lines for clients, and for who may administer the tokens and connections."""
    known = view.memories.list_tokens() if _may_administer(view) else []
    return {
        "clients": _write_lines(view.base, with_token=bool(view.logout_key)),
        "with_token": bool(view.logout_key),
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


def _write_lines(base: str, *, with_token: bool) -> Sequence[Mapping[str, str]]:
    """Write what a person pastes into each client; TOKEN stands for a token.

    A server without logins takes none, and only programs on its machine reach it.
    """
    header = "Authorization: Bearer TOKEN"
    headers = {"headers": {"Authorization": "Bearer TOKEN"}} if with_token else {}
    server = {"credenda": {"url": f"{base}/mcp", **headers}}
    typed = {"credenda": {"type": "http", "url": f"{base}/mcp", **headers}}
    add, curl, codex = (f' --header "{header}"', f' -H "{header}"', '\nbearer_token_env_var = "CREDENDA_TOKEN"')
    connector = {"name": "claude.ai, ChatGPT", "kind": "connector", "line": f"{base}/mcp"}
    return [
        {
            "name": "Claude Code",
            "kind": "command",
            "line": f"claude mcp add --transport http credenda {base}/mcp{add if with_token else ''}",
        },
        *([connector] if with_token else []),
        {"name": "Cursor", "kind": "settings file", "line": json.dumps({"mcpServers": server}, indent=2)},
        {"name": "VS Code", "kind": "settings file", "line": json.dumps({"servers": typed}, indent=2)},
        {
            "name": "Codex",
            "kind": "settings file",
            "line": f'[mcp_servers.credenda]\nurl = "{base}/mcp"{codex if with_token else ""}',
        },
        {"name": "REST", "kind": "command", "line": f"curl{curl if with_token else ''} {base}/v1/stats"},
        {"name": "A2A", "kind": "address", "line": f"{base}/.well-known/agent-card.json"},
    ]


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


PAGE = Page(
    name="connect",
    path="/connect",
    title="Connect",
    operation="stats",
    load=load,
    actions={"create": create, "revoke": revoke},
    group="server",
)
