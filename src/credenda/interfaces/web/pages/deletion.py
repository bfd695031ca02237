"""Delete a memory for good, after a look at everything that would go with it, or rests on the same words."""

from __future__ import annotations

from collections.abc import Mapping

from credenda.interfaces.web.page import Done, Page
from credenda.interfaces.web.view import View
from credenda.services.expectation import name_version


def load(view: View) -> Mapping[str, object]:
    """Load what a deletion would remove; nothing is deleted."""
    memory = view.call("get", id=view.get("id"))
    whole = view.get("whole") == "yes"
    plan = view.call("plan-deletion", id=memory.id, whole_message=whole or None)
    shortened = [one for one in plan.kept if one.left not in {"", one.text}]
    return {"memory": memory, "version": name_version(memory), "plan": plan, "shortened": shortened, "whole": whole}


def delete(view: View) -> Done:
    """Delete, and show the memories that are left."""
    view.change("delete", id=view.get("id"), whole_message=view.get("whole") == "yes" or None)
    return Done(to="/memories", note="deleted")


PAGE = Page(
    name="deletion",
    path="/memory/{id}/delete",
    title="Delete for good",
    operation="plan-deletion",
    load=load,
    actions={"now": delete},
    group="",
)
