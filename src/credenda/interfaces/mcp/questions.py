"""The question about a contest, put to the user by a client that can do so.

In revision 2026-07-28 the answer to the call is the question, and the client calls again with the user's answer. In
earlier revisions the call itself waits, for which the client needs a connection that the server can write to: standard
input and output, or a session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import anyio
import mcp_types as wire
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from credenda import limits
from credenda.errors import Invalid
from credenda.interfaces.mcp.running import Call
from credenda.model.contest import ContestCase

__all__ = ["NAME", "Answer", "can_ask", "make_question", "read_answer", "wait_for_answer"]

NAME: Final = "contest"
"""The name of the question in a result that asks."""
_RULE: Final = "If each is right in its own case: X when …, else Y."


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The user's answer: a value or rule to keep, or how they refused."""

    keep: str = ""
    refused: Literal["", "decline", "cancel"] = ""


def can_ask(call: Call) -> bool:
    """Return whether the client can put a form to its user, in this call."""
    declared = call.session.client_capabilities
    if declared is None or declared.elicitation is None:
        return False
    if declared.elicitation.url is not None and declared.elicitation.form is None:
        return False
    return call.protocol_version in MODERN_PROTOCOL_VERSIONS or call.session.can_send_request


def make_question(contest: ContestCase) -> wire.ElicitRequestFormParams:
    """Make the form: a choice of the values, or a rule in the user's words.

    A choice is the value itself and not its place, so that an answer to values that have changed since is refused.
    """
    choice = {"type": "string", "title": "Keep", "enum": list(contest.values)}
    rule = {"type": "string", "title": "Or a rule", "description": _RULE, "maxLength": limits.MEMORY_TEXT_CHARACTERS}
    schema = {"type": "object", "properties": {"keep": choice, "rule": rule}}
    return wire.ElicitRequestFormParams(message=contest.question, requested_schema=schema)


async def wait_for_answer(call: Call, question: wire.ElicitRequestFormParams) -> wire.ElicitResult:
    """Ask now, and wait for the answer; no answer in time counts as dismissed."""
    schema: dict[str, Any] = dict(question.requested_schema)
    with anyio.move_on_after(limits.MCP_ANSWER_SECONDS):
        try:
            return await call.session.elicit_form(question.message, schema, related_request_id=call.request_id)
        except MCPError:  # the client does not answer after all
            return wire.ElicitResult(action="cancel")
    return wire.ElicitResult(action="cancel")


def read_answer(contest: ContestCase, told: object) -> Answer:
    """Read the user's answer; one that holds nothing counts as declined.

    Raises `Invalid` for an answer that is none of the choices.
    """
    if not isinstance(told, wire.ElicitResult):
        raise Invalid("that is no answer to the question", fix="answer with action and content")
    if told.action != "accept":
        return Answer(refused=told.action)
    content: Mapping[str, object] = told.content or {}
    rule, keep = content.get("rule"), content.get("keep")
    if isinstance(rule, str) and rule.strip():
        return Answer(keep=rule)
    if keep is None:
        return Answer(refused="decline")
    if keep not in contest.values:
        what = "the answer is none of the values"
        raise Invalid(what, why="they may have changed", fix=f"choose among {', '.join(contest.values)}")
    return Answer(keep=str(keep))
