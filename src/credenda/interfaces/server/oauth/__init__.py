"""OAuth: connect clients that cannot take tokens; loaded only by a server whose callers need tokens."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.interfaces.server.oauth import oidc as oidc
    from credenda.interfaces.server.oauth import routes as routes

__getattr__ = load_on_use(__name__)
