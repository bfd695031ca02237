"""The steps of the dream: `manage.dream` decides, these modules read the store and apply, one module per step."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.services.dream import run as run

__getattr__ = load_on_use(__name__)
