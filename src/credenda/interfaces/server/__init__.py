"""The HTTP server: REST, MCP, and pages for machines that watch it; loaded only by a process that serves."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.interfaces.server import audit as audit
    from credenda.interfaces.server import process as process

__getattr__ = load_on_use(__name__)
