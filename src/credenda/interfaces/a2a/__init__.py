"""Tasks of other agents over A2A (Agent2Agent), in the versions 1.0 and 0.3 of the protocol.

The SDK loads with the first request, so that a server starts without it.
"""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.interfaces.a2a import handler as handler

__getattr__ = load_on_use(__name__)
