"""Add this server to the configuration files of MCP clients."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.interfaces.client_setup import install as install

__getattr__ = load_on_use(__name__)
