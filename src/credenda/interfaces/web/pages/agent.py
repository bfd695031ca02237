"""The context of an agent: the exact text for a prompt, the reason of each line, and the lines left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from credenda.interfaces.web.page import Page
from credenda.interfaces.web.view import View
from credenda.model.evaluation import ContextPreview


@dataclass(frozen=True, slots=True)
class Client:
    """A way in which programs ask: its words, its budget, and whether it asks in every turn."""

    label: str
    token_budget: int | None = None
    automatic: bool = False


CLIENTS: Final[Mapping[str, Client]] = {
    "": Client("A tool call (get_context)"),
    "automatic": Client("A hook that adds memory to each prompt", automatic=True),
    "small": Client("A small budget, 300 tokens", 300),
    "large": Client("A large budget, 4,000 tokens", 4_000),
}
_MODES: Final = ("full_context", "facts_plus_rules", "facts_only", "codebase")
_TOKENS: Final = 100_000


def load(view: View) -> Mapping[str, object]:
    """Load what an agent would get; no recall is recorded."""
    prompt = view.get("prompt")
    named = view.get("client") if view.get("client") in CLIENTS else ""
    client, budget = CLIENTS[named], CLIENTS[named].token_budget
    if view.get("budget").strip():
        budget = view.get_int("budget", 0, low=1, high=_TOKENS)
    asked = bool(prompt.strip()) or view.get("show") == "yes"
    day = view.get("day").strip() or None
    preview = None
    if asked:
        preview = view.call(
            "preview-context",
            query=prompt.strip() or None,
            token_budget=budget,
            automatic=client.automatic or None,
            mode=view.get("mode") or None,
            topic=view.get("topic").strip() or None,
            known_at=day,
        )
    return {
        "prompt": prompt,
        "client": named,
        "clients": {name: one.label for name, one in CLIENTS.items()},
        "budget": view.get("budget").strip(),
        "mode": view.get("mode"),
        "modes": _MODES,
        "topic": view.get("topic"),
        "day_asked": day or "",
        "preview": preview,
    }


def order(_: View, data: Mapping[str, Any]) -> Mapping[str, object]:
    """Order the lines by their scores; the text groups them, the newest first."""
    preview: ContextPreview | None = data["preview"]
    found = ((), ()) if preview is None else (preview.lines, preview.left_out)
    kept, left = (sorted(lines, key=lambda one: -2.0 if one.score is None else -one.score) for lines in found)
    return {"lines": kept, "left_out": left}


PAGE = Page(
    name="agent", path="/agent", title="What the agent gets", operation="preview-context", load=load, draw=order
)
