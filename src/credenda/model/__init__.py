"""The value types that all packages share: frozen, without behaviour that needs a store. Pure."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.model import report as report

__getattr__ = load_on_use(__name__)
