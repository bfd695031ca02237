"""Sessions: the messages of each, the memories that came from them, and undoing all of that at once."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from credenda.errors import Conflict, Invalid
from credenda.interfaces.web.page import Done, Page
from credenda.interfaces.web.view import View


def load_list(view: View) -> Mapping[str, object]:
    """Load a page of sessions."""
    found = view.call("sessions", cursor=view.get("cursor") or None)
    return {"sessions": found.items, "next_cursor": found.next_cursor}


def load(view: View) -> Mapping[str, object]:
    """Load a session, and what revoking it would change."""
    name = view.get("session")
    details = view.call("session", session=name)
    return {
        "session": name,
        "details": details,
        "learned_from": {
            event.id: [one.memory for one in details.learned if event.id in one.event_ids] for event in details.events
        },
        "revocation": _plan_revocation(view, name) if view.get("revoke") == "ask" else None,
        "is_asked": view.get("revoke") == "ask",
    }


def _plan_revocation(view: View, name: str) -> object:
    """Return what undoing the session would change; None for a session that changed nothing."""
    try:
        return view.call("undo", session=name, dry_run=True)
    except (Invalid, Conflict):
        return None


def revoke(view: View) -> Done:
    """Undo everything that the session changed."""
    name = view.get("session")
    if not name:
        raise Invalid("messages without a session cannot be revoked together", fix="undo single changes")
    cascade = view.get("cascade") == "yes" or None
    report = view.call("undo", session=name, cascade=cascade)
    return Done(to=f"/session?{urlencode({'session': name})}", note="undone" if report.undone else "gone")


PAGE = Page(name="sessions", path="/sessions", title="Sessions", operation="sessions", load=load_list)
SESSION = Page(
    name="session",
    path="/session",
    title="One session",
    operation="session",
    load=load,
    actions={"revoke": revoke},
    group="",
)
