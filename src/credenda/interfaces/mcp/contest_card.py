"""The contest card: an MCP App that shows contests and takes the user's answer inside the client.

A client without MCP Apps shows the same result as text. The page reaches no network and loads nothing; its policy
permits its own script and style by their hashes. Text of memories reaches it as data, in messages of the host, and
becomes text nodes.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

EXTENSION: Final = "io.modelcontextprotocol/ui"
URI: Final = "ui://credenda/contests"
MEDIA_TYPE: Final = "text/html;profile=mcp-app"
ABOUT: Final = "A card with the open contests, on which the user chooses."
TOOL: Final = "resolve_conflict"
"""The tool whose results the card shows, and which it calls."""
TOOL_META: Final[dict[str, Any]] = {"ui": {"resourceUri": URI, "visibility": ["model", "app"]}}
_NO_DOMAINS: Final = ("connectDomains", "resourceDomains", "frameDomains", "baseUriDomains")
RESOURCE_META: Final[dict[str, Any]] = {
    "ui": {"csp": {name: list[str]() for name in _NO_DOMAINS}, "prefersBorder": True}
}


@cache
def make_page() -> str:
    """Return the page, with a policy that permits its script and its style and nothing else."""
    page = (files("credenda.interfaces.mcp") / "contest_card.html").read_text("utf-8")
    script, style = _hash(page, "script"), _hash(page, "style")
    policy = f"default-src 'none'; script-src {script}; style-src {style}; base-uri 'none'; form-action 'none'"
    return page.replace("{policy}", policy)


def _hash(page: str, name: str) -> str:
    """Return the source expression of the one element of a name."""
    (text,) = re.findall(rf"<{name}>(.*?)</{name}>", page, re.DOTALL)
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
