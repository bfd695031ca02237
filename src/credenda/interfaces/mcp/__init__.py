"""Tools, resources and a prompt for models, over MCP."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.interfaces.mcp import sdk_lazy as sdk_lazy
    from credenda.interfaces.mcp import stdio as stdio

__getattr__ = load_on_use(__name__)
