"""The agent card: what another agent may ask for, and where."""

from __future__ import annotations

from typing import Any, Final

from credenda import __version__
from credenda.model.server import Skill

INPUT_MODES: Final = ("text/plain", "application/json")
_BINDINGS: Final = ("JSONRPC", "HTTP+JSON")
_VERSIONS: Final = ("1.0", "0.3")
_SKILLS: Final[tuple[dict[str, Any], ...]] = (
    {
        "id": Skill.CONSOLIDATE.value,
        "name": "Consolidate memories",
        "description": "Store text or messages, extract beliefs from them, and ask about each value that contradicts an"
        " earlier one: keep the existing value, the new one, or both, with a scope for each.",
        "tags": ["memory", "extraction", "contradictions"],
        "examples": ["I live in Vienna.", '{"messages": [{"role": "user", "content": "I live in Vienna."}]}'],
    },
    {
        "id": Skill.RESOLVE.value,
        "name": "Resolve conflicts",
        "description": "Ask the open questions of the memory about values that exclude each other, and store the"
        " answers.",
        "tags": ["memory", "contradictions"],
        "examples": ['{"skill": "resolve_conflicts"}'],
    },
)


def build_card(url: str, *, tokens: bool) -> dict[str, Any]:
    """Build the card of an agent that is reached at a URL, in the JSON form of version 1.0."""
    card: dict[str, Any] = {
        "name": "Credenda",
        "description": "The memory of an agent's user, kept as beliefs with their evidence and history.",
        "version": __version__,
        "supportedInterfaces": [
            {"url": url, "protocolBinding": binding, "protocolVersion": version}
            for version in _VERSIONS
            for binding in _BINDINGS
        ],
        "capabilities": {"streaming": True, "pushNotifications": False, "extendedAgentCard": False},
        "defaultInputModes": list(INPUT_MODES),
        "defaultOutputModes": list(INPUT_MODES),
        "skills": list(_SKILLS),
    }
    if tokens:
        card["securitySchemes"] = {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}}
        card["securityRequirements"] = [{"schemes": {"bearer": {"list": []}}}]
    return card
